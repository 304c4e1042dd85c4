package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// transfers are the fetches of one run where they share links. Between two calls of settle all rates are constant.
type transfers struct {
	*Cluster
	now     sched.Time
	next    sched.Time          // that a fetch is complete; Never if none runs
	streams []*stream           // with a fetch, in order of from and to
	idle    []*stream           // for use again
	waiting map[uint32]*arrival // attempts that fetch, by row
	maxMin  maxMin
	changed bool // since rates were set
}

// arrival is an attempt that waits for what it fetches.
type arrival struct {
	running
	fetches int        // that are not complete
	ready   sched.Time // when what is complete is there: latency counts from the last byte
}

func newTransfers(c *Cluster) *transfers {
	return &transfers{Cluster: c, next: sched.Never, waiting: map[uint32]*arrival{}}
}

// begin starts the fetches of an attempt. It returns false if there is nothing to fetch from other sites.
func (x *transfers) begin(r *running, sources []sched.Source, to sched.SiteID) bool {
	a := &arrival{running: *r, ready: x.now}
	row := uint32(r.id.Row())
	for _, src := range sources {
		if src.Site == to {
			continue
		}
		s := x.stream(src.Site, to)
		f := fetch{s.served + float64(src.Bytes), src.Bytes, row}
		i, _ := slices.BinarySearchFunc(s.fetches, f, compareFetches)
		s.fetches = slices.Insert(s.fetches, i, f)
		a.fetches++
	}
	if a.fetches == 0 {
		return false
	}
	x.waiting[row] = a
	x.changed = true
	return true
}

func compareFetches(a, b fetch) int {
	return cmp.Or(cmp.Compare(b.until, a.until), cmp.Compare(b.row, a.row))
}

// stream returns the stream between two sites, a new one if there is none.
func (x *transfers) stream(from, to sched.SiteID) *stream {
	i, found := slices.BinarySearchFunc(x.streams, [2]sched.SiteID{from, to}, func(s *stream, k [2]sched.SiteID) int {
		return cmp.Or(cmp.Compare(s.from, k[0]), cmp.Compare(s.to, k[1]))
	})
	if found {
		return x.streams[i]
	}
	s := &stream{}
	if n := len(x.idle); n > 0 {
		s, x.idle = x.idle[n-1], x.idle[:n-1]
	}
	most, _ := x.Network.Link(from, to)
	*s = stream{from: from, to: to, most: most, fetches: s.fetches[:0]}
	x.streams = slices.Insert(x.streams, i, s)
	return s
}

// cancel ends the fetches of an attempt, if it has any.
func (x *transfers) cancel(row uint32) {
	if x.waiting[row] == nil {
		return
	}
	delete(x.waiting, row)
	for _, s := range x.streams {
		s.fetches = slices.DeleteFunc(s.fetches, func(f fetch) bool { return f.row == row })
	}
	x.changed = true
}

// advance moves to an instant that is not after next, calls came for each fetch that is complete, and there for each
// attempt of which it is the last.
func (x *transfers) advance(now sched.Time, came func(*arrival, sched.Source, sched.Time), there func(*arrival)) {
	elapsed := (now - x.now).Seconds()
	x.now = now
	for _, s := range x.streams {
		s.served += s.rate * elapsed
		for n := len(s.fetches); n > 0 && s.complete(s.fetches[n-1]); n-- {
			f := s.fetches[n-1]
			s.fetches = s.fetches[:n-1]
			x.changed = true
			a := x.waiting[f.row]
			_, latency := x.Network.Link(s.from, s.to)
			a.ready = max(a.ready, now+latency)
			came(a, sched.Source{Site: s.from, Bytes: f.bytes}, now+latency-a.start)
			if a.fetches--; a.fetches == 0 {
				delete(x.waiting, f.row)
				there(a)
			}
		}
	}
}

// complete tells whether a fetch has all it wants, up to what the rounding of instants to nanoseconds leaves.
func (s *stream) complete(f fetch) bool { return s.left(f) <= s.rate*2e-9+f.until*1e-12 }

func (s *stream) left(f fetch) float64 { return max(0, f.until-s.served) }

// settle sets the rates after fetches have begun or ended, and when the next is complete.
func (x *transfers) settle() {
	if !x.changed {
		return
	}
	x.changed = false
	x.streams = slices.DeleteFunc(x.streams, func(s *stream) bool {
		if len(s.fetches) == 0 {
			x.idle = append(x.idle, s)
			return true
		}
		return false
	})
	x.maxMin.share(x.Network, x.streams)
	x.next = sched.Never
	for _, s := range x.streams {
		left := s.left(s.fetches[len(s.fetches)-1]) / s.rate
		if ns := math.Ceil(left * 1e9); ns < float64(sched.Never-x.now) {
			x.next = min(x.next, x.now+sched.Time(ns))
		}
	}
}
