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

// Each host has rows of its own, in order of names, whose name stands beside them once.
func TestTimelineByHost(t *testing.T) {
	run := TimelineRun{Title: "hosts", End: 600, Bars: []Bar{
		{Host: "b<1>", Label: "0", End: 300}, {Host: "a", Label: "1", End: 600}, {Host: "a", Label: "2", End: 100}, {Host: "b<1>", Label: "3", Start: 300, End: 400},
	}}
	var got []string
	for _, row := range run.rows() {
		line := row[0].Host
		for _, b := range row {
			line += " " + b.Label
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"a 1", "a 2", "b<1> 0 3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var b strings.Builder
	if err := (&Timeline{Runs: []TimelineRun{run}}).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">a</text>", ">b&lt;1&gt;</text>", ">0 min</text>", ">attempt</text>"} {
		if n := strings.Count(b.String(), want); n != 1 {
			t.Errorf("%s is there %d times:\n%s", want, n, &b)
		}
	}
}

// Of very many slots those with the longest attempts are drawn, and plain attempts have no element each.
func TestTimelineOfManySlots(t *testing.T) {
	run := TimelineRun{Title: "many", End: 1000}
	for slot := range 2000 {
		for i := range 50 {
			b := Bar{Host: fmt.Sprint("host", slot/8), Start: float64(20 * i), End: float64(20*i + 19)}
			if slot == 1999 && i == 49 {
				b.Label, b.Note, b.End, b.Straggler = "slow", "the longest", 1000, true
			}
			run.Bars = append(run.Bars, b)
		}
	}
	var b strings.Builder
	if err := (&Timeline{Runs: []TimelineRun{run}}).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if rects := strings.Count(b.String(), "<rect"); b.Len() > 1<<20 || rects > 10 || !strings.Contains(b.String(), "the longest") || !strings.Contains(b.String(), "the 400 of 2000 slots") {
		t.Errorf("%d bytes, %d rectangles", b.Len(), rects)
	}
}
