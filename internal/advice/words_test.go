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

// In a stage of other tasks a policy leaves the same share of them, rounded as the policy fork rounds.
func TestWordsElsewhere(t *testing.T) {
	p := plan.Policy{Stragglers: 65, Clones: 1, Original: plan.Kill}
	for others, want := range map[int]string{
		1050: "last 65 (6.19 %): restart, 2 attempts", 29: "last 2 (6.9 %): restart, 2 attempts", 7: "no clones", 2100: "last 130 (6.19 %): restart, 2 attempts",
	} {
		if got := WordsElsewhere(p, 1050, others); got != want {
			t.Errorf("%d tasks: %q, want %q", others, got, want)
		}
	}
	all := plan.Policy{Stragglers: 40, Clones: 2}
	if got := WordsElsewhere(all, 40, 9); got != "all from the start: +2 clones" {
		t.Error(got)
	}
	for n := 1; n < 200; n++ {
		p := plan.Policy{Stragglers: 1 + n/3, Clones: 1}
		if got := WordsElsewhere(p, n, n); got != Words(p, n) {
			t.Errorf("%d tasks: %q, want %q", n, got, Words(p, n))
		}
	}
}
