package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
)

// complete tells whether the output folder holds a finished result.
func (e *Engine) complete() bool {
	if e.cloud != nil {
		return e.cloud.standing.Finished
	}
	return !isMissing(filepath.Join(e.out, mapreduce.SuccessName))
}

// Finished tells whether the output folder holds a finished result that stays.
func (e *Engine) Finished() bool { return e.cloud == nil && !e.o.Force && e.complete() }

// whole is the error of a finished result of which a file is gone, nil if none is. Whether one has changed, only verify
// finds out, which reads them all.
func (e *Engine) whole() error {
	if e.cloud != nil {
		return nil
	}
	m, err := e.readManifest(e.manifest())
	if m == nil {
		return err
	}
	gone := m.Missing(e.out)
	if len(gone) == 0 {
		return nil
	}
	return Failure{fmt.Errorf("%s: the finished result lacks %d of its %s, first %s; put it back (all of them: tailcut verify %s), "+
		"name another --output, or make the result anew with --force", e.out, len(gone), show.Count(len(m.Parts), "file"), gone[0], pasteWord(e.out))}
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// take makes the private folder, locks it, and checks what the output folder holds: a finished result is never
// overwritten without --force. Others may take the same folder at the same time; one of them gets it.
func (e *Engine) take() (lock *os.File, err error) {
	for try := 0; ; try++ {
		if err := cmp.Or(e.refuseClaimed(), e.refuseForeign()); err != nil {
			return nil, err
		}
		if err = e.folders.Claim(); err == nil {
			if lock, err = proc.LockRun(e.folders); err != nil && e.server == nil {
				err = Failure{err}
			}
		}
		if !errors.Is(err, fs.ErrNotExist) || try == 1000 {
			break
		}
		// Whoever had the folder has withdrawn, and has removed it in between.
	}
	if err != nil {
		return nil, err
	}
	if err := e.refuseHeld(); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// refuseForeign is the error of an output folder that Tailcut has not made, nil if it can be taken.
func (e *Engine) refuseForeign() error {
	if !isMissing(e.folders.Root) {
		return nil
	}
	entries, err := os.ReadDir(e.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	private := slices.ContainsFunc(entries, func(f fs.DirEntry) bool { return f.Name() == mapreduce.PrivateName })
	switch {
	case private || len(entries) == 0 || !isMissing(e.folders.Root): // which may be there by now
		return nil
	case isMissing(e.manifest()) && e.complete():
		return fmt.Errorf("%s: holds a finished result, and --force cannot replace it: %s and %s are gone, which say what belongs to it; "+
			"name another --output, or remove the result yourself", e.out, mapreduce.ManifestName, mapreduce.PrivateName)
	case isMissing(e.manifest()):
		return fmt.Errorf("%s: is not empty and was not created by Tailcut; name another --output", e.out)
	case e.o.Force:
		return nil
	}
	return e.refuseUnjournaled()
}

// refuseHeld is the error of an output folder that is locked and whose content forbids to take it. With --force the
// content is removed.
func (e *Engine) refuseHeld() error {
	if err := e.refuseClaimed(); err != nil { // somebody else came first
		return err
	}
	if e.o.Force {
		if err := e.clear(); err != nil {
			return err
		}
	}
	if !isMissing(e.folders.Journal()) {
		return nil // whose result it is, the journal says
	}
	return e.refuseUnjournaled()
}

// refuseUnjournaled is the error of an output folder that holds results and no journal.
func (e *Engine) refuseUnjournaled() error {
	if e.complete() {
		return fmt.Errorf("%s: holds a finished result whose journal is gone; name another --output, or replace it with --force", e.out)
	}
	all, err := e.manifests()
	if err == nil && len(all) > 0 {
		err = fmt.Errorf("%s: holds parts of a run whose journal is gone; name another --output, or replace them with --force", e.out)
	}
	return err
}

// watch ends the run when its folder is removed, before another that is begun there can take its attempts' work for its
// own.
func (e *Engine) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := e.folders.Held(e.lock); err != nil {
				cancel(Failure{err})
			}
		}
	}
}

// withdraw removes the folders of a run that was not begun, if nothing else is in them.
func (e *Engine) withdraw() {
	if e.folders.Run != "" {
		_ = os.Remove(e.folders.Stdin())
		_ = os.Remove(filepath.Dir(e.folders.Stdin()))
	}
	_ = os.Remove(e.folders.Lock())
	_ = os.Remove(e.folders.Root)
	_ = os.Remove(e.out)
}

func newRunName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
