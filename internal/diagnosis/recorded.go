package diagnosis

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/show"
)

// Recorded is what the clones did that the log has.
type Recorded struct {
	Clones  int     `json:"clones"`
	Won     int     `json:"won"`             // that ended before the attempt that they were for
	Lost    float64 `json:"lost_seconds"`    // machine time of attempts that another one beat, clones or not
	Saved   float64 `json:"saved_seconds"`   // of the time of the application, by replays with and without clones
	Share   float64 `json:"saved_ratio"`     // the same, of its time without clones
	Without float64 `json:"without_seconds"` // what the replay takes without clones
}

// recorded sums up the clones of a log; nil if there are none.
func recorded(stages []*history.StageRecord) *Recorded {
	c := &Recorded{}
	for _, st := range stages {
		cloned := map[int32]bool{}
		for i := range st.Attempts {
			if a := &st.Attempts[i]; a.Speculative {
				c.Clones++
				cloned[a.Task] = true
				if a.Outcome == history.Succeeded {
					c.Won++
				}
			}
		}
		for i := range st.Attempts {
			if a := &st.Attempts[i]; cloned[a.Task] && a.Outcome == history.Killed {
				c.Lost += a.Duration.Seconds()
			}
		}
	}
	if c.Clones == 0 {
		return nil
	}
	return c
}

// compare sets what the clones saved, by the replays of what happened and of the same without clones.
func (c *Recorded) compare(now, without float64) {
	c.Without, c.Saved = without, without-now
	c.Share = c.Saved / max(without, 1e-9)
}

// words says what the clones did.
func (c *Recorded) words() string {
	did := fmt.Sprintf("The log has %s; %d of them won. Attempts that another one beat took %s of machine time.",
		show.Count(c.Clones, "clone"), c.Won, show.Seconds(c.Lost))
	if c.Without == 0 {
		return did
	}
	return fmt.Sprintf("%s Without clones the replay takes %s: clones saved %s (%s).", did, show.Seconds(c.Without), signed(c.Saved), show.Percent(c.Share))
}
