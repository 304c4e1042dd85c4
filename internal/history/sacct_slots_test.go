package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestSacctSlots: where a log of sacct is about one job only it may say how many slots there were.
func TestSacctSlots(t *testing.T) {
	const head = "JobID|JobName|State|Start|Elapsed|AllocCPUS\n"
	row := func(id string, cpus int) string {
		return fmt.Sprintf("%s|crunch|COMPLETED|2024-05-06T07:08:09|00:10:00|%d\n", id, cpus)
	}
	const may6 = sched.Time(1714979289) * sched.Second
	allocated := []SlotsFrom{{may6, 4}}
	for _, c := range []struct {
		name, rows string
		attempts   int
		slots      []SlotsFrom
	}{
		{"steps of an allocation", row("5", 8) + row("5.batch", 8) + row("5.0", 2) + row("5.1", 2), 2, allocated},
		{"the steps differ", row("5", 8) + row("5.0", 2) + row("5.1", 4), 2, nil},
		{"the cpus are not known", strings.ReplaceAll(row("5", 0)+row("5.0", 0)+row("5.1", 0), "|0\n", "|\n"), 2, nil},
		{"a job and its only step", row("5", 8) + row("5.0", 2), 2, nil},
		{"a job", row("5", 8), 1, nil},
		{"two jobs", row("5", 8) + row("6", 8), 2, nil},
		{"two jobs with steps", row("5", 8) + row("5.0", 2) + row("5.1", 2) + row("6", 8), 4, nil},
		{"an array with a limit", row("7_0", 1) + row("7_0.0", 1) + row("7_1", 1) + "7_[2-9%3]|crunch|PENDING|Unknown|00:00:00|1\n", 3, []SlotsFrom{{0, 3}}},
		{"an array with a limit, elements that wait first", "7_[2-9%3]|crunch|PENDING|Unknown|00:00:00|1\n" + row("7_0", 1), 1, []SlotsFrom{{0, 3}}},
		{"an array without", row("7_0", 1) + row("7_1", 1) + "7_[2-9]|crunch|PENDING|Unknown|00:00:00|1\n", 2, nil},
		{"an array and a job", row("7_0", 1) + "7_[2-9%3]|crunch|PENDING|Unknown|00:00:00|1\n" + row("8", 1), 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Open("-", strings.NewReader(head+c.rows), "")
			if err != nil {
				t.Fatal(err)
			}
			var jobs []string
			for r, err := range l.Attempts() {
				if err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, r.Job)
			}
			if len(jobs) != c.attempts {
				t.Errorf("attempts of jobs %q, want %d", jobs, c.attempts)
			}
			if got := l.Course().Slots; !slices.Equal(got, c.slots) {
				t.Errorf("slots %v, want %v", got, c.slots)
			}
		})
	}
}
