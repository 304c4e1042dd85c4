package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/strides"
)

// Map attempts save their strides in the output's store, where they outlive the attempt, its node and the engine. The
// next attempt of the task looks there by itself and goes on behind the furthest. Journal and engine know nothing of
// it. See docs/decisions/0098-what-is-saved-outlives-the-engine.md.

// saveEvery is how long an attempt maps at least between two strides, which are uploaded.
const saveEvery = 10 * time.Second

// Every so-manieth attempt of a task begins at the beginning, lest something in what was saved let all of them fail.
const freshEvery = 3

// saving is what an attempt saves.
type saving struct {
	*Worker
	ctx  context.Context
	dir  string          // of the attempt
	last *strides.Stride // nil at the beginning
}

func (o *Output) saved(run string, stage, index int) place {
	return o.of(run).below(fmt.Sprintf("saved/%d-%05d", stage, index))
}

// resumes lets an attempt go on from what others have saved, and save itself.
func (a *Worker) resumes(ctx context.Context, spec *mapreduce.AttemptSpec) error {
	s := &saving{Worker: a, ctx: ctx, dir: spec.Dir}
	if a.Number > 0 && a.Number%freshEvery > 0 {
		if err := s.find(); err != nil {
			return err
		}
	}
	if s.last != nil {
		spec.Resume = &mapreduce.Resume{Offset: s.last.Offset()}
		for _, x := range s.last.Chain() {
			spec.Resume.Runs = append(spec.Resume.Runs, x.Path)
		}
		if a.Progress != nil {
			a.Progress(s.last.Progress())
		}
	}
	spec.SaveEvery, spec.Saved = a.SaveEvery, s.save
	if spec.SaveEvery == 0 {
		spec.SaveEvery = saveEvery
	}
	return nil
}

// find brings the furthest that there is to this machine. What is not as it was saved ends it.
func (s *saving) find() error {
	root := s.Output.saved(s.Assignment.Run, s.Stage, s.Index)
	found, err := s.Output.buckets.list(s.ctx, root)
	if err != nil {
		return err
	}
	var names []string
	for _, o := range found {
		names = append(names, strings.TrimPrefix(o.Key, root.key+"/"))
	}
	var furthest *strides.Stride
	for _, x := range strides.Link(names) {
		if x.Offset() > furthest.Offset() {
			furthest = x
		}
	}
	for _, x := range furthest.Chain() {
		x.Path = filepath.Join(s.Scratch, "saved", x.Name())
		if err := s.download(s.ctx, root.below(x.Name()), x.Path); err != nil {
			return err
		}
		if !x.Intact() {
			return nil
		}
		s.last = x
	}
	return nil
}

// save puts a stride into the store. One that cannot be put there is lost, with those that would follow it.
func (s *saving) save(offset int64, fraction float64) {
	next := &strides.Stride{Before: s.last, Number: s.Number, Begin: s.last.Offset(), End: offset, Fraction: fraction}
	path := mapreduce.SavedPath(s.dir, next.Begin)
	var err error
	if next.Sum, err = strides.Sum(path); err != nil {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	to := s.Output.saved(s.Assignment.Run, s.Stage, s.Index).below(next.Name())
	if err := s.Output.buckets.write(s.ctx, to, f, false); err != nil {
		fmt.Fprintf(s.Stderr, "tailcut: what was mapped so far could not be saved: %v\n", err)
		return
	}
	s.last = next
}
