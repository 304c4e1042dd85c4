package policy

import (
	"strings"
	"testing"
)

// Full says the same policy as its specification, of all that are registered, and names parameters that nobody has set.
func TestFull(t *testing.T) {
	for _, spec := range append(Names(), "srew:beta=0.3", "late-short/fifo", "laxity:law=(pareto:alpha=1.5,xm=20),launch=5s") {
		full, err := Full(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		parts, wants := strings.Split(full, "/"), strings.Split(spec, "/")
		for k := range parts {
			got, err := Canonical(parts[k])
			if want, _ := Canonical(wants[k]); err != nil || got != want {
				t.Errorf("%s: Full is %s, which is %s, want %s: %v", spec, full, got, want, err)
			}
		}
	}
	if full, err := Full("srew:beta=0.3"); err != nil || !strings.Contains(full, "beta=0.3") || !strings.Contains(full, "lambda=") {
		t.Errorf("%s, %v", full, err)
	}
	if _, err := Full("sperk"); err == nil {
		t.Error("sperk is a policy")
	}
}
