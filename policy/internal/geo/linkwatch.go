package geo

// What is known of the links between sites: the other half of the profiler of Wang et al., "GeoClone", section V-A, to
// which tasks report "used bandwidth". Policies that choose between sites use it to say how long a task will fetch what
// it reads: latency + bytes x pace, from all sources at once.
//
//	pace_kl  seconds per byte from site k to site l: seconds over bytes of what was fetched there, without the latency, which is as Sites.Network tells
//
// The prior of a link is what its ends are like: a_k b_l x the pace of everything. a_k says how much slower things
// leave site k than they leave others, b_l how much slower they enter site l; so a site behind a slow line is known
// after the first fetches, from wherever. Each is the ratio of the seconds seen to those expected of bytes and the
// other ends, as they were thought of at the time: the marginal totals of a model of two factors (Bailey, Proc.
// Casualty Actuarial Society 50, 1963), kept as fetches come. The prior of both is 1, that of the pace of everything is
// the parameter bandwidth. A prior is worth weight fetches of mean size. Old observations fade, as those of sites do. A
// fetch of many bytes tells more than one of few, which may be but a round trip.
//
// Where links are shared (sched.Network.Shared), traffic.go says what a fetch is to expect beside others.
//
// What is learned is the mean pace, not a law: of several sources the slowest is expected to take the largest of the
// means, which is too little where links vary much.

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// fetchBytes is the size of the report of a fetch: both sites (4 bytes each), bytes and duration (8 each).
const fetchBytes = 24

// LinkParams are the parameters of policies that learn how fast links are.
var LinkParams = []kit.Param{
	{Name: "truth", Kind: kit.Bool, Default: "false", Help: "use the true speeds of sites (if the driver knows them) and links, instead of learning them"},
	{Name: "memory", Kind: kit.Span, Default: "1h", Min: 1e-3, Max: 1e9, Help: "half-life of observations"},
	{Name: "weight", Kind: kit.Float, Default: "5", Min: 1e-3, Max: 1e6, Help: "weight of the prior, in observations"},
	{Name: "contention", Kind: kit.Choice, Default: "weighed", Choices: []string{"weighed", "ignored"}, Help: "where links are shared: whether fetches under way count; for policies that know how long tasks run, also whether a task waits for a slot at its data if it is sooner done there"},
	{Name: "bandwidth", Kind: kit.Float, Default: "12.5e6", Min: 1, Max: 1e15, Help: "bytes per second assumed of a link until it has carried data"},
	moneyParam,
}

// LinkWatch learns how fast links are.
type LinkWatch struct {
	Truth  bool
	Weighs bool // the other fetches, where links are shared
	weight float64
	prior  float64 // seconds per byte
	money  float64 // seconds that a unit of it is worth
	fading
	traffic traffic

	all    haul
	count  float64 // fetches in all, by weight
	from   []gate  // by the site that the data was at
	into   []gate  // by the site that it came to
	links  [][]haul
	seen   int64 // fetches
	fresh  bool  // what follows is up to date
	until  sched.Time
	edit   uint32    // grows whenever it changes
	worth  float64   // bytes that a prior is worth
	pool   float64   // pace of everything
	leaves []float64 // pace of everything x a_k
	enters []float64 // b_l

	row     []float64 // paces of the links from one site, of which a task often reads after another
	rowOf   int
	rowEdit uint32 // edit when they were looked up
	floors  []floor
}

// floor is the least pace of the links from a site, as edit was when they were looked up.
type floor struct {
	known bool
	edit  uint32
	pace  float64
}

// haul is what was fetched, by weight.
type haul struct{ bytes, seconds float64 }

// gate is what has left or entered a site. A byte is expected to take as long as the other end makes it: b_l or a_k.
type gate struct {
	haul
	expected float64 // seconds over the pace of everything
}

// NewLinkWatch returns a profiler of links with the parameters LinkParams.
func NewLinkWatch(a kit.Args) LinkWatch {
	return LinkWatch{
		Truth: a.Bool("truth"), Weighs: a.Choice("contention") == "weighed", weight: a.Float("weight"), money: a.Float("money"), prior: 1 / a.Float("bandwidth"), fading: fading{memory: a.Span("memory").Seconds(), one: 1},
	}
}

// Observe learns from fetches.
func (w *LinkWatch) Observe(v *sched.View, ev *sched.Event) {
	to := v.Machine(ev.Machine).Site
	if ev.Site == to {
		return
	}
	if by := w.now(v.Now()); by < 1 {
		w.fade(by)
	}
	w.seen++
	w.from, w.into, w.links = kit.Grown(w.from, int(ev.Site)), kit.Grown(w.into, int(to)), kit.Grown(w.links, int(ev.Site))
	row := kit.Grown(w.links[ev.Site], int(to))
	w.links[ev.Site] = row
	span := ev.Span
	if n := v.Sites().Network(); n != nil {
		_, latency := n.Link(ev.Site, to)
		span = max(0, span-latency)
	}
	x := haul{w.one * float64(ev.Bytes), w.one * span.Seconds()}
	if n := v.Sites().Network(); n != nil && n.Shared && w.Weighs {
		x.seconds /= w.traffic.end(v, ev, to)
	}
	w.all.add(x)
	w.count += w.one
	w.weigh()
	from, into := &w.from[ev.Site], &w.into[to]
	a, b := w.factor(from), w.factor(into)
	from.add(x)
	from.expected += x.bytes * b
	into.add(x)
	into.expected += x.bytes * a
	row[to].add(x)
	w.fresh = false
}

// factor returns a_k or b_l.
func (w *LinkWatch) factor(g *gate) float64 {
	return (g.seconds + w.worth*w.pool) / (g.expected + w.worth) / w.pool
}

// weigh brings the pace of everything and the worth of a prior up to date.
func (w *LinkWatch) weigh() {
	w.worth = w.weight * w.one * w.all.bytes / w.count
	w.pool = w.all.pace(w.prior, w.worth)
}

func (h *haul) add(x haul) {
	h.bytes += x.bytes
	h.seconds += x.seconds
}

func (h *haul) fade(by float64) {
	h.bytes *= by
	h.seconds *= by
}

// pace returns seconds per byte: those seen, and a prior that is worth so many bytes.
func (h haul) pace(prior, worth float64) float64 {
	return (h.seconds + worth*prior) / (h.bytes + worth)
}

func (w *LinkWatch) fade(by float64) {
	w.count *= by
	w.all.fade(by)
	for _, side := range [][]gate{w.from, w.into} {
		for i := range side {
			side[i].fade(by)
			side[i].expected *= by
		}
	}
	for _, row := range w.links {
		for i := range row {
			row[i].fade(by)
		}
	}
}

// settle brings what is known of the sites' ends up to date.
func (w *LinkWatch) settle(v *sched.View) {
	if w.fresh && len(w.leaves) == v.Sites().Len() && v.Now() < w.until {
		return
	}
	if by := w.now(v.Now()); by < 1 {
		w.fade(by)
	}
	w.fresh, w.until = true, kit.Later(v.Now(), w.memory/16)
	w.edit++
	w.leaves, w.enters = kit.Zeroed(w.leaves, v.Sites().Len()), kit.Zeroed(w.enters, v.Sites().Len())
	w.from, w.into, w.links = kit.Grown(w.from, v.Sites().Len()-1), kit.Grown(w.into, v.Sites().Len()-1), kit.Grown(w.links, v.Sites().Len()-1)
	if w.pool, w.worth = w.prior, 1; w.count > 0 {
		w.weigh()
	}
	for k := range w.leaves {
		w.leaves[k], w.enters[k] = w.pool*w.factor(&w.from[k]), w.factor(&w.into[k])
	}
}

// pace returns seconds per byte between two sites, once what is known is settled.
func (w *LinkWatch) pace(k, l int) float64 {
	prior := w.leaves[k] * w.enters[l]
	if row := w.links[k]; l < len(row) {
		return row[l].pace(prior, w.worth)
	}
	return prior
}

// knows tells whether the bandwidths of a network are taken for what they are.
func (w *LinkWatch) knows(n *sched.Network) bool { return w.Truth || n.Stated }

// seconds returns how long it takes to fetch so many bytes from site k to site l, where k is not l.
func (w *LinkWatch) seconds(n *sched.Network, k, l int, bytes int64) (s float64) {
	switch {
	case n.Shared:
		s = float64(bytes) * w.shared(n, k, l)
	case w.knows(n):
		s = float64(bytes) * (1 / n.Bandwidth[k*n.Sites()+l]) // as paces has it
	default:
		s = float64(bytes) * w.pace(k, l)
	}
	if n.Latency != nil {
		s += n.Latency[k*n.Sites()+l].Seconds()
	}
	return s
}

// FetchTimes is how long it takes to fetch what a task reads, to every site: the last answer, for tasks of a stage
// often read the same.
type FetchTimes struct {
	of      []sched.Source
	edit    uint32    // LinkWatch.edit
	seconds []float64 // by site
}

// Fetch returns the time of fetching, in seconds, for each site: that of the slowest source, for they are fetched from
// at once. The answer stands until the next call with the same memory.
func (w *LinkWatch) Fetch(f *FetchTimes, v *sched.View, sources []sched.Source) []float64 {
	w.settle(v)
	if len(f.seconds) == v.Sites().Len() && f.edit == w.edit && same(f.of, sources) {
		return f.seconds
	}
	f.of, f.edit = append(f.of[:0], sources...), w.edit
	f.seconds = kit.Zeroed(f.seconds, v.Sites().Len())
	n := v.Sites().Network()
	if n == nil {
		return f.seconds
	}
	for _, x := range sources {
		w.paces(n, int(x.Site))
		bytes, home := float64(x.Bytes), f.seconds[x.Site]
		for k, pace := range w.row {
			d := bytes * pace
			if n.Latency != nil {
				d += n.Latency[int(x.Site)*n.Sites()+k].Seconds()
			}
			if d > f.seconds[k] {
				f.seconds[k] = d
			}
		}
		f.seconds[x.Site] = home
	}
	return f.seconds
}

// paces sets row to the paces of the links from a site, unless it has them.
func (w *LinkWatch) paces(n *sched.Network, from int) {
	if w.rowEdit == w.edit && w.rowOf == from && len(w.row) == n.Sites() {
		return
	}
	w.rowEdit, w.rowOf = w.edit, from
	w.row = kit.Zeroed(w.row, n.Sites())
	if n.Shared {
		for l := range w.row {
			w.row[l] = w.shared(n, from, l)
		}
		return
	}
	if w.knows(n) {
		for l, b := range n.Bandwidth[from*n.Sites() : (from+1)*n.Sites()] {
			w.row[l] = 1 / b
		}
		return
	}
	leaves, seen := w.leaves[from], w.links[from]
	for l, b := range w.enters {
		if prior := leaves * b; l < len(seen) {
			w.row[l] = (seen[l].seconds + w.worth*prior) / (seen[l].bytes + w.worth)
		} else {
			w.row[l] = prior
		}
	}
}

// AtLeast returns a time, in seconds, below which no site is that fetches all a task reads from others.
func (w *LinkWatch) AtLeast(v *sched.View, sources []sched.Source) (longest float64) {
	n := v.Sites().Network()
	if n == nil || n.Shared {
		return 0
	}
	w.settle(v)
	w.floors = kit.Grown(w.floors, n.Sites()-1)
	for _, x := range sources {
		f := &w.floors[x.Site]
		if !f.known || f.edit != w.edit {
			w.paces(n, int(x.Site))
			*f = floor{known: true, edit: w.edit, pace: math.Inf(1)}
			for k, pace := range w.row {
				if k != int(x.Site) {
					f.pace = min(f.pace, pace)
				}
			}
		}
		longest = max(longest, float64(x.Bytes)*f.pace)
	}
	return longest
}

// FetchTo is fetch for one site.
func (w *LinkWatch) FetchTo(v *sched.View, sources []sched.Source, to sched.SiteID) (longest float64) {
	n := v.Sites().Network()
	if n == nil {
		return 0
	}
	w.settle(v)
	for _, x := range sources {
		if x.Site != to {
			longest = max(longest, w.seconds(n, int(x.Site), int(to), x.Bytes))
		}
	}
	return longest
}

// Ends returns what leaves and what enters a site in a second, in bytes: as was seen so far, or, where it is known,
// what its links carry: all of them and the site's bounds if fetches share them, else their mean.
func (w *LinkWatch) Ends(v *sched.View, k int) (up, down float64) {
	n := v.Sites().Network()
	if n == nil || n.Sites() == 1 {
		return math.Inf(1), math.Inf(1)
	}
	if !w.knows(n) {
		w.settle(v)
		return 1 / w.from[k].pace(w.pool, w.worth), 1 / w.into[k].pace(w.pool, w.worth)
	}
	for l := range n.Sites() {
		if l != k {
			up += n.Bandwidth[k*n.Sites()+l]
			down += n.Bandwidth[l*n.Sites()+k]
		}
	}
	if others := float64(n.Sites() - 1); !n.Shared {
		return up / others, down / others
	}
	leaves, enters := n.Ends(sched.SiteID(k))
	return min(up, leaves), min(down, enters)
}

func same(a, b []sched.Source) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// fading lets older observations count less. Instead of theirs the weight of new ones changes, until numbers become too
// large.
type fading struct {
	memory float64    // seconds after which an observation counts half
	one    float64    // weight of an observation made now
	since  sched.Time // when it was 1
	at     sched.Time // of the last call of now
}

// now sets the weight of an observation made now. What was gathered has to be multiplied with the factor that it
// returns, which is 1 but every forty memories or so.
func (f *fading) now(t sched.Time) (by float64) {
	if t == f.at {
		return 1
	}
	f.at = t
	f.one = math.Exp2((t - f.since).Seconds() / f.memory)
	if f.one < 1e12 {
		return 1
	}
	by = 1 / f.one
	f.since, f.one = t, 1
	return by
}
