package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Names of an attempt's objects, beside segments.
const (
	partObject   = "part"
	stdoutObject = "stdout"
	filesObjects = "files"
)

// withdrawTime is less than the grace period of a pod.
const withdrawTime = 10 * time.Second

// Assignment is what an attempt has to be told besides its output's URL.
type Assignment struct {
	Run                  string
	Stage, Index, Number int
	Each                 []Winner // of stages that are followed task by task
}

// Winner names the attempt that won the task of the same index in an earlier stage.
type Winner struct{ Stage, Number int }

// Args returns the command line of an attempt, which ParseTask understands.
func (t *Assignment) Args() []string {
	args := []string{t.Run, strconv.Itoa(t.Stage), strconv.Itoa(t.Index), strconv.Itoa(t.Number)}
	for _, w := range t.Each {
		args = append(args, fmt.Sprintf("%d=%d", w.Stage, w.Number))
	}
	return args
}

// ParseTask reads what Args wrote.
func ParseTask(args []string) (t Assignment, err error) {
	if len(args) < 4 {
		return t, fmt.Errorf("expected RUN STAGE TASK NUMBER [STAGE=NUMBER...], not %q", args)
	}
	t.Run = args[0]
	for i, into := range []*int{&t.Stage, &t.Index, &t.Number} {
		n, err := strconv.ParseUint(args[i+1], 10, 31)
		if err != nil {
			return t, fmt.Errorf("expected a number, not %q", args[i+1])
		}
		*into = int(n)
	}
	for _, arg := range args[4:] {
		stage, number, _ := strings.Cut(arg, "=")
		s, err := strconv.ParseUint(stage, 10, 31)
		n, err2 := strconv.ParseUint(number, 10, 31)
		if err != nil || err2 != nil {
			return t, fmt.Errorf("expected STAGE=NUMBER, not %q", arg)
		}
		t.Each = append(t.Each, Winner{int(s), int(n)})
	}
	return t, nil
}

// Worker does an attempt's work. It reads the input and the results of earlier stages from their stores, works in a
// folder of this machine, which must be empty, and puts what came of it into the output. When it returns nil, all of it
// is there. Of an attempt that outlives its run nothing is there.
type Worker struct {
	Assignment
	Buckets  *Buckets
	Output   *Output
	Scratch  string
	Progress func(fraction float64) // may be nil
	Stderr   io.Writer              // of commands
	// SaveEvery is how long a map attempt works at least between two strides; 0 for ten seconds
	SaveEvery time.Duration
}

// Run does the work. Commands run in the caller's process group and are the caller's to end if ctx does.
func (a *Worker) Run(ctx context.Context) error {
	p := a.Output.work(a.Assignment.Run)
	data, missing, err := a.Output.buckets.read(ctx, p)
	if err != nil {
		return err
	}
	w := &jobfile.Work{}
	if missing || json.Unmarshal(data, w) != nil || (w.Array == nil) == (w.MapReduce == nil) {
		return fmt.Errorf("%s: expected what the attempts of the run are to do", p.tell())
	}
	dir := filepath.Join(a.Scratch, "out")
	if w.Array != nil {
		err = a.array(ctx, w, dir)
	} else {
		err = a.mapReduce(ctx, w.MapReduce, dir)
	}
	if err != nil {
		return err
	}
	return errors.Join(a.put(ctx, dir, isPublished(w, a.Stage)), a.withdraw())
}

// put uploads all files of a folder, and their sums if they are to be published.
func (a *Worker) put(ctx context.Context, dir string, published bool) error {
	files, err := a.upload(ctx, dir)
	if err != nil || !published {
		return err
	}
	data, err := json.Marshal(&sums{sumsSchema, files})
	if err != nil {
		return err
	}
	return a.Output.buckets.write(ctx, a.Output.sums(a.Assignment.Run, a.Stage, a.Index, a.Number), bytes.NewReader(data), false)
}

// withdraw removes what the attempt has put into the store if the run is over. The run may have listed what it removes
// before that was there, but it removes what attempts are to do before it lists.
func (a *Worker) withdraw() error {
	ctx, cancel := context.WithTimeout(context.Background(), withdrawTime) // whoever ended the attempt did not end this
	defer cancel()
	o := a.Output
	if _, over, err := o.buckets.read(ctx, o.work(a.Assignment.Run)); err != nil || !over {
		return nil // a store that does not answer is no reason to do the work again
	}
	return errors.Join(
		o.buckets.remove(ctx, o.attempt(a.Assignment.Run, a.Stage, a.Index, a.Number)),
		o.buckets.drop(ctx, o.sums(a.Assignment.Run, a.Stage, a.Index, a.Number)),
		o.buckets.remove(ctx, o.saved(a.Assignment.Run, a.Stage, a.Index)),
		errOver,
	)
}

var errOver = errors.New("the run is over")

func (a *Worker) mapReduce(ctx context.Context, plan *mapreduce.Plan, dir string) error {
	if a.Stage >= len(plan.Stages) {
		return fmt.Errorf("stage %d is not in 0..%d", a.Stage, len(plan.Stages)-1)
	}
	var upstream []string
	for _, s := range plan.Stages[a.Stage].After {
		winners, err := a.Output.winners(ctx, a.Assignment.Run, s)
		if err != nil {
			return err
		}
		name := mapreduce.SegmentName(a.Index)
		root := filepath.Join(a.Scratch, "in", strconv.Itoa(s))
		for i := range winners {
			upstream = append(upstream, filepath.Join(root, strconv.Itoa(i)))
		}
		first := len(upstream) - len(winners)
		if err := sideBySide(ctx, len(winners), func(ctx context.Context, i int) error {
			from := a.Output.attempt(a.Assignment.Run, s, i, winners[i]).below(name)
			return a.download(ctx, from, filepath.Join(upstream[first+i], name))
		}); err != nil {
			return err
		}
	}
	spec, err := plan.Attempt(a.Stage, a.Index, upstream, dir)
	if err != nil {
		return err
	}
	spec.Files, spec.Progress, spec.Stderr = Files{a.Buckets}, a.Progress, a.Stderr
	if plan.Resumes(a.Stage) {
		if err := a.resumes(ctx, spec); err != nil {
			return err
		}
	}
	_, err = mapreduce.Run(ctx, spec)
	return err
}

// array runs the command. Standard output and files are put where a run on this machine has them in a result's folder.
func (a *Worker) array(ctx context.Context, w *jobfile.Work, dir string) error {
	if a.Stage >= len(w.Array.Stages) {
		return fmt.Errorf("stage %d is not in 0..%d", a.Stage, len(w.Array.Stages)-1)
	}
	inputs, err := a.inputs(ctx, &w.Array.Stages[a.Stage])
	if err != nil {
		return err
	}
	files := filepath.Join(dir, filesObjects)
	if err := os.MkdirAll(files, 0o777); err != nil {
		return err
	}
	stdout, err := os.Create(filepath.Join(dir, stdoutObject))
	if err != nil {
		return err
	}
	defer stdout.Close()
	task, err := w.Array.Command(a.Stage, a.Index, jobfile.Seat{Number: a.Number, Inputs: inputs, Dir: files})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, task.Args[0], task.Args[1:]...)
	said := &lastLine{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.Dir, append(os.Environ(), task.Env...), stdout, io.MultiWriter(a.Stderr, said)
	cmd.Env = append(cmd.Env, "TAILCUT_PROGRESS=/dev/fd/3")
	tell, told, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{told}
	go a.follow(tell)
	err = cmd.Run()
	told.Close()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", task.Args[0], err, said)
	}
	return stdout.Close()
}

// follow passes on the fractions that a command writes, until nobody can write any more.
func (a *Worker) follow(tell *os.File) {
	defer tell.Close()
	for lines := bufio.NewScanner(tell); lines.Scan(); {
		x, err := strconv.ParseFloat(strings.TrimSpace(lines.Text()), 64)
		if err == nil && x >= 0 && x <= 1 && a.Progress != nil {
			a.Progress(x)
		}
	}
}

// inputs brings the results that an array task reads to folders of this machine, laid out as those of a local run.
func (a *Worker) inputs(ctx context.Context, st *jobfile.Stage) ([]string, error) {
	var dirs []string
	root := func(stage int) string { return filepath.Join(a.Scratch, "in", strconv.Itoa(stage)) }
	for _, s := range st.After {
		winners, err := a.Output.winners(ctx, a.Assignment.Run, s)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, root(s))
		for i, n := range winners {
			if err := a.downloadAll(ctx, a.Output.attempt(a.Assignment.Run, s, i, n), filepath.Join(root(s), jobfile.TaskName(i))); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range a.Each {
		dir := filepath.Join(root(w.Stage), jobfile.TaskName(a.Index))
		dirs = append(dirs, dir)
		if err := a.downloadAll(ctx, a.Output.attempt(a.Assignment.Run, w.Stage, a.Index, w.Number), dir); err != nil {
			return nil, err
		}
	}
	return dirs, nil
}

func (a *Worker) downloadAll(ctx context.Context, from place, dir string) error {
	found, err := a.Output.buckets.list(ctx, from)
	if err != nil {
		return err
	}
	return sideBySide(ctx, len(found), func(ctx context.Context, i int) error {
		return a.download(ctx, from.at(found[i].Key), filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(found[i].Key, from.key+"/"))))
	})
}

func (a *Worker) download(ctx context.Context, from place, to string) error {
	bucket, err := a.Output.buckets.of(ctx, from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := bucket.Download(ctx, from.key, f, nil); err != nil {
		return explain(from, err)
	}
	return f.Close()
}

// upload puts all files of a folder below the attempt's prefix, and returns what they were.
func (a *Worker) upload(ctx context.Context, dir string) ([]sum, error) {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	root := a.Output.attempt(a.Assignment.Run, a.Stage, a.Index, a.Number)
	put := make([]sum, len(names))
	return put, sideBySide(ctx, len(names), func(ctx context.Context, i int) error {
		rel, err := filepath.Rel(dir, names[i])
		if err != nil {
			return err
		}
		f, err := os.Open(names[i])
		if err != nil {
			return err
		}
		defer f.Close()
		rel = filepath.ToSlash(rel)
		h := newHasher(nil)
		if err := a.Output.buckets.write(ctx, root.below(rel), io.TeeReader(f, h), false); err != nil {
			return err
		}
		put[i] = sum{rel, h.size, h.text()}
		return nil
	})
}
