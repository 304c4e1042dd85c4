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

// The estimator of Section 4.3, size=bytes, beside true sizes and size=first. The paper describes it in two sentences
// and measures nothing of it.

// bytesRuns is jobs of tasks that write and read bytes, under each policy with each way of knowing sizes.
type bytesRuns struct {
	jobs    int
	seed    uint64
	streams []bytesStream
	runs    [][]bytesRun // of a stream and a seed
}

// bytesStream is a family of jobs of tasks.
type bytesStream struct {
	name    string
	scatter float64          // deviation of the logarithm of what the maps of a job write
	long    bool             // what a map writes is proportional to its duration
	day     []overlap.Demand // nil for sizes that are drawn
}

// bytesRun is what one seed has given: mean flow times by policy and way, and of each way the errors of the sizes of
// shuffles, when so many of the maps were done.
type bytesRun struct {
	flows  [len(bytesPolicies)][len(bytesWays)]float64
	errors [len(bytesWays)][len(bytesDone)][]float64 // |estimate/truth - 1|
}

const (
	bytesSlots     = 60   // of each station
	bytesBandwidth = 10e6 // of a shuffle slot, bytes per second
	bytesTask      = 60.  // seconds, mean duration of a map
	bytesNoise     = 0.25 // deviation of the logarithm of a shuffle task's speed
	bytesMaps      = 20   // of a job whose estimates are looked at, at least
)

var (
	bytesPolicies = [...]string{"maxsrpt", "splitsrpt", "fillsrpt"}
	bytesDone     = [...]float64{0.1, 0.25, 0.5}
	bytesWays     = [...]struct{ params, what string }{
		{"", "true"}, {":size=first", "size=first"}, {":size=bytes", "size=bytes"}, {":size=bytes,bandwidth=1e7", "size=bytes, bandwidth told"},
	}
)

func newBytesRuns(o *Options, days []*overlapDay) *bytesRuns {
	r := &bytesRuns{jobs: 1500, seed: o.Seed, streams: []bytesStream{
		{name: "Section 5.3, scatter 0.5", scatter: 0.5}, {name: "Section 5.3, scatter 1.5", scatter: 1.5}, {name: "Section 5.3, long maps write more", scatter: 0.5, long: true},
	}}
	seeds := 10
	if o.Quick {
		r.jobs, seeds = 150, 3
	}
	for _, d := range days {
		if d.traced && !o.Quick {
			r.streams = append(r.streams, bytesStream{name: d.title, scatter: 0.5, day: d.jobs})
		}
	}
	r.runs = make([][]bytesRun, len(r.streams))
	for i := range r.runs {
		r.runs[i] = make([]bytesRun, seeds)
	}
	return r
}

func (r *bytesRuns) steps() (steps []func(context.Context) error) {
	for i := range r.streams {
		for seed := range r.runs[i] {
			steps = append(steps, func(ctx context.Context) error { return r.run(ctx, i, seed) })
		}
	}
	return steps
}

func (r *bytesRuns) run(ctx context.Context, stream, seed int) error {
	w, err := r.streams[stream].workload(r.jobs, r.seed+uint64(seed))
	if err != nil {
		return err
	}
	run := &r.runs[stream][seed]
	for p, name := range bytesPolicies {
		for k, way := range bytesWays {
			o := taskCluster
			o.More = []int{4}
			maps, err := policy.New(name+way.params, 1)
			if err != nil {
				return err
			}
			shuffles, err := policy.New(name+way.params, 1)
			if err != nil {
				return err
			}
			if sizes, ok := maps.(sizer); ok {
				o.Watch = (&sizeGauge{w: w, sizes: sizes, next: make([]int, len(w.Jobs)), errors: &run.errors[k]}).watch
			}
			result, err := sim.Run(ctx, w, sched.PerClass(maps, shuffles), o)
			if err != nil {
				return err
			}
			run.flows[p][k] = result.Stats().MeanFlow
		}
	}
	return nil
}

// workload draws the tasks of jobs at load 0.75: a map writes what the shuffle task after it reads, at the bandwidth
// of a slot but for noise. Policies are told the mean durations as they came out.
func (s *bytesStream) workload(n int, seed uint64) (*trace.Workload, error) {
	const most = 3000
	jobs, unit := slices.Clone(s.day), 1.
	if err := overlap.ScaleToLoad(jobs, 0.75); s.day != nil && err != nil {
		return nil, err
	}
	if s.day == nil {
		jobs, unit = slices.Collect(overlap.Synthetic(int64(n), 0.75, seed)), bytesTask
	}
	r := rand.New(rand.NewPCG(seed, 0x6279746573)) // "bytes"
	scatter := func(mean, sd float64) float64 { return math.Exp(math.Log(mean) - sd*sd/2 + sd*r.NormFloat64()) }
	w := newTasked("bytes")
	for j, job := range jobs {
		x, y := unit*bytesSlots*job.Map, unit*bytesSlots*job.Shuffle // seconds of one slot
		tasks := int(min(most, max(1, math.Round(x/scatter(bytesTask, 0.8)))))
		var means [2]sched.Time
		var durations [2][]sched.Time
		var written []int64
		for range tasks {
			long := scatter(1, 0.5)
			bytes := y / float64(tasks) * bytesBandwidth
			if s.long {
				bytes *= long
			} else {
				bytes *= scatter(1, s.scatter)
			}
			written = append(written, max(1, int64(bytes)))
			durations[0] = append(durations[0], sched.FromSeconds(x/float64(tasks)*long))
			durations[1] = append(durations[1], sched.FromSeconds(scatter(bytes/bytesBandwidth, bytesNoise)))
		}
		for class := range means {
			means[class] = max(1, total(durations[class])/sched.Time(tasks))
		}
		addJob(w, sched.FromSeconds(unit*job.Arrival), means, durations)
		e := &w.Edges[j]
		e.FirstBytes, e.Bytes = uint32(len(w.Bytes)), uint32(tasks)
		w.Bytes = append(w.Bytes, written...)
	}
	return w, nil
}

func total(durations []sched.Time) (sum sched.Time) {
	for _, d := range durations {
		sum += d
	}
	return sum
}

// sizer is a policy that says how large it takes a job to be.
type sizer interface {
	Sizes(v *sched.View, j sched.JobID) (x, y float64)
}

// sizeGauge notes how far a policy's sizes are from the truth while maps finish. The jobs of the core are those of
// the workload.
type sizeGauge struct {
	w      *trace.Workload
	sizes  sizer
	next   []int // of a job, index in bytesDone
	errors *[len(bytesDone)][]float64
}

func (g *sizeGauge) watch(v *sched.View, facts []sched.Event, _ []sched.Decision) {
	for i := range facts {
		if facts[i].Kind != sched.AttemptDone {
			continue
		}
		stage := v.Task(v.Attempt(facts[i].Attempt).Task).Stage
		st := v.Stage(stage)
		if st.Class != 0 || st.Tasks < bytesMaps {
			continue
		}
		for k := g.next[st.Job]; k < len(bytesDone) && float64(st.Done) >= bytesDone[k]*float64(st.Tasks); k++ {
			shuffle := g.w.StagesOf(int(st.Job))[1]
			_, y := g.sizes.Sizes(v, st.Job)
			truth := total(g.w.DurationsOf(&shuffle)).Seconds() / bytesSlots
			g.errors[k] = append(g.errors[k], math.Abs(y/truth-1))
			g.next[st.Job] = k + 1
		}
	}
}

// off returns the median, or another quantile, of errors of a stream when so many maps were done, in percent, as a
// mean over seeds with the half width of its 95 % interval.
func (r *bytesRuns) off(stream, way, done int, quantile float64) (mean, half float64) {
	var each []float64
	for i := range r.runs[stream] {
		if errors := slices.Sorted(slices.Values(r.runs[stream][i].errors[way][done])); len(errors) > 0 {
			each = append(each, 100*errors[int(quantile*float64(len(errors)-1))])
		}
	}
	return laws.MeanInterval(each, 0.95)
}

// cost returns how much longer flow times are with one way of knowing sizes than with another, in percent, likewise.
func (r *bytesRuns) cost(stream, policy, way, than int) (mean, half float64) {
	var each []float64
	for i := range r.runs[stream] {
		flows := &r.runs[stream][i].flows[policy]
		each = append(each, 100*(flows[way]/flows[than]-1))
	}
	return laws.MeanInterval(each, 0.95)
}

func (r *bytesRuns) section() report.Section {
	s := report.Section{
		Title: "Section 4.3: the shuffle's size from the first maps",
		Text: []string{
			fmt.Sprintf("\"By running a few map tasks of the job, looking at the intermediate data size generated, and using linear prediction\": size=bytes takes the mean bytes of the "+
				"finished maps, times the number of maps, over the bandwidth, and before the first map what size=first takes. The bandwidth of a slot, %.0f MB/s, is learned from "+
				"finished shuffle tasks of all jobs, or told, as the paper has it. Map sizes are judged by finished maps in both. The paper measures neither.", bytesBandwidth/1e6),
			fmt.Sprintf("Jobs of tasks at load 0.75 on 15 machines with 4 map and 4 shuffle slots. Sizes of jobs are those of Section 5.3 (%d jobs), or of a day at Facebook with all jobs "+
				"that have both phases. Durations of maps differ from job to job (deviation of the logarithm 0.8) and in a job (0.5). What the maps of a job write differs by the scatter, which is "+
				"0.5 on the days too, where nothing is recorded of tasks; or it is proportional to the map's duration, so that the first to finish have written less than most. A shuffle task "+
				"lasts its bytes over the bandwidth, times a lognormal factor (%g).", r.jobs, bytesNoise),
		},
	}
	s.Tables = []report.Table{r.errorTable(), r.costTable()}
	for p := range bytesPolicies {
		s.Claims = append(s.Claims, r.suffices(p))
	}
	s.Claims = append(s.Claims, r.sharper())
	for p := range bytesPolicies {
		s.Claims = append(s.Claims, r.gains(p))
	}
	return s
}

// suffices is the claim that the estimator is worth almost as much as true sizes. "Well-known methods" has no number in
// the paper; the 10 % are those of size=first.
func (r *bytesRuns) suffices(policy int) report.Claim {
	all := report.Claim{
		What: bytesPolicies[policy] + ": sizes from what the first maps wrote cost less than 10 % of the mean flow time, on all streams", Published: "well-known methods suffice",
		Verdict: report.Holds,
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range r.streams {
		mean, half := r.cost(i, policy, 2, 0)
		low, high = min(low, mean-half), max(high, mean+half)
		switch v := report.Judge(mean, half, len(r.runs[i]), -10, 10, "", "", "").Verdict; {
		case v == report.Fails, v == report.Undecided && all.Verdict == report.Holds:
			all.Verdict = v
		}
	}
	all.Measured = fmt.Sprintf("intervals from %.1f to %.1f %%", low, high)
	return all
}

// sharper is the claim that the median error is below that of size=first, wherever it is looked at.
func (r *bytesRuns) sharper() report.Claim {
	all := report.Claim{
		What: "the median error of the shuffle's size is smaller by bytes than by finished shuffle tasks, at 10, 25 and 50 % of the maps, on all streams", Verdict: report.Holds,
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range r.streams {
		for done := range bytesDone {
			var each []float64
			for k := range r.runs[i] {
				first, bytes := r.runs[i][k].errors[1][done], r.runs[i][k].errors[2][done]
				if len(first) > 0 && len(bytes) > 0 {
					each = append(each, 100*(median(bytes)-median(first)))
				}
			}
			mean, half := laws.MeanInterval(each, 0.95)
			low, high = min(low, mean-half), max(high, mean+half)
			switch v := report.Judge(mean, half, len(each), math.Inf(-1), 0, "", "", "").Verdict; {
			case v == report.Fails, v == report.Undecided && all.Verdict == report.Holds:
				all.Verdict = v
			}
		}
	}
	all.Measured = fmt.Sprintf("intervals of the difference from %.0f to %.0f points", low, high)
	return all
}

// gains is what the estimator saves beside size=first, stream by stream.
func (r *bytesRuns) gains(policy int) report.Claim {
	c := report.Claim{What: bytesPolicies[policy] + ": mean flow time with size=bytes over that with size=first, by stream", Verdict: report.Reported}
	for i := range r.streams {
		mean, half := r.cost(i, policy, 2, 1)
		if i > 0 {
			c.Measured += ", "
		}
		c.Measured += fmt.Sprintf("%+.1f ± %.1f", mean, half)
	}
	c.Measured += " %"
	return c
}

func median(errors []float64) float64 {
	sorted := slices.Sorted(slices.Values(errors))
	return sorted[(len(sorted)-1)/2]
}

func (r *bytesRuns) errorTable() report.Table {
	table := report.Table{Name: "bytes_errors", Caption: fmt.Sprintf("Error of the shuffle's size as maps finish (%%), jobs of %d maps or more under maxsrpt: median and 90th percentile, "+
		"means of %d seeds, 95 %% ± of the median", bytesMaps, len(r.runs[0])), Columns: []string{"stream", "sizes"}}
	for _, done := range bytesDone {
		table.Columns = append(table.Columns, fmt.Sprintf("%.0f %% of maps", 100*done), "±", "90th")
	}
	for i := range r.streams {
		for way := 1; way < len(bytesWays); way++ {
			row := []any{r.streams[i].name, bytesWays[way].what}
			for done := range bytesDone {
				mean, half := r.off(i, way, done, 0.5)
				most, _ := r.off(i, way, done, 0.9)
				row = append(row, mean, half, most)
			}
			table.Add(row...)
		}
	}
	return table
}

func (r *bytesRuns) costTable() report.Table {
	table := report.Table{Name: "bytes_costs", Caption: fmt.Sprintf("Mean flow times with true sizes, and how much longer with estimates on the same jobs (%%), means of %d seeds with 95 %% intervals", len(r.runs[0])),
		Columns: []string{"stream", "policy", "true sizes (s)"}}
	for _, way := range bytesWays[1:] {
		table.Columns = append(table.Columns, way.what+" (%)", "±")
	}
	for i := range r.streams {
		for p, name := range bytesPolicies {
			var flows []float64
			for k := range r.runs[i] {
				flows = append(flows, r.runs[i][k].flows[p][0])
			}
			flow, _ := laws.MeanInterval(flows, 0.95)
			row := []any{r.streams[i].name, name, flow}
			for way := 1; way < len(bytesWays); way++ {
				mean, half := r.cost(i, p, way, 0)
				row = append(row, mean, half)
			}
			table.Add(row...)
		}
	}
	return table
}
