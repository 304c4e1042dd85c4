package history

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A run of two stages: a clone that wins, a machine that is lost, and an attempt that runs when the engine dies.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "_tailcut", "journal")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	header := trace.JournalHeader{
		Run: "r1", Started: time.Unix(1000, 0), Machines: []trace.JournalMachine{{Name: "m0"}, {Name: "m1"}}, Stages: []string{"map", "reduce"},
		Job: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 2}, {Tasks: 1}}},
	}
	j, err := trace.CreateJournal(path, &header)
	if err != nil {
		t.Fatal(err)
	}
	launch := func(at sched.Time, stage, task, machine, number, attempt int) sched.Decision {
		return sched.Decision{Kind: sched.Launch, At: at, Stage: sched.StageID(stage), Task: sched.TaskID(task), Machine: sched.MachineID(machine),
			Number: uint32(number), Attempt: sched.AttemptID(attempt)}
	}
	for _, b := range []trace.Batch{
		{Now: 0, Decisions: []sched.Decision{launch(0, 0, 0, 0, 0, 1), launch(0, 0, 1, 1, 0, 2)}},
		{Now: 2 * s, Facts: []sched.Event{{Kind: sched.AttemptProgress, At: 2 * s, Attempt: 2, Progress: 0.5}, {Kind: sched.AttemptProgress, At: 2 * s, Attempt: 9}}},
		{Now: 3 * s, Decisions: []sched.Decision{launch(3*s, 0, 0, 1, 1, 3)}},
		{Now: 4 * s, Facts: []sched.Event{{Kind: sched.AttemptDone, At: 4 * s, Attempt: 3}, {Kind: sched.AttemptFailed, At: 4 * s, Attempt: 2}},
			Decisions: []sched.Decision{{Kind: sched.Kill, At: 4 * s, Attempt: 1}, launch(4*s, 0, 1, 1, 1, 4)}},
		{Now: 5 * s, Facts: []sched.Event{{Kind: sched.MachineLost, At: 5 * s, Machine: 1}}, Decisions: []sched.Decision{launch(5*s, 0, 1, 0, 2, 5)}},
		{Now: 7 * s, Facts: []sched.Event{{Kind: sched.AttemptDone, At: 7 * s, Attempt: 5}}, Decisions: []sched.Decision{launch(7*s, 1, 2, 0, 0, 6)}},
		{Now: 9 * s},
	} {
		if err := j.Append(&b, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got := readPath(t, filepath.Dir(filepath.Dir(path))) // the output folder of the run
	want := []Record{
		{Job: "r1", Stage: "map", Number: 1, Start: 1003 * s, Duration: s, Speculative: true, Host: "m1"},
		{Job: "r1", Stage: "map", Task: 1, Start: 1000 * s, Duration: 4 * s, Outcome: Failed, Host: "m1"},
		{Job: "r1", Stage: "map", Start: 1000 * s, Duration: 4 * s, Outcome: Killed, Host: "m0"},
		{Job: "r1", Stage: "map", Task: 1, Number: 1, Start: 1004 * s, Duration: s, Outcome: Killed, Host: "m1"},
		{Job: "r1", Stage: "map", Task: 1, Number: 2, Start: 1005 * s, Duration: 2 * s, Host: "m0"},
		{Job: "r1", Stage: "reduce", Start: 1007 * s, Duration: 2 * s, Outcome: Running, Host: "m0"},
	}
	if diff := cmp.Diff(want, got, unwritten); diff != "" {
		t.Error(diff)
	}
	log, err := Open(path, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, _, err := Stages(log.Attempts(), "", ""); err != nil {
		t.Fatal(err)
	}
	if st := log.Course().Stages; st[0].Silent || !st[1].Silent {
		t.Errorf("%+v: only attempts of the first stage have reported progress", st)
	}
}

// What a job of a server has left has no batches: its attempts are in the state, and the server's slots were there. A run
// that goes on with it has its own from then on.
func TestJournalThatAJobHasLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	header := trace.JournalHeader{
		Run: "r1", Rules: trace.JournalRules, Started: time.Unix(1000, 0), Machines: []trace.JournalMachine{{Name: "m0", Slots: 3}}, Stages: []string{"map"},
		Job: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 2}}}, Segment: &trace.JournalSegment{Number: 1, State: 2},
	}
	const job = `{"job":{"name":"nightly","stages":["map"],"spec":{"Stages":[{"Tasks":2}]}},"attempts":{"id":[1,2,3],"task":[0,1,1],"number":[0,0,1],` +
		`"machine":[0,0,0],"from":[0,0,0],"source":[0,0,0],"launched":[1000000000,2000000000,3000000000],"waited":[0,0,500000000],` +
		`"ran":[4000000000,3000000000,2000000000],"clone":"AAAB","end":"AQIB","reason":"AAAA","why":"AAAA"}}`
	j, err := trace.CreateJournal(path, &header, []byte("{}"), []byte(job))
	if err != nil {
		t.Fatal(err)
	}
	want := []Record{
		{Job: "r1", Stage: "map", Start: 1001 * s, Duration: 4 * s, Host: "m0"},
		{Job: "r1", Stage: "map", Task: 1, Start: 1002 * s, Duration: 3 * s, Outcome: Killed, Host: "m0"},
		{Job: "r1", Stage: "map", Task: 1, Number: 1, Start: 1003*s + s/2, Duration: 2 * s, Speculative: true, Host: "m0"},
	}
	if diff := cmp.Diff(want, readPath(t, path), unwritten); diff != "" {
		t.Error(diff)
	}
	again := trace.Batch{Now: 9 * s, Facts: []sched.Event{{Kind: sched.MachineJoined, At: 8 * s}}}
	if err := errors.Join(j.Append(&again, false), j.Close()); err != nil {
		t.Fatal(err)
	}
	log, err := Open(path, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, err := range log.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
	}
	steps := []SlotsFrom{{1000 * s, 3}, {1005*s + s/2, 0}, {1008 * s, 3}}
	if diff := cmp.Diff(steps, log.Course().Slots); diff != "" {
		t.Error(diff)
	}
}

// Where attempts wait until they begin, what they took counts from there.
func TestJournalOfAttemptsThatWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := trace.CreateJournal(path, &trace.JournalHeader{
		Run: "r1", Started: time.Unix(1000, 0), Waits: true, Machines: []trace.JournalMachine{{Name: "m0"}}, Stages: []string{"map"},
		Job: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 4}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var first trace.Batch
	for i := range 4 {
		first.Decisions = append(first.Decisions, sched.Decision{Kind: sched.Launch, Task: sched.TaskID(i), Attempt: sched.AttemptID(i + 1)})
	}
	second := trace.Batch{Now: 9 * s, Facts: []sched.Event{
		{Kind: sched.AttemptBegan, At: 3 * s, Attempt: 1}, {Kind: sched.AttemptProgress, At: 4 * s, Attempt: 2}, {Kind: sched.AttemptProgress, At: 5 * s, Attempt: 2},
		{Kind: sched.AttemptBegan, At: 5 * s, Attempt: 1}, {Kind: sched.AttemptDone, At: 7 * s, Attempt: 1}, {Kind: sched.AttemptDone, At: 8 * s, Attempt: 2},
		{Kind: sched.AttemptFailed, At: 8 * s, Attempt: 3},
	}}
	for _, b := range []*trace.Batch{&first, &second} {
		if err := j.Append(b, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got := readPath(t, path)
	want := []Record{
		{Job: "r1", Stage: "map", Start: 1003 * s, Duration: 4 * s, Host: "m0"},
		{Job: "r1", Stage: "map", Task: 1, Start: 1004 * s, Duration: 4 * s, Host: "m0"},
		{Job: "r1", Stage: "map", Task: 2, Start: 1008 * s, Outcome: Failed, Host: "m0"},
		{Job: "r1", Stage: "map", Task: 3, Start: 1009 * s, Outcome: Running, Host: "m0"},
	}
	if diff := cmp.Diff(want, got, unwritten); diff != "" {
		t.Error(diff)
	}
}
