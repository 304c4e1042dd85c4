//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/run"
)

// Three jobs A, B and C, submitted in this order, wait behind a gate: 9, 3 and 6 tasks of 50 ms, each of which writes
// the letter of its job when it starts. In which order they start is what the policy is about.
var orders = []struct {
	policy, slots string
	gate          int // slots that the gate holds
	ask           func(jobs map[string]*run.Submission)
	check         func(started string) bool
}{
	{"fifo", "1", 1, nil, exactly("AAAAAAAAABBBCCCCCC")},
	{"srpt", "1", 1, nil, exactly("BBBCCCCCCAAAAAAAAA")},
	{"spark:order=srpt", "1", 1, nil, exactly("BBBCCCCCCAAAAAAAAA")},
	{"srew:slot=0s", "1", 1, nil, exactly("BBBCCCCCCAAAAAAAAA")},
	{"sew", "2", 1, nil, exactly("BBBCCCCCCAAAAAAAAA")}, // one of the slots is for later stages
	{"hopper:epsilon=1", "1", 1, nil, exactly("BBBCCCCCCAAAAAAAAA")},
	{"laps:beta=0.01,slot=0s", "1", 1, nil, exactly("CCCCCCBBBAAAAAAAAA")},
	// B and C begin when all their tasks fit; A has more tasks than there are slots, and takes what they leave.
	{"shed:master_slots=0", "6", 6, nil, exactly("BBBCCCCCCAAAAAAAAA")},
	// A job has one slot, and A and B come before C.
	{"fair", "2", 2, nil, func(started string) bool {
		before, _, _ := strings.Cut(started, "C")
		return strings.Count(before, "B") == 3 && strings.Count(before, "A") < 8
	}},
	// B and C share the queue that A is not in.
	{"capacity", "2", 2, func(jobs map[string]*run.Submission) { jobs["B"].Priority, jobs["C"].Priority = 1, 1 }, func(started string) bool {
		before, _, _ := strings.Cut(started, "C")
		return strings.ReplaceAll(started, "A", "") == "BBBCCCCCC" && strings.Count(before, "A") < 8
	}},
	{"maxsrpt", "map=1,shuffle=1", 1, nil, exactly("BBBCCCCCCAAAAAAAAA")},
}

func exactly(order string) func(string) bool {
	return func(started string) bool { return started == order }
}

// TestServePolicies: policies of many jobs decide which real process starts next.
func TestServePolicies(t *testing.T) {
	for _, c := range orders {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.start("--slots", c.slots, "--policy", c.policy)
			job := func(name, line string, tasks int) *run.Submission {
				if strings.Contains(c.slots, "=") {
					return v.tandem(name, tasks, line, "sleep 0.05")
				}
				return v.shell(name, line, tasks)
			}
			held, open, log := filepath.Join(v.dir, "held"), filepath.Join(v.dir, "open"), filepath.Join(v.dir, "log")
			for k := range c.gate {
				v.submit(job(fmt.Sprint("gate", k), "echo >>"+held+"; until [ -e "+open+" ]; do sleep 0.02; done", 1))
			}
			for deadline := time.Now().Add(10 * time.Second); bytesIn(held) < c.gate; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the gate does not hold the slots")
				}
			}
			jobs := map[string]*run.Submission{}
			for name, tasks := range map[string]int{"A": 9, "B": 3, "C": 6} {
				jobs[name] = job(name, fmt.Sprintf("printf %s >>%s; sleep 0.05", name, log), tasks)
			}
			if c.ask != nil {
				c.ask(jobs)
			}
			for _, name := range []string{"A", "B", "C"} {
				v.submit(jobs[name])
			}
			if err := os.WriteFile(open, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			v.expect(0, `(job \d \([ABC]\): succeeded .*\n){3}`, "wait", "A", "B", "C")
			started, err := os.ReadFile(log)
			if err != nil || !c.check(string(started)) {
				t.Errorf("the jobs started in the order %s (%v)", started, err)
			}
		})
	}
}

// bytesIn returns how long a file is, 0 if it is not there.
func bytesIn(path string) int {
	data, _ := os.ReadFile(path)
	return len(data)
}
