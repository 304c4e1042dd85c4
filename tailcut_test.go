package tailcut_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// echo is a job of one stage, whose tasks run a shell's command.
func echo(tasks int, command string) tailcut.Job {
	return tailcut.Job{Stages: []tailcut.Stage{{Tasks: tasks, Command: []string{"sh", "-c", command}}}, Retries: -1}
}

func TestRunsAnUnfinishedJobOn(t *testing.T) {
	o := tailcut.Options{Output: filepath.Join(t.TempDir(), "out"), Slots: 1}
	ledger := filepath.Join(t.TempDir(), "ledger")
	job := echo(4, "echo {} >>"+ledger+"; [ {} -lt 2 ] || sleep 1; echo {}")
	ctx, stop := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer stop()
	if _, err := tailcut.Run(ctx, job, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("stopped after 0.7 s: %v", err)
	}
	r, err := tailcut.Run(context.Background(), job, o)
	if err != nil || r.Tasks != 4 || r.Resumed == 0 {
		t.Fatalf("gone on: %+v, %v; want 4 tasks of which some were done", r, err)
	}
	again, err := tailcut.Run(context.Background(), job, o)
	if err != nil || again.Attempts != r.Attempts {
		t.Fatalf("asked for a third time: %+v, %v; want what there is", again, err)
	}
	text, err := os.ReadFile(ledger)
	if zeros := strings.Count(string(text), "0"); err != nil || zeros != 1 {
		t.Errorf("task 0 was run %d times, %v", zeros, err)
	}
	if _, err := tailcut.Run(context.Background(), echo(4, "echo other"), o); err == nil || errors.Is(err, tailcut.ErrFailed) {
		t.Errorf("another job in the same folder: %v; want a refusal", err)
	}
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil || !strings.Contains(out.String(), "succeeded in ") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestStagesWaitForEachOther(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	job := tailcut.Job{Stages: []tailcut.Stage{
		{Name: "draw", Tasks: 3, Command: []string{"echo", "{}"}},
		{Name: "double", Tasks: 3, Command: []string{"sh", "-c", "echo $((2 * $(cat $TAILCUT_INPUT/stdout)))"}, AfterEach: []string{"draw"}},
	}}
	if _, err := tailcut.Run(context.Background(), job, tailcut.Options{Output: out}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "double", "part-00002")); err != nil || string(text) != "4\n" {
		t.Errorf("twice 2 is %q, %v", text, err)
	}
	job.Stages[1].AfterEach = []string{"dawn"}
	if _, err := tailcut.Run(context.Background(), job, tailcut.Options{Output: out}); err == nil || !strings.Contains(err.Error(), `stages[1].after_each: stage "dawn"`) {
		t.Errorf("a stage that is not there: %v", err)
	}
}

// Each task gets the values of a row, without a shell that could read them.
func TestInputs(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	job := tailcut.Job{Stages: []tailcut.Stage{{Command: []string{"echo", "{2}", "{1/.}"}, Inputs: [][]string{{"d/a.txt", "; rm x"}, {"b", "$(date)"}}}}}
	if _, err := tailcut.Run(context.Background(), job, tailcut.Options{Output: out}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"; rm x a\n", "$(date) b\n"} {
		if text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("part-%05d", i))); err != nil || string(text) != want {
			t.Errorf("task %d printed %q, %v; want %q", i, text, err, want)
		}
	}
	for wrong, change := range map[string]func(*tailcut.Stage){
		"there are 3 tasks":      func(s *tailcut.Stage) { s.Tasks = 3 },
		"stages[0].inputs":       func(s *tailcut.Stage) { s.Inputs[0][0] = "a\x00b" },
		"stages[0].tasks: 0 is ": func(s *tailcut.Stage) { s.Inputs = [][]string{} },
		"{3}":                    func(s *tailcut.Stage) { s.Command = []string{"echo", "{3}"} },
	} {
		s := tailcut.Stage{Command: []string{"echo"}, Inputs: [][]string{{"a", "b"}, {"c", "d"}}}
		change(&s)
		_, err := tailcut.Run(context.Background(), tailcut.Job{Stages: []tailcut.Stage{s}}, tailcut.Options{Output: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v; want %q", err, wrong)
		}
	}
}

func TestJobsThatFail(t *testing.T) {
	o := tailcut.Options{Output: filepath.Join(t.TempDir(), "out")}
	r, err := tailcut.Run(context.Background(), echo(3, "exit {}"), o)
	if !errors.Is(err, tailcut.ErrFailed) || r == nil || !strings.Contains(err.Error(), "exit status") {
		t.Errorf("%+v, %v; want ErrFailed, why, and a result", r, err)
	}
	for name, o := range map[string]tailcut.Options{
		"no folder": {}, "no policy": {Output: o.Output, Policy: "perfection"}, "slots": {Output: o.Output, Slots: -1},
	} {
		if r, err := tailcut.Run(context.Background(), echo(1, "true"), o); err == nil || r != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v; want one line", name, r, err)
		}
	}
	if _, err := tailcut.Run(context.Background(), tailcut.Job{}, o); err == nil {
		t.Error("a job without stages was run")
	}
}

func TestSimulateRefuses(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=5;tasks=10;law=exp:mean=10", 1)
	if err != nil {
		t.Fatal(err)
	}
	for field, s := range map[string]tailcut.Simulation{
		"machines": {Workload: w}, "policy": {Workload: w, Machines: 10, Policies: []string{"perfection"}}, "failures": {Workload: w, Machines: 10, Failures: "often"},
		"workload": {Machines: 10}, "cut": {Workload: w, Machines: 10, Cut: "some"}, "by": {Workload: w, Machines: 10, By: "size"},
	} {
		if _, err := tailcut.Simulate(context.Background(), s); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	c, err := tailcut.Simulate(context.Background(), tailcut.Simulation{Workload: w, Machines: 1000, Policies: []string{"fifo", "srew"}, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if first := c.Versus(0).Difference.Mean; first != 0 || c.MeanFlow(1).N != 2 || c.Slots != 1000 || c.LowerBound <= 0 {
		t.Errorf("versus itself %v, %d runs, %d slots, bound %v", first, c.MeanFlow(1).N, c.Slots, c.LowerBound)
	}
	if got := sim.MeanFlow(&c.Runs.Of(0)[0]); got < c.LowerBound {
		t.Errorf("a mean flow of %v is below the bound of any, %v", got, c.LowerBound)
	}
	c, err = tailcut.Simulate(context.Background(), tailcut.Simulation{Workload: w, Machines: 1000, Cut: "1,1", By: "tasks:2"})
	if err != nil {
		t.Fatal(err)
	}
	of := c.Runs.Class(1).Of(0)[0]
	if len(c.Classes) != 2 || of.Succeeded != len(w.Jobs)-2 || c.Runs.Class(0).Runs != 0 {
		t.Errorf("classes %v, %d jobs of %d", c.Classes, of.Succeeded, len(w.Jobs))
	}
}

// What the library recommends is what the exact formulas of package plan say of the policy.
func TestRecommendSaysWhatPlanDoes(t *testing.T) {
	law, err := laws.Parse("pareto:alpha=1.5,xm=10")
	if err != nil {
		t.Fatal(err)
	}
	r, err := tailcut.Recommend(context.Background(), tailcut.Question{Law: law, Tasks: 100})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := plan.NewExact(law, 100)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Policy{Stragglers: r.Best.Stragglers, Clones: r.Best.Clones, Original: plan.Keep}
	if r.Best.Kill {
		p.Original = plan.Kill
	}
	o, err := exact.Evaluate(p)
	if d := o.Latency - r.Best.Latency.Seconds(); err != nil || d > 1e-6 || d < -1e-6 {
		t.Errorf("latency %v of %+v, %v; plan says %v s", r.Best.Latency, p, err, o.Latency)
	}
	if r.Best.Clones == 0 || r.Best.Latency >= r.Without.Latency || len(r.Frontier) < 2 || len(r.Settings) == 0 {
		t.Errorf("%+v", r)
	}
	for name, q := range map[string]tailcut.Question{
		"durations": {}, "tasks": {Law: law, Tasks: -1}, "clones": {Law: law, Tasks: 10, MaxClones: 1000}, "below": {Durations: []time.Duration{-1}},
	} {
		if _, err := tailcut.Recommend(context.Background(), q); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line", name, err)
		}
	}
}

func TestExplainNamesFileAndLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(path, []byte("duration\n1\n2\nlong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tailcut.Explain(context.Background(), tailcut.Log{Path: path, Column: "duration"}); err == nil || !strings.Contains(err.Error(), "log.csv:4") {
		t.Errorf("%v; want file and line", err)
	}
	if err := os.WriteFile(path, []byte("duration\n1\n2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := tailcut.Explain(context.Background(), tailcut.Log{Path: path, Column: "duration"})
	if err != nil || len(d.Stages) != 1 || d.Stages[0].Verdict != tailcut.FewTasks || d.Stages[0].Longest != 3*time.Second {
		t.Errorf("%+v, %v", d, err)
	}
}

// A job that keeps going runs all that can run, and the others when it is called again.
func TestJobsThatKeepGoing(t *testing.T) {
	o := tailcut.Options{Output: filepath.Join(t.TempDir(), "out"), Slots: 1}
	mended := filepath.Join(t.TempDir(), "mended")
	job := echo(6, "[ {} != 1 ] || [ -e "+mended+" ]")
	job.Retries, job.KeepGoing = -1, true
	if r, err := tailcut.Run(context.Background(), job, o); !errors.Is(err, tailcut.ErrFailed) || r == nil || r.Attempts != 6 {
		t.Fatalf("a job of 6 tasks one of which fails: %+v, %v", r, err)
	}
	if err := os.WriteFile(mended, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err := tailcut.Run(context.Background(), job, o); err != nil || r.Resumed != 5 || r.Attempts != 7 {
		t.Fatalf("called again: %+v, %v", r, err)
	}
}
