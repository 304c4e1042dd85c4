package run

import (
	"strings"
	"testing"
	"time"
)

func TestStageLine(t *testing.T) {
	for name, c := range map[string]struct {
		stage   StageStanding
		base    int
		elapsed time.Duration
		want    string
	}{
		"begun": {
			StageStanding{Name: "map", Tasks: 60, Need: 60, Attempts: 2, Running: 2}, 0, time.Second,
			"map      [........................] 0/60 done, 2 running, 0 clones",
		},
		"half, with a clone": {
			StageStanding{Name: "map", Tasks: 60, Need: 60, Done: 30, Attempts: 3, Running: 2}, 0, 10 * time.Second,
			"map      [############............] 30/60 done, 2 running, 1 clone, 3.0/s, ETA 10s",
		},
		// What an earlier engine did says nothing about the speed of this one: 6 tasks in a minute, 24 are left.
		"taken up": {
			StageStanding{Name: "map", Tasks: 60, Need: 60, Done: 36, Attempts: 3, Running: 3}, 30, time.Minute,
			"map      [##############..........] 36/60 done, 3 running, 0 clones, 6.0/min, ETA 4m0s",
		},
		"without some": { // of 60, 10 will not run
			StageStanding{Name: "map", Tasks: 60, Need: 60, Done: 30, GivenUp: 10, Attempts: 2, Running: 2}, 0, 10 * time.Second,
			"map      [############............] 30/60 done, 2 running, 0 clones, 10 given up, 3.0/s, ETA 7s",
		},
		"on a narrow terminal": {
			StageStanding{Name: "map", Tasks: 60, Need: 60, Done: 36, Attempts: 3, Running: 3}, 30, time.Minute,
			"map      36/60 done, 3 running, 0 clones, 6.0/min, ETA 4m0s",
		},
		"slow": {
			StageStanding{Name: "map", Tasks: 4, Need: 4, Done: 1, Attempts: 3, Running: 3}, 0, 2 * time.Hour,
			"map      [######..................] 1/4 done, 3 running, 0 clones, 0.5/h, ETA 6h0m0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bar := mostBar
			if !strings.Contains(c.want, "[") {
				bar = 0
			}
			if got := stageLine(&c.stage, c.base, c.elapsed, bar); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestClosedLine(t *testing.T) {
	for want, st := range map[string]StageStanding{
		"map: 1 task done":                     {Name: "map", Tasks: 1, Need: 1, Done: 1},
		"map: 3 tasks done":                    {Name: "map", Tasks: 3, Need: 3, Done: 3},
		"map: given up with 1 of 3 tasks done": {Name: "map", Tasks: 3, Need: 3, Done: 1, GivenUp: 1},
		"map: 1 of 3 tasks done, the others failed or waited for failed ones": {Name: "map", Tasks: 3, Need: 3, Done: 1, GivenUp: 2},
	} {
		if got := closedLine(&st); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
