package reproduce

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// shedReal is the paper's testbed at a scale of 1 to 100: real jobs of 5, 10 and 20 map tasks on this machine. Attempts
// wait for their input most of the time, so that slots are scarce and cores are not, as on a cluster of one slot a
// machine.
type shedReal struct {
	self []string // this program
	seed uint64
	dir  string
	jobs []smallJob
	same bool // all runs had the bytes of the undisturbed one
}

// smallJob is one operator on one input.
type smallJob struct {
	operator string
	tasks    int
	want     []byte // the result without disturbance
	deadline float64
	mean     float64      // seconds of a task without disturbance
	runs     [][]smallRun // by repetition, then policy
}

// smallRun is what comes of a run.
type smallRun struct {
	Met      bool    `json:"deadline_met"`
	Flow     float64 `json:"flow_seconds"`
	Fruitful float64 `json:"fruitful_seconds"`
	Lost     float64 `json:"fruitless_seconds"`
	Resumed  int     `json:"resumed"`
	Input    int64   `json:"input_bytes"`
	Mapped   int64   `json:"mapped_bytes"`
}

const (
	realSlots  = 40
	realSplit  = 4 << 20 // bytes of a task
	realPace   = 4e6     // bytes per second
	realSlack  = 2.5     // the deadline, in times of the undisturbed job
	realSlow   = "slow=0.2,factor=6"
	realRepeat = 5
)

var (
	realOperators = [...]string{"wordcount", "wordmean"}
	// What is meant for tasks of minutes is told that these take a second.
	realPolicies = [...]string{
		"fifo", "hadoop2:retry=10ms,rest=150ms", "dolly:budget=1,threshold=1,p=0.2", "shed:interval=500ms", "laxity:launch=50ms,judge=250ms",
	}
	realNames = [...]string{"none", "Hadoop", "Dolly", "Shed", "laxity"}
)

func runShedReal(ctx context.Context, o *Options) (*report.Page, error) {
	dir, err := os.MkdirTemp("", "tailcut-shed")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	x := &shedReal{self: o.Self, seed: o.Seed, dir: dir, same: true}
	repeats := realRepeat
	if o.Quick {
		repeats = 2
	}
	var steps []func(context.Context) error
	for _, tasks := range shedClasses {
		if err := writeText(x.input(tasks), tasks*realSplit, o.Seed); err != nil {
			return nil, err
		}
		for _, operator := range realOperators {
			i := len(x.jobs)
			x.jobs = append(x.jobs, smallJob{operator: operator, tasks: tasks, runs: make([][]smallRun, repeats)})
			steps = append(steps, func(ctx context.Context) error { return x.measure(ctx, &x.jobs[i]) })
			for k := range repeats {
				x.jobs[i].runs[k] = make([]smallRun, len(realPolicies))
				for p := range realPolicies {
					steps = append(steps, func(ctx context.Context) error { return x.run(ctx, &x.jobs[i], k, p) })
				}
			}
		}
	}
	alone := *o
	alone.Workers = 1 // the clock is real
	if err := alone.each(ctx, steps); err != nil {
		return nil, err
	}
	return &report.Page{
		Name: "shed_real", Title: "Meeting deadlines by dynamic cloning: real jobs on this machine",
		Intro: []string{
			"Alamro, Xu, Lan and Subramaniam run WordCount and WordMean in jobs of 5, 10 and 20 map tasks on 120 slots. Here each job runs alone on this machine, at a scale of 1 to 100.",
			fmt.Sprintf("A task maps %d MiB at %g MB/s at most (--disturb pace), so that its %d slots are scarce and the cores are not; attempts are processes, some of which are slowed with "+
				"SIGSTOP and SIGCONT (%s); clones resume from saved work. The deadline is %g times the undisturbed duration of the job. Shed and laxity know the law Pareto(mean of an undisturbed task, "+
				"1.5), Dolly the share of slow attempts. The seed of a repetition decides which attempts are slow, the same ones for all policies. Intervals are of 95 %% over %d "+
				"repetitions.", realSplit>>20, realPace/1e6, realSlots, realSlow, realSlack, repeats),
		},
		Sections: []report.Section{x.section(repeats)},
	}, nil
}

func (x *shedReal) input(tasks int) string {
	return filepath.Join(x.dir, fmt.Sprintf("text-%d", tasks))
}

// writeText makes a file of words.
func writeText(path string, size int, seed uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, g := bufio.NewWriter(f), rand.New(rand.NewPCG(seed, 0x7e87))
	for n := 0; n < size; {
		m, _ := fmt.Fprintf(w, "w%d%c", g.IntN(5000), " \n"[g.IntN(8)/7]) // the writer keeps its error
		n += m
	}
	return errors.Join(w.Flush(), f.Close())
}

// call runs a job and returns what it says and its result.
func (x *shedReal) call(ctx context.Context, j *smallJob, flags ...string) (r smallRun, result []byte, err error) {
	out := filepath.Join(x.dir, "out")
	args := slices.Concat(x.self[1:], []string{
		"run", j.operator, x.input(j.tasks), "--output", out, "--force", "--format", "json", "--split-size", strconv.Itoa(realSplit + 1024),
		"--slots", strconv.Itoa(realSlots), "--max-attempts", "5", "--clone-budget", "none",
	}, flags)
	cmd := exec.CommandContext(ctx, x.self[0], args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, err := cmd.Output()
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w: %s", j.operator, err, bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(said, &r); err != nil {
		return r, nil, fmt.Errorf("%s: %w", j.operator, err)
	}
	result, err = os.ReadFile(filepath.Join(out, "part-00000"))
	return r, result, err
}

// measure runs a job without disturbance.
func (x *shedReal) measure(ctx context.Context, j *smallJob) error {
	r, result, err := x.call(ctx, j, "--policy", "fifo", "--disturb", fmt.Sprintf("pace=%g", realPace))
	j.want, j.deadline, j.mean = result, realSlack*r.Flow, r.Fruitful/float64(j.tasks)
	return err
}

func (x *shedReal) run(ctx context.Context, j *smallJob, k, p int) error {
	r, result, err := x.call(ctx, j, "--policy", realPolicies[p], "--disturb", fmt.Sprintf("%s,pace=%g", realSlow, realPace),
		"--seed", strconv.FormatUint(repetition(x.seed, k), 10), "--deadline", fmt.Sprintf("%.3fs", j.deadline), "--law", fmt.Sprintf("pareto:alpha=1.5,xm=%.3f", j.mean))
	j.runs[k][p] = r
	x.same = x.same && bytes.Equal(result, j.want)
	return err
}

func (x *shedReal) section(repeats int) report.Section {
	s := report.Section{Title: "WordCount and WordMean", Text: []string{
		"Machine time is that of all attempts over that of the undisturbed job; mapped is the bytes that attempts mapped over those of the input, which is 1 if nothing was mapped twice.",
	}}
	columns := []string{"policy", "in time", "±", "mean (s)", "machine time", "mapped", "went on in the middle"}
	all := report.Table{Name: "real", Caption: "All jobs", Columns: columns}
	x.rows(&all, repeats, func(*smallJob) bool { return true })
	s.Tables = append(s.Tables, all)
	for _, tasks := range shedClasses {
		for _, operator := range realOperators {
			t := report.Table{Name: fmt.Sprintf("real_%s_%d", operator, tasks), Columns: columns}
			x.rows(&t, repeats, func(j *smallJob) bool {
				ok := j.operator == operator && j.tasks == tasks
				if ok {
					t.Caption = fmt.Sprintf("%s, %d tasks, deadline %.1f s", operator, tasks, j.deadline)
				}
				return ok
			})
			s.Tables = append(s.Tables, t)
		}
	}
	s.Claims = []report.Claim{
		report.Check(x.same, "every result is that of the undisturbed job, to the byte", "", fmt.Sprint(x.same)),
		{What: "share of deadlines met under Shed, Dolly and Hadoop", Published: "up to 1, around 0.6, around 0.4", Verdict: report.Reported,
			Measured: fmt.Sprintf("%.2f, %.2f, %.2f", all.Rows[3][1], all.Rows[2][1], all.Rows[1][1])},
	}
	return s
}

// rows adds a row for each policy, over some of the jobs.
func (x *shedReal) rows(t *report.Table, repeats int, of func(*smallJob) bool) {
	for p, name := range realNames {
		met, flow, used, mapped, resumed := make([]float64, repeats), 0.0, 0.0, 0.0, 0
		n := 0.0 // jobs
		for i := range x.jobs {
			j := &x.jobs[i]
			if !of(j) {
				continue
			}
			n++
			for k := range repeats {
				r := &j.runs[k][p]
				if r.Met {
					met[k]++
				}
				flow += r.Flow
				used += (r.Fruitful + r.Lost) / (j.mean * float64(j.tasks))
				mapped += float64(r.Mapped) / float64(r.Input)
				resumed += r.Resumed
			}
		}
		for k := range met {
			met[k] /= n
		}
		runs := n * float64(repeats)
		e := sim.EstimateOf(met)
		t.Add(name, e.Mean, e.Half, flow/runs, used/runs, mapped/runs, resumed)
	}
}
