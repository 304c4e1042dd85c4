package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/trace"
)

// cloudProgram starts attempts as pods, and reads from and writes to object stores. Its libraries are not for a program
// that is started for every attempt.
const cloudProgram = "tailcut-cloud"

// defaultPods is how many attempts run at once on Kubernetes, if --slots does not say.
const defaultPods = 10

// isURL tells whether a path means something in a store.
func isURL(path string) bool { return strings.Contains(path, "://") }

// checkURL refuses a URL of a kind that no store has.
func checkURL(path string) error {
	scheme, _, found := strings.Cut(path, "://")
	if found && !slices.Contains([]string{"s3", "gs", "file"}, strings.ToLower(scheme)) {
		return fmt.Errorf("expected a path, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///PATH, not %s", path)
	}
	return nil
}

// fillCloud finds out whether the run needs the other program, and checks what it is asked.
func (f *runFlags) fillCloud(e *engine) error {
	pods := remote.Pods{Kubeconfig: f.kubeconfig, Namespace: f.namespace, Image: f.image, Template: f.podTemplate}
	needed := f.on.value == remote.Kubernetes || isURL(f.output)
	if mr := e.Job.MapReduce; mr != nil {
		for _, path := range mr.Inputs {
			if err := checkURL(path); err != nil {
				return fmt.Errorf("input: %w", err)
			}
			needed = needed || isURL(path)
		}
	}
	if err := checkURL(f.output); err != nil {
		return f.wrong("output", err)
	}
	switch {
	case f.on.value == remote.Local && pods != remote.Pods{}:
		return fmt.Errorf("--image, --namespace, --kubeconfig and --pod-template are about pods; give --on %s, too", remote.Kubernetes)
	case !needed:
		return nil
	case f.disturb != "":
		return f.wrong("disturb", errors.New("slows processes between files of this machine, and no others"))
	case e.sites != nil:
		return errors.New("--site and --cluster are about processes between files of this machine, and no others")
	}
	e.On, e.Output = f.on.value, f.output
	if e.On == remote.Kubernetes {
		if e.Job.Array != nil || e.Job.MapReduce.Operator.Name == "streaming" {
			e.Dir = "" // of this machine
		}
		if !f.given("slots") && f.placed["slots"].in == nil {
			e.Slots = defaultPods
		}
	}
	if !isURL(e.Output) {
		if e.On == remote.Kubernetes {
			return f.wrong("output", fmt.Errorf("expected a URL that pods can reach, such as s3://bucket/prefix, not %q", f.output))
		}
		e.Output = (&url.URL{Scheme: "file", Path: e.out}).String()
	}
	e.out = e.Output
	folder := stateFolder()
	if folder == "" {
		return errors.New("there is nowhere to keep the journal: set XDG_STATE_HOME or HOME")
	}
	e.folders = proc.Folders{Root: filepath.Join(folder, "runs", url.PathEscape(e.Output))}
	e.cloud = &cloud{request: remote.Request{Job: e.Job, Dir: e.Dir, On: e.On, Output: e.Output, Timeout: e.timeout, Pods: pods}}
	return nil
}

// cloud is the other program, which the engine starts and speaks to.
type cloud struct {
	*remote.Peer
	request  remote.Request
	standing remote.Standing // of the output
}

// start starts the program.
func (c *cloud) start(e *engine) (err error) {
	c.Peer, err = startCloudProgram(&c.request, e.cmd.ErrOrStderr())
	return err
}

func startCloudProgram(req *remote.Request, stderr io.Writer) (*remote.Peer, error) {
	path, err := findSibling(cloudProgram)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "executor")
	cmd.Stderr = stderr
	p, err := remote.Start(cmd, req)
	if err != nil {
		return nil, failure{fmt.Errorf("%s: %w", path, err)}
	}
	return p, nil
}

// theirs makes an error of the other program one of this.
func theirs(err error) error {
	var failed remote.Failure
	if errors.As(err, &failed) {
		return failure{err}
	}
	return err
}

// startCloud runs the job, or takes up the run that the output holds. The journal is on this machine.
func (e *engine) startCloud(ctx context.Context) (err error) {
	if err := e.cloud.start(e); err != nil {
		return err
	}
	defer func() {
		if end := e.cloud.Hangup(); err == nil && end != nil {
			err = failure{fmt.Errorf("%s: %w", cloudProgram, end)}
		}
	}()
	if e.dryRun {
		return e.preview(ctx)
	}
	if err := e.checkJoblog(); err != nil {
		return err
	}
	if err := e.folders.Claim(); err != nil {
		return failure{err}
	}
	lock, err := proc.LockRun(e.folders)
	if err != nil {
		return failure{err}
	}
	defer lock.Close()
	if err := e.settle(); err != nil {
		return err
	}
	run, err := e.open(ctx)
	if err != nil {
		return theirs(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		<-e.cloud.Gone()
		cancel(failure{errors.New("the program that runs the attempts has ended; the same command goes on")})
	}()
	if err := e.drive(ctx, run); err != nil {
		return cmp.Or(endedFor(ctx), err)
	}
	return nil
}

// settle checks the output, and drops a journal that is of no run any more: because of --force, or because the output
// was removed.
func (e *engine) settle() error {
	path := e.folders.Journal()
	run := ""
	if r, err := trace.OpenJournalReader(path); err == nil {
		run = r.Header.Run
	} else if !errors.Is(err, fs.ErrNotExist) && !e.force {
		return e.unreadable(err)
	}
	standing, err := e.cloud.Check(remote.Check{Run: run, Force: e.force})
	if err != nil {
		if run == "" {
			e.withdraw()
		}
		return theirs(err)
	}
	e.cloud.standing = standing
	if e.force || !standing.Claimed {
		if err := os.RemoveAll(path); err != nil {
			return failure{err}
		}
	}
	return nil
}

// machines are what the core thinks it has: pods are lost one by one, so each slot is a machine of its own.
func (e *engine) machines() []trace.JournalMachine {
	if e.On != remote.Kubernetes {
		return e.sites.machines(e.Slots)
	}
	seats := make([]trace.JournalMachine, e.Slots)
	for i := range seats {
		seats[i] = trace.JournalMachine{Name: fmt.Sprintf("pod-%d", i), Slots: 1}
	}
	return seats
}
