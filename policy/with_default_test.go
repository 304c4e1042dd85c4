package policy

import "testing"

func TestWithDefault(t *testing.T) {
	for _, c := range []struct{ spec, param, value, want string }{
		{"fifo", "slot", "1s", "fifo"},
		{"srew", "slot", "1s", "srew:slot=1s"},
		{"srew:beta=0.5", "slot", "1s", "srew:beta=0.5,slot=1s"},
		{"srew:slot=2s", "slot", "1s", "srew:slot=2s"},
		{"late-short", "min_age", "9s", "late-short"},
		{"spark3", "interval", "1s", "spark3:interval=1s"},
	} {
		got, err := WithDefault(c.spec, c.param, c.value)
		if err != nil || got != c.want {
			t.Errorf("WithDefault(%q, %q) = %q, %v; want %q", c.spec, c.param, got, err, c.want)
		}
	}
	if _, err := WithDefault("nosuch", "slot", "1s"); err == nil {
		t.Error("an unknown policy is no error")
	}
}
