package policy

// Iridium: Pu, Ananthanarayanan, Bodik, Kandula, Akella, Bahl, Stoica, "Low Latency Geo-distributed Data Analytics",
// SIGCOMM 2015, section 3.
//
//	S_i       bytes at site i that the tasks of a stage read, S their sum
//	U_i, D_i  uplink and downlink: see geo.LinkWatch.Ends
//	n, n_i    tasks of the stage, those that start at site i; the paper's share r_i is n_i/n
//
//	min z: (1 - n_i/n) S_i <= z U_i, n_i/n (S - S_i) <= z D_i, sum of n_i = n
//
// Solved exactly in whole tasks: for a z, n_i is at least ceil(n (1 - z U_i/S_i)) and at most floor(n z D_i/(S - S_i)),
// and there is an answer if n is between the sums; the least such z is found by bisection over the floating-point
// numbers. Of the answers with that z the one that moves least bytes is taken, and a site gets the tasks that read most
// there, the site with the most tasks first.
//
//	place=stage  as published: divided once, when the stage begins; tasks wait for a slot at their site. A task that
//	             reads at a single site runs there: that is where the stages run that read a job's input
//	place=slots  a reading of ours: no more than the free slots are divided, again whenever slots are free; n_i is at
//	             most what is free at site i, and a task that reads at a single site goes elsewhere where that is full
//
// Readings. Tasks of one stage that become runnable one after the other are divided as they come. A site without
// slots, for now, gets no tasks, and those that wait for it are divided anew. A task that reads nothing starts
// anywhere. Between jobs: order. Data that may not be everywhere, and prices: iridium_money.go. What section 4 moves
// before jobs is no policy's: sim/placement.go.

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var iridiumParams = append([]kit.Param{
	{Name: "place", Kind: kit.Choice, Default: "stage", Choices: []string{"stage", "slots"}, Help: "stage: a stage is divided once and its tasks wait for a slot at their site; slots: only the free slots are divided"},
}, geo.LinkParams...)

var iridiumEntry = kit.Entry{
	Name:    "iridium",
	Family:  kit.Sites,
	Cost:    "of a stage that becomes runnable: a bisection over the sites",
	Summary: "divide a stage's tasks among sites so that the slowest link finishes first; no clones",
	Needs:   kit.Needs{Sites: true, Lacking: fifoAlone},
	Source:  "Pu et al., SIGCOMM 2015, section 3",
	Params:  append([]kit.Param{kit.OrderBy("fair")}, iridiumParams...),
	New: func(a kit.Args) sched.Policy {
		return &plain{kit.NewOrder(a).PlacedBy(newIridium(a), true)}
	},
}

type iridium struct {
	watch    geo.LinkWatch
	batch    geo.Batch
	slots    bool      // place=slots
	up, down []float64 // by site, bytes per second
	data     []float64 // S_i
	total    float64   // S
	room     []int     // tasks that a site can have
	lo, hi   []int
	shares   []share

	zoned  []geo.Batched // see iridium_money.go
	closed []int
	each   []float64 // c_i
	cheap  []int     // sites by c_i; empty where money does not count
	best   struct{ lo, hi []int }

	stages  kit.PerStage[iridiumStage] // of place=stage, and so is what follows
	places  sched.Table[sched.TaskID, iridiumPlace]
	planned []kit.Placement
	free    []int // slots by site
	sources []sched.Source
}

// share is how many tasks a site gets.
type share struct {
	site sched.SiteID
	n    int
}

func newIridium(a kit.Args) *iridium {
	return &iridium{watch: geo.NewLinkWatch(a), slots: a.Choice("place") == "slots"}
}

func (p *iridium) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.DataFetched {
		p.watch.Observe(v, ev)
	}
	if p.slots {
		p.batch.Observe(v, ev)
	} else {
		p.note(v, ev)
	}
}

func (p *iridium) Wake() sched.Time { return sched.Never }

func (p *iridium) Plan(v *sched.View, j sched.JobID, to []kit.Placement) []kit.Placement {
	from := len(to)
	p.watch.Survey(v)
	if p.slots {
		to = p.planFree(v, j, to)
	} else {
		to = p.planStages(v, j, to)
	}
	for _, x := range to[from:] {
		p.sources = v.Sites().AppendSources(p.sources[:0], x.Task)
		p.watch.Join(v, p.sources, x.Site)
	}
	return to
}

// planFree is place=slots.
func (p *iridium) planFree(v *sched.View, j sched.JobID, to []kit.Placement) []kit.Placement {
	p.links(v)
	p.room = kit.Zeroed(p.room, v.Sites().Len())
	free := 0
	for k := range p.room {
		p.room[k] = v.Sites().FreeSlots(sched.SiteID(k))
		free += p.room[k]
	}
	job := v.Job(j)
	for s, ok := v.WaitingStage(job.FirstStage); ok && free > 0 && s < job.FirstStage+sched.StageID(job.Stages); s, ok = v.WaitingStage(s + 1) {
		p.batch.Empty()
		p.batch.Gather(v, s, free)
		free -= len(p.batch.Tasks)
		to = p.atHome(v, to)
		to = p.shareZones(v, to)
		free += len(p.batch.Tasks) // that had no room
	}
	return to
}

// links finds the bandwidths of the sites.
func (p *iridium) links(v *sched.View) {
	if p.watch.Truth && len(p.up) == v.Sites().Len() {
		return
	}
	p.up, p.down = kit.Zeroed(p.up, v.Sites().Len()), kit.Zeroed(p.down, v.Sites().Len())
	for k := range p.up {
		p.up[k], p.down[k] = p.watch.Ends(v, k)
	}
}

// atHome places the tasks that read at a single site, there, and takes them out of the batch.
func (p *iridium) atHome(v *sched.View, to []kit.Placement) []kit.Placement {
	left := p.batch.Tasks[:0]
	for _, x := range p.batch.Tasks {
		sources := p.batch.Of(&x)
		if len(sources) == 1 && p.room[sources[0].Site] > 0 && v.Sites().Allows(x.ID, sources[0].Site) {
			p.room[sources[0].Site]--
			to = append(to, kit.Placement{Task: x.ID, Site: sources[0].Site})
			continue
		}
		left = append(left, x)
	}
	p.batch.Tasks = left
	return to
}

// share places the tasks of the batch, for which there is room, such that the slowest link is fastest.
func (p *iridium) share(v *sched.View, to []kit.Placement) []kit.Placement {
	n := len(p.batch.Tasks)
	if n == 0 {
		return to
	}
	p.data, p.total = kit.Zeroed(p.data, len(p.room)), 0
	for i := range p.batch.Tasks {
		for _, y := range p.batch.Of(&p.batch.Tasks[i]) {
			p.data[y.Site] += float64(y.Bytes)
			p.total += float64(y.Bytes)
		}
	}
	z := p.solve(n)
	if p.cheap = p.cheap[:0]; p.watch.Worth(v) > 0 {
		p.weigh(v.Sites().Network(), z, p.watch.Worth(v), n)
	}
	p.divide(n)
	for _, x := range p.shares {
		to = p.fill(to, x)
	}
	return to
}

// leaves and enters say for how long a site sends what others read, and receives what is read there, where m of n tasks
// start at it.
func (p *iridium) leaves(k, m, n int) float64 {
	return float64(n-m) / float64(n) * (p.data[k] / p.up[k])
}

func (p *iridium) enters(k, m, n int) float64 {
	return float64(m) / float64(n) * ((p.total - p.data[k]) / p.down[k])
}

// solve leaves bounds of the numbers of n tasks in lo and hi for the least z that there is, which it returns. The room
// of all sites is n at least.
func (p *iridium) solve(n int) (z float64) {
	for k := range p.room {
		z = max(z, p.leaves(k, 0, n), p.enters(k, n, n))
	}
	least, most := uint64(0), math.Float64bits(z)
	for least < most {
		if middle := least + (most-least)/2; p.feasible(math.Float64frombits(middle), n) {
			most = middle
		} else {
			least = middle + 1
		}
	}
	z = math.Float64frombits(most)
	p.feasible(z*(1+1e-12), n) // numbers that differ by rounding alone are as good
	return z
}

// feasible computes the bounds for a z and tells whether numbers within them can add up to n.
func (p *iridium) feasible(z float64, n int) bool {
	p.lo, p.hi = kit.Zeroed(p.lo, len(p.room)), kit.Zeroed(p.hi, len(p.room))
	least, most := 0, 0
	for k, room := range p.room {
		room = min(room, n)
		lo := sort.Search(room, func(m int) bool { return p.leaves(k, m, n) <= z })
		hi := sort.Search(room, func(m int) bool { return !(p.enters(k, m+1, n) <= z) })
		if lo > hi || p.leaves(k, lo, n) > z {
			return false
		}
		p.lo[k], p.hi[k] = lo, hi
		least, most = least+lo, most+hi
	}
	return least <= n && n <= most
}

// divide chooses numbers within the bounds: those that move least, or if money counts those that cost least.
func (p *iridium) divide(n int) {
	p.shares = p.shares[:0]
	for k, lo := range p.lo {
		p.shares = append(p.shares, share{sched.SiteID(k), lo})
		n -= lo
	}
	slices.SortFunc(p.shares, func(a, b share) int {
		if len(p.cheap) > 0 {
			return cmp.Or(cmp.Compare(p.each[a.site], p.each[b.site]), cmp.Compare(a.site, b.site))
		}
		return cmp.Or(cmp.Compare(p.data[b.site], p.data[a.site]), cmp.Compare(a.site, b.site))
	})
	for i := range p.shares {
		x := &p.shares[i]
		more := min(n, p.hi[x.site]-x.n)
		x.n, n = x.n+more, n-more
	}
	slices.SortFunc(p.shares, func(a, b share) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.site, b.site)) })
}

// fill gives a site its number of tasks, those first that read most there.
func (p *iridium) fill(to []kit.Placement, x share) []kit.Placement {
	if x.n = min(x.n, len(p.batch.Tasks)); x.n == 0 {
		return to
	}
	tasks := p.batch.Tasks
	slices.SortFunc(tasks, func(a, b geo.Batched) int {
		return cmp.Or(cmp.Compare(p.batch.At(&b, x.site), p.batch.At(&a, x.site)), cmp.Compare(a.ID, b.ID))
	})
	for _, t := range tasks[:x.n] {
		to = append(to, kit.Placement{Task: t.ID, Site: x.site})
	}
	p.room[x.site] -= x.n
	p.batch.Tasks = tasks[:copy(tasks, tasks[x.n:])]
	return to
}
