package reproduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
)

// surrogateMonth stands in for the paper's trace of a Google cluster, which is not public in this form: 29 days with
// 110 jobs an hour on average. Arrivals are Poisson with a rate for each hour: a daily wave, more on weekdays, and
// bursts, which are as strong as the peak of 300 jobs an hour asks for. Sizes are those of Section 5.3, which the paper
// fitted to the trace.
func surrogateMonth(seed uint64) *overlapDay {
	const hours, mean, peak = 29 * 24, 110.0, 300.0
	luck := rand.New(rand.NewPCG(seed, 0x6d6f6e7468)) // "month"
	var bursts [hours]float64
	for h := range bursts {
		bursts[h] = luck.NormFloat64()
	}
	rates := func(sd float64) (rates [hours]float64) {
		sum := 0.0
		for h := range rates {
			rate := 1 + 0.8*math.Sin(2*math.Pi*float64(h)/24)
			if day := h / 24 % 7; day < 5 {
				rate += 0.4
			}
			rates[h] = rate * math.Exp(sd*bursts[h])
			sum += rates[h]
		}
		for h := range rates {
			rates[h] *= mean * hours / sum
		}
		return rates
	}
	low, high := 0.0, 2.0 // of the bursts' deviation; the peak grows with it
	for range 50 {
		middle := (low + high) / 2
		if hourly := rates(middle); slices.Max(hourly[:]) < peak {
			low = middle
		} else {
			high = middle
		}
	}
	var arrivals []float64
	for h, r := range rates(low) {
		for t := luck.ExpFloat64() / r; t < 1; t += luck.ExpFloat64() / r {
			arrivals = append(arrivals, (float64(h)+t)*3600)
		}
	}
	jobs := make([]overlap.Demand, 0, len(arrivals))
	for j := range overlap.Synthetic(int64(len(arrivals)), 1, seed) {
		j.Arrival = arrivals[len(jobs)]
		jobs = append(jobs, j)
	}
	return &overlapDay{
		name: "month", title: "a month like Google's", jobs: jobs,
		about: fmt.Sprintf("A stand-in for the paper's trace, which is not public in this form: %d jobs in 29 days, in daily and weekly waves with bursts, "+
			"%.0f an hour on average and up to %.0f, with the sizes of Section 5.3.", len(jobs), mean, peak),
	}
}
