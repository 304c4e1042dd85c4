package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
)

// arrived is a Job that came to a pool. It may have left since; plays draw from the latest ones what comes next. A
// controller that was started anew knows those that are still there.
type arrived struct {
	uid  types.UID
	want settings
	past *live.Past // of earlier runs; nil for none
}

// note takes down that a Job came.
func (p *pool) note(uid types.UID, e *entry) {
	p.came = slices.DeleteFunc(p.came, func(x arrived) bool { return x.uid == uid })
	p.came = append(p.came, arrived{uid, e.want, e.past})
	slices.SortStableFunc(p.came, func(a, b arrived) int { return a.want.start.Compare(b.want.start) })
	if n := len(p.came) - promise.MostCame; n > 0 {
		p.came = slices.Delete(p.came, 0, n)
	}
}

// arrivals are the Jobs that came to the pool lately. A Job that has its seats alone waits for no other.
func (r *run) arrivals() (all []promise.Came) {
	if !r.shared {
		return nil
	}
	for _, x := range r.came {
		c := promise.Came{At: r.instant(x.want.start), Spec: *x.want.spec(x.want.completions, true)}
		if !x.want.deadline.IsZero() {
			c.Spec.Deadline = max(1, r.instant(x.want.deadline)-c.At)
		}
		if runs := earlierRuns(x.want.law, x.past); len(runs) > 0 {
			c.Known = []*promise.Durations{{Past: runs}}
		}
		all = append(all, c)
	}
	return all
}
