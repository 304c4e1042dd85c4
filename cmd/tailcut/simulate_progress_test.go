package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestProgressBar: a bar shows the share that is done and is gone in the end, one that is stopped at once as well;
// where nobody watches there is none.
func TestProgressBar(t *testing.T) {
	var shown, short, piped bytes.Buffer
	tick, stop := drawProgress(&shown, "simulating", 4000, inTasks)
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
	_, stop = drawProgress(&short, "simulating", 4000, inTasks)
	stop()
	if lines, up := strings.Count(short.String(), "\n"), strings.Count(short.String(), "\x1b[A"); lines != up {
		t.Errorf("%d lines drawn, %d of them again: %q", lines, up, short.String())
	}
	if tick, stop := showProgress(&piped, "simulating", 10); tick != nil || piped.Len() > 0 {
		t.Errorf("drawn into a pipe: %q", piped.String())
	} else {
		stop()
	}
}
