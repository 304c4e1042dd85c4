package main

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/plan"
)

// Whatever the text, what is read can be planned with, and an error is one line.
func FuzzReadDurations(f *testing.F) {
	for _, seed := range []string{"1\n2\n", "# c\n\n 3 # d\n", "x\n", "a,b\n1,2\n", "\"1\n", "1e999", "-1", "NaN", "1,2,3\n4\n", "\x00", "0x1p-3", "0 1 1 1\n1 1 2 2\n"} {
		f.Add(seed, "", "")
		f.Add(seed, "2", "1")
		f.Add(seed, "b", "")
	}
	f.Fuzz(func(t *testing.T, text, column, job string) {
		values, err := durationsFrom{path: "-", column: column, job: job}.read(strings.NewReader(text), io.Discard)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') && !strings.ContainsAny(column, "\n\r") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		if len(values) == 0 {
			t.Error("no durations, and no error")
		}
		for _, v := range values {
			if !(v >= 0) || math.IsInf(v, 1) {
				t.Errorf("%v is no duration", v)
			}
		}
	})
}

// Numbers are planned with as they are written, also where they are finer than a nanosecond or longer than a life.
func TestDurationsKeepTheirDigits(t *testing.T) {
	text := "0.0012345678912345\n1e300\n5e-324\n"
	for _, d := range []durationsFrom{{path: "-"}, {path: "-", column: "1"}} {
		values, err := d.read(strings.NewReader(text), io.Discard)
		if err != nil || !slices.Equal(values, []float64{0.0012345678912345, 1e300, 5e-324}) {
			t.Error(values, err)
		}
	}
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
