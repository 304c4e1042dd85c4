//go:build long

package overlap

import "testing"

// Section 5.3 at its size; run with -tags long -timeout 30m. Sampling error of one seed is about twice that of the mean over four seeds, 0.2 to 0.9 %.
func TestMeansLong(t *testing.T) { compareMeans(t, 50_000_000, 0.03, 0.02) }

// Figure 9: every bucket with at least 1,000 jobs has a lower mean slowdown under both SRPTs than under k-LPS.
func TestFairnessLong(t *testing.T) {
	for _, load := range []float64{0.75, 0.90} {
		_, fair := study("klps", t, 50_000_000, load)
		for _, spec := range []string{"maxsrpt", "splitsrpt"} {
			_, f := study(spec, t, 50_000_000, load)
			for i := range FairnessBuckets {
				jobs, got := f.Bucket(i)
				if _, want := fair.Bucket(i); jobs >= 1000 && got >= want {
					t.Errorf("%s at %v, bucket %d: slowdown %v, klps %v", spec, load, i, got, want)
				}
			}
		}
	}
}

// Theorems 3 and 5 against every order of six jobs, and every pair of orders of four.
func TestTheoremsLong(t *testing.T) {
	t.Run("one order", func(t *testing.T) { checkTheorems(t, 6, false) })
	t.Run("two orders", func(t *testing.T) { checkTheorems(t, 4, true) })
}

func TestTwinOnLongRunsLong(t *testing.T) {
	for seed := range uint64(5) {
		for _, load := range []float64{0.3, 0.5, 0.75, 0.95, 1.05, 1.5} {
			compareLongRun(t, load, seed)
		}
	}
}

// 10,000 instances with ties for each policy, in rational numbers.
func TestExactInstancesLong(t *testing.T) { exactInstances(t, 10_000) }

// Both bounds and all policies against the best of all schedules of up to four jobs.
func TestOptimumLong(t *testing.T) { checkOptimum(t, 4) }
