package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// shedLoads is no figure of the paper: its mix of jobs, arriving faster. A later system of the same authors reports 98
// % of deadlines met at heavy load where Shed meets 68 % and Dolly 40 %.
type shedLoads struct {
	models []shedModel
	seed   uint64
	met    [][][][]float64 // by model, load and repetition: by policy, and the bound last
	lost   [][][][]float64 // likewise, the share of jobs that the policy gave up
}

// loadLevel is named by the machine time of all tasks without clones over that of the slots, beta being 1.5.
type loadLevel struct {
	name string
	load float64
}

var (
	loadLevels = [...]loadLevel{{"light", 0.1}, {"moderate", 0.4}, {"heavy", 0.8}, {"overload", 1.6}}
	loadOf     = [...]string{"fifo", "hadoop2", "dolly-shed", "chronos-clone", "chronos-restart", "chronos-resume", "shed", "shed:utility=sum,when=departures", "laxity"}
)

const (
	heavyLoad  = 2   // index in loadLevels
	loadJobs   = 300 // enough that the queue forgets its beginning
	reportGap  = 10 * sched.Second
	loadTarget = 0.95
)

func newShedLoads(seed uint64, repeats int) *shedLoads {
	x := &shedLoads{models: []shedModel{pureModel(1.5), contendedModel(1.5)}, seed: seed}
	for range x.models {
		met, lost := make([][][]float64, len(loadLevels)), make([][][]float64, len(loadLevels))
		for l := range loadLevels {
			met[l], lost[l] = make([][]float64, repeats), make([][]float64, repeats)
		}
		x.met, x.lost = append(x.met, met), append(x.lost, lost)
	}
	return x
}

func (x *shedLoads) steps() (steps []func(context.Context) error) {
	for m := range x.models {
		for l := range loadLevels {
			for k := range x.met[m][l] {
				steps = append(steps, func(ctx context.Context) error { return x.run(ctx, m, l, k) })
			}
		}
	}
	return steps
}

func (x *shedLoads) run(ctx context.Context, m, l, k int) error {
	seed := repetition(x.seed, k)
	g := rand.New(rand.NewPCG(seed, 0x10ad))
	jobs := make([]shedJob, loadJobs)
	work := 0.0
	for i := range jobs {
		c := 0
		for u := g.IntN(100); u >= hybridJobs[c]; c++ {
			u -= hybridJobs[c]
		}
		jobs[i] = shedJob{shedClasses[c], hybridDeadlines[c]}
		work += float64(jobs[i].tasks) * pureModel(1.5).law.Mean()
	}
	gap := work / loadJobs / shedSlots / loadLevels[l].load
	r := shedRun{
		model: x.models[m], slots: shedSlots, seed: seed, launch: shedLaunch, progress: sim.Progress{Every: reportGap}, workload: shedArrivals(jobs, gap, seed),
	}
	met, lost, err := r.met(ctx, loadOf[:])
	x.lost[m][l][k] = lost
	least := func(j int) []float64 {
		return slices.Repeat([]float64{(sched.FromSeconds(shedTMin) + shedLaunch).Seconds()}, r.workload.TasksOf(j))
	}
	x.met[m][l][k] = append(met, mostInTime(r.workload, shedSlots, least))
	return err
}

func (x *shedLoads) section() report.Section {
	s := report.Section{Title: "Light, moderate and heavy load", Text: []string{
		fmt.Sprintf("Not in the paper: %d jobs of the mix of Figure 4, arriving faster. The load is the machine time of all tasks without clones, over that of the slots. "+
			"Attempts report every %v.", loadJobs, reportGap),
		"laxity is Tailcut's own policy: earliest deadline first, slow attempts replaced by ones that go on from them, clones for what would be late. The bound holds for " +
			"a scheduler that knows all durations in advance and whose attempts are all as fast as possible: each task costs it one launch and 120 s.",
		"A later system of the same authors reports 0.98 of deadlines met at heavy load, 0.68 for Shed and 0.40 for Dolly; its jobs and loads differ, so compare only roughly.",
		"Jobs that shed and laxity give up, because they are or will be late, count as ones that missed their deadlines. The lower tables have their share.",
	}}
	for m, model := range x.models {
		met := loadTable("loads_"+slug(model.name), "Share of deadlines met: "+model.name, x.met[m], append(loadOf[:], "bound"))
		lost := loadTable("lost_"+slug(model.name), "Share of jobs given up: "+model.name, x.lost[m], loadOf[:])
		s.Tables = append(s.Tables, met, lost)
		s.Claims = append(s.Claims, x.claim(m))
	}
	return s
}

// loadTable has a row for each policy and a column for each load, from shares by load and repetition.
func loadTable(name, caption string, shares [][][]float64, policies []string) report.Table {
	t := report.Table{Name: name, Caption: caption, Columns: []string{"policy"}}
	for _, l := range loadLevels {
		t.Columns = append(t.Columns, fmt.Sprintf("%s %.1f", l.name, l.load), "±")
	}
	for p, policy := range policies {
		row := []any{policy}
		for l := range loadLevels {
			e := column(shares[l], p)
			row = append(row, e.Mean, e.Half)
		}
		t.Add(row...)
	}
	return t
}

// claim holds the own policy to its goal.
func (x *shedLoads) claim(m int) report.Claim {
	rows := x.met[m][heavyLoad]
	of := func(name string) sim.Estimate { return column(rows, slices.Index(loadOf[:], name)) }
	bound, laxity := column(rows, len(loadOf)).Mean, of("laxity")
	return judge(laxity, min(loadTarget, bound), math.Inf(1), x.models[m].name+": laxity meets 0.95 of the deadlines at heavy load if that is possible",
		"0.98 (a later system), Shed 0.68", fmt.Sprintf("%.3f ± %.3f, Shed %.3f, bound %.3f", laxity.Mean, laxity.Half, of("shed").Mean, bound))
}
