package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// stderrMost is how much of what an attempt writes to standard error is kept, in bytes: its end. It is kept in memory,
// and in a file if the attempt fails: its disk may be full, and that the reason.
const stderrMost = 16 << 10

// StderrKept says of which attempts the standard error is kept.
type StderrKept string

// What may be kept.
const (
	KeepFailed StderrKept = "failed" // of a task's last failure, until the job succeeds
	KeepAll    StderrKept = "keep"   // of the attempts that win, too; published with the results
	KeepNone   StderrKept = "none"
	KeepToShow StderrKept = "print" // as all, but for whoever prints it: it is not published
)

// winners tells whether what attempts that win have written is kept.
func (k StderrKept) winners() bool { return k == KeepAll || k == KeepToShow }

// mostOf is how much of what an attempt writes to standard error is kept, in bytes.
func (k StderrKept) mostOf() int {
	if k.winners() {
		return stderrMostKept
	}
	return stderrMost
}

// stderrMostKept is stderrMost where all is to be kept, as far as memory allows that.
const stderrMostKept = 256 << 10

// StderrOf returns the file with the end of what an attempt that won wrote to standard error, if that is kept.
func (f Folders) StderrOf(a live.Attempt) string {
	return fmt.Sprintf("%s.%d", f.Stderr(a.Stage, a.Index), a.Number)
}

// keepWinners keeps what an attempt that has ended well wrote to standard error. Whether it wins is not known yet. The
// results do not depend on it. What will be published is on the disk before the end is reported, as a result is: else a
// run that goes on after a power cut would publish an empty file, as if the task had said nothing.
func (e *Executor) keepWinners(p *process) {
	if !e.cfg.Stderr.winners() || len(p.said) == 0 {
		return
	}
	text := p.stderr()
	if lost := p.heard - int64(len(text)); lost > 0 {
		text = append(fmt.Appendf(nil, "[the first %d bytes were not kept]\n", lost), text...)
	}
	to := e.cfg.Folders.StderrOf(p.attempt)
	err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), os.WriteFile(to, text, 0o666))
	if err == nil && e.cfg.Stderr == KeepAll {
		err = errors.Join(disk.SyncFolder(to), disk.SyncFolder(filepath.Dir(to)), disk.SyncFolder(e.cfg.Folders.home()))
	}
	if err != nil {
		_ = os.Remove(to)
	}
}

// stderrParts lists the kept standard error of the attempts that have won, to be published in a folder of its own.
func (e *Executor) stderrParts() (all []mapreduce.Part) {
	if e.cfg.Stderr != KeepAll {
		return nil
	}
	names := e.work.stages()
	entries, err := os.ReadDir(e.cfg.Folders.allStderr())
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		var a live.Attempt
		if n, err := fmt.Sscanf(entry.Name(), "%d-%d.%d", &a.Stage, &a.Index, &a.Number); n != 3 || err != nil {
			continue
		}
		path := e.cfg.Folders.StderrOf(a)
		if w := e.won.of(a.Stage, a.Index); int(w.launched) != a.Number+1 || filepath.Base(path) != entry.Name() || a.Stage >= len(names) {
			continue
		}
		all = append(all, mapreduce.StderrPart(names[a.Stage], len(names) > 1, a.Index, a.Number, path))
	}
	return all
}

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
	if e.cfg.Stderr == KeepNone {
		return
	}
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
