package reproduce

import "github.com/tailcut/tailcut/sched"

// gauge is a policy that is watched: how many slots are busy and how many attempts its tasks take between two instants,
// and what its attempts move between sites.
type gauge struct {
	sched.Policy
	from, to sched.Time
	prices   []float64 // $ per GB from site k to site l at k*sites+l; nil if nobody asks

	last     sched.Time   // of the last call
	share    float64      // of the slots that it left busy
	busy     [101]float64 // seconds by percentage of the slots in use, rounded down
	area     float64      // busy slots times seconds, as a part of all
	launched tallied      // attempts of a task in its life, of tasks that ended between the instants
	racing   tallied      // attempts of a task at its end
	moved    float64      // bytes fetched from other sites
	cost     float64      // of that, $
	sources  []sched.Source
}

// tallied counts how often there were 0, 1, 2 and so on of something.
type tallied []int

func (t *tallied) add(n int) {
	for n >= len(*t) {
		*t = append(*t, 0)
	}
	(*t)[n]++
}

// merge adds what another has counted.
func (t *tallied) merge(other tallied) {
	for n, times := range other {
		for n >= len(*t) {
			*t = append(*t, 0)
		}
		(*t)[n] += times
	}
}

// quantile returns the least number below or at which a fraction q of those counted is; 0 if there are none.
func (t tallied) quantile(q float64) float64 {
	all, below := 0, 0
	for _, times := range t {
		all += times
	}
	for n, times := range t {
		if below += times; float64(below) >= q*float64(all) {
			return float64(n)
		}
	}
	return 0
}

// Observe counts the attempts of a task that ends, and what an attempt that ends has fetched.
func (g *gauge) Observe(v *sched.View, ev *sched.Event) {
	if done := ev.Kind == sched.AttemptDone; done || ev.Kind == sched.AttemptLost {
		if done && v.Now() >= g.from && v.Now() <= g.to {
			task := v.Task(ev.Task)
			g.launched.add(int(task.Launched))
			g.racing.add(int(task.Live) + 1) // the others are still there
		}
		if g.prices != nil {
			g.fetched(v, ev)
		}
	}
	g.Policy.Observe(v, ev)
}

// fetched adds what an attempt that ends has fetched: all it reads, or as much as came until it was killed.
func (g *gauge) fetched(v *sched.View, ev *sched.Event) {
	net, a, to := v.Sites().Network(), v.Attempt(ev.Attempt), v.Machine(ev.Machine).Site
	g.sources = v.Sites().AppendSources(g.sources[:0], ev.Task)
	for _, x := range g.sources {
		bandwidth, latency := net.Link(x.Site, to)
		if x.Site == to {
			continue
		}
		bytes := max(0, min(float64(x.Bytes), bandwidth*(v.Now()-a.Started-latency).Seconds()))
		g.moved += bytes
		g.cost += bytes / 1e9 * g.prices[int(x.Site)*net.Sites()+int(to)]
	}
}

// Bounds are those of the policy, none if it keeps none.
func (g *gauge) Bounds() (b sched.Bounds) {
	if p, ok := g.Policy.(sched.Bounded); ok {
		b = p.Bounds()
	}
	return b
}

// Decide measures how long as many slots were busy as the last call left.
func (g *gauge) Decide(v *sched.View, act *sched.Actions) {
	if span := (min(v.Now(), g.to) - max(g.last, g.from)).Seconds(); span > 0 {
		g.busy[int(100*g.share)] += span
		g.area += span * g.share
	}
	g.Policy.Decide(v, act)
	g.last, g.share = v.Now(), float64(v.Cluster().Live())/float64(v.Slots())
}

// used returns the mean share of busy slots, and the share that was not exceeded in 90 % of the time, rounded up to
// percents; 0 if no time passed.
func (g *gauge) used() (mean, most float64) {
	total, below := 0.0, 0.0
	for _, x := range g.busy {
		total += x
	}
	if total == 0 {
		return 0, 0
	}
	for percent, x := range g.busy {
		if below += x; below >= 0.9*total {
			return g.area / total, min(1, float64(percent+1)/100)
		}
	}
	return g.area / total, 1
}
