package policy

import "math"

// transport is the problem of sending supplies to sites of limited room: supply[g] units of group g, each at cost(g, k)
// if it goes to site k, which takes room[k] at most. Units of a group are alike. The room is enough for all.
//
// It is solved by successive shortest paths: unit by unit, or as many at once as the path takes, each new one pushes
// others on from sites that are full, along the path that is cheapest (Jonker and Volgenant, Computing 38, 1987, for
// assignment; here with groups and room). The prices of full sites are the potentials that keep all steps at a length
// of at least 0, so that Dijkstra's rule finds the path. In the algebra of (max, min) the same paths give the least
// possible cost of the dearest unit.
//
// Sites with room are nearest to most units, so that the usual step costs O(sites); one that pushes others costs
// O(groups x sites) for each full site on its way. The memory of one problem is used for the next.
type transport struct {
	sites  int
	supply []int32
	room   []int32
	costs  []float64 // [g*sites+k]; +Inf where g may not go to k
	sent   []int32   // likewise: the answer

	left  []int32   // room that is left, by site
	price []float64 // of a place at a site
	near  []float64 // length of the shortest path to a site so far
	via   []pushed
	seen  []bool
	order []int32 // sites in the order in which their distance was settled
}

// pushed says how a path comes to a site: a unit of the group moves here from another site, or is new if that is -1.
type pushed struct{ from, group int32 }

// reset begins a problem of no groups and sites of so much room, for the caller to fill in.
func (x *transport) reset(sites int) {
	x.sites = sites
	x.supply, x.costs = x.supply[:0], x.costs[:0]
	x.room = resized(x.room, sites)
}

// resized returns n zeros in the memory of s.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}

// group adds a group and returns its costs to be filled in.
func (x *transport) group(supply int32) []float64 {
	x.supply = append(x.supply, supply)
	n := len(x.costs)
	for range x.sites {
		x.costs = append(x.costs, 0)
	}
	return x.costs[n:]
}

// solve finds the answer with the least cost of the dearest unit and, among those, of the least sum: the first two
// levels of Flutter's lexicographic problem (Hu, Li and Luo, INFOCOM 2016). It returns that cost, +Inf if costs allow
// no answer at all.
func (x *transport) solve() (dearest float64) {
	if dearest = x.cheapest(); !math.IsNaN(dearest) {
		return dearest
	}
	if dearest = x.send(true, math.Inf(1)); !math.IsInf(dearest, 1) {
		x.send(false, dearest)
	}
	return dearest
}

// cheapest sends every unit to its cheapest site if they have the room, in which case no answer is better in any sense;
// NaN if not. Of sites equally cheap it takes that with the most room left, then the first.
func (x *transport) cheapest() (dearest float64) {
	x.begin()
	for g, n := range x.supply {
		costs := x.costs[g*x.sites : (g+1)*x.sites]
		for n > 0 {
			best := 0
			for k := range costs {
				if costs[k] < costs[best] || costs[k] == costs[best] && x.left[k] > x.left[best] {
					best = k
				}
			}
			if x.left[best] == 0 {
				return math.NaN()
			}
			m := min(n, x.left[best])
			x.sent[g*x.sites+best] += m
			x.left[best] -= m
			n -= m
			dearest = max(dearest, costs[best])
		}
	}
	return dearest
}

func (x *transport) begin() {
	x.sent = resized(x.sent, len(x.supply)*x.sites)
	x.price = resized(x.price, x.sites)
	x.left = append(x.left[:0], x.room...)
}

// send finds the least cost of the dearest unit, or the least sum of costs where no unit may cost more than most. It
// returns the cost of the dearest unit, +Inf if there is no answer.
func (x *transport) send(byDearest bool, most float64) (dearest float64) {
	x.begin()
	for g := range x.supply {
		for n := x.supply[g]; n > 0; {
			end := x.path(int32(g), byDearest, most)
			if end < 0 {
				return math.Inf(1)
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
func (x *transport) path(g int32, byDearest bool, most float64) int32 {
	x.near, x.via, x.seen, x.order = resized(x.near, x.sites), resized(x.via, x.sites), resized(x.seen, x.sites), x.order[:0]
	for k := range x.near {
		x.near[k], x.via[k] = math.Inf(1), pushed{-1, g}
		if c := x.costs[int(g)*x.sites+k]; c <= most {
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
		for h := range x.supply {
			if x.sent[h*x.sites+int(next)] > 0 {
				x.relax(int32(h), next, byDearest, most)
			}
		}
	}
}

// relax tries the step of a unit of a group from a full site to each other one.
func (x *transport) relax(h, from int32, byDearest bool, most float64) {
	costs := x.costs[int(h)*x.sites : (int(h)+1)*x.sites]
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
func (x *transport) raise(end int32) {
	for _, k := range x.order {
		x.price[k] += x.near[end] - x.near[k]
	}
}

// push sends units along the last path, no more than each of its steps can move, and returns how many.
func (x *transport) push(end, n int32) int32 {
	for k := end; x.via[k].from >= 0; k = x.via[k].from {
		n = min(n, x.sent[int(x.via[k].group)*x.sites+int(x.via[k].from)])
	}
	x.left[end] -= n
	for k := end; k >= 0; k = x.via[k].from {
		g := int(x.via[k].group) * x.sites
		x.sent[g+int(k)] += n
		if from := x.via[k].from; from >= 0 {
			x.sent[g+int(from)] -= n
		}
	}
	return n
}
