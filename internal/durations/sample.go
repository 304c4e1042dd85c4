// Package durations makes laws of durations from what logs, files and clusters tell of the attempts of tasks. What is
// planned with them is not its business.
package durations

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/laws"
)

// Sample is what was measured of the attempts of like tasks, and the law of a duration by that.
type Sample struct {
	Ended    []float64 // seconds that attempts took which succeeded, in any order
	Censored []float64 // seconds after which others were cut off: what they would have taken is longer
	Tasks    int       // different tasks that they were attempts of
	Law      *laws.Empirical
	Beyond   *Beyond // nil if the longest attempt was seen to end
	// Resolution is that of the clock that measured, seconds, 0 if not known: no shorter difference can be seen.
	Resolution float64
}

// Beyond is what is assumed of the attempts that are longer than any whose end was seen.
type Beyond struct {
	Last  float64 `json:"last_seconds"` // for how long the longest attempt was seen to run
	Share float64 `json:"share_ratio"`  // of the attempts that are longer
	Mean  float64 `json:"mean_seconds"` // how long these are taken to be on average
}

// censoredParts is into how many parts an observation is cut when weights become counts.
const censoredParts = 1000

// New returns the sample of attempts that took ended seconds, and of others that were cut off after censored seconds,
// each of another task. Its law is that of the attempts that ended, and if others were cut off the estimate of Kaplan
// and Meier from all. If the longest was cut off, the estimate is completed by a tail. Its weights are then rounded to
// a thousandth of an observation. It is an error if none ended, or a duration is negative or not finite.
func New(ended, censored []float64) (*Sample, error) {
	s := &Sample{Ended: ended, Censored: censored, Tasks: len(ended) + len(censored)}
	var err error
	if len(censored) == 0 {
		s.Law, err = laws.NewEmpirical(ended)
	} else {
		err = s.estimate()
	}
	if err == nil && s.Law.Quantile(0) < 0 {
		err = fmt.Errorf("a duration is negative: %g", s.Law.Quantile(0))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// estimate sets the law where some attempts were cut off.
func (s *Sample) estimate() error {
	observations := laws.Observe(s.Ended, s.Censored)
	estimate, err := laws.KaplanMeier(observations)
	if err != nil {
		return err
	}
	if estimate.Defect() > 0 {
		s.Beyond = &Beyond{estimate.Last(), estimate.Defect(), estimate.Last() + estimate.Beyond()}
	}
	parts := float64(min(censoredParts*len(observations), 1<<30))
	var values []float64
	var counts []int
	for _, a := range laws.Atoms(estimate.Completed()) {
		values, counts = append(values, a.Value), append(counts, max(1, int(math.Round(a.Mass*parts))))
	}
	s.Law, err = laws.NewEmpiricalCounts(values, counts)
	return err
}

// Of returns the sample of a stage of a log.
func Of(st *history.StageRecord) (*Sample, error) {
	s, err := New(st.Seconds(), st.Censored)
	if err != nil {
		return nil, err
	}
	s.Tasks, s.Resolution = st.Tasks, st.Resolution
	return s, nil
}

// Size is how many attempts were measured.
func (s *Sample) Size() int { return len(s.Ended) + len(s.Censored) }

// Longest returns for how long the longest attempt was seen to run, seconds.
func (s *Sample) Longest() float64 {
	if s.Beyond != nil {
		return s.Beyond.Last
	}
	return s.Law.Quantile(1)
}
