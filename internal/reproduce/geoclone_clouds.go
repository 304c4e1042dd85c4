package reproduce

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// geoClouds are real Montage jobs over links measured between cloud regions, each job alone. The paper has nothing of
// the kind.
type geoClouds struct {
	runs  []*geoRun // by job
	note  string    // why there are none
	plots [2]report.Plot
}

// regions are where the slots are: twelve each.
var regions = []string{"aws:us-east-1", "aws:us-west-2", "aws:eu-west-1", "aws:eu-central-1", "aws:ap-northeast-1", "aws:ap-southeast-1", "aws:ap-south-1", "aws:sa-east-1"}

const slotsPerRegion = 12

// cloudJobs are executions of Montage recorded by WfCommons, in wfinstances/pegasus/montage.
var cloudJobs = []string{"montage-chameleon-2mass-005d-001", "montage-chameleon-2mass-01d-001", "montage-chameleon-2mass-02d-001", "montage-chameleon-dss-05d-001", "montage-chameleon-dss-125d-001"}

// cloudRows are the policies: those of the other figures, and GeoClone as one would set it for such jobs.
var cloudRows = append(slices.Clone(geoRows[:rowDollyFree]),
	struct{ name, spec string }{"GeoClone, 4 at most, each second, running tasks too", "geoclone:copies=4,slot=1s,tasks=unfinished"},
	struct{ name, spec string }{"GeoClone, by reports", "geoclone:left=progress"})

func newGeoClouds(s *geoScale, o *Options) (*geoClouds, error) {
	c := &geoClouds{}
	links, ok := o.Trace("geo", "skyplane", "throughput.csv.gz")
	if !ok {
		c.note = "Skipped, because the folder of traces lacks it: geo/skyplane/throughput.csv.gz, measured bandwidths between cloud regions."
		return c, nil
	}
	prices := make([]float64, len(regions)*len(regions))
	if path, ok := o.Trace("geo", "skyplane", "cost.csv.gz"); ok {
		var err error
		if prices, err = egressPrices(path); err != nil {
			return nil, err
		}
	}
	var specs []string
	for _, r := range cloudRows {
		specs = append(specs, r.spec)
	}
	for _, name := range cloudJobs {
		path, ok := o.Trace("wfinstances", "pegasus", "montage", name+".json.gz")
		if !ok {
			c.note = "Skipped, because the folder of traces lacks it: wfinstances/pegasus/montage/" + name + ".json.gz."
			continue
		}
		g := waxman(o, name, "", 0, 0, 0, 0, s.clouds, specs)
		g.workload = func(int) (*trace.Workload, error) { return readTrace(path) }
		g.cluster = func() (*sim.Cluster, error) { return cloudCluster(links) }
		g.prices = prices
		c.runs = append(c.runs, g)
	}
	return c, nil
}

func readTrace(path string) (*trace.Workload, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return new(trace.Importer).Read(f, path)
}

// cloudCluster is the regions with the links that the file has.
func cloudCluster(links string) (*sim.Cluster, error) {
	var b strings.Builder
	b.WriteString("sites:\n")
	for _, r := range regions {
		fmt.Fprintf(&b, "  - {name: %q, machines: %d, slowdown: dolly}\n", r, slotsPerRegion)
	}
	fmt.Fprintf(&b, "links: {measured: [%q]}\n", filepath.Base(links))
	return sim.ReadCluster(filepath.Join(filepath.Dir(links), "regions.yaml"), []byte(b.String()))
}

// egressPrices reads what it costs to move data from one of the regions to another, in $ per GB: columns src, dest,
// src_tier, dest_tier, cost.
func egressPrices(path string) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	prices, found := make([]float64, len(regions)*len(regions)), 0
	for i, row := range rows {
		if len(row) < 5 {
			return nil, fmt.Errorf("%s:%d: expected 5 columns, got %d", path, i+1, len(row))
		}
		from, to := slices.Index(regions, row[0]), slices.Index(regions, row[1])
		if from < 0 || to < 0 || row[2] != "PREMIUM" || row[3] != "PREMIUM" {
			continue
		}
		if prices[from*len(regions)+to], err = strconv.ParseFloat(row[4], 64); err != nil {
			return nil, fmt.Errorf("%s:%d: field cost: expected a number, got %q", path, i+1, row[4])
		}
		found++
	}
	if found != len(prices) {
		return nil, fmt.Errorf("%s: expected prices for all %d pairs of the regions, found %d", path, len(prices), found)
	}
	return prices, nil
}

// steps are the runs, and two pictures of the first job.
func (c *geoClouds) steps() []func(context.Context) error {
	steps := stepsOf(c.runs)
	if len(c.runs) == 0 {
		return steps
	}
	for i, p := range []int{rowFlutter, rowGeocloneFour} {
		steps = append(steps, func(ctx context.Context) (err error) {
			c.plots[i], err = c.runs[0].picture(ctx, p)
			return err
		})
	}
	return steps
}

func (c *geoClouds) sections() []report.Section {
	sec := report.Section{Title: "Not in the paper: real Montage jobs between cloud regions", Text: []string{
		fmt.Sprintf("Executions of Montage recorded by WfCommons, each alone on %d slots in each of %d regions, with bandwidths that Skyplane measured between them, and the paper's scaling factor. The input is at one region, another in each run.",
			slotsPerRegion, len(regions)),
		"An attempt at another site than its data pays for what it fetches until it is done or killed, at the price of egress between the two regions.",
		"GeoClone decides every 5 s. Each step of such a job waits for the next decision, and so does every slot that a task of a second leaves; with many tasks to a slot (619 on 96) that makes it slower than " +
			"Flutter. And it decides once for a task: one that started when slots were few keeps its single attempt when all others are idle. Both are rules of the paper. The last row but one decides each second, and clones running tasks too; the last is what a user gets whose tasks report: it goes by these reports. " +
			"Dolly's budget, 5 % of 96 slots, is less than any stage of more than one task would need.",
	}}
	if c.note != "" {
		sec.Text = append(sec.Text, c.note)
	}
	if len(c.runs) > 0 {
		t := report.Table{Name: "clouds", Columns: []string{"job", "tasks", "policy", "flow (s)", "±", "less than Flutter (%)", "±", "attempts per task", "between sites (GB)", "egress (cents)", "failed (%)"}}
		for _, g := range c.runs {
			for p := range g.specs {
				less, flow := g.reduction(p, rowFlutter), g.mean(p, meanFlowOf)
				row := []any{nil, nil, cloudRows[p].name, flow.Mean, flow.Half, 100 * less.Mean, 100 * less.Half,
					g.mean(p, perTask).Mean, g.mean(p, func(c *geoCell) float64 { return c.moved / 1e9 }).Mean, absent(100 * g.mean(p, func(c *geoCell) float64 { return c.price }).Mean), g.failed(p)}
				if p == 0 {
					row[0], row[1] = g.name, g.cells[0][0].tasks
				}
				t.Add(row...)
			}
		}
		sec.Tables, sec.Claims, sec.Plots = append(sec.Tables, t), c.claims(), c.plots[:]
	}
	return []report.Section{sec}
}

// claims are that GeoClone, told what attempts report, is at most 5 % worse than others where tasks last minutes.
func (c *geoClouds) claims() (claims []report.Claim) {
	ours := len(cloudRows) - 1
	for _, g := range c.runs {
		if !strings.Contains(g.name, "-dss-") {
			continue // tasks of seconds
		}
		for _, p := range []int{rowGeoMantri, rowGeocloneFour} {
			by := g.reduction(ours, p)
			claims = append(claims, judge(by, -0.05, 1, g.name+": "+cloudRows[ours].name+", is at most 5 % slower than "+cloudRows[p].name, "not in the paper", "quicker by "+percent(by)))
		}
	}
	return claims
}

// geoSpan is an attempt that has ended.
type geoSpan struct {
	y          float64 // its task, and a little above that the further attempts of the task
	site       sched.SiteID
	start, end float64
	won        bool
}

// watched is a policy whose attempts are written down.
type watched struct {
	sched.Policy
	spans []geoSpan
}

// Observe writes down the attempts that end.
func (w *watched) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptDone || ev.Kind == sched.AttemptLost {
		a := v.Attempt(ev.Attempt)
		y := float64(ev.Task) + 0.22*float64(min(a.Number, 3))
		w.spans = append(w.spans, geoSpan{y, v.Machine(ev.Machine).Site, a.Started.Seconds(), v.Now().Seconds(), ev.Kind == sched.AttemptDone})
	}
	w.Policy.Observe(v, ev)
}

// picture draws the attempts of the first run of a policy: a line each, at the height of its task or a little above, in
// the colour of its site.
func (g *geoRun) picture(ctx context.Context, p int) (report.Plot, error) {
	plot := report.Plot{Name: "attempts-" + strings.Split(g.specs[p], ":")[0], Title: geoRows[p].name + ": " + g.name, X: "time (s)", Y: "task"}
	w, err := g.workload(0)
	if err != nil {
		return plot, err
	}
	c, err := g.cluster()
	if err != nil {
		return plot, err
	}
	seed := sim.RunSeed(g.seed, 0)
	x, err := policy.New(g.specs[p], seed)
	if err != nil {
		return plot, err
	}
	log := &watched{Policy: x}
	if _, err := sim.Run(ctx, w, log, sim.Options{Cluster: c, Limits: sched.NoLimits(), Seed: seed}); err != nil {
		return plot, err
	}
	wins := report.Series{Name: "won", Kind: report.Points}
	for k := range c.Sites {
		s := report.Series{Name: c.Sites[k].Name, Kind: report.Spans}
		for _, a := range log.spans {
			if a.site == sched.SiteID(k) {
				s.X, s.Y, s.High = append(s.X, a.start), append(s.Y, a.y), append(s.High, a.end)
			}
		}
		if len(s.X) > 0 {
			plot.Series = append(plot.Series, s)
		}
	}
	for _, a := range log.spans {
		if a.won {
			wins.X, wins.Y = append(wins.X, a.end), append(wins.Y, a.y)
		}
	}
	plot.Series = append(plot.Series, wins)
	return plot, nil
}
