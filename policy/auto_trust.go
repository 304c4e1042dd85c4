package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// trust learns how far reports of progress are to be believed: of each attempt that ends, what its first report said of
// the time left is compared with the time that it took.
type trust struct {
	filter    filter
	errors    errorLaw
	n         float64
	sum, sqrs float64 // of the logarithms of promised by real time left
}

// What reports are taken for before any has come true, as if by so many: right, but for a deviation of the logarithm.
const (
	trustPrior = 3
	trustError = 0.3
)

func (p *trust) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.AttemptProgress:
		a := v.Attempt(ev.Attempt)
		if rem, ok := a.Remaining(v.Now()); ok {
			_, sd := p.miss()
			p.filter.hears(ev.Attempt, v.Now(), rem.Seconds(), sd*sd)
		}
	case sched.AttemptDone:
		x, ok := p.filter.of(ev.Attempt)
		if !ok {
			return
		}
		if took := (v.Now() - x.first).Seconds(); took > 0 && x.promised > 0 {
			const fade = 0.99
			e := max(-mostError, min(mostError, math.Log(x.promised/took)))
			p.errors.add(e, fade)
			p.n, p.sum, p.sqrs = fade*p.n+1, fade*p.sum+e, fade*p.sqrs+e*e
		}
	}
}

// miss returns mean and deviation of the logarithm of promised by real time left.
func (p *trust) miss() (bias, sd float64) {
	n := p.n + trustPrior
	bias = p.sum / n
	return bias, math.Sqrt(max(0, (p.sqrs+trustPrior*trustError*trustError)/n-bias*bias))
}
