package advice

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/plan"
)

// The p of a policy string gives the same number of stragglers when the policy rounds it, for every s of every n.
func TestSpecKeepsTheFork(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 10, 49, 100, 485, 1000, 1026} {
		for s := 0; s <= n; s++ {
			spec := Spec(plan.Policy{Stragglers: s, Clones: 1}, n)
			text, _, _ := strings.Cut(strings.TrimPrefix(spec, "fork:p="), ",")
			p, err := strconv.ParseFloat(text, 64)
			if err != nil || math.Round(float64(n)*(1-p)) != float64(n-s) {
				t.Fatalf("n=%d s=%d: %s", n, s, spec)
			}
			if s == 0 {
				continue
			}
			q, err := strconv.ParseFloat(QuantileFor(n-s, n), 64)
			if err != nil || math.Floor(q*float64(n)) != float64(n-s) {
				t.Fatalf("n=%d s=%d: quantile %s", n, s, QuantileFor(n-s, n))
			}
		}
	}
}
