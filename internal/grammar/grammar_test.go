package grammar

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFields(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      {""},
		"a=1":                   {"a=1"},
		"a=1,b=(x:c=2,d=3),e=4": {"a=1", "b=(x:c=2,d=3)", "e=4"},
		"a=(b=(1,2),c=3),":      {"a=(b=(1,2),c=3)", ""},
		"a=(1,2":                {"a=(1,2"},
	} {
		if diff := cmp.Diff(want, Fields(text)); diff != "" {
			t.Errorf("Fields(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseInt(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "-7": -7, "1e6": 1_000_000, "2.5e1": 25, "9007199254740992": 1 << 53, "9223372036854775807": math.MaxInt64} {
		if got, err := ParseInt(text); err != nil || got != want {
			t.Errorf("ParseInt(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1.5", "1e-1", "1e300", "inf", "nan", "1e16", "9223372036854775808"} {
		if n, err := ParseInt(text); err == nil {
			t.Errorf("ParseInt(%q) = %d; want an error", text, n)
		}
	}
}

func TestUnknown(t *testing.T) {
	valid := []string{"exp", "fifo", "spark", "spark3"}
	for name, want := range map[string]string{
		"sprak":   `unknown policy "sprak"; did you mean spark?`,  // two letters change places
		"spark4":  `unknown policy "spark4"; did you mean spark?`, // as near as spark3, and first
		"fif":     `unknown policy "fif"; did you mean fifo?`,
		"srew":    `unknown policy "srew"; valid: exp, fifo, spark, spark3`,
		"x":       `unknown policy "x"; valid: exp, fifo, spark, spark3`, // two of three letters are no likeness
		"":        `unknown policy ""; valid: exp, fifo, spark, spark3`,
		"sparkle": `unknown policy "sparkle"; did you mean spark?`,
	} {
		if got := Unknown("policy", name, valid).Error(); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
