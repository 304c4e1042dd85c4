package run

import (
	"encoding/json"
	"fmt"
	"io"
)

// Follower shows a job of a server as a run shows itself.
type Follower struct {
	w      io.Writer
	screen *screen // once it is known how the job stands
}

// NewFollower returns one that writes there.
func NewFollower(w io.Writer) *Follower { return &Follower{w: w} }

// Stands shows how the job stands: a [Standing] in JSON.
func (f *Follower) Stands(text []byte) error {
	st := &Standing{}
	if err := json.Unmarshal(text, st); err != nil {
		return err
	}
	if f.screen == nil {
		fmt.Fprint(f.w, opening(st.Recovered, st.Tasks(), false, false))
		f.screen = newScreen(f.w, st)
	}
	if len(st.Stages) == len(f.screen.stages) {
		f.screen.tick(st)
	}
	return nil
}

// Ends shows what came of the stages that were at work, as far as that is not shown yet.
func (f *Follower) Ends(r *Result) {
	st := standingAtEnd(r.Summary)
	if f.screen == nil {
		f.screen = newScreen(f.w, &Standing{Stages: make([]StageStanding, len(st.Stages))})
	}
	if len(st.Stages) == len(f.screen.stages) {
		f.screen.tick(st)
	}
}

// Says shows a line about the job.
func (f *Follower) Says(line string) {
	if f.screen != nil {
		f.screen.say(line)
	}
}

// Close takes away what is drawn over again and again.
func (f *Follower) Close() {
	if f.screen != nil {
		f.screen.close()
	}
}
