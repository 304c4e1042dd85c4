package proc

import (
	"container/heap"
	"fmt"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/show"
)

// medianOf is how many attempts of a stage must have won before their median bounds the others: one alone may be an
// empty input.
const medianOf = 3

// limits of the stages, and what has to be known to hold attempts to them.
type limits struct {
	of      []jobfile.Limits
	medians []median // by stage; under the executor's lock
}

func newLimits(of []jobfile.Limits, stages int) limits {
	l := limits{medians: make([]median, stages)}
	for s := range stages {
		l.of = append(l.of, jobfile.LimitsOf(of, s))
	}
	return l
}

// watched tells whether attempts have to be looked at while they run.
func (l *limits) watched() bool {
	for _, x := range l.of {
		if x.Timeout.Percent > 0 || x.Memory > 0 {
			return true
		}
	}
	return false
}

// bound puts the limits of its stage on an attempt that has begun.
func (e *Executor) bound(p *process) {
	l := e.limits.of[p.attempt.Stage]
	if l.Nice > 0 {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, p.leader(), l.Nice) // who is there already below stays so
	}
	if d := l.Timeout.After; d > 0 {
		p.timers = append(p.timers, time.AfterFunc(d, func() { p.killFor(byLimit, fmt.Sprintf("timed out after %v", d)) }))
	}
}

// Won tells the executor how long an attempt took that has won, one that went on from another's work as if it had done
// it all. It may be called by anybody.
func (e *Executor) Won(stage int, d time.Duration) {
	if e.limits.of[stage].Timeout.Percent == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.limits.medians[stage].add(d)
}

// look ends the attempts that are over their limits. memory returns what processes have resident; nil if nobody looks
// at that now.
func (e *Executor) look(now time.Time, memory func() residents) {
	for _, p := range e.running() {
		l := e.limits.of[p.attempt.Stage]
		if why := e.overtime(p, now); why != "" {
			p.killFor(byLimit, why)
			continue
		}
		if l.Memory == 0 {
			continue
		}
		if n := memory().of(p.leader(), l.Memory); n > l.Memory {
			p.killFor(byLimit, fmt.Sprintf("used %s of memory, more than the %s that memory allows; raise it with --memory or in the job file",
				grammar.FormatSize((n+1<<20-1)>>20<<20), grammar.FormatSize(l.Memory)))
		}
	}
}

// running returns the attempts that have begun and not ended.
func (e *Executor) running() (all []*process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.procs {
		if p.alive() {
			all = append(all, p)
		}
	}
	return all
}

// overtime returns why an attempt has run for too long in proportion to its stage, "" if it has not.
func (e *Executor) overtime(p *process, now time.Time) string {
	percent := e.limits.of[p.attempt.Stage].Timeout.Percent
	if percent == 0 {
		return ""
	}
	e.mu.Lock()
	n, middle := e.limits.medians[p.attempt.Stage].get()
	e.mu.Unlock()
	ran := now.Sub(p.startedAt)
	if n < medianOf || float64(ran) <= percent/100*float64(middle) {
		return ""
	}
	return fmt.Sprintf("timed out after %s: more than %s of %s, the median of %s", show.Seconds(ran.Seconds()), jobfile.Timeout{Percent: percent}, show.Seconds(middle.Seconds()), show.Count(n, "attempt"))
}

// median of durations, of which one after the other comes: the smaller half is in one heap, the greater in another.
type median struct {
	small, great durations // small has them negative
}

type durations []time.Duration

func (d durations) Len() int           { return len(d) }
func (d durations) Less(i, j int) bool { return d[i] < d[j] }
func (d durations) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *durations) Push(x any)        { *d = append(*d, x.(time.Duration)) }
func (d *durations) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// add takes one in.
func (m *median) add(d time.Duration) {
	heap.Push(&m.small, -d)
	heap.Push(&m.great, -heap.Pop(&m.small).(time.Duration))
	if m.great.Len() > m.small.Len() {
		heap.Push(&m.small, -heap.Pop(&m.great).(time.Duration))
	}
}

// get returns how many durations there are, and the lower one in the middle.
func (m *median) get() (n int, middle time.Duration) {
	if n = m.small.Len() + m.great.Len(); n > 0 {
		middle = -m.small[0]
	}
	return n, middle
}
