package serve

import (
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// The timeline forgets jobs that are not listed any more, the first that ended first.
func TestTimelineForgets(t *testing.T) {
	b := &times{Book: timeline.NewBook("server", "fifo", time.Now(), nil), attempts: map[sched.JobID]int{}, most: 3}
	for id := range sched.JobID(10) {
		b.Job(timeline.JobRow{ID: id}, nil)
		b.over(id)
	}
	jobs := b.Since(0, 0).Jobs
	if len(jobs) != 3 || jobs[0].ID != 7 || len(b.attempts) > 3 {
		t.Errorf("of ten jobs that are over %v are kept, and %d counts; want the last 3", jobs, len(b.attempts))
	}
}
