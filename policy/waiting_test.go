package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
)

// byAge are policies that judge attempts by how long they run, or by what they report, tuned to judge soon. Not among
// them are two that take what began last for slow, as their originals do: hadoop, whose lag counts from the job's
// arrival, and hadoop2's simple-exponential, by which a young attempt never ends.
var byAge = []string{
	"spark", "spark3", "spark:quantile=0.1,multiplier=1.5", "late:min_age=0s", "late:min_age=0s,estimate=progress", "late:min_age=5s", "flink:lower_bound=1s",
	"hadoop2", "hadoop2:estimator=simple-exponential-first,skip=1", "mantri:period=1s", "mantri-dup", "ese:slot=1s", "grass", "grass:mode=gs", "hopper", "laxity", "chronos-restart", "chronos-resume",
}

func TestNobodyClonesWhatWaits(t *testing.T) {
	for _, spec := range byAge {
		t.Run(spec, func(t *testing.T) { policytest.Stragglers(t, subject(t, spec)) })
	}
}
