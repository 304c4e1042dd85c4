package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Failed is the failure of an attempt as the run's folder keeps it, until the run succeeds: the journal says that it
// failed, not why.
type Failed struct {
	Stage   int       `json:"stage"`
	Task    int       `json:"task"`
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Exit    int       `json:"exit"` // status, or 128 plus the signal
	Note    string    `json:"note"` // one line for the user
}

func (f Folders) failures() string { return filepath.Join(f.home(), "failures") }

// noteFailure appends a failure to the list, in one write, so that whoever reads it meanwhile finds whole lines. Like
// keepStderr it helps whoever looks for a cause; if it cannot be written the job goes on.
func (e *Executor) noteFailure(p *process, exit int, note string) {
	a := p.attempt
	line, err := json.Marshal(Failed{Stage: a.Stage, Task: a.Index, Attempt: a.Number, At: p.at(), Exit: exit, Note: note})
	if err != nil {
		return
	}
	f, err := os.OpenFile(e.cfg.Folders.failures(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// Failures returns the last failure of each task, by stage and index, as far as it is kept. A line that is not whole,
// as after a crash, is passed over.
func (f Folders) Failures() (map[[2]int]*Failed, error) {
	text, err := os.ReadFile(f.failures())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	last := map[[2]int]*Failed{}
	for line := range bytes.Lines(text) {
		one := new(Failed)
		if json.Unmarshal(line, one) == nil {
			last[[2]int{one.Stage, one.Task}] = one
		}
	}
	return last, err
}
