package live

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// points are the places at which attempts can go on, by task, in the order of the journal. A policy launches an attempt
// from any fraction of the work it likes, such as the one that it expects the original to have reached; the attempt
// begins at the furthest point at or before. Points come from facts alone, so a replay finds the same.
type points map[sched.TaskID][]point

// point is progress that an attempt in a resumable stage has reported, and so has saved.
type point struct {
	progress float64 // in (0, 1)
	number   int     // of the attempt
	machine  sched.MachineID
}

// before returns the furthest point of a task at or before a fraction of its work, of equal ones the first; nil if
// there is none.
func (p points) before(t sched.TaskID, from float64) (best *point) {
	for i := range p[t] {
		if x := &p[t][i]; x.progress <= from && (best == nil || x.progress > best.progress) {
			best = x
		}
	}
	return best
}

// know takes in the facts of a batch. A machine that is lost takes what was saved on it along. The last attempt that a
// task may have begins at the beginning, lest something in what was saved let all of them fail.
func (h *history) know(v *sched.View, facts []sched.Event) {
	for i := range facts {
		f := &facts[i]
		if f.Kind == sched.MachineLost {
			for _, j := range h.jobs {
				for t, all := range j.points {
					j.points[t] = slices.DeleteFunc(all, func(p point) bool { return p.machine == f.Machine })
				}
			}
			continue
		}
		x, ok := h.running[f.Attempt]
		if !ok {
			continue
		}
		r := &x.records[x.at]
		switch f.Kind {
		case sched.AttemptProgress:
			if f.Progress > 0 && f.Progress < 1 && v.Stage(v.Task(r.Task).Stage).Resumable {
				put(&x.points, r.Task, append(x.points[r.Task], point{progress: f.Progress, number: r.Number, machine: r.Machine}))
			}
		case sched.AttemptFailed, sched.AttemptDoomed:
			put(&x.failed, r.Task, true)
			if t := v.Task(r.Task); uint32(t.Failures) >= v.Stage(t.Stage).Retries {
				delete(x.points, r.Task)
			}
		}
	}
}
