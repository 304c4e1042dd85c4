package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestIridiumDivides judges iridium as published in messy worlds, where machines come and go: a task that reads at one site is to run there if that has slots, the others of a stage are divided such that no
// division has a smaller z, nor one with the same z moves less; a task starts where it is to run and nowhere else, and no slot stays free for which one waits whose job has had its turn.
func TestIridiumDivides(t *testing.T) {
	divided, moved, started := 0, 0, 0
	for seed := range uint64(60) {
		spec := []string{"iridium", "iridium:order=fifo", "iridium:truth=true,order=srpt", "iridium:memory=20s,weight=1"}[seed%4]
		p, err := New(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := &dividing{Policy: p, p: p.(*plain).order.Placing().(*iridium), t: t, was: map[sched.TaskID]iridiumPlace{}}
		policytest.MessySites(t, x, sched.NoLimits(), seed).Run()
		if divided, moved, started = divided+x.divided, moved+x.moved, started+x.started; t.Failed() {
			t.Fatalf("%s, world %d", spec, seed)
		}
	}
	if divided < 100 || moved < 10 || started < 1000 {
		t.Errorf("only %d stages were divided, %d tasks got another site and %d were started", divided, moved, started)
	}
}

// dividing is iridium, watched.
type dividing struct {
	sched.Policy
	p   *iridium
	t   *testing.T
	was map[sched.TaskID]iridiumPlace

	divided, moved, started int
}

func (x *dividing) Decide(v *sched.View, act *sched.Actions) {
	var waited []sched.TaskID
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if j := v.Rows().JobOf(t); v.Task(t).State == sched.TaskPending && v.Job(j).State == sched.JobActive && !v.Job(j).Paused {
			waited = append(waited, t)
		}
	}
	x.Policy.Decide(v, act)
	free := v.FreeSlots() > 0
	groups := map[sched.StageID][]sched.TaskID{}
	for _, t := range waited {
		now := x.p.places.Get(t)
		if a, ok := v.FirstAttempt(t); ok {
			if x.started++; !now.anywhere && v.Machine(v.Attempt(a).Machine).Site != now.site {
				x.t.Errorf("%v: task %d has started elsewhere than at site %d", v.Now(), t, now.site)
			}
		} else if free && (!now.known || now.anywhere || v.Sites().FreeSlots(now.site) > 0) {
			x.t.Errorf("%v: task %d waits though slots are free: %+v", v.Now(), t, now)
		}
		before, seen := x.was[t]
		x.was[t] = now
		if seen && before.known && before.site != now.site {
			x.moved++
		}
		if now.known && (!before.known || before.site != now.site) {
			groups[v.Task(t).Stage] = append(groups[v.Task(t).Stage], t)
		}
	}
	for _, tasks := range groups {
		x.judge(v, tasks)
	}
}

// judge checks where tasks of one stage shall run that have got their sites at once.
func (x *dividing) judge(v *sched.View, tasks []sched.TaskID) {
	k := v.Sites().Len()
	w := division{data: make([]float64, k), up: make([]float64, k), down: make([]float64, k), room: make([]int, k)}
	count := make([]int, k)
	for _, t := range tasks {
		reads, at := v.Sites().AppendSources(nil, t), x.p.places.Get(t)
		if at.anywhere != (len(reads) == 0) {
			x.t.Errorf("%v: task %d reads %v and runs anywhere: %v", v.Now(), t, reads, at.anywhere)
		}
		if len(reads) == 1 && v.Sites().Slots(reads[0].Site) > 0 && at.site != reads[0].Site {
			x.t.Errorf("%v: task %d reads at site %d, but is to run at %d", v.Now(), t, reads[0].Site, at.site)
		}
		if len(reads) == 0 || len(reads) == 1 && v.Sites().Slots(reads[0].Site) > 0 {
			continue
		}
		w.n++
		count[at.site]++
		for _, s := range reads {
			w.data[s.Site] += float64(s.Bytes)
		}
	}
	if w.n == 0 {
		return
	}
	x.divided++
	for i := range k {
		w.up[i], w.down[i] = x.p.watch.Ends(v, i)
		if v.Sites().Slots(sched.SiteID(i)) > 0 {
			w.room[i] = w.n
		}
	}
	z, moved := w.best()
	if got, bytes := w.of(count); !(got <= z*(1+1e-9)) || bytes > moved*(1+1e-9) {
		x.t.Errorf("%v: %v has z = %v and moves %v, but %v and %v can be had: %+v", v.Now(), count, got, bytes, z, moved, w)
	}
}
