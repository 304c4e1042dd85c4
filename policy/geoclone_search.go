package policy

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// search finds the site with room where an attempt of the task has the smallest expected time, prices counted. Sites
// only fill up within a decision, so the answer stands until that site is full, or, where it is tied with another,
// until the next slot, for which only those that were tied are looked at. A search looks at the sites where the task
// reads, and then at the others until, by the mean of their laws and the least time of fetching, none of those left can
// be better. Before anything is known of sites and links nearly all of them are tied.
func (p *geoclone) search(v *sched.View, x *geoTask) {
	if p.among(x) {
		return
	}
	p.sources = v.Sites().AppendSources(p.sources[:0], x.id)
	found := nowhere
	for _, y := range p.sources {
		p.try(v, x, y.Site, &found)
	}
	atLeast := p.watch.Links.AtLeast(v, p.sources)
	for _, k := range p.byMean {
		if found.best >= 0 && x.p*p.watch.Laws[k].Mean+atLeast > found.cost {
			break
		}
		if !slices.ContainsFunc(p.sources, func(y sched.Source) bool { return y.Site == sched.SiteID(k) }) {
			p.try(v, x, sched.SiteID(k), &found)
		}
	}
	x.candidate, x.alike = found, span{}
	if n := len(p.ties); found.tied && !found.uneven && n+len(p.found) <= p.mostTies && !p.watch.Weighs(v) {
		p.ties = append(p.ties, p.found...)
		x.alike = span{int32(n), int32(len(p.ties))}
	}
}

// span is list[from:to] of some list.
type span struct{ from, to int32 }

// mostTies bounds the memory for tied sites, which is 4 bytes for each. Tasks beyond it search anew for each slot, as
// they do where fetches weigh on each other, so that what a site costs may change within a decision.
const mostTies = 1 << 20

// among finds the best of the sites that were tied at the last search; it returns false if none of them has room.
func (p *geoclone) among(x *geoTask) bool {
	tied := p.ties[x.alike.from:x.alike.to]
	left, best := tied[:0], int32(-1)
	for _, k := range tied {
		room := p.room[k]
		if room == 0 {
			continue
		}
		left = append(left, k)
		if best < 0 || room > p.room[best] || room == p.room[best] && k < best {
			best = k
		}
	}
	x.alike.to = x.alike.from + int32(len(left))
	if best < 0 {
		return false
	}
	x.best, x.tied = best, len(left) > 1
	return true
}

// candidate is the best site that a search has found so far.
type candidate struct {
	best    int32   // with the smallest cost among those with room, -1 before there is one
	seconds float64 // expected time of an attempt there
	cost    float64 // that time, and what it costs beside: see geo.LinkWatch.Toll
	tied    bool    // with another
	uneven  bool    // with one where an attempt takes another time
}

var nowhere = candidate{best: -1}

// try looks at a site: of those alike that with more room is better, then the first.
func (p *geoclone) try(v *sched.View, x *geoTask, k sched.SiteID, found *candidate) {
	room := p.room[k]
	if room == 0 || !v.Sites().Allows(x.id, k) {
		return
	}
	e, best := x.p*p.watch.Laws[k].Mean+p.watch.Links.FetchTo(v, p.sources, k), found.best
	cost := e + p.watch.Links.Toll(v, x.id, p.sources, k, e)
	switch {
	case best < 0 || cost < found.cost:
		*found = candidate{best: int32(k), seconds: e, cost: cost}
		p.found = append(p.found[:0], int32(k))
	case cost == found.cost:
		p.found = append(p.found, int32(k))
		found.tied, found.uneven = true, found.uneven || e != found.seconds
		if room > p.room[best] || room == p.room[best] && int32(k) < best {
			found.best, found.seconds = int32(k), e
		}
	}
}
