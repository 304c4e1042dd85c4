package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
)

// Results is the half of an executor that has to do with what attempts have left in the store: commits, manifests,
// publishing.
type Results struct {
	out    *Output
	run    string
	work   *jobfile.Work
	stages []stageResults
}

// stageResults are the winners of a stage's tasks.
type stageResults struct {
	mu      sync.Mutex
	winners []int // attempt number by task, -1 for none yet
	written bool  // the manifest
}

// manifest is the object that names the winners of a stage.
type manifest struct {
	Schema  string `json:"schema"`
	Winners []int  `json:"winners"` // attempt number by task
}

const manifestSchema = "tailcut.stage/v1"

// NewResults begins the output of a run, or takes it up.
func NewResults(ctx context.Context, out *Output, run string, w *jobfile.Work) (*Results, error) {
	if err := out.Begin(ctx, run, w); err != nil {
		return nil, err
	}
	r := &Results{out: out, run: run, work: w}
	if w.MapReduce != nil {
		r.stages = make([]stageResults, len(w.MapReduce.Stages))
		for i := range r.stages {
			r.stages[i].winners = nobody(w.MapReduce.Stages[i].Tasks)
		}
		return r, nil
	}
	r.stages = make([]stageResults, len(w.Array.Stages))
	for i := range r.stages {
		r.stages[i].winners = nobody(w.Array.Stages[i].Tasks)
	}
	return r, nil
}

func nobody(tasks int) []int { return slices.Repeat([]int{-1}, tasks) }

// Commit notes the winner of a task. The claim is in the journal; in the store there is nothing to be done until
// somebody reads.
func (r *Results) Commit(a live.Attempt, _ []byte) error {
	s := &r.stages[a.Stage]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.winners[a.Index] = a.Number
	return nil
}

// Prepare makes ready what an attempt reads, and says what it has to be told: the manifests of the stages before, and
// the winners of single tasks.
func (r *Results) Prepare(ctx context.Context, a live.Attempt) (Assignment, error) {
	t := Assignment{Run: r.run, Stage: a.Stage, Index: a.Index, Number: a.Number}
	for _, s := range r.after(a.Stage) {
		if err := r.writeManifest(ctx, s); err != nil {
			return t, err
		}
	}
	if r.work.Array != nil {
		for _, s := range r.work.Array.Stages[a.Stage].AfterEach {
			t.Each = append(t.Each, Winner{s, r.winner(s, a.Index)})
		}
	}
	return t, nil
}

// after returns the stages of which all tasks are done before one of a stage begins.
func (r *Results) after(stage int) []int {
	if r.work.Array != nil {
		return r.work.Array.Stages[stage].After
	}
	return r.work.MapReduce.Stages[stage].After
}

func (r *Results) winner(stage, index int) int {
	s := &r.stages[stage]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.winners[index]
}

// writeManifest names the winners of a stage that is done, once.
func (r *Results) writeManifest(ctx context.Context, stage int) error {
	s := &r.stages[stage]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written {
		return nil
	}
	if i := slices.Index(s.winners, -1); i >= 0 {
		return fmt.Errorf("store: stage %d is read before its task %d is done", stage, i)
	}
	data, err := json.Marshal(&manifest{manifestSchema, s.winners})
	if err != nil {
		return err
	}
	if err := r.out.buckets.write(ctx, r.out.manifest(r.run, stage), bytes.NewReader(data), false); err != nil {
		return err
	}
	s.written = true
	return nil
}

// winners reads the manifest of a stage.
func (o *Output) winners(ctx context.Context, run string, stage int) ([]int, error) {
	p := o.manifest(run, stage)
	data, missing, err := o.buckets.read(ctx, p)
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if missing || json.Unmarshal(data, m) != nil || m.Schema != manifestSchema {
		return nil, fmt.Errorf("%s: expected a manifest of schema %s", p.tell(), manifestSchema)
	}
	return m.Winners, nil
}

// Clean removes what attempts have left that did not win.
func (r *Results) Clean() error {
	ctx := context.Background()
	keep := map[string]bool{}
	for s := range r.stages {
		for i, n := range r.stages[s].winners {
			if n >= 0 {
				keep[r.out.attempt(r.run, s, i, n).key] = true
			}
		}
	}
	root := r.out.of(r.run).below("attempts")
	found, err := r.out.buckets.list(ctx, root)
	if err != nil {
		return err
	}
	return sideBySide(ctx, len(found), func(ctx context.Context, i int) error {
		attempt, _, _ := strings.Cut(strings.TrimPrefix(found[i].Key, root.key+"/"), "/")
		if keep[root.key+"/"+attempt] {
			return nil
		}
		return r.out.buckets.remove(ctx, root.at(found[i].Key))
	})
}

// Tidy removes what a run that has succeeded needs no more.
func (r *Results) Tidy() error { return r.out.Tidy(context.Background(), r.run) }

// URL returns the output's name.
func (r *Results) URL() string { return r.out.URL() }
