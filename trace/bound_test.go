package trace

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// The bound of a job on its attempts goes to the simulator and through the format.
func TestMaxLive(t *testing.T) {
	w := mustRead(t, `{"max_live":7,"stages":[{"durations_seconds":[1,2]}]}`)
	var spec sched.JobSpec
	if w.Spec(0, &spec); spec.MaxLive != 7 {
		t.Errorf("%+v", spec)
	}
	if lost := w.Lost(CSV); len(lost) == 0 || !strings.Contains(lost[0], "shares") {
		t.Errorf("CSV loses %q", lost)
	}
	if again := w.jobLine(0); again.MaxLive != 7 {
		t.Errorf("%+v", again)
	}
}
