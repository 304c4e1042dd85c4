package geo

// What fetches under way do to each other where links are shared (sched.Network.Shared). One more fetch from site k to
// site l has the least of
//
//	U_k/(out_k+1), D_l/(in_l+1), b_kl/(min(out_k, in_l)+1)
//
// as a part of what the link and its ends carry, out_k and in_l being the fetches that leave k and enter l now: less
// than max-min fairness gives it, where others are held up elsewhere. Where speeds are learned, a fetch that took so
// long among n others is seen as one of an n-th of the time alone, n being the larger of both counts when it ended.
//
// Attempts are looked through when somebody plans: nobody tells of a launch.

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// traffic is the fetches under way.
type traffic struct {
	out, in []int32 // as far as is known
	at      sched.Time
	wasOut  []int32 // when the present instant began
	wasIn   []int32
	came    []arrived // by row of the attempt
	sources []sched.Source
}

// arrived is what an attempt has fetched so far.
type arrived struct {
	id    sched.AttemptID
	sites []sched.SiteID
}

// Survey looks at what is fetched now, where links are shared.
func (w *LinkWatch) Survey(v *sched.View) {
	n := v.Sites().Network()
	if n == nil || !n.Shared {
		return
	}
	x := &w.traffic
	x.out, x.in = kit.Zeroed(x.out, n.Sites()), kit.Zeroed(x.in, n.Sites())
	for row := range v.Rows().Attempts() {
		id := v.Rows().AttemptIn(row)
		if !v.Rows().Alive(id) {
			continue
		}
		a := v.Attempt(id)
		to := v.Machine(a.Machine).Site
		x.sources = v.Sites().AppendSources(x.sources[:0], a.Task)
		for _, s := range x.sources {
			if s.Site != to && !x.has(id, s.Site) {
				x.out[s.Site]++
				x.in[to]++
			}
		}
	}
	x.at = sched.Never // counts of before are worth nothing
	w.edit++
}

// has tells whether an attempt has said that it has fetched from a site.
func (x *traffic) has(id sched.AttemptID, k sched.SiteID) bool {
	row := id.Row()
	return row < len(x.came) && x.came[row].id == id && slices.Contains(x.came[row].sites, k)
}

// Join counts the fetches of an attempt that is about to start.
func (w *LinkWatch) Join(v *sched.View, sources []sched.Source, to sched.SiteID) {
	if n := v.Sites().Network(); n == nil || !n.Shared {
		return
	}
	for _, s := range sources {
		if s.Site != to {
			w.traffic.out[s.Site]++
			w.traffic.in[to]++
			w.edit++
		}
	}
}

// end takes note of the end of a fetch and returns among how many it was.
func (x *traffic) end(v *sched.View, ev *sched.Event, to sched.SiteID) float64 {
	x.out, x.in = kit.Grown(x.out, v.Sites().Len()-1), kit.Grown(x.in, v.Sites().Len()-1)
	if x.at != v.Now() {
		x.at = v.Now()
		x.wasOut, x.wasIn = append(x.wasOut[:0], x.out...), append(x.wasIn[:0], x.in...)
	}
	among := max(1, x.wasOut[ev.Site], x.wasIn[to])
	x.out[ev.Site], x.in[to] = max(0, x.out[ev.Site]-1), max(0, x.in[to]-1)
	if ev.Attempt > 0 {
		row := ev.Attempt.Row()
		x.came = kit.Grown(x.came, row)
		c := &x.came[row]
		if c.id != ev.Attempt {
			*c = arrived{ev.Attempt, c.sites[:0]}
		}
		c.sites = append(c.sites, ev.Site)
	}
	return float64(among)
}

// shared returns the seconds that a byte takes from site k to site l if one more fetch shares the way; alone is that of
// the link as it was learned.
func (w *LinkWatch) shared(n *sched.Network, k, l int) float64 {
	x := &w.traffic
	out, in := 1.0, 1.0
	if k < len(x.out) && l < len(x.in) && w.Weighs {
		out, in = float64(x.out[k]+1), float64(x.in[l]+1)
	}
	if !w.knows(n) {
		return w.pace(k, l) * max(out, in)
	}
	up, _ := n.Ends(sched.SiteID(k))
	_, down := n.Ends(sched.SiteID(l))
	return max(out/up, in/down, min(out, in)/n.Bandwidth[k*n.Sites()+l])
}
