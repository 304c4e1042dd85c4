package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

// TestProgressBar: a bar shows the share that is done and is gone in the end, one that is stopped at once as well;
// where nobody watches there is none.
func TestProgressBar(t *testing.T) {
	var shown, short, piped bytes.Buffer
	tick, stop := drawProgress(&shown, 4000)
	tick(1000)
	time.Sleep(500 * time.Millisecond) // two redraws
	stop()
	if text := shown.String(); !strings.Contains(text, "25 %") || !strings.Contains(text, "1000 tasks") || !strings.HasSuffix(text, "\n\x1b[A\x1b[K") {
		t.Errorf("drawn: %q", text)
	}
	// Each redraw goes over the one before it.
	if lines, up := strings.Count(shown.String(), "\n"), strings.Count(shown.String(), "\x1b[A"); lines != up {
		t.Errorf("%d lines drawn, %d of them again: %q", lines, up, shown.String())
	}
	_, stop = drawProgress(&short, 4000)
	stop()
	if lines, up := strings.Count(short.String(), "\n"), strings.Count(short.String(), "\x1b[A"); lines != up {
		t.Errorf("%d lines drawn, %d of them again: %q", lines, up, short.String())
	}
	if tick, stop := showProgress(&piped, 10); tick != nil || piped.Len() > 0 {
		t.Errorf("drawn into a pipe: %q", piped.String())
	} else {
		stop()
	}
}

func TestHumanSeconds(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0s", 0.3121: "312.1ms", 4.214: "4.21s", 260: "4m20s", 33433: "9h17m", 500_000: "5d19h", 1e12: "3.17e+04y", math.Inf(1): "infinite",
	} {
		if got := humanSeconds(s); got != want {
			t.Errorf("humanSeconds(%v) = %q, want %q", s, got, want)
		}
	}
	for _, c := range []struct {
		s, half float64
		want    string
	}{
		{0.3, 0.0012, "300ms ± 1.2ms"}, {16.966, 0.546, "16.97s ± 0.55s"}, {73, 0.9216, "1m13s ± 0.92s"}, {73, 3.25, "1m13s ± 3.2s"},
		{260, 34.64, "4m20s ± 35s"}, {33433, 185, "9h17m ± 3m05s"}, {3, math.Inf(1), "3.00s ± infinite"},
	} {
		if got := withMargin(c.s, c.half); got != c.want {
			t.Errorf("withMargin(%v, %v) = %q, want %q", c.s, c.half, got, c.want)
		}
	}
}
