//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// prose writes so many bytes of random words, for a test to map slowly.
func prose(t *testing.T, size int) string {
	t.Helper()
	draw := rand.New(rand.NewPCG(6, 5))
	var text bytes.Buffer
	for text.Len() < size {
		text.WriteString(strconv.FormatUint(draw.Uint64N(1000), 36))
		text.WriteString([]string{" ", " ", " ", "\n"}[draw.IntN(4)])
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prose"), text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hunt kills attempts of the story at random until it is told to stop: originals, clones, whatever is found.
func (s *story) hunt(seed uint64, stop <-chan struct{}) {
	draw := rand.New(rand.NewPCG(seed, 2))
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(draw.Int64N(int64(time.Second)))):
		}
		paths, _ := filepath.Glob("/proc/[0-9]*")
		for _, i := range draw.Perm(len(paths)) {
			env, _ := os.ReadFile(filepath.Join(paths[i], "environ"))
			args, _ := os.ReadFile(filepath.Join(paths[i], "cmdline"))
			if bytes.Contains(env, []byte(mark+"="+s.name)) && bytes.HasSuffix(args, []byte("\x00attempt\x00")) {
				pid, _ := strconv.Atoi(filepath.Base(paths[i]))
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
	}
}

// resumed returns where the attempts of a run began that did not begin at the beginning, as fractions of their tasks, from its journal: what is not
// a task's first attempt tells at once where it begins.
func (s *story) resumed() (from []float64) {
	s.t.Helper()
	r, err := trace.OpenJournalReader(filepath.Join(s.out, "_tailcut", "journal"))
	if err != nil {
		s.t.Fatal(err)
	}
	fresh := map[sched.AttemptID]bool{}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return from
		}
		if err != nil {
			s.t.Fatal(err)
		}
		for _, f := range b.Facts {
			if f.Kind == sched.AttemptProgress && fresh[f.Attempt] {
				delete(fresh, f.Attempt)
				if f.Progress > 0 {
					from = append(from, f.Progress)
				}
			}
		}
		for _, d := range b.Decisions {
			if d.Kind == sched.Launch && d.From > 0 {
				fresh[d.Attempt] = true
			}
		}
	}
}

// Clones that go on in the middle of slow map tasks, while originals, clones and engines are killed: the same bytes as without any of it.
func TestResumeThroughDeaths(t *testing.T) {
	input := prose(t, 12<<20)
	whole := filepath.Join(t.TempDir(), "whole")
	if out, err := exec.Command(tailcut, "run", "wordcount", input, "--output", whole, "--policy", "fifo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStory(t)
			stop := make(chan struct{})
			if seed%3 > 0 { // in one story of three only engines die
				go s.hunt(uint64(seed), stop)
			}
			s.window = 3 * time.Second
			s.run(seed%2, "run", "wordcount", input, "--policy", "srew:preempt=true,slot=600ms", "--slots", "3", "--split-size", "2MiB", "--retries", "1000",
				"--disturb", "slow=0.4,factor=80", "--seed", strconv.Itoa(seed))
			close(stop)
			s.check()
			got, err := os.ReadFile(filepath.Join(s.out, "part-00000"))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of counts, %v; want %d that are the same", len(got), err, len(want))
			}
			from := s.resumed()
			total += len(from)
			t.Logf("resumed at %s", strings.Trim(fmt.Sprintf("%.2f", from), "[]"))
		})
	}
	if total < seeds/2 {
		t.Errorf("%d attempts in %d stories went on in the middle", total, seeds)
	}
}
