package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// testbedRows are Figures 4 and 5: printed mean and share of jobs done within 20 s; 0 for what the paper does not have.
var testbedRows = []struct {
	name, spec string
	mean       float64
	within     float64
}{
	{"GeoClone", "geoclone", 31.9, 0.724},
	{"Spark with LATE", "spark-geo+late:min_age=1s", 52.8, 0.656},
	{"Spark", "spark-geo", 91.4, 0.459},
	{"GeoClone, 1 s", "geoclone:slot=1s", 0, 0},
	{"GeoClone, 1 s, by reports", "geoclone:slot=1s,left=progress", 0, 0},
	{"LATE, no wait", "spark-geo+late:min_age=1s,wait=0s", 0, 0},
	{"LATE, no wait, no limits", "spark-geo+late:min_age=0s,wait=0s,cap=1,slow_task=0.99", 0, 0},
}

const (
	testbedGeoclone = iota
	testbedLATE
	testbedSpark
	testbedSecond // the paper has none from here on
	_
	testbedNoWait // Figure 5 here has none from here on
)

// testbedCores are the cores of the ten machines of Table I; of the six middle ones it says 5 to 10.
var testbedCores = []int{16, 16, 5, 6, 7, 8, 9, 10, 4, 4}

func testbedNames() (names []string) {
	for i := range testbedCores {
		names = append(names, fmt.Sprintf("vm%d", i))
	}
	return names
}

// testbedLoad is the mean while for which a machine keeps what the background takes: a run of the paper's benchmarks
// takes minutes.
const testbedLoad = 120 * sched.Second

// geoTestbed is the ten machines, with two readings of what slows them: programs in the background of a machine, which
// slow all that runs there for a while; or each attempt for itself, as in the simulations.
type geoTestbed struct {
	background, attempts *geoRun
}

func newGeoTestbed(s *geoScale, o *Options) *geoTestbed {
	t := &geoTestbed{background: testbedRun(s, o, "the testbed, loaded"), attempts: testbedRun(s, o, "the testbed")}
	t.background.model = sim.MachineSlowdown(dollySlowdown(), testbedLoad)
	t.background.cluster = func() (*sim.Cluster, error) { return testbedCluster(), nil }
	t.attempts.cluster = func() (*sim.Cluster, error) {
		c := testbedCluster()
		for i := range c.Sites {
			c.Sites[i].Slowdown = dollySlowdown()
		}
		return c, nil
	}
	return t
}

func testbedRun(s *geoScale, o *Options, name string) *geoRun {
	var specs []string
	for _, r := range testbedRows {
		specs = append(specs, r.spec)
	}
	g := waxman(o, name, "", 0, 0, 0, 0, s.testbed, specs)
	g.workload = func(run int) (*trace.Workload, error) { return testbedWorkload(sim.RunSeed(o.Seed, run)) }
	return g
}

// testbedCluster is a site for each machine, a slot for each core, and links of 15 to 50 Mbit/s.
func testbedCluster() *sim.Cluster {
	n := len(testbedCores)
	c := &sim.Cluster{Name: "testbed", Network: &sched.Network{Names: testbedNames(), Bandwidth: make([]float64, n*n)}}
	for i, cores := range testbedCores {
		c.Sites = append(c.Sites, sim.Site{Name: c.Network.Names[i], Machines: 1, Slots: cores, Speed: sim.Steady(1)})
		for k := range n {
			c.Network.Bandwidth[k*n+i] = (15 + 35*float64(i*7%n)/float64(n-1)) * 1e6 / 8 // of the receiver
		}
	}
	return c
}

func (t *geoTestbed) steps() []func(context.Context) error {
	return slices.Concat(t.background.steps(), t.attempts.steps())
}

// inTwenty is the share of a run's jobs that are done within 20 s.
func inTwenty(c *geoCell) float64 {
	n := 0.0
	for _, f := range c.flows {
		if f <= 20 {
			n++
		}
	}
	return n / float64(len(c.flows))
}

func (t *geoTestbed) sections() []report.Section {
	table := report.Table{Name: "figure4", Columns: []string{"slowed by", "policy", "published (s)", "mean flow (s)", "±", "published: within 20 s (%)", "within 20 s (%)", "±", "longest (s)", "attempts per task", "fruitless (%)", "slots used (%)", "failed (%)"}}
	for _, by := range []struct {
		what string
		*geoRun
	}{{"the background", t.background}, {"each attempt's own factor", t.attempts}} {
		for p, r := range testbedRows {
			flow, done := by.mean(p, meanFlowOf), by.mean(p, inTwenty)
			table.Add(by.what, r.name, absent(r.mean), flow.Mean, flow.Half, absent(100*r.within), 100*done.Mean, 100*done.Half, by.mean(p, longest).Mean,
				by.mean(p, perTask).Mean, by.fruitless(p), 100*by.mean(p, func(c *geoCell) float64 { return c.Utilisation }).Mean, by.failed(p))
		}
	}
	return []report.Section{{
		Title: "Figures 4 and 5: the testbed, emulated",
		Text: []string{
			fmt.Sprintf("Ten machines as sites, 85 slots, links of 15 to 50 Mbit/s. 88 jobs arrive, three in two minutes, with sizes of the Facebook-like mix, drawn anew in each run. In turn they are WordCount (four maps for each reduce), "+
				"machine learning (five iterations over the same blocks), and PageRank (three, with a shuffle between them). LATE looks at tasks from an age of 1 s on, as they are short. The paper prints no times of tasks: here each takes %g s "+
				"undisturbed, with which about as many of Spark's jobs are done within 20 s as in the paper. Nothing of the other two went into it.", testbedTask),
			"In the paper benchmarks of processor, memory and disk run in the background of each machine. Here a machine draws a factor of Figure 2 for a while of two minutes on average, and all that runs on it takes longer by that factor. " +
				"The second half of the table has no background; each attempt draws a factor of its own, as in the simulations. Figure 4 is a table in the paper too. The claims are about the background.",
			"GeoClone decides every 5 s, so each stage of a job waits 2.5 s on average before it begins. Two more rows decide each second; the second of them also clones running tasks, by what they report. LATE here waits up to 3 s for a slot " +
				"where the data is, clones too, and clones the slowest quarter of a stage's attempts in up to a tenth of the slots. Its further rows do not wait, and the last one has neither bound.",
		},
		Tables: []report.Table{table}, Plots: t.plots(), Claims: t.claims(),
	}}
}

// longest is the flow time of a run's slowest job.
func longest(c *geoCell) float64 { return slices.Max(c.flows) }

// plots are both halves of Figure 5.
func (t *geoTestbed) plots() []report.Plot {
	whole := report.Plot{Name: "figure5a", Title: "Figure 5a: loaded in the background", X: "response time (s)", Y: "share of jobs", LogX: true}
	early := report.Plot{Name: "figure5b", Title: "Figure 5b: its first 20 s", X: "response time (s)", Y: "share of jobs"}
	for p, r := range testbedRows[:testbedNoWait] {
		var flows []float64
		for k := range t.background.runs {
			flows = append(flows, t.background.cells[p][k].flows...)
		}
		slices.Sort(flows)
		whole.Series = append(whole.Series, stepsUp(r.name, flows, len(flows)))
		n, _ := slices.BinarySearch(flows, math.Nextafter(20, 21))
		first := stepsUp(r.name, flows[:n], len(flows))
		first.X, first.Y = append(first.X, 20), append(first.Y, float64(n)/float64(len(flows)))
		early.Series = append(early.Series, first)
	}
	// after all lines, so that a policy's line has the same colour in both plots
	for _, r := range testbedRows[:testbedSecond] {
		early.Series = append(early.Series, report.Series{Name: r.name + ", published", Kind: report.Points, Published: true, X: []float64{20}, Y: []float64{r.within}})
	}
	return []report.Plot{whole, early}
}

// stepsUp is the share of so many that is below or at x, of values in ascending order, at some hundreds of them.
func stepsUp(name string, values []float64, of int) report.Series {
	s := report.Series{Name: name, Kind: report.Steps}
	for i, x := range values {
		if i%(1+len(values)/300) == 0 || i == len(values)-1 {
			s.X, s.Y = append(s.X, x), append(s.Y, float64(i+1)/float64(of))
		}
	}
	return s
}

func (t *geoTestbed) claims() (claims []report.Claim) {
	g := t.background
	for _, pair := range [][2]int{{testbedGeoclone, testbedLATE}, {testbedLATE, testbedSpark}} {
		less, more := testbedRows[pair[0]], testbedRows[pair[1]]
		by, printed := g.reduction(pair[0], pair[1]), 1-less.mean/more.mean
		claims = append(claims, judge(by, math.SmallestNonzeroFloat64, 1, "testbed: "+less.name+" is quicker than "+more.name, "quicker", "by "+percent(by)),
			agrees(by, printed, "testbed: by how much "+less.name+" is quicker than "+more.name))
	}
	for p, r := range testbedRows[:testbedSecond] {
		c := agrees(g.mean(p, inTwenty), r.within, "testbed: jobs done within 20 s under "+r.name)
		if p == testbedSpark {
			c.Verdict = report.Reported // the time of a task is chosen by it
		}
		claims = append(claims, c)
	}
	tail := make([]float64, g.runs)
	for k := range tail {
		tail[k] = longest(&g.cells[testbedGeoclone][k])/longest(&g.cells[testbedLATE][k]) - 1
	}
	e := sim.EstimateOf(tail)
	return append(claims, judge(e, 0, math.Inf(1), "testbed: GeoClone has a longer tail than LATE, its slowest job takes longer", "longer", "by "+percent(e)))
}

// agrees is the claim that a share is the printed one, within ten points.
func agrees(e sim.Estimate, printed float64, what string) report.Claim {
	return judge(e, printed-0.1, printed+0.1, what+", within 10 points", fmt.Sprintf("%.1f %%", 100*printed), percent(e))
}
