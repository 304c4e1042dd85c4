package simulation

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// CutUsage says what Request.Cut can be.
const CutUsage = "none, auto, or FIRST,LAST: numbers of jobs such as 500, or spans such as 2h"

// CutAuto has a rule cut.
const CutAuto = "auto"

// A cut leaves jobs out of all figures: those that arrive while the cluster, which begins empty, fills, and those that
// meet fewer jobs than others because nobody arrives behind them. They run like all others.
type cut struct {
	asked       string // as it was asked for
	auto        bool
	first, last edge   // if auto: what the rule says, once it has been asked
	refused     string // why the rule cuts nothing; empty if it does
}

// edge is so many jobs, or those that arrive within a span.
type edge struct {
	jobs int
	span sched.Time
}

func (e edge) String() string {
	if e.span > 0 {
		return e.span.String()
	}
	return strconv.Itoa(e.jobs)
}

// none tells whether nothing is cut.
func (c *cut) none() bool { return c.first == edge{} && c.last == edge{} }

func (c *cut) String() string {
	if c.none() {
		return "none"
	}
	return c.first.String() + "," + c.last.String()
}

// read reads what Request.Cut says.
func (c *cut) read(text string) (err error) {
	c.asked = text
	switch text {
	case "none":
		return nil
	case CutAuto:
		c.auto = true
		return nil
	}
	first, last, _ := strings.Cut(text, ",")
	if c.first, err = readEdge(first); err == nil && last != "" {
		c.last, err = readEdge(last)
	}
	return err
}

func readEdge(text string) (edge, error) {
	n, err := strconv.Atoi(text)
	if err == nil && n >= 0 {
		return edge{jobs: n}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return edge{}, fmt.Errorf("expected %s, not %q", CutUsage, text)
	}
	return edge{span: sched.Time(d)}, nil
}

// Parts of a workload, by what a cut leaves of it.
const (
	warmUp   = "warm-up"
	measured = ""
	coolDown = "cool-down"
)

// part says of which part a job is, by its place in the order of arrival. What is in both is of the warm-up.
func (c *cut) part(w *trace.Workload, j int) string {
	n := len(w.Jobs)
	switch at := w.Jobs[j].Arrival; {
	case j < c.first.jobs || at-w.Jobs[0].Arrival < c.first.span:
		return warmUp
	case j >= n-c.last.jobs || w.Jobs[n-1].Arrival-at < c.last.span:
		return coolDown
	}
	return measured
}

// count returns how many jobs of a workload are of each part.
func (c *cut) count(w *trace.Workload) map[string]int {
	n := map[string]int{}
	for j := range w.Jobs {
		n[c.part(w, j)]++
	}
	return n
}

// fit refuses a cut that leaves nothing of a workload.
func (c *cut) fit(w *trace.Workload) error {
	if !c.none() && c.count(w)[measured] == 0 {
		return fmt.Errorf("%s leaves none of the %s of %s", c.asked, show.Count(len(w.Jobs), "job"), w.Name)
	}
	return nil
}

// arrivals are the flow times of jobs by their place in the order of arrival, summed up over runs, by policy.
type arrivals struct {
	flow [][]float64
	runs [][]int     // in which the job succeeded
	p99  [][]float64 // by run
}

func newArrivals(policies, jobs int) *arrivals {
	a := &arrivals{flow: make([][]float64, policies), runs: make([][]int, policies), p99: make([][]float64, policies)}
	for k := range a.flow {
		a.flow[k], a.runs[k] = make([]float64, jobs), make([]int, jobs)
	}
	return a
}

// add adds a run. It is called in the same order each time, so that sums are the same to the last bit.
func (a *arrivals) add(c *sim.Cell, jobs []sim.JobResult) {
	for j := range jobs {
		if x := &jobs[j]; !x.Failed {
			a.flow[c.Policy][j] += (x.Completion - x.Arrival).Seconds()
			a.runs[c.Policy][j]++
		}
	}
	if !math.IsNaN(c.P99Flow) {
		a.p99[c.Policy] = append(a.p99[c.Policy], c.P99Flow)
	}
}

// means returns a policy's mean flow time of each job that ever succeeded, and the place of each in order of arrival.
func (a *arrivals) means(policy int) (flows []float64, places []int) {
	for j, n := range a.runs[policy] {
		if n > 0 {
			flows, places = append(flows, a.flow[policy][j]/float64(n)), append(places, j)
		}
	}
	return flows, places
}

// batch is the number of neighbours that MSER-5 takes together, fewest the number of batches that it wants to see.
const (
	batch  = 5
	fewest = 20
)

// mser returns how many observations to leave out first: the d that makes the variance of the mean of the others,
// taken for independent, least (White, Simulation 69, 1997; White, Cobb and Spratt, WSC 2000: MSER-5, on means of five
// neighbours). The last five batches are never alone, as few may be equal by chance. Beyond half of the observations it
// is in doubt.
func mser(x []float64) int {
	m := len(x) / batch
	var sum, squares, n float64
	least, d := math.Inf(1), 0
	for k := m - 1; k >= 0; k-- {
		y := 0.0
		for _, v := range x[k*batch : (k+1)*batch] {
			y += v / batch
		}
		n++
		off := y - sum // Welford's recurrence; sum is the mean
		sum += off / n
		squares += off * (y - sum)
		if n > 5 && squares/(n*n) <= least {
			least, d = squares/(n*n), k*batch
		}
	}
	return d
}

// warmUp applies the rule to the jobs by arrival: for the policy that takes longest to be steady. The reason says why
// no cut is meaningful.
func (a *arrivals) warmUp(w *trace.Workload) (jobs int, reason string) {
	if w.Horizon() == 0 {
		return 0, "all jobs arrive at once, and are the whole experiment"
	}
	for policy := range a.flow {
		flows, places := a.means(policy)
		if len(flows) < batch*fewest {
			return 0, fmt.Sprintf("%s are too few to see a warm-up; the rule wants %d", show.Count(len(flows), "job"), batch*fewest)
		}
		jobs = max(jobs, places[mser(flows)])
	}
	return jobs, ""
}

// decide has the rule say what to cut. The cool-down is what arrives less than the 99th percentile of flow times before
// the last arrival, under the slowest policy: of the others at most about one in a hundred is there when arrivals have
// ended. It goes by arrivals, because to leave out what ends late would leave out what takes long.
func (c *cut) decide(w *trace.Workload, a *arrivals) {
	jobs, reason := a.warmUp(w)
	if c.refused = reason; reason != "" {
		return
	}
	longest := 0.0
	for _, p99 := range a.p99 {
		sum := 0.0
		for _, x := range p99 {
			sum += x / float64(len(p99))
		}
		longest = max(longest, sum)
	}
	c.first, c.last = edge{jobs: jobs}, edge{span: roundUp(longest)}
	if left := c.count(w)[measured]; 2*left < len(w.Jobs) {
		c.refused = fmt.Sprintf("the rule would leave %d of %s, so they are too few to know when the cluster is steady, or it never is",
			left, show.Count(len(w.Jobs), "job"))
		c.first, c.last = edge{}, edge{}
	}
}

// roundUp is a span in seconds, or below one in milliseconds, so that it can be read and given again.
func roundUp(seconds float64) sched.Time {
	if seconds < 1 {
		return sched.FromSeconds(math.Ceil(1000*seconds) / 1000)
	}
	return sched.FromSeconds(math.Ceil(seconds))
}

// Where a bias is told of though nobody asked: it is that large, and the jobs are a stream, so many and so long beside
// their flow times.
const (
	toldBias   = 0.05
	toldJobs   = 200
	toldStream = 10
)

// hint says by how much leaving out the warm-up would change the mean flow time of the policy that it changes most. It
// is empty where that is little, or where the jobs are no stream.
func (a *arrivals) hint(w *trace.Workload, policies []string) string {
	jobs, reason := a.warmUp(w)
	if reason != "" || jobs == 0 || 2*jobs > len(w.Jobs) || len(w.Jobs) < toldJobs {
		return ""
	}
	most, of := 0.0, 0
	for k := range policies {
		flows, places := a.means(k)
		var all, later, n float64
		for i, x := range flows {
			all += x / float64(len(flows))
			if places[i] >= jobs {
				later += x
				n++
			}
		}
		later /= n
		if toldStream*later > w.Horizon().Seconds() {
			return ""
		}
		if bias := later/all - 1; bias > most {
			most, of = bias, k
		}
	}
	if most < toldBias {
		return ""
	}
	return fmt.Sprintf("Warm-up: the first %d of %s end sooner than the others, as where a cluster begins empty. Without them the mean flow time of %s is %.0f %% longer; --cut auto leaves out warm-up and cool-down.",
		jobs, show.Count(len(w.Jobs), "job"), policies[of], 100*most)
}

// CutFigures is what was left out of the figures of a result.
type CutFigures struct {
	Asked    string `json:"asked"`
	Cut      string `json:"cut"`       // as --cut takes it: FIRST,LAST or none
	First    int    `json:"warm_up"`   // jobs left out because they arrive early; of the workload as it was given
	Measured int    `json:"measured"`  // jobs that the figures are of
	Last     int    `json:"cool_down"` // jobs left out because they arrive late
	Refused  string `json:"refused"`   // why the rule cut nothing; may be empty
}

// figures describes a cut; nil if none was asked for.
func (c *cut) figures(w *trace.Workload) *CutFigures {
	if c.asked == "" || c.asked == "none" {
		return nil
	}
	n := c.count(w)
	return &CutFigures{Asked: c.asked, Cut: c.String(), First: n[warmUp], Measured: n[measured], Last: n[coolDown], Refused: c.refused}
}

// printCut says what was left out, or what might be.
func (r *Result) printCut(w io.Writer) {
	switch c := r.Cut; {
	case c == nil && r.hint != "":
		fmt.Fprintln(w, r.hint)
	case c == nil:
	case c.Refused != "":
		fmt.Fprintf(w, "Warning: nothing is cut: %s.\n", c.Refused)
	default:
		fmt.Fprintf(w, "Cut: the figures are of %d of %s, without the first %d (warm-up) and the last %d (cool-down); makespan and used are of all. The same again: --cut %s.\n",
			c.Measured, show.Count(len(r.Workload.Jobs), "job"), c.First, c.Last, c.Cut)
	}
}
