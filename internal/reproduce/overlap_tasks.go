package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Jobs of real tasks on machines with map slots and shuffle slots, which the policies of package policy schedule: how
// far they are from the fluid model, and what it costs not to know sizes (Section 4.3).

// taskCluster is the paper's: 15 machines with 4 map slots and 2 shuffle slots.
var taskCluster = sim.Options{Machines: 15, Slots: 4, More: []int{2}, Limits: sched.DefaultLimits()}

// addJob adds a job of n map and n shuffle tasks that follow them one by one. A mean is what the policy is told.
func addJob(w *trace.Workload, arrival sched.Time, means [2]sched.Time, durations [2][]sched.Time) {
	number := uint32(len(w.Jobs))
	w.Jobs = append(w.Jobs, trace.JobRow{Number: number, Arrival: arrival, FirstStage: 2 * number, Stages: 2, FirstEdge: number, Edges: 1})
	w.Edges = append(w.Edges, trace.Edge{From: 0, To: 1, Kind: sched.Pointwise})
	for class, tasks := range durations {
		w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: uint32(len(tasks)), Law: -1, Class: sched.Class(class), Mean: means[class]})
		w.Durations = append(w.Durations, tasks...)
	}
}

func newTasked(name string) *trace.Workload {
	return &trace.Workload{Name: name, Names: []string{""}, Classes: []string{"map", "shuffle"}}
}

// runTasked simulates under a policy, or one for each class.
func runTasked(ctx context.Context, spec string, w *trace.Workload, o sim.Options) (*sim.Result, error) {
	p, err := policy.NewPerClass(spec, 1, 2)
	if err != nil {
		return nil, err
	}
	return sim.Run(ctx, w, p, o)
}

// taskRuns is the three jobs of Figure 4 in tasks, and the fluid beside.
type taskRuns struct {
	done [len(taskPolicies)][len(taskCounts)][]float64
} // completions in minutes

var (
	taskPolicies = [...]struct {
		spec  string
		fluid overlap.Discipline
	}{{"fifo/fair", fifoPS}, {"fifo", fcfs}, {"maxsrpt", maxSRPT}, {"splitsrpt", split}}
	taskCounts = [...]int{120, 390, 6000}
	figure4    = []overlap.Demand{{Map: 7, Shuffle: 11}, {Map: 10, Shuffle: 3}, {Map: 7, Shuffle: 11}}
)

func (r *taskRuns) steps() (steps []func(context.Context) error) {
	for i := range taskPolicies {
		for n := range taskCounts {
			steps = append(steps, func(ctx context.Context) error { return r.run(ctx, i, n) })
		}
	}
	return steps
}

func (r *taskRuns) run(ctx context.Context, i, n int) error {
	w := newTasked("figure4")
	for _, job := range figure4 {
		var means [2]sched.Time
		var durations [2][]sched.Time
		for class, minutes := range []float64{job.Map * 60, job.Shuffle * 30} { // slots of the cluster
			means[class] = sched.FromSeconds(60 * minutes / float64(taskCounts[n]))
			durations[class] = slices.Repeat([]sched.Time{means[class]}, taskCounts[n])
		}
		addJob(w, 0, means, durations)
	}
	result, err := runTasked(ctx, taskPolicies[i].spec, w, taskCluster)
	if err != nil {
		return err
	}
	for _, j := range result.Jobs {
		r.done[i][n] = append(r.done[i][n], j.Completion.Seconds()/60)
	}
	return nil
}

func (r *taskRuns) section() report.Section {
	table := report.Table{Name: "tasks", Caption: "Completions (min) of the three jobs, and the largest difference from the fluid (%)", Columns: []string{"policy", "fluid"}}
	for _, n := range taskCounts {
		table.Columns = append(table.Columns, fmt.Sprintf("n = %d", n), "off (%)")
	}
	last := 0.0
	for i, p := range taskPolicies {
		fluid := fluidRun(p.fluid, figure4)
		row := []any{p.spec, list(fluid)}
		for n := range taskCounts {
			worst := 0.0
			for j, t := range r.done[i][n] {
				worst = max(worst, math.Abs(t/fluid[j]-1))
			}
			row = append(row, list(r.done[i][n]), 100*worst)
			if n == len(taskCounts)-1 {
				last = max(last, worst)
			}
		}
		table.Add(row...)
	}
	return report.Section{
		Title: "The fluid and jobs of tasks",
		Text: []string{"The jobs of Figure 4 with n tasks in each phase, on 15 machines with 4 map slots and 2 shuffle slots; the paper's had 352 and 427. Shuffle task i follows map " +
			"task i. The two differ by what a map task and a shuffle task take. Nothing is drawn here."},
		Tables: []report.Table{table},
		Claims: []report.Claim{report.Check(last < 0.015, fmt.Sprintf("with %d tasks in a phase, completions differ from the fluid's by at most", taskCounts[len(taskCounts)-1]),
			"close", fmt.Sprintf("%.1f %%", 100*last))},
	}
}

// sizeRuns is what wrong sizes cost: mean flow times with each way of knowing them, seed by seed.
type sizeRuns struct {
	jobs  int
	seed  uint64
	flows [][len(sizeCases)]float64 // of a seed
}

// sizeCases begins with the policies that know.
var sizeCases = [...]struct {
	spec   string
	wrong  float64 // what is told is the truth times exp(N(0, wrong²))
	beside int     // the case that knows; its own number for none
	what   string
}{
	{"maxsrpt", 0, 0, "known"}, {"splitsrpt", 0, 1, "known"}, {"fair", 0, 2, ""}, {"fifo/fair", 0, 3, ""},
	{"maxsrpt:size=first", 0, 0, "size=first"}, {"splitsrpt:size=first", 0, 1, "size=first"},
	{"maxsrpt:size=history", 0, 0, "size=history"}, {"splitsrpt:size=history", 0, 1, "size=history"},
	{"maxsrpt", 0.5, 0, "exp(N(0, 0.5²))"}, {"splitsrpt", 0.5, 1, "exp(N(0, 0.5²))"},
	{"maxsrpt", 1, 0, "exp(N(0, 1²))"}, {"splitsrpt", 1, 1, "exp(N(0, 1²))"},
	{"maxsrpt", 2, 0, "exp(N(0, 2²))"}, {"splitsrpt", 2, 1, "exp(N(0, 2²))"},
}

func newSizeRuns(o *Options) *sizeRuns {
	r := &sizeRuns{jobs: 3000, seed: o.Seed, flows: make([][len(sizeCases)]float64, 10)}
	if o.Quick {
		r.jobs, r.flows = 150, r.flows[:3]
	}
	return r
}

func (r *sizeRuns) steps() (steps []func(context.Context) error) {
	for seed := range r.flows {
		for i, c := range sizeCases {
			steps = append(steps, func(ctx context.Context) error {
				o := taskCluster
				o.More = []int{4}
				result, err := runTasked(ctx, c.spec, estimatedJobs(r.jobs, c.wrong, r.seed+uint64(seed)), o)
				if err == nil {
					r.flows[seed][i] = result.Stats().MeanFlow
				}
				return err
			})
		}
	}
	return steps
}

// estimatedJobs has the sizes of Section 5.3 at load 0.75, in minutes of stations of 60 slots, in tasks whose durations
// differ from job to job (lognormal, mean a minute, deviation of the logarithm 0.8) and in a job (0.5).
func estimatedJobs(jobs int, wrong float64, seed uint64) *trace.Workload {
	const slots, most = 60, 3000
	lies := rand.New(rand.NewPCG(seed, 0x6c696573)) // "lies"
	r := rand.New(rand.NewPCG(seed, 0x7461736b73))  // "tasks"
	scatter := func(mean, sd float64) float64 { return math.Exp(math.Log(mean) - sd*sd/2 + sd*r.NormFloat64()) }
	w := newTasked("estimated")
	for j := range overlap.Synthetic(int64(jobs), 0.75, seed) {
		n := int(min(most, max(1, math.Round(slots*j.Map/scatter(1, 0.8)))))
		var means [2]sched.Time
		var durations [2][]sched.Time
		for class, size := range []float64{j.Map, j.Shuffle} {
			mean := 60 * slots * size / float64(n)
			means[class] = max(1, sched.FromSeconds(mean*math.Exp(wrong*lies.NormFloat64())))
			for range n {
				durations[class] = append(durations[class], sched.FromSeconds(scatter(mean, 0.5)))
			}
		}
		addJob(w, sched.FromSeconds(60*j.Arrival), means, durations)
	}
	return w
}

func (r *sizeRuns) section() report.Section {
	table := report.Table{Name: "sizes", Caption: fmt.Sprintf("Mean flow times of %d jobs, means of %d seeds", r.jobs, len(r.flows)),
		Columns: []string{"policy", "sizes", "mean flow (s)", "over known sizes (%)", "95 % ±"}}
	over := make([][]float64, len(sizeCases)) // of a case and seed
	for i, c := range sizeCases {
		var flows []float64
		for _, f := range r.flows {
			flows = append(flows, f[i])
			over[i] = append(over[i], 100*(f[i]/f[c.beside]-1))
		}
		flow, _ := laws.MeanInterval(flows, 0.95)
		mean, half := laws.MeanInterval(over[i], 0.95)
		if c.beside == i {
			table.Add(c.spec, c.what, flow, nil, nil)
			continue
		}
		table.Add(c.spec, c.what, flow, mean, half)
	}
	s := report.Section{
		Title: "Section 4.3: what wrong sizes cost",
		Text: []string{"Jobs of tasks with the sizes of Section 5.3 at load 0.75, whose task durations differ from job to job (deviation of the logarithm 0.8) and in a job (0.5). " +
			"size=first judges a stage by its own finished tasks, size=history by a line through finished stages; below, the told means are the truth times a " +
			"lognormal error. Sizes are heavy-tailed: intervals are from seeds, each compared with known sizes on the same jobs.",
		},
		Tables: []report.Table{table},
	}
	for i := 4; i <= 5; i++ {
		mean, half := laws.MeanInterval(over[i], 0.95)
		s.Claims = append(s.Claims, report.Judge(mean, half, len(r.flows), math.Inf(-1), 10,
			fmt.Sprintf("%s: sizes from a job's first tasks cost less than 10 %%", sizeCases[i].spec), "well-known methods suffice", fmt.Sprintf("%.1f ± %.1f %%", mean, half)))
	}
	return s
}
