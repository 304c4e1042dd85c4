package promise

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// A job of which too little is known is promised nothing, but others wait for it. Its attempts are taken to last as
// those of the other jobs do, or as the few that it has ended itself; where nothing is known of any, unknownMean.

// guessDeviation is the least standard deviation of the logarithm of such a job's mean. It counts as much as one
// attempt.
const guessDeviation = 0.5

// guess gives the stages of which too little is known laws without memory, of a mean that is drawn for each play.
func (g *game) guess() {
	var logs powers
	seen := map[*law]bool{nil: true}
	for i := range g.jobs {
		for _, l := range g.jobs[i].laws {
			if !seen[l] && l.mean > 0 {
				seen[l] = true
				logs.add(math.Log(l.mean))
			}
		}
	}
	for i := range g.jobs {
		j := &g.jobs[i]
		for k, l := range j.laws {
			if l == nil {
				j.laws[k] = guessed(logs, g.Known(j.ID, k))
			}
		}
	}
	for i := range g.coming.kinds {
		for k, l := range g.coming.kinds[i].laws {
			if l == nil {
				g.coming.kinds[i].laws[k] = guessed(logs, nil)
			}
		}
	}
}

// guessed is a law for a stage; nil where nothing is known of any.
func guessed(logs powers, d *Durations) *law {
	mean, deviation := logs.mean(), max(guessDeviation, logs.deviation())
	own := 0.0
	if d != nil {
		for _, x := range d.Own.Ended {
			own += x / float64(len(d.Own.Ended))
		}
	}
	switch {
	case own > 0:
		n := float64(len(d.Own.Ended))
		if logs.n == 0 {
			mean = math.Log(own)
		}
		mean = (mean + n*math.Log(own)) / (1 + n)
		deviation /= math.Sqrt(1 + n)
	case logs.n == 0:
		return nil
	}
	m := math.Exp(mean + deviation*deviation/2) // the factor of a play has the mean 1, and its median is less
	return &law{Law: laws.Exponential{Mu: 1 / m}, mean: m, sd: m, deviation: deviation}
}

// powers are sums over values.
type powers struct{ n, sum, squares float64 }

func (p *powers) add(x float64) { p.n, p.sum, p.squares = p.n+1, p.sum+x, p.squares+x*x }

// mean is 0 of none.
func (p *powers) mean() float64 { return p.sum / max(1, p.n) }

func (p *powers) deviation() float64 {
	return math.Sqrt(max(0, p.squares/max(1, p.n)-p.mean()*p.mean()))
}
