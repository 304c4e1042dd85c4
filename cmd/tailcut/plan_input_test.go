package main

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/plan"
)

// No input panics, every error is one line that begins with the name of the file, and what is read can be planned with.
func FuzzReadDurations(f *testing.F) {
	for _, seed := range []string{"1\n2\n", "# c\n\n 3 # d\n", "x\n", "a,b\n1,2\n", "\"1\n", "1e999", "-1", "NaN", "1,2,3\n4\n", "\x00", "0x1p-3"} {
		f.Add(seed, "")
		f.Add(seed, "2")
		f.Add(seed, "b")
	}
	f.Fuzz(func(t *testing.T, text, column string) {
		values, err := readNumbers(strings.NewReader(text), "in")
		if column != "" {
			values, err = readColumn(strings.NewReader(text), "in", column)
		}
		if err != nil {
			if s := err.Error(); strings.HasPrefix(s, "in:") && strings.ContainsRune(s, '\n') && !strings.ContainsAny(text+column, "\n\r") {
				t.Errorf("more than a line: %q", s)
			}
			return
		}
		for _, v := range values {
			if !(v >= 0) || math.IsInf(v, 1) {
				t.Errorf("%v is no duration", v)
			}
		}
	})
}

// The p of a policy string gives the same number of stragglers when the policy rounds it, for every s of every n.
func TestForkSpecKeepsTheFork(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 10, 49, 100, 485, 1000, 1026} {
		for s := 0; s <= n; s++ {
			spec := forkSpec(plan.Policy{Stragglers: s, Clones: 1}, n)
			text, _, _ := strings.Cut(strings.TrimPrefix(spec, "fork:p="), ",")
			p, err := strconv.ParseFloat(text, 64)
			if err != nil || math.Round(float64(n)*(1-p)) != float64(n-s) {
				t.Fatalf("n=%d s=%d: %s", n, s, spec)
			}
			if s == 0 {
				continue
			}
			q, err := strconv.ParseFloat(quantileFor(n-s, n), 64)
			if err != nil || math.Floor(q*float64(n)) != float64(n-s) {
				t.Fatalf("n=%d s=%d: quantile %s", n, s, quantileFor(n-s, n))
			}
		}
	}
}
