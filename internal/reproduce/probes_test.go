package reproduce

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// The whole experiment on few jobs: every table and figure is there and can be drawn, and the same seed gives the same bytes.
func TestProbesPage(t *testing.T) {
	scale := probesScale{machines: 10, jobs: 6, sampling: []float64{0.5, 0.8}, loads: []float64{0.5, 0.8}, runs: 2, surrogate: 10, rows: probesRows}
	traces := t.TempDir()
	if err := os.Mkdir(filepath.Join(traces, "google-2011"), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := strings.Repeat("0 1 1 1\n", 61) + "100 3 20 10 20 30\n101 2 2000 1000 3000\n103 1 5 5\n110 4 2 2 2 2 2\n"
	if err := os.WriteFile(filepath.Join(traces, "google-2011", "GOOG_subtrace.first7000.tr.gz"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var pages [2]bytes.Buffer
	for i := range pages {
		page, err := scale.run(context.Background(), Options{Seed: 1, Traces: traces})
		if err != nil {
			t.Fatal(err)
		}
		checkKnown(t, probesKnown, page.Sections)
		if err := page.WriteHTML(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
		t.Error("two runs with one seed differ")
	}
	for _, want := range []string{"sampling", "google_short", "google_long", "google_hawk", "surrogate_short", "surrogate_long", "surrogate_hawk", "4 jobs of the Google trace"} {
		if !strings.Contains(pages[0].String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// Without the traces the page says what is missing.
func TestProbesWithoutTraces(t *testing.T) {
	page, err := (&probesScale{runs: 2, rows: probesRows[:2]}).run(context.Background(), Options{Seed: 1, Only: []string{"google"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := page.Sections[0].Text[0]; !strings.HasPrefix(text, "Skipped") {
		t.Error(text)
	}
}

// The slots in use are those while jobs arrive: of a job of 30 s that arrives 10 s before the last only 10 s count.
func TestProbesLoad(t *testing.T) {
	w, err := (&trace.Importer{}).Read(strings.NewReader("100 1 5 5\n110 2 20 10 30\n120 1 2000 2000\n"), "a.tr")
	if err != nil {
		t.Fatal(err)
	}
	if got := busy(w); math.Abs(got-25./20) > 1e-9 {
		t.Errorf("%v slots in use, want 1.25", got)
	}
	if lengthOf(w, 1) != short || lengthOf(w, 2) != long || longTasks != 1129*sched.Second {
		t.Error("the lengths of jobs are wrong")
	}
}
