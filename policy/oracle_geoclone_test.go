package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var geocloneOracle = oracle{
	name: "geoclone", sites: true,
	specs: []string{
		"geoclone", "geoclone:slot=0s,epsilon=0.3", "geoclone:first=printed,round=quota,epsilon=1", "geoclone:slots=free,slot=1s,epsilon=0.5",
		"geoclone:tasks=unfinished,slot=2s", "geoclone:copies=2,prior=(exp:mean=2)", "geoclone:truth=true,slot=1s,epsilon=0.1",
		"geoclone:tasks=unfinished,round=quota,memory=20s,epsilon=0.6", "geoclone:prior=(det:value=1),slot=1s",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowGeoClone{
			clock: kit.Clock{Slot: a.Span("slot")}, watch: geo.NewSiteWatch(a), eps: a.Float("epsilon"), seed: a.Seed(), copies: a.Int("copies"),
			printed: a.Choice("first") == "printed", free: a.Choice("slots") == "free", running: a.Choice("tasks") == "unfinished", quota: a.Choice("round") == "quota",
		}
	},
}

// slowGeoClone is section 27 of the digest, with all that it asks for reckoned anew at each visit. It shares with the
// policy what is known of sites and links (geo.SiteWatch, geo.LinkWatch) and how tasks are drawn.
type slowGeoClone struct {
	clock                         kit.Clock
	watch                         *geo.SiteWatch
	eps                           float64
	seed                          uint64
	copies                        int
	printed, free, running, quota bool
}

// slowGeoTask is a task that may get so many more attempts.
type slowGeoTask struct {
	id    sched.TaskID
	quota int
	at    []sched.SiteID // of its attempts, as they joined
}

func (p *slowGeoClone) Observe(v *sched.View, ev *sched.Event) { p.watch.Observe(v, ev) }

func (p *slowGeoClone) Decide(v *sched.View, act *sched.Actions) {
	if !p.clock.Begins(v, act) || v.FreeSlots() == 0 {
		return
	}
	var jobs []sched.JobID
	for j := range sched.JobID(v.Rows().Jobs()) {
		if job := v.Job(j); job.State == sched.JobActive && !job.Paused {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return
	}
	p.watch.Refresh(v)
	earlier := func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(a).Arrived, v.Job(b).Arrived), cmp.Compare(a, b))
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(a).Unfinished, v.Job(b).Unfinished), earlier(a, b))
	})
	n := p.eps * float64(len(jobs))
	jobs = jobs[:min(len(jobs), int(math.Ceil(n-1e-9)))]
	open := map[sched.JobID][]*slowGeoTask{}
	for _, j := range jobs {
		open[j] = p.quotas(v, j, n)
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		x, y := v.Job(a).StagesLeft, v.Job(b).StagesLeft
		c := cmp.Or(cmp.Compare(x, y), cmp.Compare(p.left(v, a), p.left(v, b)))
		if p.printed {
			c = -c
		}
		return cmp.Or(c, earlier(a, b))
	})
	for first := true; len(open) > 0; first = false {
		for _, j := range jobs {
			if open[j] = p.round(v, act, open[j], first); len(open[j]) == 0 {
				delete(open, j)
			}
		}
	}
}

// left returns how many tasks of the open stages of a job are not done.
func (p *slowGeoClone) left(v *sched.View, j sched.JobID) (n int) {
	for _, s := range stagesOf(v, j) {
		if st := v.Stage(s); st.Pending+st.Running > 0 {
			n += int(st.Unfinished())
		}
	}
	return n
}

// quotas is step 1 for a job: its tasks and how many attempts each may get.
func (p *slowGeoClone) quotas(v *sched.View, j sched.JobID, n float64) (tasks []*slowGeoTask) {
	for _, s := range stagesOf(v, j) {
		for _, state := range []sched.TaskState{sched.TaskPending, sched.TaskRunning} {
			for t := range sched.TaskID(v.Rows().Tasks()) {
				if task := v.Task(t); task.Stage != s || task.State != state || state == sched.TaskRunning && !p.running {
					continue
				}
				x := &slowGeoTask{id: t}
				for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
					x.at = append(x.at, v.Machine(v.Attempt(a).Machine).Site)
				}
				tasks = append(tasks, x)
			}
		}
	}
	slots := v.Slots()
	if p.free {
		slots = v.FreeSlots()
	}
	c := max(0, int(math.Ceil(float64(slots)/n-1e-9))-int(v.Job(j).Live))
	if len(tasks) > c {
		r := rand.NewPCG(p.seed, uint64(v.Now()))
		for i := range c {
			k := i + int(r.Uint64()%uint64(len(tasks)-i))
			tasks[i], tasks[k] = tasks[k], tasks[i]
		}
		tasks = tasks[:c]
	}
	for _, x := range tasks {
		x.quota = max(1, c/len(tasks))
	}
	return tasks
}

// round offers a slot to each open task of a job and returns those that stay open.
func (p *slowGeoClone) round(v *sched.View, act *sched.Actions, tasks []*slowGeoTask, first bool) (open []*slowGeoTask) {
	if !first {
		e := map[sched.TaskID]float64{}
		for _, x := range tasks {
			e[x.id] = p.expected(v, x)
		}
		slices.SortFunc(tasks, func(a, b *slowGeoTask) int { return cmp.Or(cmp.Compare(e[b.id], e[a.id]), cmp.Compare(a.id, b.id)) })
	}
	for _, x := range tasks {
		goes := p.give(v, act, x)
		for goes && p.quota {
			goes = p.give(v, act, x)
		}
		if goes {
			open = append(open, x)
		}
	}
	return open
}

// give gives a task a slot at the site where it is expected to be quickest, unless it is to be closed.
func (p *slowGeoClone) give(v *sched.View, act *sched.Actions, x *slowGeoTask) bool {
	live, u := int(v.Task(x.id).Live), float64(v.Cluster().Live())/float64(v.Slots())
	if x.quota == 0 || v.FreeSlots() == 0 || p.expected(v, x) <= p.intrinsic(v, x)*(1+p.eps)*u {
		return false
	}
	if p.copies > 0 && live >= p.copies || v.AttemptRoom(x.id) == 0 || live > 0 && v.CloneRoom() == 0 {
		return false
	}
	best, found := sched.SiteID(0), false
	e := func(k sched.SiteID) float64 { return p.intrinsic(v, x)*p.watch.Laws[k].Mean + p.fetch(v, x, k) }
	for k := range sched.SiteID(v.Sites().Len()) {
		if v.Sites().FreeSlots(k) > 0 && (!found || e(k) < e(best) || e(k) == e(best) && v.Sites().FreeSlots(k) > v.Sites().FreeSlots(best)) {
			best, found = k, true
		}
	}
	m, _ := v.Sites().FreeMachine(best, 0)
	if live == 0 {
		kit.Start(v, act, x.id, m)
	} else {
		kit.Launch(act, x.id, m, 0, sched.Cloning)
	}
	x.at = append(x.at, best)
	x.quota--
	return true
}

// intrinsic returns p.
func (p *slowGeoClone) intrinsic(v *sched.View, x *slowGeoTask) float64 {
	st := v.Stage(v.Task(x.id).Stage)
	if mean, _, ok := st.Estimate(); ok && mean > 0 {
		return mean
	}
	return 1
}

// fetch returns d at a site.
func (p *slowGeoClone) fetch(v *sched.View, x *slowGeoTask, k sched.SiteID) float64 {
	return p.watch.Links.FetchTo(v, v.Sites().AppendSources(nil, x.id), k)
}

// expected returns E[min over its attempts], of P(min > y) = product of P(p s + d > y); infinite without attempts.
func (p *slowGeoClone) expected(v *sched.View, x *slowGeoTask) (e float64) {
	if len(x.at) == 0 {
		return math.Inf(1)
	}
	var at []float64
	for _, k := range x.at {
		for _, s := range p.watch.Laws[k].Value {
			at = append(at, p.intrinsic(v, x)*s+p.fetch(v, x, k))
		}
	}
	slices.Sort(at)
	above := 1.0
	for _, y := range slices.Compact(at) {
		tail := 1.0
		for _, k := range x.at {
			tail *= p.above(v, x, k, y)
		}
		if tail < 1e-18 {
			tail = 0
		}
		e += y * (above - tail)
		above = tail
	}
	return e
}

// above returns P(p s + d > y) at a site.
func (p *slowGeoClone) above(v *sched.View, x *slowGeoTask, k sched.SiteID, y float64) float64 {
	tail := 1.0
	for i, s := range p.watch.Laws[k].Value {
		if p.intrinsic(v, x)*s+p.fetch(v, x, k) <= y {
			tail = p.watch.Laws[k].Tail[i]
		}
	}
	return tail
}
