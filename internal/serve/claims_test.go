package serve

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A server that is killed between the claim of an output folder and the job leaves the folder to others, once it is
// started again. What it has taken in keeps its folder.
func TestClaimsOfADeadServer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "claims")
	c, err := openClaims(path)
	if err != nil {
		t.Fatal(err)
	}
	nobody := func(string) bool { return false }
	s := &run.Server{
		Dir: dir, Place: filepath.Join(dir, "socket"), Started: time.Now(), Log: io.Discard, Policy: "srpt", Limits: sched.DefaultLimits(),
		Machines: []trace.JournalMachine{{Name: "local", Slots: 2}},
		Claims:   func(name, out string) error { return c.note(name, out, nobody) },
	}
	out := func(name string) string { return filepath.Join(dir, name) }
	runs := map[string]string{}
	for _, name := range []string{"lost", "taken", "another's"} {
		p, err := s.Prepare(t.Context(), &run.Submission{
			Job:    jobfile.Job{Name: "x", Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "x", Tasks: 1, Command: []string{"true"}}}}},
			Output: out(name),
		})
		if err != nil {
			t.Fatal(err)
		}
		runs[name] = p.Header.Run
	}
	claimed := func(name string) *run.Claimed {
		c, err := run.ReadClaimed(filepath.Join(out(name), "_tailcut"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	text := fmt.Sprintf(`{"run":%q,"server":"/elsewhere"}`, runs["another's"])
	if err := os.WriteFile(filepath.Join(out("another's"), "_tailcut", "server"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"run":"torn`) // by the crash
	f.Close()

	if c, err = openClaims(path); err != nil {
		t.Fatal(err)
	}
	if err := c.clear(dir, func(name string) bool { return name == runs["taken"] }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out("lost")); err == nil {
		t.Error("the folder of a job that was not taken in is still there")
	}
	for _, name := range []string{"taken", "another's"} {
		if claimed(name) == nil {
			t.Errorf("the folder of %q was given back", name)
		}
	}
	if left, err := os.ReadFile(path); err != nil || len(left) > 0 {
		t.Errorf("of the claims are left %q, %v", left, err)
	}
}

// The file of claims stays as long as what is needed of it, or nearly, and is not written anew for each.
func TestClaimsAreFew(t *testing.T) {
	t.Parallel() // it waits for the disk
	path := filepath.Join(t.TempDir(), "claims")
	c, err := openClaims(path)
	if err != nil {
		t.Fatal(err)
	}
	out, begun := "/out/"+strings.Repeat("x", 100), 0
	note := func(i, alive int) {
		before := c.size
		if err := c.note(fmt.Sprint(i), out, func(name string) bool { n, _ := strconv.Atoi(name); return n > i-alive }); err != nil {
			t.Fatal(err)
		}
		if c.size < before {
			begun++
		}
	}
	for i := range 2000 {
		note(i, 10)
	}
	if len(c.all) > 600 || c.size > fewClaims+200 || begun < 2 {
		t.Errorf("%d claims in %d bytes, begun anew %d times; 10 are needed", len(c.all), c.size, begun)
	}
	begun = 0
	for i := 2000; i < 6000; i++ {
		note(i, 4000)
	}
	if _, last := c.all["5999"]; len(c.all) < 4000 || !last || begun > 3 {
		t.Errorf("%d claims, begun anew %d times; 4000 are needed", len(c.all), begun)
	}
	again, err := openClaims(path)
	if err != nil || len(again.all) != len(c.all) || again.all["5999"].Output != out {
		t.Errorf("%d claims are read again of %d, %v", len(again.all), len(c.all), err)
	}
}
