package advice

import (
	"context"
	"errors"

	"github.com/tailcut/tailcut/plan"
)

// resamples is how often the durations are resampled.
const resamples = 200

// resample fills the confidence of the recommendation.
func (a *Advice) resample(ctx context.Context) error {
	most, evaluator := exhaustive, plan.NewExact
	if a.bracket != nil {
		most, evaluator = resampledTo, plan.NewNear
	}
	seen, err := plan.NewObserved(a.Sample.Ended, a.Sample.Censored, most)
	if err != nil {
		return err
	}
	gains := make([]plan.Gain, resamples)
	err = each(ctx, resamples, func(i int) error {
		e, err := evaluator(seen.Resample(a.Seed, uint64(i)), a.Tasks)
		if err != nil {
			return err
		}
		gains[i], err = plan.GainOf(e, a.now.rule, a.best[0].Policy)
		return err
	})
	if errors.Is(err, plan.ErrMethod) {
		return invalid("confidence: the rule %s must be simulated, which is too slow for each resample; leave out confidence, or now", a.Now)
	} else if err != nil {
		return err
	}
	c := plan.NewConfidence(gains, 0.95)
	a.sure = &c
	return nil
}
