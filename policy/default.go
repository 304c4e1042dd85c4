package policy

import (
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/laws"
)

// WithDefault returns the specification with one more parameter, if the policy has a parameter of that name and neither
// the specification nor the preset that it names sets it. A driver uses it where the published default is of another
// scale than its tasks.
func WithDefault(spec, param, value string) (string, error) {
	e, err := Find(spec)
	if err != nil || e.param(param) == nil {
		return spec, err
	}
	name, rest, hasParams := strings.Cut(spec, ":")
	for _, p := range presets {
		if p.Name == name {
			_, set, _ := strings.Cut(p.Spec, ":")
			rest += "," + set
		}
	}
	for _, kv := range grammar.Fields(rest) {
		if key, _, _ := strings.Cut(kv, "="); key == param {
			return spec, nil
		}
	}
	if hasParams {
		return spec + "," + param + "=" + value, nil
	}
	return spec + ":" + param + "=" + value, nil
}

// ForOneJob fits the specification of a policy that plans for deadlines to the only job of a core, whose one arrival is
// its start: it plans anew at reports of progress, every so often; never if that is "". The job has no master beside
// its tasks, and how often it reports is learnt from it. What the specification itself says stands.
func ForOneJob(spec, interval string) (string, error) {
	e, err := Find(spec)
	if err != nil || e.param("late") == nil {
		return spec, err
	}
	params := [][2]string{{"master_slots", "0"}, {"judge", "0s"}}
	if interval != "" {
		params = append(params, [2]string{"when", "reports"}, [2]string{"interval", interval})
	}
	for _, p := range params {
		if spec, err = WithDefault(spec, p[0], p[1]); err != nil {
			return "", err
		}
	}
	return spec, nil
}

// WithLaw tells a policy that reckons with a law of durations which, unless its specification says so; "" changes
// nothing. The error says what is wrong with the law.
func WithLaw(spec, law string) (string, error) {
	if law == "" {
		return spec, nil
	}
	l, err := laws.Parse(law)
	if err != nil {
		return "", err
	}
	return WithDefault(spec, "law", "("+l.String()+")")
}
