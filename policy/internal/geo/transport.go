package geo

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
)

// Transport is the problem of sending supplies to sites of limited room: supply[g] units of group g, each at cost(g, k)
// if it goes to site k, which takes room[k] at most. Units of a group are alike. Units for which there is no room stay
// out, those of later groups first: as many go as can.
//
// It is solved by successive shortest paths: unit by unit, or as many at once as the path takes, each new one pushes
// others on from sites that are full, along the path that is cheapest (Jonker and Volgenant, Computing 38, 1987, for
// assignment; here with groups and room). The prices of full sites are the potentials that keep all steps at a length
// of at least 0, so that Dijkstra's rule finds the path. In the algebra of (max, min) the same paths give the least
// possible cost of the dearest unit.
//
// Sites with room are nearest to most units, so that the usual step costs O(sites); one that pushes others costs
// O(groups x sites) for each full site on its way. The memory of one problem is used for the next.
type Transport struct {
	Sites  int
	Supply []int32
	Room   []int32
	costs  []float64 // [g*sites+k]; +Inf where g may not go to k
	Sent   []int32   // likewise: the answer

	left  []int32   // room that is left, by site
	price []float64 // of a place at a site
	near  []float64 // length of the shortest path to a site so far
	via   []pushed
	seen  []bool
	order []int32 // sites in the order in which their distance was settled
}

// pushed says how a path comes to a site: a unit of the group moves here from another site, or is new if that is -1.
type pushed struct{ from, group int32 }

// Reset begins a problem of no groups and sites of so much room, for the caller to fill in.
func (x *Transport) Reset(sites int) {
	x.Sites = sites
	x.Supply, x.costs = x.Supply[:0], x.costs[:0]
	x.Room = kit.Zeroed(x.Room, sites)
}

// Group adds a group and returns its costs to be filled in.
func (x *Transport) Group(supply int32) []float64 {
	x.Supply = append(x.Supply, supply)
	n := len(x.costs)
	for range x.Sites {
		x.costs = append(x.costs, 0)
	}
	return x.costs[n:]
}

// Solve finds the answer with the least cost of the dearest unit and, among those, of the least sum: the first two
// levels of Flutter's lexicographic problem (Hu, Li and Luo, INFOCOM 2016). It returns that cost. What stays out is
// taken from Supply: a unit for which there is no path when it is its turn has none later either, for to send units is
// to choose from a transversal matroid.
func (x *Transport) Solve() (dearest float64) {
	if dearest = x.cheapest(); !math.IsNaN(dearest) {
		return dearest
	}
	dearest = x.send(true, math.Inf(1))
	x.send(false, dearest)
	return dearest
}

// cheapest sends every unit to its cheapest site if they have the room, in which case no answer is better in any sense;
// NaN if not. Of sites equally cheap it takes that with the most room left, then the first.
func (x *Transport) cheapest() (dearest float64) {
	x.begin()
	for g, n := range x.Supply {
		costs := x.costs[g*x.Sites : (g+1)*x.Sites]
		for n > 0 {
			best := 0
			for k := range costs {
				if costs[k] < costs[best] || costs[k] == costs[best] && x.left[k] > x.left[best] {
					best = k
				}
			}
			if x.left[best] == 0 || math.IsInf(costs[best], 1) {
				return math.NaN()
			}
			m := min(n, x.left[best])
			x.Sent[g*x.Sites+best] += m
			x.left[best] -= m
			n -= m
			dearest = max(dearest, costs[best])
		}
	}
	return dearest
}

func (x *Transport) begin() {
	x.Sent = kit.Zeroed(x.Sent, len(x.Supply)*x.Sites)
	x.price = kit.Zeroed(x.price, x.Sites)
	x.left = append(x.left[:0], x.Room...)
}

// send finds the least cost of the dearest unit, or the least sum of costs where no unit may cost more than most. It
// returns the cost of the dearest unit.
func (x *Transport) send(byDearest bool, most float64) (dearest float64) {
	x.begin()
	for g := range x.Supply {
		for n := x.Supply[g]; n > 0; {
			end := x.path(int32(g), byDearest, most)
			if end < 0 {
				x.Supply[g] -= n
				break
			}
			dearest = max(dearest, x.near[end])
			if !byDearest {
				x.raise(end)
			}
			n -= x.push(end, min(n, x.left[end]))
		}
	}
	return dearest
}

// path finds the shortest path of a new unit to a site with room, -1 if there is none. Distances to full sites nearer
// than that are settled.
func (x *Transport) path(g int32, byDearest bool, most float64) int32 {
	x.near, x.via, x.seen, x.order = kit.Zeroed(x.near, x.Sites), kit.Zeroed(x.via, x.Sites), kit.Zeroed(x.seen, x.Sites), x.order[:0]
	for k := range x.near {
		x.near[k], x.via[k] = math.Inf(1), pushed{-1, g}
		if c := x.costs[int(g)*x.Sites+k]; c <= most {
			x.near[k] = c + x.price[k]
		}
	}
	for {
		next := int32(-1)
		for k, d := range x.near {
			if !x.seen[k] && d < math.Inf(1) && (next < 0 || d < x.near[next] || d == x.near[next] && x.left[k] > x.left[next]) {
				next = int32(k)
			}
		}
		if next < 0 || x.left[next] > 0 {
			return next
		}
		x.seen[next] = true
		x.order = append(x.order, next)
		for h := range x.Supply {
			if x.Sent[h*x.Sites+int(next)] > 0 {
				x.relax(int32(h), next, byDearest, most)
			}
		}
	}
}

// relax tries the step of a unit of a group from a full site to each other one.
func (x *Transport) relax(h, from int32, byDearest bool, most float64) {
	costs := x.costs[int(h)*x.Sites : (int(h)+1)*x.Sites]
	base := x.near[from]
	back := costs[from] + x.price[from]
	for k, c := range costs {
		if x.seen[k] || !(c <= most) {
			continue
		}
		d := max(base, c)
		if !byDearest {
			d = base + max(0, c+x.price[k]-back) // below 0 by rounding only
		}
		if d < x.near[k] {
			x.near[k], x.via[k] = d, pushed{from, h}
		}
	}
}

// raise makes places at the full sites that the last path passed by or over dearer, so that the path found becomes one
// of no length.
func (x *Transport) raise(end int32) {
	for _, k := range x.order {
		x.price[k] += x.near[end] - x.near[k]
	}
}

// push sends units along the last path, no more than each of its steps can move, and returns how many.
func (x *Transport) push(end, n int32) int32 {
	for k := end; x.via[k].from >= 0; k = x.via[k].from {
		n = min(n, x.Sent[int(x.via[k].group)*x.Sites+int(x.via[k].from)])
	}
	x.left[end] -= n
	for k := end; k >= 0; k = x.via[k].from {
		g := int(x.via[k].group) * x.Sites
		x.Sent[g+int(k)] += n
		if from := x.via[k].from; from >= 0 {
			x.Sent[g+int(from)] -= n
		}
	}
	return n
}
