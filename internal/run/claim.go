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
	"time"

	"github.com/tailcut/tailcut/internal/mapreduce"
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

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// claim checks the output folder and makes the private one. A finished result is never overwritten without --force.
func (e *Engine) claim() error {
	if err := e.refuseClaimed(); err != nil {
		return err
	}
	if e.o.Force {
		if err := e.clear(); err != nil {
			return err
		}
	}
	if e.complete() {
		switch _, err := os.Lstat(e.folders.Journal()); {
		case err == nil:
			return nil // whose result it is, the journal says
		case isMissing(e.folders.Root) && isMissing(e.manifest()):
			return fmt.Errorf("%s: holds a finished result, and --force cannot replace it: %s and %s are gone, which say what belongs to it; "+
				"name another --output, or remove the result yourself", e.out, mapreduce.ManifestName, mapreduce.PrivateName)
		}
		return fmt.Errorf("%s: holds a finished result whose journal is gone; name another --output, or replace it with --force", e.out)
	}
	if isMissing(e.folders.Journal()) {
		if all, err := e.manifests(); err != nil || len(all) > 0 {
			return cmp.Or(err, fmt.Errorf("%s: holds parts of a run whose journal is gone; name another --output, or replace them with --force", e.out))
		}
	}
	if _, err := os.Stat(e.folders.Root); errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(e.out)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s: is not empty and was not created by Tailcut; name another --output", e.out)
		}
	}
	return e.folders.Claim()
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
