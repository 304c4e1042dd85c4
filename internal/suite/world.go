package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// ErrNoTrace says that a cell needs a trace that is not there.
var ErrNoTrace = errors.New("the trace is not there")

// Bounds of a cell, so that all policies get through all cells in an hour.
const (
	mostTasks = 20_000 // of all jobs together
	mostJobs  = 300
	widest    = 5_000 // tasks of a job; wider ones of a trace are passed over
)

// traces are the files of the families in the folder of traces, and what is decided of what they leave open.
var traces = map[string]struct {
	path    string
	imports []string
}{
	"tpch":     {"tpch-spark/task_durations.ndjson.gz", nil},
	"alibaba":  {"alibaba-v2018/batch_task.sample6600.csv.gz", []string{"instances=lognormal:mean=1,sd=0.5"}},
	"google":   {"google-2011/GOOG_subtrace.first7000.tr.gz", nil},
	"facebook": {"swim-facebook/FB-2010_samples_24_times_1hr_0.tsv.gz", []string{"split=1GiB", "reduce-split=1GiB"}},
	"hadoop":   {"hadoop-rumen/trace_7m.json.gz", nil},
}

// lawOf returns a law with this mean in seconds: light, heavy (infinite variance), or bimodal (one in twenty takes ten
// times as long).
func lawOf(word string, mean float64) string {
	switch word {
	case "heavy":
		return fmt.Sprintf("pareto:alpha=1.5,xm=%g", mean/3)
	case "bimodal":
		return fmt.Sprintf("twopoint:lo=%g,hi=%g,p=0.05", mean/1.45, mean/0.145)
	}
	return fmt.Sprintf("lognormal:mean=%g,sd=%g", mean, 0.3*mean)
}

// World is what the policies of a cell meet.
type World struct {
	Workload *trace.Workload
	Slots    int
	Service  string  // as package sim reads it
	Progress string  // likewise
	Noise    float64 // relative error of the remaining time that a report implies
	Kind     string  // of the error: of each report, or of all of an attempt alike
}

// World builds the world of the cell. It fails with ErrNoTrace if its trace is not in the folder.
func (c *Cell) World(folder string) (*World, error) {
	scale, err := time.ParseDuration(c.Scale)
	if err != nil {
		return nil, err
	}
	load, err := strconv.ParseFloat(c.Load, 64)
	if err != nil {
		return nil, err
	}
	w, err := c.jobs(folder, scale.Seconds())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID(), err)
	}
	rescale(w, scale)
	if c.Told == "unknown" {
		for i := range w.Stages {
			w.Stages[i].Mean, w.Stages[i].SD = 0, 0
		}
	}
	at := &World{Workload: w}
	if c.Family == "array" {
		at.Slots = max(2, int(math.Round(float64(w.TasksOf(0))/waves[c.Load])))
	} else {
		if at.Slots, err = strconv.Atoi(c.Slots); err != nil {
			return nil, err
		}
		c.arrive(w, float64(at.Slots)*load)
	}
	at.Service = c.service(scale)
	c.tell(at, scale)
	return at, nil
}

// waves says how many tasks of an array there are for each slot.
var waves = map[string]float64{"0.2": 0.5, "0.5": 1, "0.8": 2, "1.0": 4, "1.2": 10}

func (c *Cell) random() *rand.Rand { return rand.New(rand.NewPCG(hashOf(c.ID()), 1)) }

// jobs generates the jobs, or takes them from a trace.
func (c *Cell) jobs(folder string, mean float64) (*trace.Workload, error) {
	switch c.Family {
	case "array":
		return c.generate(1, mean, func(*rand.Rand) int { n, _ := strconv.Atoi(c.Size); return n })
	case "mix":
		return c.generate(200, mean, func(r *rand.Rand) int { return min(1000, int(4*math.Pow(1-r.Float64(), -1/1.1))) })
	case "montage":
		return (&trace.Importer{Seed: hashOf(c.ID())}).Load("synth:montage;jobs=60", nil)
	}
	m := trace.Importer{Seed: 1}
	from := traces[c.Family]
	for _, setting := range from.imports {
		if err := m.Set(setting); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(folder, from.path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoTrace, path)
	}
	w, err := m.Load(path, nil)
	if err != nil {
		return nil, err
	}
	return c.some(w), nil
}

// generate makes jobs of so many tasks, with a quarter as many reduces behind them if there are two stations. Their
// durations are those of the law of the service, or heavy-tailed where attempts take what is recorded, else light.
func (c *Cell) generate(jobs int, mean float64, size func(*rand.Rand) int) (*trace.Workload, error) {
	word, own := strings.CutPrefix(c.Service, "law:")
	if !own {
		word = map[string]string{"resample": "heavy", "recorded": "heavy"}[c.Service]
	}
	r := c.random()
	var text strings.Builder
	for range jobs {
		n := size(r)
		fmt.Fprintf(&text, `{"stages":[{"name":"map","tasks":%d,"law":%q}`, n, lawOf(word, mean))
		if c.Stations == "two" {
			fmt.Fprintf(&text, `,{"name":"reduce","tasks":%d,"law":%q,"after":["map"]}`, max(1, n/4), lawOf(word, mean))
		}
		text.WriteString("]}\n")
	}
	return (&trace.Importer{Seed: hashOf(c.ID())}).Read(strings.NewReader(text.String()), c.Family)
}

// some takes consecutive jobs from a place that depends on the cell, until there are enough.
func (c *Cell) some(w *trace.Workload) *trace.Workload {
	left := *w
	left.Jobs = nil
	first, tasks := int(hashOf("first "+c.ID())%uint64(len(w.Jobs))), 0
	for k := range w.Jobs {
		j := (first + k) % len(w.Jobs)
		if first+k == len(w.Jobs) && len(left.Jobs) > 100 {
			break
		}
		n := w.TasksOf(j)
		if n == 0 || n > widest || tasks+n > mostTasks {
			continue
		}
		tasks += n
		if left.Jobs = append(left.Jobs, w.Jobs[j]); len(left.Jobs) == mostJobs {
			break
		}
	}
	slices.SortStableFunc(left.Jobs, func(a, b trace.JobRow) int { return int(min(1, max(-1, a.Arrival-b.Arrival))) })
	left.Durations, left.Stages = slices.Clone(w.Durations), slices.Clone(w.Stages)
	return &left
}

// rescale makes the mean duration of the tasks what it should be. Durations that are drawn have it from the start.
func rescale(w *trace.Workload, mean time.Duration) {
	sum, tasks := 0.0, 0
	for j := range w.Jobs {
		for _, st := range w.StagesOf(j) {
			for _, d := range w.DurationsOf(&st) {
				sum += d.Seconds()
				tasks++
			}
		}
	}
	if len(w.Laws) > 0 || sum == 0 {
		return
	}
	factor := mean.Seconds() * float64(tasks) / sum
	scaled := func(d sched.Time) sched.Time { return sched.Time(math.Round(float64(d) * factor)) }
	for i := range w.Durations {
		w.Durations[i] = max(1, scaled(w.Durations[i]))
	}
	for i := range w.Stages {
		w.Stages[i].Mean, w.Stages[i].SD = scaled(w.Stages[i].Mean), scaled(w.Stages[i].SD)
	}
}

// arrive spreads the arrivals so that perSecond seconds of work arrive in a second: the trace's own gaps, or a
// Poisson process where all arrive together.
func (c *Cell) arrive(w *trace.Workload, perSecond float64) {
	work := 0.0
	for j := range w.Jobs {
		for _, st := range w.StagesOf(j) {
			for _, d := range w.DurationsOf(&st) {
				work += d.Seconds()
			}
		}
	}
	jobs := w.Jobs
	at := make([]float64, len(jobs))
	r := c.random()
	for j := range jobs {
		at[j] = (jobs[j].Arrival - jobs[0].Arrival).Seconds()
	}
	if at[len(at)-1] == 0 {
		for j := 1; j < len(at); j++ {
			at[j] = at[j-1] + r.ExpFloat64()
		}
	}
	last := at[len(at)-1]
	for j := range jobs {
		if last > 0 {
			jobs[j].Arrival = sched.Time(at[j] / last * work / perSecond * 1e9)
		}
		jobs[j].Deadline = 0
	}
}

// service names the model of package sim.
func (c *Cell) service(mean time.Duration) string {
	switch name, word, _ := strings.Cut(c.Service, ":"); name {
	case "sx":
		return "sx:slowdown=(" + lawOf(word, 1) + ")"
	case "machine":
		return fmt.Sprintf("machine:keep=%v", 20*mean)
	default:
		return name
	}
}

// tell says what policies are told of progress. Reports come every 10 s, every second where tasks are shorter than
// that, and at most 20 times while a mean task runs.
func (c *Cell) tell(at *World, mean time.Duration) {
	every := time.Second
	if mean >= 10*time.Second {
		every = max(10*time.Second, mean/20)
	}
	name, amount, _ := strings.Cut(c.Reports, ":")
	at.Noise, _ = strconv.ParseFloat(amount, 64)
	if at.Noise > 0 {
		at.Kind = name
	}
	switch name {
	case "none":
		at.Progress = "none"
	case "hang":
		at.Progress = fmt.Sprintf("hang:p=0.05,lasts=%v,interval=%v", 20*mean, every)
	default:
		at.Progress = every.String()
	}
}
