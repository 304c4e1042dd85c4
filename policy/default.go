package policy

import "strings"

// WithDefault returns the specification with one more parameter, if the policy has a parameter of that name and neither the
// specification nor the preset that it names sets it. A driver uses it where the published default is of another scale than its tasks.
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
	for _, kv := range splitOutside(rest) {
		if key, _, _ := strings.Cut(kv, "="); key == param {
			return spec, nil
		}
	}
	if hasParams {
		return spec + "," + param + "=" + value, nil
	}
	return spec + ":" + param + "=" + value, nil
}
