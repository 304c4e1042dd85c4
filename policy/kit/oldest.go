package kit

import "github.com/tailcut/tailcut/sched"

// Oldest keeps attempts by start, then task, and knows the first that still runs. It is for those who ask of nothing
// but that one. An attempt that ends stays where it is until its turn comes to be the first: in a large cluster to
// take it out at once is to visit its neighbours, which are in no cache.
//
// A task has at most one attempt in it at a time.
type Oldest struct {
	all  []sched.AttemptID // all[next:] are left, all[next] runs; of those behind it some may have ended
	next int32
}

// Reset empties the structure and makes room for the attempts of n tasks, in memory of its own or else of the arena.
// There is some to spare, so that retries find it full, and those that have ended are taken out, only now and then.
func (o *Oldest) Reset(n int, from *Arena[sched.AttemptID]) {
	if n += n/4 + 1; cap(o.all) < n {
		o.all = from.take(n)
	}
	o.all, o.next = o.all[:0], 0
}

// First returns the attempt that started first of those that run.
func (o *Oldest) First() (a sched.AttemptID, ok bool) {
	if int(o.next) == len(o.all) {
		return 0, false
	}
	return o.all[o.next], true
}

// Pass takes the first attempt out; there must be one.
func (o *Oldest) Pass(v *sched.View) {
	for o.next++; int(o.next) < len(o.all) && !v.Rows().Alive(o.all[o.next]); {
		o.next++
	}
}

// Ended takes notice that an attempt has ended, whether it was in the structure or not.
func (o *Oldest) Ended(v *sched.View, a sched.AttemptID) {
	if first, ok := o.First(); ok && first == a {
		o.Pass(v)
	}
}

// Add takes in an attempt. It searches from the end, where a new one belongs; what is left of a pair after one of the
// two ended without result may belong anywhere.
func (o *Oldest) Add(v *sched.View, a sched.AttemptID) {
	for last := len(o.all) - 1; last > int(o.next) && !v.Rows().Alive(o.all[last]); last-- {
		o.all = o.all[:last]
	}
	if len(o.all) == cap(o.all) {
		o.compact(v)
	}
	o.all = append(o.all, a)
	started, task := v.Rows().Started(a), v.Rows().TaskOf(a)
	for i := len(o.all) - 1; i > int(o.next); i-- {
		b := o.all[i-1]
		if at := v.Rows().Started(b); v.Rows().Alive(b) && (at < started || at == started && v.Rows().TaskOf(b) < task) {
			break
		}
		o.all[i-1], o.all[i] = a, b
	}
}

// compact takes out all that have ended.
func (o *Oldest) compact(v *sched.View) {
	left := o.all[:0]
	for _, a := range o.all[o.next:] {
		if v.Rows().Alive(a) {
			left = append(left, a)
		}
	}
	o.all, o.next = left, 0
}
