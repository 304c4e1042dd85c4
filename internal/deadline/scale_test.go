package deadline

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/plan"
)

// many writes a file of 10,000 jobs, about 1,700,000 slots' worth of attempts.
func many() []byte {
	rng := rand.New(rand.NewPCG(4, 4))
	var b bytes.Buffer
	b.WriteString(`{"jobs": [`)
	for i := range 10_000 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"name": "j%d", "tasks": %d, "law": {"name": "pareto", "xm_seconds": 120, "alpha": %.4f}, "deadline_seconds": %.1f}`,
			i, 1+rng.IntN(80), 1.2+rng.Float64(), 120*(1+6*rng.Float64()))
	}
	b.WriteString("]}")
	return b.Bytes()
}

// BenchmarkTenThousandJobs is what `plan deadline` does with them on a million slots, and each part.
func BenchmarkTenThousandJobs(b *testing.B) {
	text := many()
	jobs, err := Read("many", text)
	if err != nil {
		b.Fatal(err)
	}
	r := Request{Jobs: jobs, Slots: 1_000_000, Lambda: 1, MaxAttempts: 5, Utility: plan.UtilityMaxMin}
	a := Divide(r)
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			_, _ = Read("many", text)
		}
	})
	for _, r.Utility = range []plan.Utility{plan.UtilityMaxMin, plan.UtilitySum, plan.UtilityLog} {
		b.Run("divide/"+r.Utility.String(), func(b *testing.B) {
			for b.Loop() {
				Divide(r)
			}
		})
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			_ = a.WriteText(io.Discard)
		}
	})
}
