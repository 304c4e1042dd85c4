package simulation

import (
	"math"
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	names := map[string]float64{"beta": 0.7, "eps": 0.1, "_x2": 3}
	for text, want := range map[string]float64{
		"2":                   2,
		"1+2*beta+eps":        1 + 2*0.7 + 0.1,
		" 1 + 2 * ( beta+1) ": 1 + 2*1.7,
		"7-2-1":               4,
		"8/4/2":               1,
		"2*-3":                -6,
		"--_x2":               3,
		".5*4":                2,
		"1e-3*2":              0.002,
		"2E+2-1":              199,
		"2-1e1-1":             -9,
		"1/0":                 math.Inf(1),
	} {
		if got, err := evaluate(text, names); err != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                       "expected a number, a name or a (, not the end",
		"1+":                     "expected a number, a name or a (, not the end",
		"1 2":                    `expected an operator, not "2"`,
		"(1":                     "expected a ), not the end",
		"1)":                     `expected an operator, not ")"`,
		"2*gamma":                "gamma has no value; add --let gamma=NUMBER",
		"1.2.3":                  `expected a number, not "1.2.3"`,
		"1e-":                    `expected a number, not "1e-"`,
		"2x":                     `expected a number, not "2x"`,
		"1$":                     `expected an operator, not "$"`,
		strings.Repeat("(", 999): "expected at most 100 parentheses",
	} {
		if _, err := evaluate(text, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// A value that the expression does not use was meant for something.
func TestSpeedFactorUsesAllNames(t *testing.T) {
	if v, err := SpeedFactor("1+beta-beta*0", []string{"beta=0.5"}); err != nil || v != 1.5 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := SpeedFactor("1+beta", []string{"beta=0.5", "eps=1"}); err == nil || err.Error() != "let: --speed-factor 1+beta does not use eps" {
		t.Errorf("%v", err)
	}
}

func TestParseNames(t *testing.T) {
	if names, err := parseNames([]string{"beta=0.7", "eps=-1"}); err != nil || len(names) != 2 || names["eps"] != -1 {
		t.Errorf("%v, %v", names, err)
	}
	for _, pair := range []string{"beta", "beta=", "beta=x", "=1", "1=2", "a.b=3", "x=inf"} {
		if _, err := parseNames([]string{pair}); err == nil {
			t.Errorf("%q is accepted", pair)
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"1+2*beta+eps", "((1))/-2", "1e5", "a.b", "0x1p-2", "((", "-", "é+1", "0\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := evaluate(text, map[string]float64{"beta": 0.7})
		if err != nil {
			return
		}
		if again, err := evaluate("("+text+")", map[string]float64{"beta": 0.7}); err != nil || again != v && v == v {
			t.Errorf("%q is %v, in parentheses %v, %v", text, v, again, err)
		}
	})
}
