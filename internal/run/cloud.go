package run

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

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/trace"
)

// cloudProgram starts attempts as pods, and reads from and writes to object stores. Its libraries are not for a program
// that is started for every attempt.
const cloudProgram = "tailcut-cloud"

// IsURL tells whether a path means something in a store.
func IsURL(path string) bool { return strings.Contains(path, "://") }

// checkURL refuses a URL of a kind that no store has.
func checkURL(path string) error {
	scheme, _, found := strings.Cut(path, "://")
	if found && !slices.Contains([]string{"s3", "gs", "file"}, strings.ToLower(scheme)) {
		return fmt.Errorf("expected a path, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///PATH, not %s", path)
	}
	return nil
}

// settleCloud finds out whether the run needs the other program, and checks what it is asked.
func (e *Engine) settleCloud() error {
	o := &e.o
	needed := o.On == remote.Kubernetes || IsURL(o.Output)
	if mr := e.Job.MapReduce; mr != nil {
		for _, path := range mr.Inputs {
			if err := checkURL(path); err != nil {
				return fmt.Errorf("input: %w", err)
			}
			needed = needed || IsURL(path)
		}
	}
	if err := checkURL(o.Output); err != nil {
		return grammar.Wrong("output", err)
	}
	switch {
	case o.On == remote.Local && o.Pods != remote.Pods{}:
		return fmt.Errorf("--image, --namespace, --kubeconfig and --pod-template need --on %s", remote.Kubernetes)
	case !needed:
		return nil
	case slotted(&e.Job):
		return errors.New("{%} is the slot of a process of this machine, with a local --output; pods and object stores have none: use {#}")
	case e.Job.Piped() != nil:
		return errors.New("--pipe and --pipe-part feed processes of this machine, with a local --output; give each task a file instead")
	case o.Disturb != "":
		return grammar.Wrong("disturb", errors.New("works only for processes and files of this machine"))
	case e.sites != nil:
		return errors.New("--site and --cluster work only for processes and files of this machine")
	}
	if err := e.refuseLimits(); err != nil {
		return err
	}
	e.On, e.Output = o.On, o.Output
	if e.On == remote.Kubernetes {
		if e.Job.Array != nil || e.Job.MapReduce.Operator.Name == "streaming" {
			e.Dir = "" // of this machine
		}
		e.Slots = cmp.Or(o.Slots, defaultPods)
	}
	if !IsURL(e.Output) {
		if e.On == remote.Kubernetes {
			return grammar.Wrong("output", fmt.Errorf("expected a URL that pods can reach, such as s3://bucket/prefix, not %q", o.Output))
		}
		e.Output = (&url.URL{Scheme: "file", Path: e.out}).String()
	}
	e.out = e.Output
	folder := stateFolder()
	if folder == "" {
		return errors.New("no folder for the journal: set XDG_STATE_HOME or HOME")
	}
	e.folders = proc.Folders{Root: filepath.Join(folder, "runs", url.PathEscape(e.Output))}
	e.cloud = &cloud{request: remote.Request{Job: e.Job, Dir: e.Dir, On: e.On, Output: e.Output, Pods: o.Pods}}
	return nil
}

// cloud is the other program, which the engine starts and speaks to.
type cloud struct {
	*remote.Peer
	request  remote.Request
	standing remote.Standing // of the output
}

// start starts the program.
func (c *cloud) start(e *Engine) (err error) {
	c.Peer, err = startCloudProgram(&c.request, e.o.Log)
	return err
}

func startCloudProgram(req *remote.Request, stderr io.Writer) (*remote.Peer, error) {
	path, err := remote.Find(cloudProgram)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "executor")
	cmd.Stderr = stderr
	p, err := remote.Start(cmd, req)
	if err != nil {
		return nil, Failure{fmt.Errorf("%s: %w", path, err)}
	}
	return p, nil
}

// VerifyStore lets the program that knows stores compare a result in one with its manifest. tell, which may be nil, is
// called now and then with the bytes that are read of those that there are; what the program says goes to log.
func VerifyStore(out string, log io.Writer, tell func(done, total int64)) (*audit.Verification, error) {
	if err := checkURL(out); err != nil {
		return nil, err
	}
	peer, err := startCloudProgram(&remote.Request{Output: out}, log)
	if err != nil {
		return nil, err
	}
	v, err := peer.Verify(tell)
	if end := peer.Hangup(); err == nil && end != nil {
		err = remote.Fail(fmt.Errorf("%s: %w", cloudProgram, end))
	}
	if err != nil {
		return nil, theirs(err)
	}
	var mistakes []mapreduce.Mistake
	for _, m := range v.Mistakes {
		mistakes = append(mistakes, mapreduce.Mistake(m))
	}
	return audit.NewVerification(v.Run, v.Parts, v.Bytes, mistakes), nil
}

// theirs makes an error of the other program one of this.
func theirs(err error) error {
	var failed remote.Failure
	if errors.As(err, &failed) {
		return Failure{err}
	}
	return err
}

// connected calls do while the other program is there.
func (e *Engine) connected(do func() (*Result, error)) (res *Result, err error) {
	if err := e.cloud.start(e); err != nil {
		return nil, err
	}
	defer func() {
		if end := e.cloud.Hangup(); err == nil && end != nil {
			err = Failure{fmt.Errorf("%s: %w", cloudProgram, end)}
		}
	}()
	return do()
}

// runCloud runs the job, or takes up the run that the output holds. The journal is on this machine.
func (e *Engine) runCloud(ctx context.Context) (*Result, error) {
	return e.connected(func() (*Result, error) {
		if err := e.checkJoblog(); err != nil {
			return nil, err
		}
		if err := e.folders.Claim(); err != nil {
			return nil, Failure{err}
		}
		lock, err := proc.LockRun(e.folders)
		if err != nil {
			return nil, Failure{err}
		}
		defer lock.Close()
		if err := e.clearCloud(); err != nil {
			return nil, err
		}
		run, err := e.open(ctx)
		if err != nil {
			return nil, theirs(err)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() {
			<-e.cloud.Gone()
			cancel(Failure{errors.New("tailcut-cloud exited; rerun the same command to resume")})
		}()
		res, err := e.drive(ctx, run)
		if err != nil {
			return res, cmp.Or(endedFor(ctx), err)
		}
		return res, nil
	})
}

// clearCloud checks the output, and drops a journal that is of no run any more: because of --force, or because the
// output was removed.
func (e *Engine) clearCloud() error {
	path := e.folders.Journal()
	run := ""
	if r, err := trace.OpenJournalReader(path); err == nil {
		run = r.Header.Run
	} else if !errors.Is(err, fs.ErrNotExist) && !e.o.Force {
		return e.unreadable(err)
	}
	standing, err := e.cloud.Check(remote.Check{Run: run, Force: e.o.Force})
	if err != nil {
		if run == "" {
			e.withdraw()
		}
		return theirs(err)
	}
	e.cloud.standing = standing
	if e.o.Force || !standing.Claimed {
		if err := os.RemoveAll(path); err != nil {
			return Failure{err}
		}
	}
	return nil
}

// machines are what the core thinks it has: pods are lost one by one, so each slot is a machine of its own.
func (e *Engine) machines() []trace.JournalMachine {
	switch {
	case len(e.Classes) > 0:
		return classMachines(e.Classes)
	case e.On != remote.Kubernetes:
		return e.sites.machines(e.Slots)
	}
	seats := make([]trace.JournalMachine, e.Slots)
	for i := range seats {
		seats[i] = trace.JournalMachine{Name: fmt.Sprintf("pod-%d", i), Slots: 1}
	}
	return seats
}
