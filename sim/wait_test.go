package sim

import (
	"context"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// begins notes when attempts were launched and when they began.
type begins struct {
	greedy
	launched, began map[sched.TaskID]sched.Time
}

func (p *begins) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptBegan {
		p.began[ev.Task] = v.Now()
	}
}

func (p *begins) Decide(v *sched.View, act *sched.Actions) {
	p.greedy.Decide(v, act)
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if _, known := p.launched[t]; !known && v.Task(t).Launched > 0 {
			p.launched[t] = v.Now()
		}
	}
}

// Each attempt waits for as long as its seed, job, task and number say; the policy is told when it begins, and only what comes after counts as machine time.
func TestWait(t *testing.T) {
	w := load(t, "0 4 4 4 4 4 4\n")
	law := laws.Uniform{Lo: 1, Hi: 5}
	for name, progress := range map[string]Progress{"none": {}, "exact": {Exact: true}, "reports": {Every: sched.Second}} {
		p := &begins{launched: map[sched.TaskID]sched.Time{}, began: map[sched.TaskID]sched.Time{}}
		r := simulate(t, w, p, Options{Machines: 2, Wait: law, Seed: 3, Progress: progress})
		if job := r.Jobs[0]; job.Fruitful != 16*sched.Second || job.Fruitless != 0 {
			t.Errorf("%s: machine time %v and %v", name, job.Fruitful, job.Fruitless)
		}
		waits := map[sched.Time]bool{}
		for task, at := range p.began {
			wait := at - p.launched[task]
			if waits[wait] = true; wait < sched.Second || wait > 5*sched.Second {
				t.Errorf("%s: task %d waits for %v", name, task, wait)
			}
			if want := sched.FromSeconds(laws.Sample(law, uniform(draw(3, forWait, 0, uint32(task), 0)))); wait != want {
				t.Errorf("%s: task %d waits for %v, want %v", name, task, wait, want)
			}
		}
		if len(waits) != 4 {
			t.Errorf("%s: %d tasks began, waits %v", name, len(p.began), waits)
		}
	}
}

// What cannot be is refused.
func TestWaitRefused(t *testing.T) {
	w := load(t, "0 1 1 1\n")
	wait := laws.Deterministic{Value: 1}
	shared, err := ParseService("capacity:law=(uniform:lo=0,hi=2),slot=1s,checkpoint=true")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"two kinds":     {Machines: 1, Wait: wait, LaunchDelay: 1},
		"checkpointing": {Machines: 1, Wait: wait, Model: shared},
	} {
		if _, err := Run(context.Background(), w, greedy{}, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
