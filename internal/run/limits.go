package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/sched"
)

// limits returns those of each stage of the job, and of the stages that a job of one kind of work is cut into.
func (e *Engine) limits(stages int) []jobfile.Limits {
	all := slices.Repeat([]jobfile.Limits{{Timeout: e.o.Timeout, Memory: e.o.Memory, Nice: e.o.Nice}}, stages)
	if e.Job.Array != nil {
		for i := range e.Job.Array.Stages {
			all[i] = e.Job.Array.Stages[i].Limits.Over(all[i])
		}
	}
	return all
}

// stages returns how many stages have limits of their own, or may have.
func (e *Engine) stages() int {
	if e.Job.Array != nil {
		return len(e.Job.Array.Stages)
	}
	return 1
}

// stageRetries returns the retries of the stages that have their own; nil if none has.
func (e *Engine) stageRetries() (all []*int) {
	if e.Job.Array == nil {
		return nil
	}
	own := false
	for i := range e.Job.Array.Stages {
		all = append(all, e.Job.Array.Stages[i].Limits.Retries)
		own = own || all[i] != nil
	}
	if !own {
		return nil
	}
	return all
}

// settleLimits checks that this machine can hold attempts to what is asked for.
func (e *Engine) settleLimits() error {
	o := &e.o
	switch {
	case o.Slots < 0 || o.Slots > MostSlots:
		return grammar.Wrong("slots", fmt.Errorf("expected a number between 1 and %d, not %d", MostSlots, o.Slots))
	case o.Timeout.After < 0:
		return grammar.Wrong("timeout", fmt.Errorf("expected a duration of at least 0, not %v", o.Timeout))
	case o.Nice < 0 || o.Nice > jobfile.MostNice:
		return grammar.Wrong("nice", fmt.Errorf("expected a number from 0 to %d, not %d", jobfile.MostNice, o.Nice))
	}
	flag, need := "memory", int64(0)
	for i, l := range e.limits(e.stages()) {
		need = max(need, l.Memory)
		if e.Job.Array != nil && e.Job.Array.Stages[i].Limits.Memory != nil && l.Memory == need {
			flag = fmt.Sprintf("stages[%d].memory", i)
		}
	}
	switch {
	case o.On == remote.Kubernetes:
		return nil // it is no matter of this machine
	case need == 0 && o.Load > 0:
		flag = "load"
	case need == 0 && o.MemFree > 0:
		flag = "memfree"
	case need == 0:
		return nil
	}
	x, err := proc.ReadMachine()
	if err != nil {
		return grammar.Wrong(flag, err)
	}
	if most := grammar.FormatSize(x.Total >> 20 << 20); need > x.Total {
		return grammar.Wrong(flag, fmt.Errorf("%s for one attempt is more than the %s that this machine (or its cgroup) has", grammar.FormatSize(need), most))
	} else if o.MemFree > x.Total {
		return grammar.Wrong("memfree", fmt.Errorf("%s can never be free: this machine (or its cgroup) has %s", grammar.FormatSize(o.MemFree), most))
	}
	return nil
}

// refuseLimits names the limits that a program which runs attempts elsewhere cannot hold them to.
func (e *Engine) refuseLimits() error {
	pods := e.o.On == remote.Kubernetes
	const local = "works only for processes and files of this machine; leave it out"
	o := &e.o
	for _, x := range []struct {
		flag  string
		given bool
		why   string
	}{
		{"memfree", pods && o.MemFree > 0, "is about this machine, and attempts run in pods; give --memory to have it requested for each"},
		{"load", pods && o.Load > 0, "is about this machine, and attempts run in pods; leave it out"},
		{"slots", len(o.Classes) > 0, "expected a number: only processes and files of this machine have classes of slots"},
		{"slots", pods && o.SlotsOfPC, fmt.Sprintf("expected a number of pods from 1 to %d: the cores of this machine do not matter to them", MostSlots)},
	} {
		if x.given {
			return grammar.Wrong(x.flag, errors.New(x.why))
		}
	}
	for i, l := range e.limits(e.stages()) {
		own, dir := jobfile.Own{}, ""
		if e.Job.Array != nil {
			own, dir = e.Job.Array.Stages[i].Limits, e.Job.Array.Stages[i].Dir
		}
		for _, x := range []struct {
			field string
			given bool
			own   bool
			why   string
		}{
			{"timeout", l.Timeout.Percent > 0, own.Timeout != nil, "expected a duration such as 10m: a percentage of the median " + local},
			{"nice", pods && l.Nice > 0, own.Nice != nil, local},
			{"memory", !pods && l.Memory > 0, own.Memory != nil, local},
			{"workdir", dir != "", true, local},
		} {
			switch {
			case x.given && x.own:
				return fmt.Errorf("stages[%d].%s: %s", i, x.field, x.why)
			case x.given:
				return grammar.Wrong(x.field, errors.New(x.why))
			}
		}
	}
	return nil
}

// checkFolders checks that the stages have the folders that they work in.
func (e *Engine) checkFolders() error {
	if e.Job.Array == nil {
		return nil
	}
	for i := range e.Job.Array.Stages {
		if dir := e.Job.Array.Stages[i].Dir; dir != "" {
			if info, err := os.Stat(dir); err != nil {
				return fmt.Errorf("stages[%d].workdir: %w", i, err)
			} else if !info.IsDir() {
				return fmt.Errorf("stages[%d].workdir: %s: expected a folder, found a file", i, dir)
			}
		}
	}
	return nil
}

// hold has a run heed who shares the machine, and what attempts need of it.
func (e *Engine) hold(run *live.Run) error {
	g := live.Gate{MemFree: e.o.MemFree, Load: e.o.Load, Delay: e.o.Delay, Read: proc.ReadMachine}
	need := int64(0)
	if e.cloud == nil {
		for _, l := range e.limits(len(run.Header.Stages)) {
			g.Memory = append(g.Memory, l.Memory)
			need = max(need, l.Memory)
		}
	}
	if path := e.o.SlotsFile; path != "" {
		g.Slots = func() (int, error) { return ReadSlots(path) }
	}
	if need == 0 && g.MemFree == 0 && g.Load == 0 && g.Delay == 0 && g.Slots == nil {
		return nil
	}
	if need == 0 {
		g.Memory = nil
	} else {
		x, err := g.Read()
		if err != nil {
			return Failure{err}
		}
		if g.Budget = x.Free; g.Budget < need {
			e.notice("warning: %s of memory are free, and an attempt may need %s; one at a time runs", grammar.FormatSize(g.Budget>>20<<20), grammar.FormatSize(need))
		}
	}
	run.Hold(g)
	return nil
}

// teller tells an executor that asks for it how long attempts took that have won.
func teller(executor live.Executor) func(*live.Record) {
	to, ok := executor.(interface {
		Won(stage int, d time.Duration)
	})
	if !ok {
		return func(*live.Record) {}
	}
	return func(r *live.Record) {
		if whole, ok := sched.Whole(r.Stop-r.Start, r.From); ok && r.End == live.Won {
			to.Won(r.Stage, time.Duration(sched.FromSeconds(whole)))
		}
	}
}
