package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// A map attempt that is cut short leaves what it has saved in the store, and the next one goes on from there, on
// whatever machine: from the last stride before one that is damaged. The result is the same bytes.
func TestSaved(t *testing.T) {
	b, out, url, dir := opened(t)
	line := strings.Repeat("word ", 20) + "end\n"
	write(t, filepath.Join(dir, "in/a"), strings.Repeat(line, 20_000)) // eight pieces, about
	plan, err := mapreduce.NewPlan(t.Context(), mapreduce.Request{
		Operator: mapreduce.Operator{Name: "wordcount"}, Inputs: []string{url + "/in"}, Files: Files{b}, SplitSize: 64 << 20, Reducers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewResults(t.Context(), out, "run1", &jobfile.Work{MapReduce: plan})
	if err != nil {
		t.Fatal(err)
	}
	// attempt runs one and returns where it began, as a fraction; it is ended after so many strides, 0 for never.
	attempt := func(number, ends int) (from float64) {
		t.Helper()
		task, err := r.Prepare(t.Context(), live.Attempt{Number: number})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := true
		x := &Worker{Assignment: task, Buckets: b, Output: out, Scratch: t.TempDir(), Stderr: os.Stderr, SaveEvery: -1}
		x.Progress = func(done float64) {
			if first {
				from, first = done, false
			}
			if saved, _ := filepath.Glob(filepath.Join(dir, "out/_tailcut/run1/saved/*", fmt.Sprintf("*.%d.*.*.*", number))); ends > 0 && len(saved) >= ends {
				cancel()
			}
		}
		if err := x.Run(ctx); (err == nil) != (ends == 0) {
			t.Fatalf("attempt %d ends with %v", number, err)
		}
		return from
	}
	result := func(number int) string {
		return read(t, filepath.Join(dir, fmt.Sprintf("out/_tailcut/run1/attempts/0-00000.%d", number), mapreduce.SegmentName(0)))
	}
	attempt(0, 4)
	if from := attempt(1, 0); from < 0.3 {
		t.Errorf("the attempt after four strides begins at %.2f", from)
	}
	if from := attempt(3, 0); from > 0.3 {
		t.Errorf("every third attempt begins anew, and this one at %.2f", from)
	}
	if result(1) != result(3) {
		t.Error("the result of an attempt that went on is another")
	}
	strides, err := filepath.Glob(filepath.Join(dir, "out/_tailcut/run1/saved/0-00000/*"))
	if err != nil || len(strides) < 5 {
		t.Fatalf("%v, %v", strides, err)
	}
	for _, path := range strides {
		if !strings.HasPrefix(filepath.Base(path), "0-") {
			write(t, path, "damaged")
		}
	}
	if from := attempt(4, 0); from < 0.05 || from > 0.4 {
		t.Errorf("the attempt begins at %.2f, and all but the first strides are damaged", from)
	}
	if result(4) != result(3) {
		t.Error("the result of an attempt that met damage is another")
	}
	strides, _ = filepath.Glob(filepath.Join(dir, "out/_tailcut/run1/saved/0-00000/*"))
	if err := r.Clean(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "out/_tailcut/run1/saved/0-00000/*")); len(left) != len(strides) {
		t.Errorf("%d strides are left when a run is taken up, of %d", len(left), len(strides))
	}
	if err := r.Tidy(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "out/_tailcut/run1/saved/*/*")); len(left) > 0 {
		t.Errorf("%v are left of a run that is over", left)
	}
}
