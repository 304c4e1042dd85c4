package plan

import "math"

// climb adds clones for a utility with α < ∞, and returns by how much the sum of utilities may be short.
func (j *Joint) climb(u Utility, left int) (gap float64) {
	j.queue.reset()
	for i := range j.claims {
		c := &j.claims[i]
		if c.step(u, c.most); c.rate > 0 {
			j.queue.push(int32(i), c.rate)
		}
	}
	left, price := j.climbHull(u, left)
	if price == 0 {
		return 0
	}
	for i := range j.claims {
		j.claims[i].hull = j.claims[i].clones
	}
	// The linear relaxation would take a part of the step that does not fit.
	if gap = float64(left)*price - j.fill(u, left); gap > 0 {
		gap = j.rest.settle(j.claims, u, left, price, gap, j.Steps)
	}
	return max(0, gap)
}

// climbHull makes the steps of most gain per slot until one does not fit, whose gain per slot it returns with the slots
// that are left; 0 if all fit.
func (j *Joint) climbHull(u Utility, left int) (_ int, price float64) {
	for !j.queue.empty() {
		c := &j.claims[j.queue.top()]
		need := c.cost(c.next) - c.cost(c.clones)
		if need > left {
			return left, c.rate
		}
		left -= need
		c.clones = c.next
		c.step(u, c.most)
		j.queue.replace(c.rate)
	}
	return left, 0
}

// fill goes on with what fits, and returns the gain.
func (j *Joint) fill(u Utility, left int) (gain float64) {
	for !j.queue.empty() {
		c := &j.claims[j.queue.top()]
		if need := c.cost(c.next) - c.cost(c.clones); need <= left {
			left -= need
			gain += c.rate * float64(need)
			c.clones = c.next
		}
		c.step(u, c.reach(left))
		j.queue.replace(c.rate)
	}
	return gain
}

// step looks for the next step along the concave hull of U(R), up to a number of clones. R is S-shaped in r, or its
// tail, which is concave, and so is U(R) for every α >= 0: the gain per clone rises to a maximum and falls.
// Rungs have no such shape.
func (c *claim) step(u Utility, most int) {
	c.rate, c.next = 0, c.clones
	before := c.log(c.clones)
	for r := c.clones + 1; r <= most; r++ {
		rate := c.gain(u, before, c.log(r)) / float64(c.cost(r)-c.cost(c.clones))
		if rate > c.rate {
			c.rate, c.next = rate, r
		} else if c.rate > 0 && c.rungs == nil {
			return
		}
	}
}

// concave says that U(R) is concave in r from a number of clones on. With x = q^(r+1) and b = 1-α it is (1-x)^(bN)/b,
// whose second derivative has the sign of bNx-1. Where held clones are used up, the slope falls.
func (c *claim) concave(u Utility, clones int) bool {
	return c.rungs == nil && float64(1-u)*c.tasks*math.Exp(c.late(clones)) <= 1
}

// claimHeap holds claims, that with the largest key on top, of equals the first.
type claimHeap struct{ items []claimKey }

type claimKey struct {
	key   float64
	claim int32
}

func (h *claimHeap) reset()      { h.items = h.items[:0] }
func (h *claimHeap) empty() bool { return len(h.items) == 0 }
func (h *claimHeap) top() int32  { return h.items[0].claim }

func (a claimKey) before(b claimKey) bool {
	return a.key > b.key || a.key == b.key && a.claim < b.claim
}

func (h *claimHeap) push(claim int32, key float64) {
	h.items = append(h.items, claimKey{key, claim})
	for i := len(h.items) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.items[i].before(h.items[up]) {
			return
		}
		h.items[i], h.items[up] = h.items[up], h.items[i]
		i = up
	}
}

func (h *claimHeap) pop() {
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.sink()
}

// replace gives the top another key; one that is 0 goes.
func (h *claimHeap) replace(key float64) {
	if key == 0 {
		h.pop()
		return
	}
	h.items[0].key = key
	h.sink()
}

func (h *claimHeap) sink() {
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h.items) {
			return
		}
		if right := down + 1; right < len(h.items) && h.items[right].before(h.items[down]) {
			down = right
		}
		if !h.items[down].before(h.items[i]) {
			return
		}
		h.items[i], h.items[down] = h.items[down], h.items[i]
		i = down
	}
}
