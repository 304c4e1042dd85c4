package policy

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// slowSites is a slow reference of what is learned of sites and links: it keeps every observation, and reckons from all
// of them whenever it is asked. It restates what the heads of policy/internal/geo say: a life table of slowdowns for each
// site, whose prior is that of all sites, whose prior is a law; and paces of links, whose prior is what their ends are
// like. It shares no code with geo, and adds in the order of the observations, so that both round alike.
type slowSites struct {
	truth                   bool
	memory, weight, pace    float64
	law                     laws.Law
	ends                    []slowEnd
	fetches                 []slowFetch
	came                    map[sched.AttemptID][]float64 // seconds of the fetches of an attempt
	laws                    []slowLaw                     // by site
	linksAt                 sched.Time                    // when what is said of links was reckoned
	linksOf                 int                           // of so many fetches; -1 for never
	leaves, enters          []float64
	worth, pool             float64
	binEnds                 []float64
	priorChance, priorTotal []float64
}

type slowEnd struct {
	site sched.SiteID
	at   sched.Time
	s    float64
	won  bool
}

type slowFetch struct {
	from, to               sched.SiteID
	at                     sched.Time
	bytes, seconds, weight float64
	// seconds over the pace of everything that were expected, for the site left and the site entered
	expFrom, expTo float64
}

// slowLaw is the law of a site: values and their probabilities, and what it was made of.
type slowLaw struct {
	values, chances []float64
	at              sched.Time
	news            int // observations of the site
	known           bool
}

func newSlowSites(a kit.Args) *slowSites {
	w := &slowSites{
		truth: a.Bool("truth"), memory: a.Span("memory").Seconds(), weight: a.Float("weight"), pace: 1 / a.Float("bandwidth"), law: a.Law("prior"),
		came: map[sched.AttemptID][]float64{}, linksOf: -1,
	}
	if w.law == nil {
		w.law = laws.Deterministic{Value: 1}
	}
	below := 0.0
	for b := range 42 { // a quarter, and 41 times 15 % more
		end := 0.25 * math.Pow(1.15, float64(b))
		w.binEnds = append(w.binEnds, end)
		upTo := w.law.CDF(end)
		if b == 41 {
			upTo = 1
		}
		w.priorChance = append(w.priorChance, upTo-below)
		w.priorTotal = append(w.priorTotal, (upTo-below)*end/math.Sqrt(1.15))
		below = upTo
	}
	return w
}

// one is the weight of an observation at an instant: twice as much as one a memory earlier.
func (w *slowSites) one(t sched.Time) float64 { return math.Exp2(t.Seconds() / w.memory) }

func (w *slowSites) Observe(v *sched.View, ev *sched.Event) {
	site := v.Machine(ev.Machine).Site
	switch ev.Kind {
	case sched.DataFetched:
		if ev.Site != site {
			w.fetch(v, ev, site)
		}
		if ev.Attempt != 0 {
			w.came[ev.Attempt] = append(w.came[ev.Attempt], ev.Span.Seconds())
		}
	case sched.AttemptDone, sched.AttemptLost:
		st := v.Stage(ev.Stage)
		p, _, ok := st.Estimate()
		if !ok || p <= 0 {
			return
		}
		a := v.Attempt(ev.Attempt)
		s := ((v.Now() - a.Started).Seconds() - w.fetching(v, ev, site)) / (p * (1 - a.From))
		if s > 0 {
			w.ends = append(w.ends, slowEnd{site, v.Now(), s, ev.Kind == sched.AttemptDone})
		}
	}
}

// fetching returns how long an attempt that ends has fetched: as it has said of all its sources elsewhere, or as is to
// be expected.
func (w *slowSites) fetching(v *sched.View, ev *sched.Event, site sched.SiteID) float64 {
	far := 0
	sources := v.Sites().AppendSources(nil, ev.Task)
	for _, x := range sources {
		if x.Site != site {
			far++
		}
	}
	if far == 0 {
		return 0
	}
	if said := w.came[ev.Attempt]; len(said) >= far {
		return slices.Max(said)
	}
	return w.fetchTo(v, sources, site)
}

// bin returns the bin of a slowdown.
func (w *slowSites) bin(s float64) int {
	if s <= 0.25 {
		return 0
	}
	return min(int(math.Log(s/0.25)/math.Log(1.15))+1, 41)
}

// tally is a life table's columns at an instant: those that ended and those that were lost in each bin, and the sum of
// what ended there, of one site or of all (-1).
func (w *slowSites) tally(site int) (ended, lost, sum [42]float64) {
	for _, x := range w.ends {
		if site >= 0 && x.site != sched.SiteID(site) {
			continue
		}
		b, one := w.bin(x.s), w.one(x.at)
		if !x.won {
			lost[b] += one
			continue
		}
		ended[b] += one
		sum[b] += one * x.s
	}
	return ended, lost, sum
}

// table returns the chance of each bin, of those that ended or were lost and a prior of so much weight.
func table(ended, lost, prior []float64, weight float64) (chances []float64) {
	came, before := 0.0, 0.0
	for b := range ended {
		came += ended[b] + lost[b]
		before += prior[b]
	}
	left := 1.0
	for b := range ended {
		ends, risk, c := ended[b]+weight*prior[b], came-lost[b]/2+weight*before, 0.0
		if ends > 0 && risk > 0 {
			c = left * min(1, ends/risk)
		}
		chances = append(chances, c)
		left -= c
		came -= ended[b] + lost[b]
		before -= prior[b]
	}
	return chances
}

// refresh looks again at each site of which something is new, or which nobody has looked at for a sixteenth of memory.
func (w *slowSites) refresh(v *sched.View) {
	for len(w.laws) < v.Sites().Len() {
		w.laws = append(w.laws, slowLaw{})
	}
	weight := w.weight * w.one(v.Now())
	for k := range w.laws {
		news := 0
		for _, x := range w.ends {
			if x.site == sched.SiteID(k) {
				news++
			}
		}
		if l := &w.laws[k]; !l.known || l.news != news || v.Now() >= kit.Later(l.at, w.memory/16) {
			*l = w.reckon(k, weight)
			l.at, l.news, l.known = v.Now(), news, true
		}
	}
}

func (w *slowSites) reckon(k int, weight float64) (l slowLaw) {
	allEnded, allLost, allSum := w.tally(-1)
	ended, lost, sum := w.tally(k)
	pool := table(allEnded[:], allLost[:], w.priorChance, weight)
	for b, c := range table(ended[:], lost[:], pool, weight) {
		if c < 1e-9 {
			continue
		}
		n, total := ended[b], sum[b]
		if prior := weight * pool[b]; prior > 0 {
			n, total = n+prior, total+prior*(allSum[b]+w.priorTotal[b]*weight)/(allEnded[b]+w.priorChance[b]*weight)
		}
		l.values, l.chances = append(l.values, total/n), append(l.chances, c)
	}
	return l
}

// alike tells whether the laws of two sites are the same to the last digit.
func (w *slowSites) alike(a, b sched.SiteID) bool {
	return slices.Equal(w.laws[a].values, w.laws[b].values) && slices.Equal(w.laws[a].chances, w.laws[b].chances)
}

// above returns P(s > y) at a site. The last value takes what is left of 1.
func (w *slowSites) above(k sched.SiteID, after int) float64 {
	if after == len(w.laws[k].values)-1 {
		return 0
	}
	tail := 1.0
	for _, c := range w.laws[k].chances[:after+1] {
		tail = max(0, tail-c)
	}
	return tail
}

// mean returns E[s] at a site.
func (w *slowSites) mean(k sched.SiteID) (sum float64) {
	before := 1.0
	for i, x := range w.laws[k].values {
		tail := w.above(k, i)
		sum += x * (before - tail)
		before = tail
	}
	return sum
}

func (w *slowSites) fetch(v *sched.View, ev *sched.Event, to sched.SiteID) {
	span := ev.Span
	if n := v.Sites().Network(); n != nil {
		_, latency := n.Link(ev.Site, to)
		span = max(0, span-latency)
	}
	one := w.one(v.Now())
	x := slowFetch{from: ev.Site, to: to, at: v.Now(), bytes: one * float64(ev.Bytes), seconds: one * span.Seconds(), weight: one}
	w.fetches = append(w.fetches, x)
	pool, worth := w.everything(one)
	w.fetches = w.fetches[:len(w.fetches)-1]
	x.expFrom, x.expTo = x.bytes*w.factor(to, false, pool, worth), x.bytes*w.factor(ev.Site, true, pool, worth)
	w.fetches = append(w.fetches, x)
}

// everything returns the pace of all fetches together, and the bytes that a prior is worth.
func (w *slowSites) everything(one float64) (pool, worth float64) {
	bytes, seconds, count := 0.0, 0.0, 0.0
	for _, x := range w.fetches {
		bytes += x.bytes
		seconds += x.seconds
		count += x.weight
	}
	if count == 0 {
		return w.pace, 1
	}
	worth = w.weight * one * bytes / count
	return (seconds + worth*w.pace) / (bytes + worth), worth
}

// factor says how much slower things leave a site, or enter it, than others.
func (w *slowSites) factor(k sched.SiteID, leaves bool, pool, worth float64) float64 {
	seconds, expected := 0.0, 0.0
	for _, x := range w.fetches {
		switch {
		case leaves && x.from == k:
			seconds += x.seconds
			expected += x.expFrom
		case !leaves && x.to == k:
			seconds += x.seconds
			expected += x.expTo
		}
	}
	return (seconds + worth*pool) / (expected + worth) / pool
}

// settle reckons what is said of links, if a fetch is new or nobody has for a sixteenth of memory.
func (w *slowSites) settle(v *sched.View) {
	if w.linksOf == len(w.fetches) && len(w.leaves) == v.Sites().Len() && v.Now() < kit.Later(w.linksAt, w.memory/16) {
		return
	}
	w.linksAt, w.linksOf, w.leaves, w.enters = v.Now(), len(w.fetches), nil, nil
	w.pool, w.worth = w.everything(w.one(v.Now()))
	for k := range sched.SiteID(v.Sites().Len()) {
		w.leaves = append(w.leaves, w.pool*w.factor(k, true, w.pool, w.worth))
		w.enters = append(w.enters, w.factor(k, false, w.pool, w.worth))
	}
}

// fetchTo returns how long the slowest source of a task is expected to take to a site.
func (w *slowSites) fetchTo(v *sched.View, sources []sched.Source, to sched.SiteID) (longest float64) {
	n := v.Sites().Network()
	if n == nil {
		return 0
	}
	w.settle(v)
	for _, x := range sources {
		if x.Site == to {
			continue
		}
		bandwidth, latency := n.Link(x.Site, to)
		pace := 1 / bandwidth
		if !w.truth {
			prior, bytes, seconds := w.leaves[x.Site]*w.enters[to], 0.0, 0.0
			for _, y := range w.fetches {
				if y.from == x.Site && y.to == to {
					bytes += y.bytes
					seconds += y.seconds
				}
			}
			pace = (seconds + w.worth*prior) / (bytes + w.worth)
		}
		longest = max(longest, float64(x.Bytes)*pace+latency.Seconds())
	}
	return longest
}
