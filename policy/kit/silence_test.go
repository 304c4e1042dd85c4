package kit

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// A stage whose attempts take no time to speak of is looked at less and less often, too.
func TestLullsGrow(t *testing.T) {
	lull := sched.Time(1)
	for range 60 {
		lull = longer(lull)
	}
	if lull < sched.Second {
		t.Errorf("after 60 looks the next is %d ns later", lull)
	}
	if got := longer(sched.Never); got != sched.Never {
		t.Errorf("beyond all time: %d", got)
	}
}
