package serve

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// The file of claims does not grow for ever, and keeps those that are needed.
func TestClaimsAreFew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims")
	c, err := openClaims(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := c.note(fmt.Sprint(i), "/out/"+strings.Repeat("x", 1<<19), func(name string) bool { return name == "0" }); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.note("3", "/out", func(name string) bool { return name == "0" || name == "3" }); err != nil {
		t.Fatal(err)
	}
	if len(c.all) != 2 || c.size > 2<<19 {
		t.Errorf("%d claims in %d bytes", len(c.all), c.size)
	}
	again, err := openClaims(path)
	if err != nil || len(again.all) != 2 || again.all["3"].Output != "/out" {
		t.Errorf("%d claims are read again, %v", len(again.all), err)
	}
}
