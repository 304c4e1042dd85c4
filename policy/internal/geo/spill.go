package geo

// Waiting against spilling. Where links are shared, tasks that find no slot at their data and go elsewhere fetch all at
// once over one uplink, and may be done later than if they had waited for a slot. So a task that would start at site k
// is told to wait if
//
//	W_h(r) + p E[s_h] + d_h  <  p E[s_k] + d_k
//
// for a site h where it reads and no slot is free; both sides with their prices, see money.go. W_h(r) is when the r-th
// of those that wait there gets a slot: when the r-th of the attempts there is expected to end, given its age, and
// another p E[s_h] for each round of all slots before. r counts the tasks told to wait since Survey, so tasks spill
// until that is as slow as waiting. Both papers, Flutter and GeoClone, let each fetch have its link to itself; there
// and with contention=ignored no task waits.

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Weighs tells whether tasks may be told to wait.
func (w *SiteWatch) Weighs(v *sched.View) bool {
	n := v.Sites().Network()
	return n != nil && n.Shared && w.Links.Weighs
}

// Survey looks at what is fetched and what runs now. It follows Refresh.
func (w *SiteWatch) Survey(v *sched.View) {
	if !w.Weighs(v) {
		return
	}
	w.Links.Survey(v)
	w.queues, w.held = kit.Grown(w.queues, v.Sites().Len()-1), kit.Zeroed(w.held, v.Sites().Len())
	w.room = kit.Zeroed(w.room, v.Sites().Len())
	for k := range w.queues {
		w.queues[k] = w.queues[k][:0]
		w.room[k] = v.Sites().FreeSlots(sched.SiteID(k))
	}
	for row := range v.Rows().Attempts() {
		id := v.Rows().AttemptIn(row)
		if !v.Rows().Alive(id) {
			continue
		}
		a := v.Attempt(id)
		k, st := v.Machine(a.Machine).Site, v.Stage(v.Task(a.Task).Stage)
		p, _, ok := st.Estimate()
		if !ok || p <= 0 {
			p = 1
		}
		fetch, age := w.fetched(v, a.Task, id, k), (v.Now() - a.Started).Seconds()
		left := p * w.Laws[k].Left(max(0, age-fetch)/p)
		w.queues[k] = append(w.queues[k], left+max(0, fetch-age))
	}
	for k := range w.queues {
		slices.Sort(w.queues[k])
	}
}

// Goes tells whether a task of mean p had better start at a site with a free slot than wait for one at its data. Its
// fetches count from then on, or else that it waits.
func (w *SiteWatch) Goes(v *sched.View, t sched.TaskID, sources []sched.Source, p float64, to sched.SiteID) bool {
	if !w.Weighs(v) {
		return true
	}
	home, least := sched.SiteID(0), math.Inf(1)
	for _, x := range sources {
		if x.Site == to {
			continue
		}
		wait, ok := w.wait(x.Site, p)
		if e := wait + w.Objective(v, t, sources, p, x.Site); ok && e < least {
			home, least = x.Site, e
		}
	}
	if least < w.Objective(v, t, sources, p, to) {
		w.held[home]++
		return false
	}
	w.Starts(v, sources, p, to)
	return true
}

// Objective returns the seconds that an attempt of a task of mean p is expected to take at a site, and what it costs
// beside.
func (w *SiteWatch) Objective(v *sched.View, t sched.TaskID, sources []sched.Source, p float64, k sched.SiteID) float64 {
	e := p*w.Laws[k].Mean + w.Links.FetchTo(v, sources, k)
	return e + w.Links.Toll(v, t, sources, k, e)
}

// Starts counts an attempt that is about to start at a site, of a task of mean p.
func (w *SiteWatch) Starts(v *sched.View, sources []sched.Source, p float64, to sched.SiteID) {
	if !w.Weighs(v) {
		return
	}
	lasts := p*w.Laws[to].Mean + w.Links.FetchTo(v, sources, to)
	i, _ := slices.BinarySearch(w.queues[to], lasts)
	w.queues[to] = slices.Insert(w.queues[to], i, lasts)
	w.room[to]--
	w.Links.Join(v, sources, to)
}

// wait returns in how many seconds the next task that waits at a site gets a slot; ok is false where one is free, or
// none is used.
func (w *SiteWatch) wait(k sched.SiteID, p float64) (seconds float64, ok bool) {
	queue, r := w.queues[k], int(w.held[k])
	if len(queue) == 0 || w.room[k] > 0 {
		return 0, false
	}
	return queue[r%len(queue)] + float64(r/len(queue))*p*w.Laws[k].Mean, true
}
