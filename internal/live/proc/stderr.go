package proc

import (
	"fmt"
	"os"
	"path/filepath"
)

// stderrMost is how much of what an attempt writes to standard error is kept, in bytes: its end. It is kept in memory,
// and in a file if the attempt fails: its disk may be full, and that the reason.
const stderrMost = 16 << 10

// Stderr returns the file with the end of what the last failed attempt of a task wrote to standard error, which does
// not exist if that was nothing. It is kept until the job succeeds.
func (f Folders) Stderr(stage, index int) string {
	return filepath.Join(f.allStderr(), fmt.Sprintf("%d-%05d", stage, index))
}

func (f Folders) allStderr() string { return filepath.Join(f.home(), "stderr") }

// keepStderr replaces what is kept of the task's failure before. Another attempt of the task may fail at the same time,
// so the file gets its name when it is whole. It helps whoever looks for a cause and is not needed otherwise: if it
// cannot be written, the job goes on.
func (e *Executor) keepStderr(p *process) {
	a := p.attempt
	to := e.cfg.Folders.Stderr(a.Stage, a.Index)
	text := p.stderr()
	if len(text) == 0 {
		_ = os.Remove(to)
		return
	}
	unborn := fmt.Sprintf("%s.%d.new", to, a.Number)
	err := os.MkdirAll(filepath.Dir(to), 0o777)
	if err == nil {
		err = os.WriteFile(unborn, text, 0o666)
	}
	if err == nil {
		err = os.Rename(unborn, to)
	}
	if err != nil {
		_, _ = os.Remove(unborn), os.Remove(to) // an older failure's would mislead
	}
}
