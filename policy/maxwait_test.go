package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestMaxWait: under every policy a long job gets on although short ones come without end, if the limits say so.
func TestMaxWait(t *testing.T) {
	for _, spec := range Names() {
		t.Run(spec, func(t *testing.T) {
			if sched.Paces(subject(t, spec).New()) {
				t.Skip("it sets the speed")
			}
			flow, active, ended := crowd(t, spec, 30*sched.Second)
			// 3 tasks of 10 s at most; no slot is held for longer, and there are two
			if bound := 3 * (30*sched.Second + sched.Time((active+1)/2+2)*10*sched.Second); flow > bound {
				t.Errorf("it took %v, and may take %v", flow, bound)
			}
			if !ended {
				t.Error("it ended after the short jobs")
			}
		})
	}
	if _, _, ended := crowd(t, "srpt", 0); ended {
		t.Error("without a bound srpt does not starve it: the test shows nothing")
	}
}

// crowd runs a job of three tasks of 10 s beside short ones that need more than the two slots for a quarter of an hour.
// It returns the flow time of the job, the most jobs active at once, and whether it ended while short ones still came.
func crowd(t *testing.T, spec string, wait sched.Time) (flow sched.Time, active int, ended bool) {
	t.Helper()
	const last = 900 * sched.Second
	l := sched.NoLimits()
	l.MaxWait = wait
	w := policytest.NewWorld(t, subject(t, spec).New(), l)
	w.Machine(0, 2)
	w.Submit(sched.Second, &sched.JobSpec{Retries: 100, Stages: []sched.StageSpec{{Tasks: 3, Mean: 10 * sched.Second}}})
	for at := sched.Time(0); at < last; at += 2 * sched.Second {
		w.Submit(at, &sched.JobSpec{Retries: 100, Stages: []sched.StageSpec{{Tasks: 1, Mean: 5 * sched.Second}}})
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		f := policytest.Fate{Lasts: 5 * sched.Second, Reports: 2 * sched.Second}
		if d.Job == 0 {
			f.Lasts = 10 * sched.Second
		}
		return f
	}
	w.Seen = func(sched.Time, []sched.Decision) {
		n := 0
		for j := range sched.JobID(w.Core.View().Rows().Jobs()) {
			if w.Core.View().Job(j).State == sched.JobActive {
				n++
			}
		}
		active = max(active, n)
	}
	for w.Core.View().Job(0).State <= sched.JobActive && w.Step() {
	}
	job := w.Core.View().Job(0)
	if job.State != sched.JobSucceeded {
		t.Fatalf("it is in state %d", job.State)
	}
	return job.Closed - job.Arrived, active, job.Closed < last
}
