package report

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var writePictures = flag.Bool("write-pictures", false, "write testdata/timeline.svg instead of comparing it")

// two is a run whose straggler is waited for, and one with each kind of bar.
func two() *Timeline {
	return &Timeline{Runs: []TimelineRun{
		{Title: "fifo <1>", End: 8, Bars: []Bar{
			{Label: "0", Start: 0, End: 1, Note: "task 0 & more"}, {Label: "2", Start: 1, End: 2}, {Label: "1", Start: 0, End: 8, Straggler: true},
		}},
		{Title: "spark", End: 3, Bars: []Bar{
			{Label: "0", Start: 0, End: 1, Wasted: true}, {Label: "1", Start: 0, End: 3, Straggler: true, Wasted: true},
			{Label: "1", Start: 2, End: 3, Clone: true}, {Label: "1", Start: 1.5, End: 3, Clone: true, Wasted: true},
		}},
	}}
}

func TestTimelineText(t *testing.T) {
	var b strings.Builder
	if err := two().WriteText(&b, 52); err != nil {
		t.Fatal(err)
	}
	want := `fifo <1>
 1 |0====|2====|
 2 |1##############################################|
spark
 1 |0....|  |1-------|
 2 |1xxxxxxxxxxxxxxxx|
 3             |1++++|
   0     1     2     3     4     5     6     7     8
   seconds from left to right   = attempt
   # straggler   + clone
   . attempt, result not used
   x straggler, result not used
   - clone, result not used
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A golden that is looked at when it changes.
func TestTimelineSVG(t *testing.T) {
	const name = "testdata/timeline.svg"
	var b strings.Builder
	if err := two().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if *writePictures {
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("look at the picture that go test ./internal/report -run TimelineSVG -write-pictures makes (-want +got):\n%s", diff)
	}
}

// However many attempts there are, a file stays small and a run low; rows are as many as slots.
func TestTimelineOfMany(t *testing.T) {
	run := TimelineRun{Title: "many", End: 1000}
	for i := range 100_000 {
		run.Bars = append(run.Bars, Bar{Label: fmt.Sprint(i), Start: float64(i / 100), End: float64(i/100) + 1})
	}
	if rows := run.rows(); len(rows) != 100 {
		t.Errorf("%d rows, want 100", len(rows))
	}
	run.Bars = run.Bars[:0]
	for i := range 100_000 {
		run.Bars = append(run.Bars, Bar{Start: float64(i) / 100, End: float64(i+1) / 100})
	}
	var b strings.Builder
	if err := (&Timeline{Runs: []TimelineRun{run}}).WriteSVG(&b); err != nil || b.Len() > 1<<18 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	if !(&Timeline{}).Empty() || (&Timeline{Runs: []TimelineRun{run}}).Empty() {
		t.Error("what is empty is not what has nothing in it")
	}
}
