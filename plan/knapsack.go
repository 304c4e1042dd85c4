package plan

import (
	"cmp"
	"slices"
)

// knapsackSteps bounds the work of a knapsack: one or two milliseconds.
const knapsackSteps = 1 << 20

// knapsack settles what the linear relaxation leaves open: a multiple-choice knapsack of the jobs and choices that
// may differ from the relaxation in a better allocation (after Pisinger, "A minimal algorithm for the multiple-choice
// knapsack problem", 1995).
type knapsack struct {
	options []option
	claims  []open
	best    []float64 // by slots: the largest gain over the hull
	picks   []int32   // by claim and slots: the option that gives it
}

// option is a number of clones of a claim.
type option struct {
	clones int
	slots  int     // beside those of the claim's option of fewest clones, in units of the knapsack
	gain   float64 // over the hull
}

// open is a claim that has options.
type open struct {
	claim    int
	from, to int     // its options, by clones
	regret   float64 // what the best option beside the hull costs the relaxation
	more     bool    // that option has more clones than the hull
	rank     int     // by regret, among the claims whose best option is on the same side
	spare    int     // slots between the option of fewest clones and the hull
	span     int     // ... and that of most clones
}

// settle improves on what the claims have, which is short of the bound by gap, and returns by how much it is then. The
// relaxation has ended at the claims' hull with slots left, which it would sell at a price.
func (k *knapsack) settle(claims []claim, u Utility, left int, price, gap float64, steps int) float64 {
	bound := float64(left) * price
	k.list(claims, u, price, gap)
	n, unit, capacity := k.cut(claims, left, cmp.Or(steps, knapsackSteps))
	whole := n == len(k.claims)
	k.claims = k.claims[:n]
	if gained := k.solve(unit, capacity); gained > bound-gap {
		gap = bound - gained
		k.apply(claims, capacity/unit)
	}
	if whole {
		return 0
	}
	return gap
}

// list finds the options: an allocation with any other falls short of the bound by more than gap.
func (k *knapsack) list(claims []claim, u Utility, price, gap float64) {
	k.options, k.claims = k.options[:0], k.claims[:0]
	for i := range claims {
		c := &claims[i]
		hull := c.log(c.hull)
		o := open{claim: i, from: len(k.options), regret: -1}
		before := 0.0
		for r := range c.most + 1 {
			gain := 0.0
			if at := c.log(r); r < c.hull {
				gain = -c.gain(u, at, hull)
			} else if r > c.hull {
				gain = c.gain(u, hull, at)
			}
			regret := price*float64(c.cost(r)-c.cost(c.hull)) - gain
			falls := regret >= before
			before = regret
			if r != c.hull && regret > gap*(1+1e-9) {
				if r > c.hull && falls && c.concave(u, r) {
					break // and is worse from here on
				}
				continue
			}
			if r != c.hull && (o.regret < 0 || regret < o.regret) {
				o.regret, o.more = regret, r > c.hull
				if regret < gap*1e-9 { // a tie, but for rounding, which would sort claims by slots
					o.regret = 0
				}
			}
			k.options = append(k.options, option{clones: r, gain: gain})
		}
		if o.to = len(k.options); o.to == o.from+1 {
			k.options = k.options[:o.from]
			continue
		}
		fewest := k.options[o.from].clones
		o.spare = c.cost(c.hull) - c.cost(fewest)
		o.span = c.cost(k.options[o.to-1].clones) - c.cost(fewest)
		k.claims = append(k.claims, o)
	}
}

// cut says how many claims can be settled with the steps there are; and the unit and the
// number of the slots to share.
func (k *knapsack) cut(claims []claim, left, steps int) (n, unit, capacity int) {
	k.order()
	unit, capacity = 1, 0
	options, spare, span, common := 0, left, 0, 0
	for i, o := range k.claims {
		options += o.to - o.from
		spare += o.spare
		span += o.span
		common = divisor(common, claims[o.claim].unit())
		most := min(spare, span)
		if (most/common+1)*options > steps {
			break
		}
		n, unit, capacity = i+1, common, most
	}
	for _, o := range k.claims[:n] {
		all, c := k.options[o.from:o.to], &claims[o.claim]
		for i := range all {
			all[i].slots = (c.cost(all[i].clones) - c.cost(all[0].clones)) / unit
		}
	}
	return n, unit, capacity
}

// order puts the most doubtful claims first, by turns one that may take slots and one that may give some: only together
// can they fill what is left.
func (k *knapsack) order() {
	slices.SortFunc(k.claims, func(a, b open) int {
		return cmp.Or(cmp.Compare(a.regret, b.regret), cmp.Compare(a.claim, b.claim))
	})
	takers, givers := 0, 0
	for i := range k.claims {
		side := &givers
		if k.claims[i].more {
			side = &takers
		}
		k.claims[i].rank = *side
		*side++
	}
	slices.SortFunc(k.claims, func(a, b open) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.regret, b.regret), cmp.Compare(a.claim, b.claim))
	})
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// solve is the dynamic programme over slots, and returns the largest gain over the hull. It is in place: slots are gone
// through downwards, so that of each claim one option is taken.
func (k *knapsack) solve(unit, capacity int) float64 {
	width := capacity/unit + 1
	k.best = slices.Grow(k.best[:0], width)[:width]
	clear(k.best)
	k.picks = slices.Grow(k.picks[:0], width*len(k.claims))[:width*len(k.claims)]
	for i, o := range k.claims {
		options, picks := k.options[o.from:o.to], k.picks[i*width:(i+1)*width]
		for s := width - 1; s >= 0; s-- {
			best, pick := k.best[s]+options[0].gain, 0
			for p := 1; p < len(options) && options[p].slots <= s; p++ {
				if gain := k.best[s-options[p].slots] + options[p].gain; gain > best {
					best, pick = gain, p
				}
			}
			k.best[s], picks[s] = best, int32(pick)
		}
	}
	return k.best[width-1]
}

// apply gives the claims what solve found, and the others what the hull says.
func (k *knapsack) apply(claims []claim, slots int) {
	for i := range claims {
		claims[i].clones = claims[i].hull
	}
	width := slots + 1
	for i := len(k.claims) - 1; i >= 0; i-- {
		o := k.claims[i]
		pick := k.options[o.from+int(k.picks[i*width+slots])]
		claims[o.claim].clones = pick.clones
		slots -= pick.slots
	}
}
