package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// What Iridium's paper does not have: sites where the data of a task may not be, and prices of moved bytes. Tasks of a
// stage that may run at the same sites are divided together, among those. Where a unit of money is worth some seconds
// (money), the numbers n_i are those of the least
//
//	z + money sum of n_i c_i,  c_i = 1/n sum over k of S_k price(k, i)
//
// Slots count nothing, since Iridium does not know how long a task has one.

// shareZones places the tasks of the batch, those first that may not run everywhere. What has no room stays in the
// batch.
func (p *iridium) shareZones(v *sched.View, to []kit.Placement) []kit.Placement {
	all := p.batch.Tasks
	slices.SortStableFunc(all, func(a, b geo.Batched) int { return cmp.Compare(b.Zone, a.Zone) })
	left := all[:0]
	for from := 0; from < len(all); {
		end := from + 1
		for end < len(all) && all[end].Zone == all[from].Zone {
			end++
		}
		p.zoned = append(p.zoned[:0], all[from:end]...)
		first := p.zoned[0]
		p.closed = append(p.closed[:0], p.room...)
		room := 0
		for k := range p.room {
			if !v.Sites().Allows(first.ID, sched.SiteID(k)) {
				p.room[k] = 0
			}
			room += p.room[k]
		}
		p.batch.Tasks = p.zoned
		p.batch.Cut(room)
		left = append(left, p.zoned[len(p.batch.Tasks):]...)
		to = p.share(v, to)
		for k := range p.room {
			if !v.Sites().Allows(first.ID, sched.SiteID(k)) {
				p.room[k] = p.closed[k]
			}
		}
		from = end
	}
	p.batch.Tasks = left
	return to
}

// weigh changes the bounds of the numbers of n tasks, which are those of the least z, to those of the z with the least
// sum of z and what the bytes cost that are moved. As z grows, bounds widen one task at a time: each such z is looked
// at, until no larger one can be better.
func (p *iridium) weigh(net *sched.Network, z, worth float64, n int) {
	p.prices(net, n)
	p.best.lo, p.best.hi = append(p.best.lo[:0], p.lo...), append(p.best.hi[:0], p.hi...)
	least := z + worth*p.moving(n)
	cheapest := float64(n) * p.each[p.cheap[slices.IndexFunc(p.cheap, func(k int) bool { return p.room[k] > 0 })]]
	for {
		site, up, next := -1, false, math.Inf(1)
		for k, room := range p.room {
			if p.lo[k] > 0 {
				if at := p.leaves(k, p.lo[k]-1, n); at < next {
					site, up, next = k, false, at
				}
			}
			if p.hi[k] < min(room, n) {
				if at := p.enters(k, p.hi[k]+1, n); at < next {
					site, up, next = k, true, at
				}
			}
		}
		if z = max(z, next); site < 0 || z+worth*cheapest >= least {
			break
		}
		if up {
			p.hi[site]++
		} else {
			p.lo[site]--
		}
		if sum := z + worth*p.moving(n); sum < least {
			least = sum
			copy(p.best.lo, p.lo)
			copy(p.best.hi, p.hi)
		}
	}
	copy(p.lo, p.best.lo)
	copy(p.hi, p.best.hi)
}

// prices finds c_i, and the sites in the order of it.
func (p *iridium) prices(net *sched.Network, n int) {
	p.each, p.cheap = p.each[:0], p.cheap[:0]
	for i := range p.room {
		c := 0.0
		for k, bytes := range p.data {
			if k != i {
				c += bytes / float64(n) * net.Price[k*len(p.room)+i].Units() / 1e9
			}
		}
		p.each, p.cheap = append(p.each, c), append(p.cheap, i)
	}
	slices.SortStableFunc(p.cheap, func(a, b int) int { return cmp.Compare(p.each[a], p.each[b]) })
}

// moving returns the least that n tasks cost within the bounds.
func (p *iridium) moving(n int) (cost float64) {
	for k, lo := range p.lo {
		cost += float64(lo) * p.each[k]
		n -= lo
	}
	for _, k := range p.cheap {
		more := min(n, p.hi[k]-p.lo[k])
		cost += float64(more) * p.each[k]
		n -= more
	}
	return cost
}
