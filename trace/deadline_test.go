package trace

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

func TestSetDeadlines(t *testing.T) {
	w := mustRead(t, `{"stages":[{"name":"map","durations_seconds":[3,4]},{"durations_seconds":[2],"after":["map"]}]}
{"deadline_seconds":7,"stages":[{"durations_seconds":[1]}]}
{"stages":[{"durations_seconds":[0]}]}
`)
	for _, slack := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if w.SetDeadlines(slack) == nil {
			t.Errorf("a slack of %v was accepted", slack)
		}
	}
	if err := w.SetDeadlines(1.5); err != nil {
		t.Fatal(err)
	}
	for j, want := range []sched.Time{9 * sched.Second, 7 * sched.Second, 0} {
		if got := w.Jobs[j].Deadline; got != want {
			t.Errorf("job %d: deadline %v, want %v", j, got, want)
		}
	}
}
