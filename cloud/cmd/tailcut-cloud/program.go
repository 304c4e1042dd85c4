package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tailcut/tailcut/cloud/internal/pods"
	"github.com/tailcut/tailcut/cloud/internal/store"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/remote"
)

// program does what an engine says. It implements remote.Program.
type program struct {
	buckets store.Buckets
	log     io.Writer
}

// Plan cuts the job into tasks. No attempt goes on from another by order of the engine: those whose strides are in a
// store look there by themselves.
func (p *program) Plan(ctx context.Context, r *remote.Request) (*jobfile.Plan, error) {
	job := r.Job
	if mr := job.MapReduce; mr != nil {
		mr.Files = store.Files{Buckets: &p.buckets}
		for _, input := range mr.Inputs {
			if r.On == remote.Kubernetes && !store.IsURL(input) {
				return nil, fmt.Errorf("%s: expected a URL that pods can reach, such as s3://bucket/prefix", input)
			}
		}
	}
	if job.Array != nil {
		for i := range job.Array.Stages {
			if st := &job.Array.Stages[i]; st.Resumable {
				return nil, fmt.Errorf("stage %s: resumable tasks need attempts that are processes of one machine, with a local --output", st.Name)
			}
		}
	}
	plan, err := job.Plan(ctx, r.Dir)
	if err != nil {
		return nil, err
	}
	for i := range plan.Spec.Stages {
		plan.Spec.Stages[i].Resumable = false
	}
	plan.Waits = r.On == remote.Kubernetes // for nodes and images
	return plan, nil
}

// Check implements remote.Program.
func (p *program) Check(ctx context.Context, r *remote.Request, c *remote.Check) (remote.Standing, error) {
	out, err := store.OpenOutput(&p.buckets, r.Output)
	if err != nil {
		return remote.Standing{}, err
	}
	s, err := out.Check(ctx, c.Run, c.Force)
	return remote.Standing(s), err
}

// Verify implements remote.Program.
func (p *program) Verify(ctx context.Context, r *remote.Request, seen func(done, total int64)) (*remote.Verified, error) {
	out, err := store.OpenOutput(&p.buckets, r.Output)
	if err != nil {
		return nil, err
	}
	m, wrong, err := out.Verify(ctx, seen)
	switch {
	case errors.Is(err, store.ErrNoResult):
		return nil, err
	case err != nil:
		return nil, remote.Fail(err)
	}
	v := &remote.Verified{Run: m.Run}
	v.Parts, v.Bytes = m.Count()
	for _, w := range wrong {
		v.Mistakes = append(v.Mistakes, remote.Mistake(w))
	}
	return v, nil
}

// Open takes up a run. Whatever is wrong with the cluster's settings is told before the output is touched.
func (p *program) Open(ctx context.Context, r *remote.Request, o *remote.Open) (live.Executor, error) {
	out, err := store.OpenOutput(&p.buckets, r.Output)
	if err != nil {
		return nil, err
	}
	if r.On == remote.Kubernetes {
		return p.pods(ctx, out, r, o)
	}
	results, err := store.NewResults(ctx, out, o.Run, o.Work)
	if err != nil {
		return nil, remote.Fail(err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, remote.Fail(err)
	}
	return store.NewLocal(results, []string{self, "attempt", "--attended"}, o.Limits), nil
}

func (p *program) pods(ctx context.Context, out *store.Output, r *remote.Request, o *remote.Open) (live.Executor, error) {
	cfg, err := p.podConfig(r, o.Run)
	if err != nil {
		return nil, err
	}
	if cfg.Template, err = pods.ReadTemplate(r.Pods.Template); err != nil {
		return nil, err
	}
	cfg.Limits = o.Limits
	pods.Own(ctx, &cfg)
	results, err := store.NewResults(ctx, out, o.Run, o.Work)
	if err != nil {
		return nil, remote.Fail(err)
	}
	e, err := pods.New(results, cfg)
	return e, remote.Fail(err)
}

func (p *program) podConfig(r *remote.Request, run string) (cfg pods.Config, err error) {
	cfg = pods.Config{Run: run, Image: r.Pods.Image, Log: p.log}
	cfg.Client, cfg.Namespace, err = pods.Connect(r.Pods.Kubeconfig, r.Pods.Namespace)
	return cfg, err
}

// Tidy implements remote.Program. Of an engine that died before it closed its executor there may be pods.
func (p *program) Tidy(ctx context.Context, r *remote.Request, run string) error {
	out, err := store.OpenOutput(&p.buckets, r.Output)
	if err != nil {
		return err
	}
	if r.On == remote.Kubernetes {
		cfg, err := p.podConfig(r, run)
		if err == nil {
			err = pods.Sweep(ctx, cfg)
		}
		if err != nil {
			return remote.Fail(err)
		}
	}
	return remote.Fail(out.Tidy(ctx, run))
}
