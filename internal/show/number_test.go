package show

import (
	"math"
	"testing"
)

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0s", 0.3121: "312.1ms", 4.214: "4.21s", 260: "4m20s", 33433: "9h17m", 500_000: "5d19h", 1e12: "3.17e+04y", math.Inf(1): "infinite",
	} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", s, got, want)
		}
	}
	for _, c := range []struct {
		s, half float64
		want    string
	}{
		{0.3, 0.0012, "300ms ± 1.2ms"}, {16.966, 0.546, "16.97s ± 0.55s"}, {73, 0.9216, "1m13s ± 0.92s"}, {73, 3.25, "1m13s ± 3.2s"},
		{260, 34.64, "4m20s ± 35s"}, {33433, 185, "9h17m ± 3m05s"}, {3, math.Inf(1), "3.00s ± infinite"},
	} {
		if got := Margin(c.s, c.half); got != c.want {
			t.Errorf("Margin(%v, %v) = %q, want %q", c.s, c.half, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(950), "950"}, {Number(12345), "12.3k"}, {Number(1_250_000), "1.25M"}, {Number(2e10), "20.0G"},
		{ShortNumber(7), "7"}, {ShortNumber(1.23456), "1.23"}, {ShortNumber(1234.56), "1235"},
		{Count(1, "task"), "1 task"}, {Count(0, "task"), "0 tasks"},
		{Bytes(999), "999 B"}, {Bytes(1000), "1.0 kB"}, {Bytes(2_500_000_000), "2.5 GB"},
		{Chance(0), "0 %"}, {Chance(0.0001), "<0.1 %"}, {Chance(0.9996), "99.96 %"}, {Chance(1), ">99.99 %"},
		{PlainOrNone(Finite(0.1)), "0.1"}, {PlainOrNone(Finite(math.NaN())), ""}, {OrDash(Finite(math.Inf(1)), Seconds), "-"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	for ratio, want := range map[float64]string{0: "+0.0 %", -0.0004: "+0.0 %", 0.0004: "+0.0 %", -0.0006: "-0.1 %", 0.12: "+12.0 %", -1: "-100.0 %"} {
		if got := Change(ratio); got != want {
			t.Errorf("%g: %q, want %q", ratio, got, want)
		}
	}
}
