package policy

// Iridium: Pu, Ananthanarayanan, Bodik, Kandula, Akella, Bahl, Stoica, "Low Latency Geo-distributed Data Analytics",
// SIGCOMM 2015, section 3.
//
//	S_i       bytes at site i that the waiting tasks of a stage read, S their sum
//	U_i, D_i  uplink and downlink: bandwidth of what has left and entered the site so far, see geo.LinkWatch
//	r_i       share of the tasks that start at site i
//
//	min z: (1-r_i) S_i <= z U_i, r_i (S-S_i) <= z D_i, sum of r = 1, r >= 0
//
// Solved by bisection: for a z, r_i is between max(0, 1 - z U_i/S_i) and min(1, z D_i/(S-S_i), free_i/n), and there is
// an answer if the sums of the bounds have 1 between them. Shares are rounded by largest remainder; a site gets the
// tasks that read most there.
//
// Readings. The original takes slots for granted; the bound by free slots is ours, tasks beyond them wait. A task that
// reads at a single site starts there if it can: that is where the stages that read a job's input run. Computing times
// do not matter. Moving data before jobs come is left out: here it comes with the job. Between jobs: order.

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var iridiumEntry = kit.Entry{
	Name:           "iridium",
	Family:         kit.Sites,
	Cost:           "of a stage that becomes runnable: a bisection over the sites",
	Summary:        "divide a stage's tasks among sites so that the slowest link finishes first; no clones",
	Needs:          kit.Needs{Sites: true, Lacking: fifoAlone},
	Source:         "Pu et al., SIGCOMM 2015, section 3",
	Params:         append([]kit.Param{kit.OrderBy("fair")}, geo.LinkParams...),
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		return &plain{kit.NewOrder(a).PlacedBy(newIridium(geo.NewLinkWatch(a)), true)}
	},
}

type iridium struct {
	watch    geo.LinkWatch
	batch    geo.Batch
	up, down []float64 // by site, bytes per second
	data     []float64 // S_i
	room     []float64 // free slots
	lo, hi   []float64
	shares   []remainder
}

// remainder is a site's share in tasks, rounded down, and what was lost thereby.
type remainder struct {
	site sched.SiteID
	n    int
	lost float64
}

func newIridium(w geo.LinkWatch) *iridium { return &iridium{watch: w} }

func (p *iridium) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.DataFetched {
		p.watch.Observe(v, ev)
	}
	p.batch.Observe(v, ev)
}

func (p *iridium) Wake() sched.Time { return sched.Never }

func (p *iridium) Plan(v *sched.View, j sched.JobID, to []kit.Placement) []kit.Placement {
	p.links(v)
	p.room = kit.Zeroed(p.room, v.Sites().Len())
	free := 0
	for k := range p.room {
		p.room[k] = float64(v.Sites().FreeSlots(sched.SiteID(k)))
		free += int(p.room[k])
	}
	job := v.Job(j)
	for s, ok := v.WaitingStage(job.FirstStage); ok && free > 0 && s < job.FirstStage+sched.StageID(job.Stages); s, ok = v.WaitingStage(s + 1) {
		p.batch.Empty()
		p.batch.Gather(v, s, free)
		free -= len(p.batch.Tasks)
		to = p.atHome(to)
		to = p.share(to)
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
func (p *iridium) atHome(to []kit.Placement) []kit.Placement {
	left := p.batch.Tasks[:0]
	for _, x := range p.batch.Tasks {
		sources := p.batch.Of(&x)
		if len(sources) == 1 && p.room[sources[0].Site] > 0 {
			p.room[sources[0].Site]--
			to = append(to, kit.Placement{Task: x.ID, Site: sources[0].Site})
			continue
		}
		left = append(left, x)
	}
	p.batch.Tasks = left
	return to
}

// share places the tasks of the batch by the shares that make the slowest link fastest.
func (p *iridium) share(to []kit.Placement) []kit.Placement {
	n := len(p.batch.Tasks)
	if n == 0 {
		return to
	}
	p.data = kit.Zeroed(p.data, len(p.room))
	total := 0.0
	for i := range p.batch.Tasks {
		for _, y := range p.batch.Of(&p.batch.Tasks[i]) {
			p.data[y.Site] += float64(y.Bytes)
			total += float64(y.Bytes)
		}
	}
	p.solve(n, total)
	p.round(n)
	for _, x := range p.shares {
		to = p.fill(to, x)
	}
	return to
}

// solve leaves bounds of shares in lo and hi for a z that is the least, within a factor of 1 + 1e-9. It returns that z.
func (p *iridium) solve(n int, total float64) (z float64) {
	p.lo, p.hi = kit.Zeroed(p.lo, len(p.room)), kit.Zeroed(p.hi, len(p.room))
	if p.feasible(0, n, total) {
		return 0
	}
	least, most := 0.0, 1e-9
	for !p.feasible(most, n, total) && most < 1e300 {
		least, most = most, most*2
	}
	for most-least > 1e-9*most {
		if middle := (least + most) / 2; p.feasible(middle, n, total) {
			most = middle
		} else {
			least = middle
		}
	}
	p.feasible(most, n, total)
	return most
}

// feasible computes the bounds of the shares for a z and tells whether shares within them can add up to 1.
func (p *iridium) feasible(z float64, n int, total float64) bool {
	least, most, ok := 0.0, 0.0, true
	for k := range p.room {
		p.lo[k], p.hi[k] = 0, min(1, p.room[k]/float64(n))
		if s := p.data[k]; s > 0 {
			p.lo[k] = max(0, 1-z/s*p.up[k])
		}
		if s := total - p.data[k]; s > 1e-9*total {
			p.hi[k] = min(p.hi[k], z/s*p.down[k])
		}
		if math.IsNaN(p.lo[k]) || p.data[k] > 0 && math.IsInf(p.up[k], 1) {
			p.lo[k] = 0
		}
		if math.IsNaN(p.hi[k]) {
			p.hi[k] = min(1, p.room[k]/float64(n))
		}
		ok = ok && p.lo[k] <= p.hi[k]
		least, most = least+p.lo[k], most+p.hi[k]
	}
	return ok && least <= 1+1e-12 && most >= 1-1e-12
}

// round turns the bounds into numbers of tasks: each site its lower bound and of what is left a part in proportion to
// the room between its bounds.
func (p *iridium) round(n int) {
	least, width := 0.0, 0.0
	for k := range p.lo {
		least, width = least+p.lo[k], width+p.hi[k]-p.lo[k]
	}
	part := 0.0
	if width > 0 {
		part = (1 - least) / width
	}
	p.shares = p.shares[:0]
	given := 0
	for k := range p.lo {
		exact := min(float64(n)*(p.lo[k]+part*(p.hi[k]-p.lo[k])), p.room[k])
		whole := math.Floor(exact + 1e-9)
		given += int(whole)
		p.shares = append(p.shares, remainder{sched.SiteID(k), int(whole), exact - whole})
	}
	slices.SortFunc(p.shares, func(a, b remainder) int { return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.site, b.site)) })
	for i := 0; given < n; i = (i + 1) % len(p.shares) {
		if x := &p.shares[i]; float64(x.n) < p.room[x.site] {
			x.n++
			given++
		}
	}
	slices.SortFunc(p.shares, func(a, b remainder) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.site, b.site)) })
}

// fill gives a site its number of tasks, those first that read most there.
func (p *iridium) fill(to []kit.Placement, x remainder) []kit.Placement {
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
	p.room[x.site] -= float64(x.n)
	p.batch.Tasks = tasks[:copy(tasks, tasks[x.n:])]
	return to
}
