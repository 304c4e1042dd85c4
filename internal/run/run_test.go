package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// commands is an array job of three tasks.
func commands(script string) jobfile.Job {
	return jobfile.Job{Name: "try", Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: jobfile.SoleStage, Tasks: 3, Command: []string{"sh", "-c", script}}}}}
}

// do runs a job in a folder; the test fails if that cannot be begun.
func do(t *testing.T, ctx context.Context, o Options) (*Result, error) {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run(ctx)
}

func slurp(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A program that is not tailcut, such as this test, runs jobs of commands and of map/reduce work with nothing to call first.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	res, err := do(t, t.Context(), Options{Job: commands("echo {}"), Output: filepath.Join(dir, "commands"), History: NoHistory})
	if err != nil || res.Summary.State != "succeeded" || res.Summary.Tasks != 3 || res.Header.Policy != policy.Default {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := slurp(t, filepath.Join(dir, "commands", "part-00002")); got != "2\n" {
		t.Errorf("the third part is %q", got)
	}
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("b a\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	count := jobfile.Job{MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "wordcount"}, Inputs: []string{in}, Reducers: 1}}
	if res, err = do(t, t.Context(), Options{Job: count, Output: filepath.Join(dir, "counts")}); err != nil || res.Summary.State != "succeeded" {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := slurp(t, filepath.Join(dir, "counts", "part-00000")); got != "a\t1\nb\t2\n" {
		t.Errorf("the counts are %q", got)
	}
}

// A job that failed goes on at the next start, with what is done; the log says so. Another job is refused, and takes the place with Force.
func TestRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	o := Options{Job: commands("test {} != 1 -o -e ready"), Dir: dir, Output: filepath.Join(dir, "out"), Log: &log}
	res, err := do(t, t.Context(), o)
	if !errors.As(err, new(Failure)) || res == nil || res.Summary.State != "failed" || !strings.Contains(err.Error(), "task 1 failed (attempt ") {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if res, err = do(t, t.Context(), o); err != nil || res.Summary.State != "succeeded" {
		t.Fatalf("%+v, %v", res, err)
	}
	if !strings.Contains(log.String(), "retrying a failed run") {
		t.Errorf("the log says %q", log.String())
	}
	o.Job = commands("true")
	if res, err := do(t, t.Context(), o); res != nil || err == nil || errors.As(err, new(Failure)) || !strings.Contains(err.Error(), "holds the result of another command") {
		t.Errorf("%+v, %v", res, err)
	}
	o.Force = true
	if res, err := do(t, t.Context(), o); err != nil || res.Summary.State != "succeeded" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A finished result of which a file is gone is not taken for whole, and is left as it is until it is made anew.
func TestRunMissesAPart(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "a b")
	o := Options{Job: commands("echo {}"), Dir: dir, Output: out, History: NoHistory}
	if _, err := do(t, t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(out, "part-00001"), filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	res, err := do(t, t.Context(), o)
	if res != nil || !errors.As(err, new(Failure)) || !strings.Contains(err.Error(), "lacks 1 of its 3 files, first part-00001; put it back (all of them: tailcut verify '"+out+"'), name another") {
		t.Errorf("%+v, %v", res, err)
	}
	if err := os.Rename(filepath.Join(dir, "aside"), filepath.Join(out, "part-00001")); err != nil {
		t.Fatal(err)
	}
	if res, err = do(t, t.Context(), o); err != nil || res.Summary.Attempts != 3 {
		t.Errorf("whole again: %+v, %v", res, err)
	}
	o.Force = true
	for _, name := range []string{"part-00002", mapreduce.ManifestName} {
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
		if res, err = do(t, t.Context(), o); err != nil || slurp(t, filepath.Join(out, "part-00002")) != "2\n" {
			t.Errorf("made anew without %s: %+v, %v", name, res, err)
		}
	}
}

// A context that is done stops the run, which says how far it is.
func TestRunStops(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	o := Options{Job: commands("case {} in 0) exit 1;; esac; sleep 100"), Dir: dir, Output: filepath.Join(dir, "out"), Log: stopper(stop)}
	o.Job.Retries = 100
	res, err := do(t, ctx, o)
	if !errors.Is(err, context.Canceled) || res == nil || res.Summary.State != "cancelled" {
		t.Errorf("%+v, %v", res, err)
	}
}

// stopper is a log that stops the run at the first word.
type stopper func()

func (s stopper) Write(text []byte) (int, error) {
	s()
	return len(text), nil
}

// What is wrong with an option names it, before anything is touched.
func TestNewMistakes(t *testing.T) {
	for field, change := range map[string]func(*Options){
		"slots":    func(o *Options) { o.Slots = MostSlots + 1 },
		"retries":  func(o *Options) { o.Job.Retries = -1 },
		"timeout":  func(o *Options) { o.Timeout.After = -1 },
		"policy":   func(o *Options) { o.Policy = "nosuch" },
		"slot":     func(o *Options) { o.Slot = "soon" },
		"law":      func(o *Options) { o.Law = "nosuch:x=1" },
		"deadline": func(o *Options) { o.Deadline = "tomorrow" },
		"disturb":  func(o *Options) { o.Disturb = "slow=2" },
		"output":   func(o *Options) { o.Output = "" },
	} {
		dir := t.TempDir()
		o := Options{Job: commands("true"), Output: filepath.Join(dir, "out")}
		change(&o)
		_, err := New(o)
		var wrong *grammar.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v", field, left)
		}
	}
}

// A name that no folder can have is a mistake of who gives it, and no fault of what would be in the folder.
func TestRunOutputTooLong(t *testing.T) {
	out := filepath.Join(t.TempDir(), strings.Repeat("x", 300))
	res, err := do(t, t.Context(), Options{Job: commands("true"), Output: out, History: NoHistory})
	if res != nil || !errors.Is(err, syscall.ENAMETOOLONG) || errors.As(err, new(Failure)) || strings.Contains(err.Error(), mapreduce.PrivateName) {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestNewEmptyJob(t *testing.T) {
	for _, job := range []jobfile.Job{{}, {Array: &jobfile.Array{}}} {
		if _, err := New(Options{Job: job, Output: t.TempDir()}); err == nil {
			t.Errorf("%+v is accepted", job)
		}
	}
}

// A preview says what would be launched first, and touches nothing. The request is in JSON what journals have held from the beginning.
func TestPreview(t *testing.T) {
	dir := t.TempDir()
	e, err := New(Options{Job: commands("true"), Dir: "/", Output: filepath.Join(dir, "out"), Slots: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Preview(t.Context())
	if err != nil || strings.Join(p.Launch, ", ") != "task 0 attempt 0, task 1 attempt 0" || len(p.Stages) != 1 || p.Stages[0] != (PreviewStage{"tasks", 3, 2}) {
		t.Errorf("%+v, %v", p, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	text, err := json.Marshal(&e.Request)
	want := `{"job":{"name":"try","array":{"stages":[{"name":"tasks","tasks":3,"command":["sh","-c","true"]}]},"retries":0},"dir":"/","policy":"auto","slots":2,"seed":1,"limits":{"Attempts":4,"Clones":{"Floor":10,"TaskShare":0.01,"RunningShare":0.1,"Own":true},"OwnAttempts":true}}`
	if err != nil || string(text) != want {
		t.Errorf("the request is\n%s, want\n%s (%v)", text, want, err)
	}
}

// A named run is told how long earlier ones took, with a deadline and without. A history that cannot be read costs that
// and nothing else, unless a deadline was to be planned by it.
func TestRunsAreToldOfEarlierOnes(t *testing.T) {
	dir := t.TempDir()
	nth := 0
	run := func(deadline string) (*Result, string, error) {
		nth++
		var log bytes.Buffer
		res, err := do(t, t.Context(), Options{
			Job: commands("sleep 0.05"), Output: filepath.Join(dir, strconv.Itoa(nth)), History: filepath.Join(dir, "history"), Name: "told", Slots: 3, Deadline: deadline, Log: &log,
		})
		return res, log.String(), err
	}
	mean := func(res *Result) sched.Time { return res.Header.Job.Stages[0].Mean }
	for want := range 2 {
		res, _, err := run("")
		if err != nil {
			t.Fatal(err)
		}
		if known := mean(res) > 0; known != (want == 1) {
			t.Errorf("run %d: told a mean of %v", nth, mean(res))
		}
	}
	file := past.Files{Folder: filepath.Join(dir, "history")}.FileOf("told")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, log, err := run(""); err != nil || mean(res) != 0 || !strings.Contains(log, "the policy is not told how long earlier runs took") {
		t.Errorf("with a history that cannot be read: %v, told a mean of %v, said %q", err, mean(res), log)
	}
	if _, _, err := run("1h"); err == nil {
		t.Error("a deadline is planned by a history that cannot be read")
	}
}

// A history that does not answer holds up neither the start of a run nor its end, and no submission to a server. All four
// wait for it side by side.
func TestHistoryHangs(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(past.Files{Folder: dir}.FileOf("hangs"), 0o600); err != nil { // nobody writes there
		t.Fatal(err)
	}
	const why = "hangs.json: the disk does not answer"
	run := func(t *testing.T, deadline string) (string, error) {
		var log bytes.Buffer
		_, err := do(t, t.Context(), Options{
			Job: commands("true"), Output: filepath.Join(t.TempDir(), "out"), History: dir, Name: "hangs", Slots: 3, Deadline: deadline, Log: &log,
		})
		return log.String(), err
	}
	sub := Submission{Job: commands("true"), Output: filepath.Join(dir, "served"), History: dir, Name: "hangs"}
	due := sub
	due.Output, due.Deadline = filepath.Join(dir, "due"), "1h"
	for name, hangs := range map[string]func(t *testing.T){
		"run": func(t *testing.T) {
			if log, err := run(t, ""); err != nil || strings.Count(log, why) != 2 {
				t.Errorf("%v, said %q", err, log)
			}
		},
		"run with a deadline": func(t *testing.T) {
			if _, err := run(t, "1h"); err == nil || !strings.HasSuffix(err.Error(), why) {
				t.Errorf("a deadline is planned: %v", err)
			}
		},
		"submission": func(t *testing.T) {
			server := aServer(t)
			submit(t, server, sub)
			if log := server.Log.(*strings.Builder).String(); strings.Count(log, why) != 1 {
				t.Errorf("the server said %q", log)
			}
		},
		"submission with a deadline": func(t *testing.T) {
			if _, err := aServer(t).Prepare(t.Context(), &due); err == nil || !strings.HasSuffix(err.Error(), why) {
				t.Errorf("a deadline is planned by a server: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hangs(t)
		})
	}
}

// Who interrupts a run whose tasks are done ends its wait for a history that does not answer, be that a file or the
// program that keeps the database.
func TestInterruptEndsTheWaitForHistory(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, past.Program), []byte("#!/bin/sh\nexec sleep 100\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	dir := t.TempDir()
	if err := syscall.Mkfifo(past.Files{Folder: dir}.FileOf("hangs"), 0o600); err != nil { // nobody writes there
		t.Fatal(err)
	}
	for name, what := range map[string]string{"hangs": "the durations are not kept for later runs", "well": "the run is not in the history"} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			out := filepath.Join(t.TempDir(), "out")
			var interrupted time.Time
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
					if _, err := os.Stat(filepath.Join(out, "_SUCCESS")); err == nil {
						interrupted = time.Now()
						interrupt()
					}
				}
			}()
			log, err := os.Create(filepath.Join(t.TempDir(), "log")) // which the program has, too
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			_, err = do(t, ctx, Options{Job: commands("true"), Output: out, History: dir, Name: name, Slots: 3, Log: log})
			interrupt()
			<-ended
			said := slurp(t, log.Name())
			if took := time.Since(interrupted); took > past.Late/2 || !strings.Contains(said, what+": "+errInterrupted.Error()) {
				t.Errorf("%v after the interrupt: %v, said %q", took, err, said)
			}
		})
	}
}

// The estimate of a stage that reads what maps write follows the size of the input: of nine times as much there are nine
// times the maps and three times the shuffle tasks, so each shuffle task reads three times as much, and each reduce nine times.
func TestEstimatesFollowBytes(t *testing.T) {
	dir := t.TempDir()
	run := func(lines int, out string) *Result {
		in := filepath.Join(dir, "in")
		if err := os.WriteFile(in, []byte(strings.Repeat("ab\n", lines)), 0o600); err != nil {
			t.Fatal(err)
		}
		job := jobfile.Job{MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "sort"}, Inputs: []string{in}, Reducers: 2, SplitSize: 300}}
		res, err := do(t, t.Context(), Options{
			Job: job, Output: filepath.Join(dir, out), History: filepath.Join(dir, "history"), Name: "sorted", Slots: 4, Classes: []ClassSlots{{"map", 2}, {"shuffle", 2}}, Deadline: "1h", Policy: "fifo",
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	run(400, "once")
	file := past.Files{Folder: filepath.Join(dir, "history")}.FileOf("sorted")
	known, err := past.ReadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	res := run(3600, "again")
	if tasks := res.Header.Job.Stages; tasks[0].Tasks != 36 || tasks[1].Tasks != 6 {
		t.Fatalf("%d maps, %d shuffle tasks", tasks[0].Tasks, tasks[1].Tasks)
	}
	for i, want := range []float64{1, 3, 9} {
		was, _ := known.Estimate(res.Header.Stages[i])
		if now := res.Header.Job.Stages[i].Mean; math.Abs(now.Seconds()/was.Seconds()/want-1) > 0.01 {
			t.Errorf("%s: %v after %v, expected %v times as long", res.Header.Stages[i], now, was, want)
		}
	}
}
