package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// TestTaskSize compares the closed forms with sums over sizes: a normal density times alpha e^(alpha x) for each foretold
// duration that is no shorter.
func TestTaskSize(t *testing.T) {
	const mean, variance, share = 5.0, 0.8, 0.7
	for _, log := range [][]float64{nil, {5}, {7}, {6.5, 5.2}, {4, 9, 8, 4.1}} {
		var d drawnSize
		for _, x := range log {
			d.add(x)
		}
		s := newTaskSize(mean, variance, share, d)
		weight := func(x float64) float64 {
			if x > float64(s.least) {
				return 0
			}
			z := (x - s.mu) / s.sigma
			return math.Exp(-z*z/2 + s.n*s.alpha*x)
		}
		all, sum, below := 0.0, 0.0, 0.0
		const step, next, k = 1e-3, 5.5, 3
		median := s.quantile(0.5)
		late := 0.0
		for x := s.mu - 8*s.sigma; x < s.mu+20*s.sigma; x += step {
			w := weight(x)
			all += w
			sum += w * x
			if x < median {
				below += w
			}
			if x < next {
				late += w * math.Exp(-k*s.alpha*(next-x))
			} else {
				late += w
			}
		}
		if got := s.late(k, math.Exp(next)); math.Abs(got-late/all) > 2e-3 {
			t.Errorf("%v: %d are late with chance %v, want %v", log, k, got, late/all)
		}
		if math.Abs(below/all-0.5) > 0.01 {
			t.Errorf("%v: %v of the sizes are below the median", log, below/all)
		}
	}
	far := newTaskSize(mean, variance, 0.995, drawnSize{40, 3})
	if q := far.quantile(0.5); !(q < 3 && q > 2.99) {
		t.Errorf("forty durations of e^3 and more are of a size of about e^3, got e^%v", q)
	}
}

// TestLikeness: the share is learned though only slow attempts have another.
func TestLikeness(t *testing.T) {
	lognormal := laws.Lognormal{Mu: 5, Sigma: 0.83}
	few, err := laws.Parse("mixture:w1=0.95,of1=(uniform:lo=8,hi=12),w2=0.05,of2=(uniform:lo=60,hi=90)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		size, slowdown laws.Law
		least, most    float64
	}{
		{"sizes times slowdowns", lognormal, laws.Pareto{Alpha: 3, Xm: 1}, 0.6, 0.92},
		{"sizes alone", lognormal, laws.Deterministic{Value: 1}, 0.97, 1},
		{"slowdowns alone", laws.Deterministic{Value: 1}, laws.Pareto{Alpha: 1.5, Xm: 80}, 0, 0},
		{"anew, lognormal", laws.Deterministic{Value: 1}, lognormal, 0, 0},
		{"anew, exponential", laws.Deterministic{Value: 1}, laws.Exponential{Mu: 1. / 240}, 0, 0},
		{"anew, uniform", laws.Deterministic{Value: 1}, laws.Uniform{Lo: 0, Hi: 480}, 0, 0},
		{"anew, few slow", laws.Deterministic{Value: 1}, few, 0, 0},
		{"anew, two values", laws.Deterministic{Value: 1}, laws.TwoPoint{Lo: 10, Hi: 60, P: 0.8}, 0, 0},
		{"all alike", laws.Deterministic{Value: 1}, laws.Deterministic{Value: 9}, 0, 0},
	} {
		g := rand.New(rand.NewPCG(1, 2))
		z, st := new(sizes), new(stageForetold)
		middle := math.Log(c.size.Quantile(0.5) * c.slowdown.Quantile(0.5))
		for range 300 {
			x := c.size.Quantile(g.Float64())
			y := x * c.slowdown.Quantile(g.Float64())
			mean, variance := z.moments(st.logs)
			var d drawnSize
			for range 2 {
				log := math.Log(y)
				z.hear(mean, variance, d, log)
				d.add(log)
				st.logs.add(log)
				z.logs.add(log)
				if log < middle {
					break
				}
				y = x * c.slowdown.Quantile(g.Float64())
			}
		}
		if got := z.share(); got < c.least || got > c.most {
			t.Errorf("%s: a share of %v, want from %v to %v; %v", c.name, got, c.least, c.most, z.log)
		}
	}
}

// TestSizeReservation: of one size, which many durations have told, it is the reservation value of the slowdowns.
func TestSizeReservation(t *testing.T) {
	s := newTaskSize(5, 0.8, 0.86, drawnSize{60, float32(math.Log(200))})
	var r reservation
	law := laws.Pareto{Alpha: s.alpha, Xm: 1}
	want := 200 * r.of(law, drawing{c: 15. / 200})
	if got := new(sizes).reservation(&s, 15); math.Abs(got-want) > 0.02*want {
		t.Errorf("got %v, want about %v", got, want)
	}
}
