package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// A generator's spec is synth:key=value;key=value. Values may hold commas, as laws do.
const synthPrefix = "synth:"

// SynthUsage lists the keys of a generator, for help texts.
const SynthUsage = `synth:jobs=100;tasks=LAW|N;law=LAW;scale=LAW;arrivals=poisson:rate=R|batch|LAW;deadline=SPAN;value=LAW|N;late=hard|drop|soft:COST;known=true|false;resumable=true|false;seed=N`

// generator is a parsed spec.
type generator struct {
	jobs     int
	tasks    laws.Law // tasks of a job, rounded, at least 1
	law      laws.Law // durations, seconds
	scale    laws.Law // factor on all durations of a job, nil for 1
	gap      laws.Law // between arrivals, seconds
	deadline sched.Time
	value    laws.Law // of a job by its deadline, nil for its weight
	late     sched.Late
	known    bool // mean and deviation of a job's durations are told beforehand
	resumes  bool // tasks are resumable
	seed     uint64
}

// Purposes of a job's streams. Streams of the stages of a job that is read are numbered from 0.
const (
	drawTasks uint64 = iota + 1<<16
	drawScale
	drawGap
	drawDurations
	drawSpread
	drawValue
)

// Synthesize generates a workload of jobs of one stage from a spec such as
//
//	synth:jobs=1000;tasks=100;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=2
//
// or, by the spec synth:google and its keys, one of [GoogleJobs], or synth:montage and those of [MontageJobs].
// docs/reference/workloads.md lists the keys. Job k depends on the spec, the seed and k alone, but for the arrivals of
// synth:google. A seed in the spec goes before the argument.
func Synthesize(spec string, seed uint64) (*Workload, error) {
	if body, google := strings.CutPrefix(spec, googlePrefix); google && (body == "" || body[0] == ';') {
		g, err := parseGoogleJobs(body, seed)
		if err != nil {
			return nil, err
		}
		return g.Workload(spec)
	}
	if body, found := strings.CutPrefix(spec, montagePrefix); found && (body == "" || body[0] == ';') {
		g, err := parseMontage(body, seed)
		if err != nil {
			return nil, err
		}
		return g.Workload(spec)
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(spec, synthPrefix), ";")
	if head != "" && !strings.Contains(head, "=") {
		generators := []string{googlePrefix, montagePrefix}
		return nil, grammar.UnknownAmong("generator", synthPrefix+abridged(head), generators,
			"there are "+strings.Join(generators, ", ")+" and "+SynthUsage)
	}
	g := generator{
		jobs: 100, tasks: laws.Deterministic{Value: 10}, law: laws.Exponential{Mu: 0.1}, gap: laws.Exponential{Mu: 1}, known: true, seed: seed,
	}
	if err := eachPair(strings.TrimPrefix(spec, synthPrefix), g.set); err != nil {
		return nil, err
	}
	return g.workload(spec)
}

// maxSynthTasks bounds what generators make: half a gigabyte. A law of the number of tasks easily asks for more than
// was meant.
const maxSynthTasks = 50_000_000

var errSynthTasks = fmt.Errorf("synth: field tasks: expected at most %d tasks in all", maxSynthTasks)

// parseJobs reads how many jobs are to be made, each of at least one task.
func parseJobs(value string) (int, error) {
	n, err := grammar.ParseInt(value)
	if err != nil || n < 1 || n > maxSynthTasks {
		return 0, fmt.Errorf("expected a whole number from 1 to %d, got %q", maxSynthTasks, abridged(value))
	}
	return n, nil
}

// eachPair hands the pairs key=value of a spec to set.
func eachPair(body string, set func(key, value string) error) error {
	var seen []string
	for _, pair := range strings.Split(body, ";") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		if slices.Contains(seen, key) {
			return fmt.Errorf("synth: field %s is given twice", key)
		}
		seen = append(seen, key)
		if err := set(key, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("synth: field %s: %w", key, err)
		}
	}
	return nil
}

func (g *generator) set(key, value string) (err error) {
	switch key {
	case "jobs":
		g.jobs, err = parseJobs(value)
	case "tasks":
		g.tasks, err = lawOrNumber(value)
	case "law":
		g.law, err = lawOrNumber(value)
	case "scale":
		g.scale, err = lawOrNumber(value)
	case "arrivals":
		g.gap, err = parseArrivals(value)
	case "deadline":
		d, failed := time.ParseDuration(value)
		if failed != nil || d <= 0 || d > maxInstant {
			return fmt.Errorf("expected a duration such as 90s, got %q", value)
		}
		g.deadline = sched.Time(d)
	case "value":
		g.value, err = lawOrNumber(value)
	case "late":
		g.late, err = sched.ParseLate(value)
	case "known":
		if g.known, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("expected true or false, got %q", value)
		}
	case "resumable":
		if g.resumes, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("expected true or false, got %q", value)
		}
	case "seed":
		if g.seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("expected a whole number of at least 0, got %q", value)
		}
	default:
		return fmt.Errorf("expected one of %s", SynthUsage)
	}
	return err
}

// lawOrNumber reads a law; a plain number stands for the constant.
func lawOrNumber(s string) (laws.Law, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && x >= 0 && !math.IsInf(x, 0) {
		return laws.Deterministic{Value: x}, nil
	}
	l, err := laws.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("expected a number or a law: %w", err)
	}
	return l, nil
}

// parseArrivals reads how jobs arrive: a law of the gaps between them, or its name.
func parseArrivals(s string) (laws.Law, error) {
	if s == "batch" {
		return laws.Deterministic{}, nil
	}
	text, poisson := strings.CutPrefix(s, "poisson:rate=")
	if !poisson {
		return lawOrNumber(s)
	}
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
		return nil, fmt.Errorf("expected a positive rate of jobs per second, got %q", text)
	}
	return laws.Exponential{Mu: rate}, nil
}

// workload runs the generator. The first job arrives at 0.
func (g *generator) workload(name string) (*Workload, error) {
	total := 0.0
	for k := range uint32(g.jobs) {
		if total += g.tasksOf(k); !(total <= maxSynthTasks) {
			return nil, errSynthTasks
		}
	}
	w := &Workload{Name: name}
	newNames(w)
	now := sched.Time(0)
	for k := range uint32(g.jobs) {
		if err := g.job(w, k, now); err != nil {
			return nil, fmt.Errorf("synth: job %d: %w", k, err)
		}
		gap, err := drawSeconds(g.gap, jobStream(g.seed, k, drawGap))
		if err != nil {
			return nil, fmt.Errorf("synth: arrival after job %d: %w", k, err)
		}
		if now += gap; now > maxInstant {
			return nil, fmt.Errorf("synth: job %d would arrive after %v", k+1, sched.Time(maxInstant))
		}
	}
	return w, nil
}

// tasksOf draws the tasks of a job.
func (g *generator) tasksOf(job uint32) float64 {
	return max(1, math.Round(laws.Sample(g.tasks, uniform(jobStream(g.seed, job, drawTasks)))))
}

func (g *generator) job(w *Workload, k uint32, arrival sched.Time) error {
	n := g.tasksOf(k)
	scale := 1.0
	if g.scale != nil {
		scale = max(0, laws.Sample(g.scale, uniform(jobStream(g.seed, k, drawScale))))
	}
	value := 0.0
	if g.value != nil {
		if value = laws.Sample(g.value, uniform(jobStream(g.seed, k, drawValue))); !(value > 0 && value <= math.MaxFloat64) {
			return fmt.Errorf("field value: expected a number above 0, the law gave %v", value)
		}
	}
	first := len(w.Durations)
	draws := jobStream(g.seed, k, drawDurations)
	for range int(n) {
		d, err := checkSeconds(scale * max(0, laws.Sample(g.law, uniform(draws))))
		if err != nil {
			return err
		}
		w.Durations = append(w.Durations, d)
	}
	st := StageRow{FirstTask: uint32(first), Tasks: uint32(n), Law: -1, Resumable: g.resumes}
	if g.known {
		st.Mean, st.SD = moments(w.Durations[first:])
	}
	if g.scale == nil {
		st.Law = 0
		w.Laws = append(w.Laws[:0], g.law)
	}
	w.Jobs = append(w.Jobs, JobRow{
		Arrival: arrival, Deadline: g.deadline, Value: value, Late: g.late, Number: k, FirstStage: uint32(len(w.Stages)), Stages: 1,
	})
	w.Stages = append(w.Stages, st)
	return nil
}
