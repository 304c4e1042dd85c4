package geo

// What is known of sites: the profiler of Wang et al., "GeoClone", section V-A, which every policy that chooses between
// sites uses.
//
//	s_k     how many times the intrinsic time of its task an attempt at site k takes, once its data is there
//	d_k     fetching: as the attempt has reported it, else as LinkWatch expects it
//	p       intrinsic time: Stage.Estimate
//
// An attempt that won took e = p s_k + d_k, which gives s_k. One that lost is an observation too: of an s_k larger than
// what its age tells. To leave those out would make a law of winners, which under cloning are quicker than attempts
// are. So the law of a site is a life table (Cutler and Ederer, J. Chronic Diseases 8, 1958): in each bin, those that
// ended there over those that came so far, where one lost in the bin counts half. Bins are 15 % wide. Where a law is
// concentrated in points and clones race at one site, losers that would have ended with the winner are taken for slower
// ones, and the law is too slow: by a quarter in the mean for three attempts of the twelve-point table of section II on
// machines of one speed.
//
// Old observations fade: each counts half as much when memory has passed. A site's prior, worth weight observations, is
// the law of all sites together; the prior of that is the parameter prior. What an attempt reports at its end is
// ReportBytes: site, stage, duration.

import (
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// The bins of slowdowns: bin 0 is what is below leastSlowdown, the last what is above binRatio^bins times that.
const (
	slowdownBins  = 42
	leastSlowdown = 0.25
	binRatio      = 1.15
)

// ReportBytes is the size of an attempt's report: site and stage (4 bytes each), and duration (8).
const ReportBytes = 16

// WatchParams are the parameters of policies that learn how slow sites and how fast links are.
var WatchParams = append([]kit.Param{
	{Name: "prior", Kind: kit.Law, Default: "(pareto:alpha=1.5,xm=1)", Help: "slowdown assumed until a site has finished attempts"},
}, LinkParams...)

// SiteWatch learns how slow sites are.
type SiteWatch struct {
	truth  bool
	weight float64
	told   func(sched.SiteID) (values, chances []float64) // nil unless the driver tells

	prior tally // of the law of all sites together
	All   tally
	sites []tally
	Laws  []SiteLaw
	fading

	Links   LinkWatch
	came    []delivery // by row of the attempt
	reports int64
	sources []sched.Source

	queues [][]float64 // by site: in how many seconds those that run there are expected to end, ascending
	room   []int       // by site: free slots
	held   []int32     // by site: tasks that have been told to wait since Survey
}

// delivery is what an attempt has fetched so far.
type delivery struct {
	id      sched.AttemptID
	sources int
	seconds float64 // that the slowest of them took
}

// tally is how many observations there are in each bin, by weight.
type tally struct{ Ended, lost, Sum [slowdownBins]float64 }

// SiteLaw is what a site's tally says, brought up to date when it is asked for.
type SiteLaw struct {
	known bool
	until sched.Time // when what it is made of has faded enough to look again
	Mean  float64
	Stair
}

// NewSiteWatch returns a profiler of sites and links with the parameters WatchParams.
func NewSiteWatch(a kit.Args) *SiteWatch {
	w := &SiteWatch{
		truth: a.Bool("truth"), weight: a.Float("weight"), fading: fading{memory: a.Span("memory").Seconds(), one: 1}, Links: NewLinkWatch(a),
	}
	law := a.Law("prior")
	if law == nil {
		law = laws.Deterministic{Value: 1}
	}
	below := 0.0
	for b := range w.prior.Ended {
		upTo := law.CDF(binEnd(b))
		if b == slowdownBins-1 {
			upTo = 1
		}
		w.prior.Ended[b] = upTo - below
		w.prior.Sum[b] = (upTo - below) * binEnd(b) / math.Sqrt(binRatio)
		below = upTo
	}
	return w
}

func binEnd(b int) float64 { return leastSlowdown * math.Pow(binRatio, float64(b)) }

// BinOf returns the bin of a slowdown.
func BinOf(s float64) int {
	if s <= leastSlowdown {
		return 0
	}
	return min(int(math.Log(s/leastSlowdown)/math.Log(binRatio))+1, slowdownBins-1)
}

// Tell gives the laws of the sites' slowdowns, for the parameter truth=true.
func (w *SiteWatch) Tell(law func(sched.SiteID) (values, chances []float64)) { w.told = law }

// Received returns the bytes of the reports that came so far.
func (w *SiteWatch) Received() int64 { return w.reports*ReportBytes + w.Links.seen*fetchBytes }

// Observe learns from what attempts have fetched, and from those that end.
func (w *SiteWatch) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.DataFetched {
		w.Links.Observe(v, ev)
		w.note(v, ev)
		return
	}
	won := ev.Kind == sched.AttemptDone
	if !won && ev.Kind != sched.AttemptLost {
		return
	}
	a, site := v.Attempt(ev.Attempt), v.Machine(ev.Machine).Site
	stage := v.Stage(ev.Stage)
	p, _, ok := stage.Estimate()
	if !ok || p <= 0 {
		return
	}
	w.reports++
	s := ((v.Now() - a.Started).Seconds() - w.fetched(v, ev.Task, ev.Attempt, site)) / (p * (1 - a.From))
	if s <= 0 {
		return // lost while it was fetching, or the time of fetching is not what is thought
	}
	w.age(v.Now())
	w.sites, w.Laws = kit.Grown(w.sites, int(site)), kit.Grown(w.Laws, int(site))
	w.Laws[site].known = false
	w.All.add(s, w.one, won)
	w.sites[site].add(s, w.one, won)
}

// note remembers what an attempt has fetched, for when it ends. A report may come after that: its row may be another's.
func (w *SiteWatch) note(v *sched.View, ev *sched.Event) {
	if ev.Attempt == 0 || !v.Rows().Alive(ev.Attempt) {
		return
	}
	row := ev.Attempt.Row()
	w.came = kit.Grown(w.came, row)
	x := &w.came[row]
	if x.id != ev.Attempt {
		*x = delivery{id: ev.Attempt}
	}
	x.sources++
	x.seconds = max(x.seconds, ev.Span.Seconds())
}

// fetched returns how long an attempt has been fetching or will be, in seconds: as it has said of all its sources, or
// else as is to be expected.
func (w *SiteWatch) fetched(v *sched.View, t sched.TaskID, a sched.AttemptID, site sched.SiteID) float64 {
	w.sources = v.Sites().AppendSources(w.sources[:0], t)
	far := 0
	for i := range w.sources {
		if w.sources[i].Site != site {
			far++
		}
	}
	if far == 0 {
		return 0
	}
	if row := a.Row(); row < len(w.came) && w.came[row].id == a && w.came[row].sources >= far {
		return w.came[row].seconds
	}
	return w.Links.FetchTo(v, w.sources, site)
}

func (w *SiteWatch) age(now sched.Time) {
	by := w.now(now)
	if by == 1 {
		return
	}
	w.All.fade(by)
	for k := range w.sites {
		w.sites[k].fade(by)
	}
}

func (t *tally) add(s, weight float64, won bool) {
	b := BinOf(s)
	if !won {
		t.lost[b] += weight
		return
	}
	t.Ended[b] += weight
	t.Sum[b] += weight * s
}

func (t *tally) fade(by float64) {
	for b := range t.Ended {
		t.Ended[b] *= by
		t.lost[b] *= by
		t.Sum[b] *= by
	}
}

// Refresh brings the laws of all sites up to date, for a policy that is about to ask for them.
func (w *SiteWatch) Refresh(v *sched.View) {
	w.sites, w.Laws = kit.Grown(w.sites, v.Sites().Len()-1), kit.Grown(w.Laws, v.Sites().Len()-1)
	w.age(v.Now())
	var pool, blank [slowdownBins]float64
	stale := true
	for k := range w.Laws {
		l := &w.Laws[k]
		if l.known && v.Now() < l.until {
			continue
		}
		l.known, l.until = true, kit.Later(v.Now(), w.memory/16)
		l.Value, l.Tail = l.Value[:0], l.Tail[:0]
		if w.truth && w.told != nil {
			w.believe(sched.SiteID(k), l)
			continue
		}
		if stale {
			pool, stale = w.All.table(&w.prior.Ended, w.weight*w.one, &blank), false
		}
		w.learn(&w.sites[k], &pool, l)
	}
}

func (w *SiteWatch) believe(k sched.SiteID, l *SiteLaw) {
	values, chances := w.told(k)
	above := 1.0
	for i, x := range values {
		above = max(0, above-chances[i])
		if i == len(values)-1 {
			above = 0
		}
		l.Value, l.Tail = append(l.Value, x), append(l.Tail, above)
	}
	l.Mean = l.Stair.Mean()
}

// learn makes the law of a site of its tally and that of all sites, whose table is the prior.
func (w *SiteWatch) learn(t *tally, pool *[slowdownBins]float64, l *SiteLaw) {
	var at [slowdownBins]float64
	chances := t.table(pool, w.weight*w.one, &at)
	above := 1.0
	for b, c := range chances {
		if c < 1e-9 {
			continue
		}
		weight, sum := t.Ended[b], t.Sum[b]
		if prior := w.weight * w.one * pool[b]; prior > 0 {
			n := w.All.Ended[b] + w.prior.Ended[b]*w.weight*w.one
			weight, sum = weight+prior, sum+prior*(w.All.Sum[b]+w.prior.Sum[b]*w.weight*w.one)/n
		}
		above = max(0, above-c)
		l.Value, l.Tail = append(l.Value, sum/weight), append(l.Tail, above)
	}
	l.Tail[len(l.Tail)-1] = 0
	l.Mean = l.Stair.Mean()
}

// table returns the chance of each bin: a life table of the tally and so many observations of the prior.
func (t *tally) table(prior *[slowdownBins]float64, weight float64, chances *[slowdownBins]float64) [slowdownBins]float64 {
	came, before := 0.0, 0.0
	for b := range chances {
		came += t.Ended[b] + t.lost[b]
		before += prior[b]
	}
	left := 1.0
	for b := range chances {
		ends := t.Ended[b] + weight*prior[b]
		chances[b] = 0
		if risk := came - t.lost[b]/2 + weight*before; ends > 0 && risk > 0 {
			chances[b] = left * min(1, ends/risk)
		}
		left -= chances[b]
		came -= t.Ended[b] + t.lost[b]
		before -= prior[b]
	}
	return *chances
}
