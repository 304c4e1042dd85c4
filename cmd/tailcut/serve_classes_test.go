//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// tandem is a job whose shuffle tasks follow its map tasks one by one, in slots of their own.
func (v *victim) tandem(name string, tasks int, maps, shuffles string) *run.Submission {
	s := v.job(name, tasks)
	command := func(line string) []string { return []string{"sh", "-c", line, v.marker, "{}"} }
	s.Job.Array.Stages = []jobfile.Stage{
		{Name: "m", Class: "map", Tasks: tasks, Command: command(maps)},
		{Name: "s", Class: "shuffle", Tasks: tasks, Command: command(shuffles), AfterEach: []int{0}},
	}
	return s
}

// attempts are those of a job that is over, as its folder tells of them, and the names of the machines.
func (v *victim) attempts(name string) (all []live.Record, machines []trace.JournalMachine) {
	v.t.Helper()
	r, err := trace.OpenJournalReader(filepath.Join(v.dir, "out", name, mapreduce.PrivateName, "journal"))
	if err != nil {
		v.t.Fatal(err)
	}
	all, err = live.Lives(r, func(h *trace.JournalHeader) (sched.Policy, error) {
		return policy.NewPerClass(h.Policy, h.Seed, h.Classes())
	}, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	return all, r.Header.Machines
}

// words is a map/reduce job of four maps.
func (v *victim) words(name string, op mapreduce.Operator) *run.Submission {
	v.t.Helper()
	s, input := v.job(name, 1), filepath.Join(v.dir, name+".txt")
	if err := os.WriteFile(input, []byte(strings.Repeat("a b c\n", 5000)), 0o600); err != nil {
		v.t.Fatal(err)
	}
	s.Job = jobfile.Job{Name: name, MapReduce: &mapreduce.Request{Operator: op, Inputs: []string{input}, SplitSize: 1 << 13, Reducers: 2}}
	return s
}

// TestServeSizesByBytes: a policy that judges shuffles by what maps have written goes on with a server that was killed,
// which decides as its journal says, and the journals of the jobs have the bytes.
func TestServeSizesByBytes(t *testing.T) {
	v := newVictim(t)
	flags := []string{"--slots", "map=2,shuffle=1", "--policy", "maxsrpt:size=bytes"}
	v.start(flags...)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		v.submit(v.words(name, mapreduce.Operator{Name: "streaming", Mapper: "sleep 0.1; cat", Reducer: "cat"}))
	}
	time.Sleep(300 * time.Millisecond)
	v.kill()
	v.start(flags...)
	for _, name := range names {
		v.expect(0, `job \d \(`+name+`\): succeeded .*\n`, "wait", name)
		all, _ := v.attempts(name)
		for i := range all {
			if r := &all[i]; r.End == live.Won && r.Stage < 2 && r.Bytes < 1000 {
				t.Errorf("%s: task %d of stage %d is said to have written %d bytes for each reader", name, r.Index, r.Stage, r.Bytes)
			}
		}
	}
}

// TestServeClasses: stages run in the slots that they ask for, a shuffle begins while maps run, and a server that was
// killed goes on so. Whoever asks for slots that there are not is told at once.
func TestServeClasses(t *testing.T) {
	v := newVictim(t)
	flags := []string{"--slots", "map=2,shuffle=1", "--policy", "fifo/fair"}
	v.start(flags...)
	v.submit(v.tandem("two", 8, "sleep 0.1; echo m$1", "sleep 0.05; cat $TAILCUT_INPUT/stdout"))
	v.submit(v.words("words", mapreduce.Operator{Name: "wordcount"}))
	time.Sleep(150 * time.Millisecond)
	v.kill()
	v.start("--slots", "shuffle=1,map=2", "--policy", "fair/fifo") // which are the same
	v.expect(0, `fifo/fair\n`, "policy")
	for _, name := range []string{"two", "words"} {
		v.expect(0, `job \d \(`+name+`\): succeeded .*\n`, "wait", name)
		all, machines := v.attempts(name)
		want := []string{"map", "shuffle", "shuffle"}
		var lastMap, firstShuffle sched.Time
		for i := range all {
			r := &all[i]
			if got := machines[r.Machine].Name; got != want[r.Stage] {
				t.Errorf("%s: an attempt of stage %d has run in a slot of class %s", name, r.Stage, got)
			}
			switch {
			case r.Stage == 0:
				lastMap = max(lastMap, r.Start)
			case firstShuffle == 0:
				firstShuffle = r.Start
			}
		}
		if len(all) < 5 || name == "two" && firstShuffle > lastMap {
			t.Errorf("%s: %d attempts; the first shuffle began at %v, the last map at %v", name, len(all), firstShuffle, lastMap)
		}
	}
	v.expect(0, `(m0\nm1\nm2\nm3\nm4\nm5\nm6\nm7\n){2}`, "results", filepath.Join(v.dir, "out", "two"))

	file := filepath.Join(v.dir, "odd.yaml")
	if err := os.WriteFile(file, []byte("name: odd\nstages:\n  - {name: a, class: reduce, command: echo a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(v.dir, "odd")
	v.expect(2, `tailcut: job.array.stages\[0\].class: there are no slots of class reduce; there are map, shuffle\n`, "submit", "-f", file, "--output", out)
	long := v.tandem("long", 1, "sleep 100", "true")
	v.submit(long)
	v.kill()
	v.expect(2, `tailcut: --slots: jobs that are not over need slots of class shuffle: expected some, as in map=1,shuffle=1\n`, "serve", "--dir", filepath.Join(v.dir, "queue"), "--socket", v.socket(), "--slots", "map=2", "--history", "none")
	v.start("--dir", filepath.Join(v.dir, "plain"))
	v.expect(2, `tailcut: job.array.stages\[0\].class: the slots have no classes, so none is reduce; .*\n`, "submit", "-f", file, "--output", out)
	v.expect(2, `tailcut: job.array.stages\[0\].class: the slots have no classes, so none is reduce; .*\n`, "run", "--alone", "-f", file, "--output", out)
	if _, err := os.Stat(out); err == nil {
		t.Error("a job that was refused has left a folder")
	}
}
