package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// continuous are the forks of a law with a density: nodes of a quadrature over T1 = X_{k:n}, one set for every k.
//
// With u = F(t), the density of F(T1) is n P(Bin(n-1, 1-u) = s) for s = n-k. The nodes are equidistant in a variable x
// with dw/dx as wide as that density is in w = log(u/(1-u)): about 2 cosh(w/2)/√n in the middle, and about 1 at the
// ends, where t may grow as a power of 1-u. The trapezoid rule is then exact but for exp(-2π²σ²/h²), h being the step.
type continuous struct {
	law     laws.Law
	tasks   int
	nodes   []node
	inner   []point // the steps of a fresh attempt, the first and the last end being the support's
	highest float64 // the upper end of the support, +Inf if there is none
}

// node is a time of the fork.
type node struct {
	t     float64
	u, q  float64 // F(t) and 1-F(t)
	width float64 // the weight of the node in u
}

// point is a point y of the quadrature over residuals with its weight and the survival of a fresh attempt there.
type point struct{ y, width, fresh float64 }

const (
	forkStep  = 1.0 / 3 // of x
	forkEnd   = 80.0    // of |w|
	endWidth  = 0.7     // dw/dx far out
	lifeStep  = 1.0 / 24
	thinTail  = 1e-30 // where the weights of a fork are cut, relative to the greatest: the latency may grow as fast
	tailStart = 1e280 // beyond which a survival is continued as a power
)

func newContinuous(l laws.Law, tasks int) *continuous {
	c := &continuous{law: l, tasks: tasks, highest: l.InvSurvival(0)}
	root := math.Sqrt(float64(tasks))
	x := func(w float64) float64 { return w/endWidth + 2*root*math.Atan(math.Tanh(w/4)) }
	slope := func(w float64) float64 { return 1/endWidth + root/(2*math.Cosh(w/2)) }
	last := int(x(forkEnd) / forkStep)
	w := 0.0
	for i := -last; i <= last; i++ {
		if i == -last {
			w = -forkEnd
		}
		target := float64(i) * forkStep
		for range 60 { // Newton, from the node before: x is increasing and its slope changes slowly
			d := (x(w) - target) / slope(w)
			w -= d
			if math.Abs(d) < 1e-13 {
				break
			}
		}
		n := node{u: 1 / (1 + math.Exp(-w)), q: 1 / (1 + math.Exp(w))}
		n.width = n.u * n.q / slope(w) * forkStep
		if n.u <= n.q {
			n.t = l.Quantile(n.u)
		} else {
			n.t = l.InvSurvival(n.q)
		}
		if !math.IsInf(n.t, 1) {
			c.nodes = append(c.nodes, n)
		}
	}
	c.inner = c.steps(c.highest)
	return c
}

func (c *continuous) len() int           { return len(c.nodes) }
func (c *continuous) time(i int) float64 { return c.nodes[i].t }

func (c *continuous) alive(i int) float64 { return c.law.Survival(c.nodes[i].t) }

func (c *continuous) weigh(i, lo, hi int, visit func(unfinished int, weights []float64)) {
	n := c.nodes[i]
	running := binomial(c.tasks-1, n.q, n.u, thinTail, nil)
	for s := max(lo, running.lo); s <= min(hi, running.hi()); s++ {
		w := float64(c.tasks) * running.pmf[s-running.lo] * n.width
		visit(s, []float64{w})
	}
}

func (c *continuous) residuals(i int, step func(y, width, old, fresh float64)) {
	c.residualsAt(c.nodes[i], step)
}

// residualsAt lists the steps after a fork at any time.
func (c *continuous) residualsAt(n node, step func(y, width, old, fresh float64)) {
	inner := c.inner
	if !math.IsInf(c.highest, 1) {
		inner = c.steps(c.highest - n.t)
	}
	for _, p := range inner {
		step(p.y, p.width, c.law.Survival(n.t+p.y)/n.q, p.fresh)
	}
}

func (c *continuous) lives(step func(y, width, fresh float64)) {
	for _, p := range c.inner {
		step(p.y, p.width, p.fresh)
	}
}

// orders are closed forms where laws has them, otherwise its quadrature.
func (c *continuous) orders() []float64 {
	out := make([]float64, c.tasks+1)
	for k := 1; k <= c.tasks; k++ {
		out[k], _ = laws.OrderMean(c.law, k, c.tasks)
	}
	return out
}

// steps are the nodes of an integral over y from 0 to end of something that has a corner at the lower end of the
// support: double exponential substitutions (Takahasi and Mori 1974) on either side of it.
func (c *continuous) steps(end float64) []point {
	corner := c.law.Quantile(0)
	var out []point
	add := func(y, width float64) {
		if width > 0 {
			out = append(out, point{y, width, c.law.Survival(y)})
		}
	}
	if corner > 0 {
		between(0, min(corner, end), add)
	}
	switch {
	case end <= corner:
	case !math.IsInf(end, 1):
		between(corner, end, add)
	default:
		beyond(corner, c.law.Quantile(0.5)-corner, c.law.Survival, add)
	}
	return out
}

// between lists the nodes of an integral from a to b of something smooth inside.
func between(a, b float64, add func(y, width float64)) {
	half := (b - a) / 2
	for i := -77; i <= 77; i++ {
		u := float64(i) * lifeStep
		g := math.Pi / 2 * math.Sinh(u)
		sech := 1 / math.Cosh(g)
		// from whichever end is nearer, so that y-a keeps its digits
		y := a + half*math.Exp(g)*sech
		if g > 0 {
			y = b - half*math.Exp(-g)*sech
		}
		add(y, half*math.Pi/2*math.Cosh(u)*sech*sech*lifeStep)
	}
}

// beyond lists the nodes of an integral from a on of something smooth that ends with alive and varies over about scale.
func beyond(a, scale float64, alive func(y float64) float64, add func(y, width float64)) {
	if !(scale > 0) {
		scale = 1
	}
	for i := -89; ; i++ {
		u := float64(i) * lifeStep
		y := scale * math.Exp(math.Pi/2*math.Sinh(u))
		if y > tailStart || alive(a+y) == 0 {
			return
		}
		add(a+y, y*math.Pi/2*math.Cosh(u)*lifeStep)
	}
}
