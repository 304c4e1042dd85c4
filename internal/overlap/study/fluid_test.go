package study

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/overlap"
)

func TestFluidJobs(t *testing.T) {
	const swim = "job0\t5\t0\t100\t30\t7\njob1\t3\t0\t200000000000\t0\t9\n"
	jobs, err := FluidJobs(strings.NewReader(swim), "day.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want := []overlap.Demand{{Arrival: 3, Map: 2e11}, {Arrival: 5, Map: 100, Shuffle: 30}}
	if diff := cmp.Diff(want, jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	for file, want := range map[string]string{
		"0 2 1.5 2 1\n": "bytes", // durations alone
		"job0\t5\t0\t1\t1\t7\njob1\t5\t0\t1\tmany\t7\n": "shuffle",
	} {
		if _, err := FluidJobs(strings.NewReader(file), "day.tsv"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "day.tsv") {
			t.Errorf("%q: got %v, want an error with the file and %q", file, err, want)
		}
	}
}
