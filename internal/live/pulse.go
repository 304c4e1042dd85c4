package live

import (
	"fmt"
	"os"

	"github.com/tailcut/tailcut/sched"
)

// A run's pulse is a file beside its journal that says until when the engine was alive: the run's name and an instant
// of the run, written over ten times a second and never synced. An engine that is killed says nothing any more, and
// the journal ends with what was last decided, which may be long before; but attempts ran until then, and what they
// cost is to be known. Nothing else depends on it.
type pulse struct {
	path, run string
	file      *os.File
}

// beat writes down that the engine is alive. It is no error if that cannot be.
func (p *pulse) beat(now sched.Time) {
	if p.file == nil {
		var err error
		if p.file, err = os.OpenFile(p.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
			return
		}
	}
	_, _ = p.file.WriteAt(fmt.Appendf(nil, "%s %020d\n", p.run, now), 0)
}

// last returns the instant that an earlier engine of the run has written; 0 if none has.
func (p *pulse) last() (at sched.Time) {
	text, err := os.ReadFile(p.path)
	if err != nil {
		return 0
	}
	var run string
	if _, err := fmt.Sscanf(string(text), "%s %d", &run, &at); err != nil || run != p.run || at < 0 {
		return 0
	}
	return at
}

// stop ends the file's use. Of a run that is over nothing is left.
func (p *pulse) stop(over bool) {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
	if over {
		_ = os.Remove(p.path)
	}
}
