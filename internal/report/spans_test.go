package report

import (
	"bytes"
	"strings"
	"testing"
)

// Spans are drawn as lines from X to High, and CSV has their ends.
func TestSpans(t *testing.T) {
	p := Plot{Name: "gantt", X: "time", Y: "task", Series: []Series{{Name: "site0", Kind: Spans, X: []float64{0, 5}, Y: []float64{1, 2}, High: []float64{4, 9}}}}
	var svg, csv bytes.Buffer
	if err := p.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(svg.String(), "#0072B2"); n < 3 {
		t.Errorf("%d strokes in the series' colour, want two spans and the legend", n)
	}
	page := Page{Sections: []Section{{Title: "s", Plots: []Plot{p}}}}
	if err := page.WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(csv.String(), "s,gantt,site0 1,end,9\n") {
		t.Errorf("no end of the second span:\n%s", &csv)
	}
}
