package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// SynthGoogleUsage lists the keys of the generator of [GoogleJobs], for help texts.
const SynthGoogleUsage = `synth:google;jobs=4000;window=28h32m47s;reduce=0;spread=0;seed=N`

const googlePrefix = synthPrefix + "google"

// GoogleJobs generates jobs like those of the 28-hour extract of the Google cluster trace of 2011 on which SREW was
// evaluated (Xu et al., IEEE TPDS 2017, Section 5). The extract is not public; what is printed of it is the window
// (102,767 s), 123.8 tasks per job, and durations of 13.5 to 22,919.3 s with mean 1,246.7 s. The generator is fitted to
// that and to the printed distribution of flow times; no theory stands behind it:
//
//	(ln m, ln E) bivariate normal, means 2.93 and 4.75, deviations 2 and 1.5, correlation 0.56
//	tasks of a job:  m rounded up, at most 5,000
//	a task's length: E, clipped to [15, 8000] s, times a lognormal of mean 1 and log-deviation 0.4; clipped to [13.5, 22919.3] s
//
// With Spread a job has a log-deviation of its own, so that the ratio of standard deviation to mean differs from job
// to job. In 1,306 real jobs of the trace with ten tasks or more, log-deviations have quartiles of 0.023, 0.084 and
// 0.17 and a 95 % quantile of 0.72: they scatter like a lognormal of log-deviation 1.3 or more.
//
// The expectations are 122.3 tasks per job and 147,457 s of work per job, hence 1,205 s per task. Four thousand jobs
// scatter much around them: the work per job has a standard error of 13 %. With infinitely many machines the mean flow
// time is about 870 s, and 57 % of the jobs take at most 300 s, 87 % at most 1,500 s.
//
// Arrivals are a Poisson process given that so many jobs arrive in the window. The durations of job k depend on the
// seed and k alone, its arrival also on Jobs and Window. The zero value is not valid; see [DefaultGoogleJobs].
type GoogleJobs struct {
	Jobs   int        // at least 1; on 11,000 machines the load is about Jobs/7,325
	Window sched.Time // above 0
	// share of each job's last tasks, in [0, 1), that form a reduce stage behind the others; a share below one task is
	// none
	Reduce float64
	// log-deviation over jobs of their tasks' log-deviations, of which 0.4 is the mean; 0 gives all jobs 0.4
	Spread float64
	Seed   uint64
}

// DefaultGoogleJobs returns the setting that stands for the paper's workload: load 0.55 on 11,000 machines.
func DefaultGoogleJobs(seed uint64) GoogleJobs {
	return GoogleJobs{Jobs: 4000, Window: 102_767 * sched.Second, Seed: seed}
}

// parseGoogleJobs reads what follows synth:google.
func parseGoogleJobs(body string, seed uint64) (GoogleJobs, error) {
	g := DefaultGoogleJobs(seed)
	err := eachPair(body, g.set)
	return g, err
}

func (g *GoogleJobs) set(key, value string) (err error) {
	switch key {
	case "jobs":
		g.Jobs, err = parseJobs(value)
	case "window":
		d, failed := time.ParseDuration(value)
		if failed != nil || d <= 0 || d > maxInstant {
			return fmt.Errorf("expected a duration such as 28h32m47s, got %q", value)
		}
		g.Window = sched.Time(d)
	case "reduce":
		if g.Reduce, err = strconv.ParseFloat(value, 64); err != nil || !(g.Reduce >= 0 && g.Reduce < 1) {
			return fmt.Errorf("expected a share of at least 0 and below 1, got %q", value)
		}
	case "spread":
		if g.Spread, err = strconv.ParseFloat(value, 64); err != nil || !(g.Spread >= 0 && g.Spread <= 3) {
			return fmt.Errorf("expected a number from 0 to 3, got %q", value)
		}
	case "seed":
		if g.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("expected a whole number of at least 0, got %q", value)
		}
	default:
		return fmt.Errorf("expected one of %s", strings.ReplaceAll(SynthGoogleUsage, synthPrefix, ""))
	}
	return err
}

// Workload runs the generator. It fails only where there would be more tasks than a workload holds.
func (g GoogleJobs) Workload(name string) (*Workload, error) {
	w := &Workload{Name: name, Jobs: make([]JobRow, 0, g.Jobs), Stages: make([]StageRow, 0, g.Jobs)}
	const mapName, reduceName = 1, 2
	w.Names = []string{"", mapName: "map", reduceName: "reduce"}
	arrivals := g.arrivals()
	for k := range uint32(g.Jobs) {
		tasks, mean := g.size(k)
		if tasks > maxSynthTasks-len(w.Durations) {
			return nil, errSynthTasks
		}
		first := len(w.Durations)
		draws, deviation := jobStream(g.Seed, k, drawDurations), g.deviation(k)
		for range tasks {
			x := mean * math.Exp(deviation*normal(uniform(draws))-deviation*deviation/2)
			w.Durations = append(w.Durations, sched.FromSeconds(min(max(x, 13.5), 22919.3)))
		}
		job := JobRow{Arrival: arrivals[k], Number: k, FirstStage: uint32(len(w.Stages)), Stages: 1, FirstEdge: uint32(len(w.Edges))}
		reduces := int(g.Reduce * float64(tasks))
		w.addStage(first, tasks-reduces, 0)
		if reduces > 0 {
			w.Stages[len(w.Stages)-1].Name = mapName
			w.addStage(first+tasks-reduces, reduces, reduceName)
			w.Edges = append(w.Edges, Edge{From: 0, To: 1, Kind: sched.Barrier})
			job.Stages, job.Edges = 2, 1
		}
		w.Jobs = append(w.Jobs, job)
	}
	return w, nil
}

// size draws the number of tasks of job k and the mean of its law of durations, in seconds.
func (g GoogleJobs) size(k uint32) (tasks int, mean float64) {
	const correlation = 0.56
	a := normal(uniform(jobStream(g.Seed, k, drawTasks)))
	b := correlation*a + math.Sqrt(1-correlation*correlation)*normal(uniform(jobStream(g.Seed, k, drawScale)))
	tasks = int(math.Ceil(min(math.Exp(2.93+2*a), 5000)))
	return tasks, min(max(math.Exp(4.75+1.5*b), 15), 8000)
}

// deviation draws the log-deviation of job k's durations.
func (g GoogleJobs) deviation(k uint32) float64 {
	if g.Spread == 0 {
		return 0.4
	}
	return 0.4 * math.Exp(g.Spread*normal(uniform(jobStream(g.Seed, k, drawSpread)))-g.Spread*g.Spread/2)
}

// arrivals returns the instants of a Poisson process of which so many fall into the window: sums of exponential gaps,
// scaled so that the one after the last falls on the window's end.
func (g GoogleJobs) arrivals() []sched.Time {
	sums := make([]float64, g.Jobs+1)
	now := 0.0
	for k := range sums {
		now -= math.Log(uniform(jobStream(g.Seed, uint32(k), drawGap)))
		sums[k] = now
	}
	at := make([]sched.Time, g.Jobs)
	for k := range at {
		at[k] = sched.Time(math.Round(sums[k] / now * float64(g.Window)))
	}
	return at
}

// addStage appends a stage of the given durations, whose moments schedulers know.
func (w *Workload) addStage(first, tasks int, name uint32) {
	st := StageRow{FirstTask: uint32(first), Tasks: uint32(tasks), Law: -1, Name: name}
	st.Mean, st.SD = moments(w.Durations[first : first+tasks])
	w.Stages = append(w.Stages, st)
}

// normal returns the quantile of the standard normal law at u in (0, 1).
func normal(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }
