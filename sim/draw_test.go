package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDrawsAreFrozen: results of old seeds must not change. Never change the numbers; give a new purpose a new number.
func TestDrawsAreFrozen(t *testing.T) {
	var got strings.Builder
	for p := forService; p <= forRun; p++ {
		fmt.Fprintf(&got, "%d %016x %016x %016x %016x\n", p, draw(1, p, 0, 0, 0), draw(1, p, 1, 0, 0), draw(1, p, 0, 1, 0), draw(1, p, 0, 0, 1))
	}
	if d := cmp.Diff(frozen, got.String()); d != "" {
		t.Error(d)
	}
}

// TestDrawsOfNeighboursAreIndependent: over a grid of keys that differ by one, mean, variance and correlation with each neighbour are those of
// independent uniform numbers, within five standard errors.
func TestDrawsOfNeighboursAreIndependent(t *testing.T) {
	const n = 1 << 16
	var sum, squares float64
	var with [4]float64 // correlation with the next seed, job, task, attempt
	for i := range uint32(n) {
		a, b, c := i>>8, i>>2&63, i&3
		u := uniform(draw(9, forService, a, b, c)) - 0.5
		sum += u
		squares += u * u
		for k, x := range []uint64{
			draw(10, forService, a, b, c), draw(9, forService, a+1, b, c), draw(9, forService, a, b+1, c), draw(9, forService, a, b, c+1),
		} {
			with[k] += u * (uniform(x) - 0.5)
		}
	}
	if mean := sum / n; math.Abs(mean) > 5*math.Sqrt(1./12/n) {
		t.Errorf("mean is off by %v", mean)
	}
	if v := squares / n; math.Abs(v-1./12) > 5*math.Sqrt(1./180/n) {
		t.Errorf("variance %v, want %v", v, 1./12)
	}
	for k, x := range with {
		if r := x / n * 12; math.Abs(r) > 5/math.Sqrt(n) {
			t.Errorf("correlation with neighbour %d is %v", k, r)
		}
	}
}

func TestUniformIsOpen(t *testing.T) {
	if lo, hi := uniform(0), uniform(math.MaxUint64); lo <= 0 || hi >= 1 {
		t.Errorf("uniform numbers from %v to %v", lo, hi)
	}
	if below(0, 7) != 0 || below(math.MaxUint64, 7) != 6 {
		t.Errorf("indexes from %d to %d", below(0, 7), below(math.MaxUint64, 7))
	}
}

const frozen = `1 4780efd2840018f4 9e11f33eedcb44d3 8f7ec75ea711986b 4d49312feab7e649
2 af872aa8f9faee74 ec12ed015db59d07 39d547b855992287 43b706f4f46770f8
3 327871be722d5928 4270de88a858df7c 09e15ffb46dfee86 07239ee18b523d02
4 2a7908016bfc1784 d9e5e257987d1799 78efd0a86a0f577e 596d41e2c9d61bc6
5 517203c63a794450 409c7d519acc8502 4c1f7e4033ce3dd7 90f894eeae9500fa
6 1805ff106d283123 ad6b70fb79772859 720b86464fd2576f 0922b615be025378
7 075d4aedbeca5b8a d6d76496966edb11 7fbb86ce31ebb180 611f73197edfe160
`
