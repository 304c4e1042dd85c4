package sim

import (
	"cmp"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/sched"
)

// room is what can still move before jobs. A dataset moves at constant rates from window before its job's arrival until
// then, so that at any time the sum of what the windows under way move is at most what is carried in one window.
type room struct {
	window   sched.Time
	arrivals []sched.Time // that differ, ascending
	sites    int
	free     [][]int64 // by arrival: what the windows that are under way when its own begins may still move
}

// newRoom returns the room of a network, of which ends returns the bytes per second that leave and enter a site.
func newRoom(n *sched.Network, up, down []float64, lag sched.Time, arrivals []sched.Time) room {
	r := room{window: lag, arrivals: slices.Compact(arrivals), sites: n.Sites()}
	for i, latency := range n.Latency {
		if i/r.sites != i%r.sites {
			r.window = min(r.window, lag-latency)
		}
	}
	r.window = max(0, r.window)
	var all []int64
	for k := range r.sites {
		all = append(all, carried(up[k], r.window), carried(down[k], r.window))
	}
	for _, bandwidth := range n.Bandwidth {
		all = append(all, carried(bandwidth, r.window))
	}
	for range r.arrivals {
		r.free = append(r.free, slices.Clone(all))
	}
	return r
}

// parts returns what a move uses: the uplink, the downlink and the link between.
func (r *room) parts(from, to sched.SiteID) [3]int {
	return [3]int{2 * int(from), 2*int(to) + 1, 2*r.sites + int(from)*r.sites + int(to)}
}

// under returns the windows at whose beginning that of an arrival is under way.
func (r *room) under(arrival sched.Time) [][]int64 {
	first, _ := slices.BinarySearchFunc(r.arrivals, arrival, cmp.Compare[sched.Time])
	last := first + sort.Search(len(r.arrivals)-first, func(i int) bool { return r.arrivals[first+i]-arrival >= r.window })
	return r.free[first:max(last, first)]
}

// left returns how many bytes of a dataset can still move.
func (r *room) left(arrival sched.Time, from, to sched.SiteID) int64 {
	windows := r.under(arrival)
	if len(windows) == 0 {
		return 0
	}
	least := windows[0][2*int(from)]
	for _, free := range windows {
		for _, k := range r.parts(from, to) {
			least = min(least, free[k])
		}
	}
	return least
}

// take uses bytes, if they are left.
func (r *room) take(arrival sched.Time, from, to sched.SiteID, bytes int64) bool {
	if bytes > r.left(arrival, from, to) {
		return false
	}
	for _, free := range r.under(arrival) {
		for _, k := range r.parts(from, to) {
			free[k] -= bytes
		}
	}
	return true
}

// byData orders sites by their data, most first.
func byData(data []float64) []int {
	order := make([]int, len(data))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(data[b], data[a]), cmp.Compare(a, b)) })
	return order
}
