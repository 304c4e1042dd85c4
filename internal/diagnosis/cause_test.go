package diagnosis

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/sched"
)

// slowed is a stage of 40 tasks of about a second on 40 slots, four of which take 9 s more because of something.
func slowed(because func(a *history.TaskAttempt, i int)) *history.StageRecord {
	st := &history.StageRecord{Job: "0", Stage: "0", Tasks: 40}
	for i := range 40 {
		a := history.TaskAttempt{
			Start: 1e12, Duration: sched.Second + sched.Time(i%7)*10*sched.Millisecond, Task: int32(i), Host: int32(i % 5), Executor: int32(i%5) + 1, Bytes: 100,
			Metrics: history.Metrics{Deserialize: 10 * sched.Millisecond},
		}
		if i%10 == 3 {
			a.Duration += 9 * sched.Second
			because(&a, i)
		}
		st.Attempts = append(st.Attempts, a)
		st.Succeeded = append(st.Succeeded, history.Observation{Seconds: a.Duration.Seconds(), Bytes: a.Bytes, Host: a.Host})
	}
	return st
}

// explained is the diagnosis of one stage on so many slots.
func explained(t *testing.T, st *history.StageRecord, slots int, wall sched.Time) (*Diagnosis, *Finding) {
	t.Helper()
	r := Defaults()
	r.Log, r.Hosts, r.Stages = "log", hosts, []*history.StageRecord{st}
	course := &history.Course{System: "spark"}
	if wall > 0 {
		course.Stages = []history.StageCourse{{Job: "0", Stage: "0", Submitted: 1e12, Ended: 1e12 + wall}}
	}
	r.Again = replay.New(r.Log, r.Stages, course, slots)
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d, d.Stages[0]
}

// Each cause is found where it is, with next to all of the excess. Only where chance made tasks slow, clones help: what
// else made them slow, a clone meets again.
func TestCauses(t *testing.T) {
	const more = 9 * sched.Second
	for cause, because := range map[Kind]func(a *history.TaskAttempt, i int){
		Straggler:   func(*history.TaskAttempt, int) {},
		Skew:        func(a *history.TaskAttempt, i int) { a.Bytes = 1000 },
		Scheduler:   func(a *history.TaskAttempt, i int) { a.Delay = more },
		GC:          func(a *history.TaskAttempt, i int) { a.GC = more },
		ShuffleWait: func(a *history.TaskAttempt, i int) { a.FetchWait = more },
		WarmUp:      func(a *history.TaskAttempt, i int) { a.Deserialize = 2 * sched.Second },
		Host:        func(a *history.TaskAttempt, i int) { a.Host = 3 },
		Spill:       func(a *history.TaskAttempt, i int) { a.Spilled = 1e9 },
	} {
		st := slowed(because)
		if cause != Host { // by chance, all are on one already
			for i := range st.Attempts {
				host := int32(i / 10)
				st.Attempts[i].Host, st.Succeeded[i].Host = host, host
			}
		}
		d, s := explained(t, st, 40, 0)
		if len(s.Causes) == 0 || s.Causes[0].Cause != cause || *s.Causes[0].Share < 0.95 || s.Causes[0].Remedy == "" {
			t.Errorf("%s: %s", cause, said(s))
		}
		helped := s.Best != nil && *s.Replay-s.Best.Seconds > 0.05**s.Replay
		chance := cause == Straggler || cause == Host
		if helped != chance || (d.Settings != nil) != chance {
			t.Errorf("%s: %s (%s), settings %+v, best %+v", cause, s.Verdict, s.Reason, d.Settings, s.Best)
		}
		sharesAddUp(t, s)
	}
}

func said(s *Finding) (text string) {
	for _, c := range s.Causes {
		text += fmt.Sprintf("%s %v (%s); ", c.Cause, *c.Share, c.Evidence)
	}
	return text
}

func sharesAddUp(t *testing.T, s *Finding) {
	t.Helper()
	sum := 0.0
	for _, c := range s.Causes {
		sum += *c.Share
		if !(*c.Share > 0) || c.Evidence == "" {
			t.Errorf("%s: %s", s.title, said(s))
		}
	}
	if sum > 1+1e-9 || *s.Excess > 0.1 && sum < 0.9 {
		t.Errorf("%s: the shares are %v: %s", s.title, sum, said(s))
	}
}

// What is no fault of single tasks: on ten slots they run in waves; for 400 slots they are too few; a log whose stage
// took longer than its tasks on their slots left slots idle, for the hosts of data if tasks prefer some.
func TestCausesOfAllTasks(t *testing.T) {
	even := slowed(func(a *history.TaskAttempt, i int) { a.Duration -= 9 * sched.Second })
	if _, s := explained(t, even, 400, 0); s.Causes[0].Cause != FewParts || *s.Causes[0].Share < 0.9 {
		t.Error(said(s))
	}
	for i := range even.Attempts {
		even.Attempts[i].Start += 9 * sched.Second
	}
	if _, s := explained(t, even, 40, 10*sched.Second); s.Causes[0].Cause != Scheduler || *s.Causes[0].Share < 0.9 {
		t.Error(said(s))
	}
	even.Attempts[7].Locality = history.SameHost
	if _, s := explained(t, even, 40, 10*sched.Second); s.Causes[0].Cause != Locality || *s.Causes[0].Share < 0.9 {
		t.Error(said(s))
	}
	for i := range even.Attempts {
		even.Attempts[i].Start += sched.Time(i/10) * 1100 * sched.Millisecond
	}
	if _, s := explained(t, even, 10, 0); s.Causes[0].Cause != FewSlots || *s.Causes[0].Share < 0.9 {
		t.Error(said(s))
	}
}

// Tasks away from their data are slower than those beside it.
func TestFar(t *testing.T) {
	st := slowed(func(a *history.TaskAttempt, i int) {})
	for i := range st.Attempts {
		st.Attempts[i].Locality = history.SameHost
		if i%10 == 3 {
			st.Attempts[i].Locality, st.Attempts[i].Host = history.Anywhere, int32(i/10)
		}
	}
	if _, s := explained(t, st, 40, 0); s.Causes[0].Cause != Locality || !strings.Contains(s.Causes[0].Evidence, "4 tasks ran on another host") {
		t.Error(said(s))
	}
}

// A task whose first attempt failed is slow because of that.
func TestFailures(t *testing.T) {
	st := slowed(func(a *history.TaskAttempt, i int) { a.Duration -= 9 * sched.Second })
	again := st.Attempts[5]
	again.Start += 8 * sched.Second
	st.Attempts[5].Duration, st.Attempts[5].Outcome, st.Attempts[5].Lost = 8*sched.Second, history.Failed, true
	st.Attempts, st.Failed = append(st.Attempts, again), 1
	if _, s := explained(t, st, 40, 0); s.Causes[0].Cause != Failure || s.Causes[0].Evidence != "1 attempt failed, 1 of them with an executor or its output, after 8.00s in all" {
		t.Error(said(s))
	}
}

// A first wave of cold tasks, next to none of which is slow: what makes one of them take 9 s is no warm-up, and a clone
// would not meet it again.
func TestStragglerAmongColdTasks(t *testing.T) {
	st := slowed(func(a *history.TaskAttempt, i int) { a.Duration -= 9 * sched.Second })
	for i := range st.Attempts {
		a := &st.Attempts[i]
		a.Executor, a.Host, a.Deserialize = int32(i%20)+1, int32(i%20), sched.Millisecond
		if i < 20 {
			a.Deserialize = 90 * sched.Millisecond
		} else {
			a.Start += 2 * sched.Second
		}
		if i == 3 {
			a.Duration, a.Deserialize = 9*sched.Second, 500*sched.Millisecond
		}
		st.Succeeded[i].Seconds = a.Duration.Seconds()
	}
	_, s := explained(t, st, 20, 0)
	if s.Causes[0].Cause != Straggler || *s.Causes[0].Share < 0.7 || s.Verdict != Replicate {
		t.Errorf("%s: %s", s.Verdict, said(s))
	}
	st.Attempts[3].Duration = sched.Second
	for i := range 20 { // now all that are cold are slow, and that one most
		a := &st.Attempts[i]
		a.Duration += 8 * (a.Deserialize - sched.Millisecond)
		st.Succeeded[i].Seconds = a.Duration.Seconds()
	}
	if _, s := explained(t, st, 20, 0); s.Causes[0].Cause == Straggler {
		t.Error(said(s))
	}
}

// A log without times of deserialisation: eight slow tasks, all in a first wave of ten of 40, are no chance; four late
// ones are.
func TestFirstWave(t *testing.T) {
	for slowest, want := range map[int]Kind{0: WarmUp, 30: Straggler} {
		st := slowed(func(a *history.TaskAttempt, i int) { a.Duration -= 9 * sched.Second })
		for i := range st.Attempts {
			a := &st.Attempts[i]
			a.Deserialize, a.Executor, a.Host = 0, 0, int32(i%3)
			a.Start += sched.Time(i/10) * 10 * sched.Second
			if i >= slowest && i < slowest+8 {
				a.Duration *= 9
			}
			st.Succeeded[i].Seconds = a.Duration.Seconds()
		}
		_, s := explained(t, st, 10, 0)
		share := math.NaN()
		for _, c := range s.Causes {
			if c.Cause == want {
				share = *c.Share
			}
		}
		if !(share > 0.2) {
			t.Errorf("%v of the excess is %s: %s", share, want, said(s))
		}
	}
}

// In real logs shares add up, and the slow first tasks of stages that once were called worth cloning are warm-up.
func TestCausesOfRealLogs(t *testing.T) {
	folder := os.Getenv("TAILCUT_TRACES")
	if folder == "" {
		folder = "../../../shared/traces"
	}
	for name, warm := range map[string]map[string]string{ // what the evidence begins with, by stage
		"spark-rapids-tools/nds_q72_dataproc_2_2":                                         {"13": "133 tasks "},
		"spark-rapids-tools/eventlog_4nodes_8cores_dynamic_alloc":                         {"9": "1 task ", "22": "8 tasks ", "40": "12 tasks "},
		"mcp-apache-spark-history-server/events_1_spark-cc4d115f011443d787f03a71a476a745": {"2": "4 tasks "},
		"sparklint/spark_event_log_example":                                               {},
		"sparklint/application_1472176676028_407508_1":                                    {},
	} {
		path := filepath.Join(folder, "spark-eventlogs", name+".gz")
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
		log, err := history.Open(path, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		r := Defaults()
		r.Log = name
		if r.Stages, r.Hosts, err = history.Stages(log.Attempts(), "", ""); err != nil {
			t.Fatal(err)
		}
		r.Again = replay.New(name, r.Stages, log.Course(), 0)
		log.Close()
		d, err := Explain(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if d.Settings != nil {
			t.Errorf("%s: no stage has stragglers that clones help with, but settings are %+v", name, d.Settings)
		}
		for _, s := range d.Stages {
			if s.Excess == nil {
				continue
			}
			sharesAddUp(t, s)
			begin, asked := warm[s.Stage]
			var evidence string
			for _, c := range s.Causes {
				if c.Cause == WarmUp {
					evidence = c.Evidence
				}
			}
			if asked && !strings.HasPrefix(evidence, begin) {
				t.Errorf("%s, stage %s: %s", name, s.Stage, said(s))
			}
		}
	}
}
