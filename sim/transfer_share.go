package sim

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// stream is the fetches that run between two sites: they are equally fast.
type stream struct {
	from, to sched.SiteID
	most     float64 // bytes per second that the link carries
	rate     float64 // of each fetch, bytes per second
	served   float64 // bytes that a fetch has got that runs since the stream began
	fetches  []fetch // by what is left, the most first
}

// fetch is a transfer of an attempt from one source.
type fetch struct {
	until float64 // stream.served when it is complete
	bytes int64
	row   uint32 // of the attempt
}

// maxMin shares what links and sites carry among streams such that nobody's rate can be raised without lowering that of
// one who has no more: all rates rise alike until a link or site is full, whose streams keep theirs while the others'
// rise on (progressive filling, Bertsekas and Gallager, Data Networks, 6.5.2). Each round fills something, so there are
// no more rounds than streams.
type maxMin struct {
	up, down   []float64 // left to share, by site
	out, in    []int     // fetches whose rate is not settled, by site
	open, left []*stream
}

// share sets the rates of streams that each have a fetch.
func (m *maxMin) share(n *sched.Network, streams []*stream) {
	m.reset(n)
	for _, s := range streams {
		m.out[s.from] += len(s.fetches)
		m.in[s.to] += len(s.fetches)
	}
	m.open = append(m.open[:0], streams...)
	for len(m.open) > 0 {
		least := math.Inf(1)
		for _, s := range m.open {
			least = min(least, m.bound(s))
		}
		m.left = m.left[:0]
		for _, s := range m.open {
			if m.bound(s) > least*(1+1e-12) {
				m.left = append(m.left, s)
			} else {
				s.rate = -1 // settled below, when the bounds of all have been looked at
			}
		}
		for _, s := range m.open {
			if s.rate < 0 {
				m.settle(s, least)
			}
		}
		m.open, m.left = m.left, m.open
	}
}

func (m *maxMin) reset(n *sched.Network) {
	if m.up == nil {
		m.up, m.down = make([]float64, n.Sites()), make([]float64, n.Sites())
		m.out, m.in = make([]int, n.Sites()), make([]int, n.Sites())
	}
	for i := range m.up {
		m.up[i], m.down[i] = n.Ends(sched.SiteID(i))
		m.out[i], m.in[i] = 0, 0
	}
}

// bound returns how far the rate of a stream's fetches can rise if those of all that are open rise alike.
func (m *maxMin) bound(s *stream) float64 {
	s.rate = 0
	return min(s.most/float64(len(s.fetches)), m.up[s.from]/float64(m.out[s.from]), m.down[s.to]/float64(m.in[s.to]))
}

func (m *maxMin) settle(s *stream, rate float64) {
	n := len(s.fetches)
	s.rate = rate
	m.out[s.from] -= n
	m.in[s.to] -= n
	m.up[s.from] = max(0, m.up[s.from]-rate*float64(n))
	m.down[s.to] = max(0, m.down[s.to]-rate*float64(n))
}
