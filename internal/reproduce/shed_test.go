package reproduce

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestMostInTime has bounds worked by hand, on one slot with tasks of 10 s.
func TestMostInTime(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []shedJob // that arrive together
		want float64
	}{
		{"all fit", []shedJob{{1, 10}, {2, 30}}, 1},
		{"one of two", []shedJob{{1, 10}, {1, 10}}, 0.5},
		{"one and a half", []shedJob{{1, 15}, {1, 15}}, 0.75},
		{"a task that takes longer than there is time", []shedJob{{1, 9}, {1, 20}}, 0.5},
		{"small ones rather than a large one", []shedJob{{3, 30}, {1, 30}, {1, 30}, {1, 30}}, 0.75},
		{"no time at all", []shedJob{{1, 0.001}}, 0},
	} {
		w := shedArrivals(c.jobs, 0, 1)
		if got := mostInTime(w, 1, tenEach(w)); math.Abs(got-c.want) > 2e-3 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	w := shedArrivals([]shedJob{{1, 10}, {1, 10}}, 0, 1)
	w.Jobs[1].Arrival = 10e9 // when the first is done
	if got := mostInTime(w, 1, tenEach(w)); got != 1 {
		t.Errorf("one after the other: %v, want 1", got)
	}
}

// tenEach is the work of a job whose tasks take 10 s each.
func tenEach(w *trace.Workload) func(job int) []float64 {
	return func(j int) []float64 { return slices.Repeat([]float64{10}, w.TasksOf(j)) }
}

// TestShedIsolated: Theorem 1 within four standard errors at two points.
func TestShedIsolated(t *testing.T) {
	x := shedIsolated{jobs: 4000, seed: 1, points: []isolatedPoint{
		{beta: 1.5, tasks: 10, clones: 1, deadline: 500}, {beta: 1.3, tasks: 5, clones: 0, deadline: 460},
	}}
	for i := range x.points {
		p := &x.points[i]
		if err := x.run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if sd := math.Sqrt(p.reckoned * (1 - p.reckoned) / float64(x.jobs)); math.Abs(p.measured-p.reckoned) > 4*sd {
			t.Errorf("%+v", *p)
		}
	}
}

// TestShedGivenUp: a job that is given up is in no mean and no distribution, and Shed is compared with Hadoop over the
// others.
func TestShedGivenUp(t *testing.T) {
	x := newShedSingle(pureModel(1.5), 1, 2)
	nan := math.NaN()
	for k := range x.runs {
		for p := range shedPolicies {
			x.runs[k][p] = singleRun{flows: []float64{300, 400, 2000}, met: 1, used: usage{at: []sched.Time{0, sched.Second}, live: []int{1, 0}}}
		}
		x.runs[k][0].flows = []float64{200, 300 + float64(100*k), nan}
	}
	s := x.section()
	cell := func(row int, column string) any {
		return s.Tables[0].Rows[row][slices.Index(s.Tables[0].Columns, column)]
	}
	for column, want := range map[string]any{"mean (s)": 275.0, "slowest (s)": 400.0, "given up": 2. / 6, "less than Hadoop (s)": 75.0, "over jobs": 4} {
		if got := cell(0, column); got != want {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	if got := cell(hadoopColumn, "given up"); got != 0.0 {
		t.Errorf("Hadoop gave up %v", got)
	}
	if cdf := s.Plots[0].Series[0].Y; cdf[len(cdf)-1] != 4./6 {
		t.Errorf("the distribution ends at %v, want the 4 of 6 jobs that were done", cdf[len(cdf)-1])
	}
}

// TestShedReadings: a launch takes the time that the reading says, under each policy.
func TestShedReadings(t *testing.T) {
	x := newShedReadings(1, 1)
	var met [2]float64
	for i, reading := range []shedReading{shedReadingsOf[0], shedReadingsOf[6]} {
		r := shedRun{
			model: x.models[0], slots: shedSlots, seed: 1, launch: reading.launch, progress: reading.progress, workload: shedArrivals(alike(shedJobs, 10, 400), shedGap, 1),
		}
		all, _, err := r.met(t.Context(), []string{"fifo"})
		if err != nil {
			t.Fatal(err)
		}
		met[i] = all[0]
	}
	if shedReadingsOf[6].launch != 10*sched.Second || met[1] >= met[0] {
		t.Errorf("%v in time with a launch of 0 s, %v with %v", met[0], met[1], shedReadingsOf[6].launch)
	}
	for m := range x.met {
		for i := range x.met[m] {
			x.met[m][i][0], x.lost[m][i][0] = make([]float64, len(shedPolicies)), make([]float64, len(shedPolicies))
		}
	}
	if s := x.section(); len(s.Tables) != 2 || len(s.Tables[0].Rows) != len(shedReadingsOf) || len(s.Tables[0].Columns) != len(s.Tables[0].Rows[0]) || len(s.Claims) != 2 {
		t.Errorf("%+v", s)
	}
}

// TestShedLoadsGivenUp: the tables of loads tell what Shed and laxity gave up.
func TestShedLoadsGivenUp(t *testing.T) {
	r := shedRun{model: pureModel(1.5), slots: 10, seed: 1, launch: shedLaunch, progress: exactly, workload: shedArrivals(alike(40, 10, 200), 10, 1)}
	met, lost, err := r.met(t.Context(), []string{"hadoop2", "shed", "laxity"})
	if err != nil {
		t.Fatal(err)
	}
	if lost[0] != 0 || lost[1] < 0.5 || lost[2] < 0.5 || met[1]+lost[1] > 1 || met[2]+lost[2] > 1 {
		t.Errorf("hadoop2, shed and laxity meet %v and give up %v", met, lost)
	}
	x := newShedLoads(1, 1)
	for m := range x.met {
		for l := range loadLevels {
			x.met[m][l][0], x.lost[m][l][0] = make([]float64, len(loadOf)+1), slices.Repeat([]float64{0.25}, len(loadOf))
		}
	}
	for _, table := range x.section().Tables {
		if given := strings.HasPrefix(table.Name, "lost_"); given && (len(table.Rows) != len(loadOf) || table.Rows[0][1] != 0.25) {
			t.Errorf("%s: %v", table.Name, table.Rows)
		}
	}
}

// TestShedOrder: in the paper's cluster Shed meets more deadlines of jobs of 10 tasks than Hadoop, and Hadoop more than nobody; at twice what the slots can do without clones
// laxity still meets most, which no other does.
func TestShedOrder(t *testing.T) {
	r := shedRun{model: pureModel(1.5), slots: shedSlots, seed: 1, launch: shedLaunch, progress: exactly, workload: shedArrivals(alike(shedJobs, 10, 500), shedGap, 1)}
	met, _, err := r.met(t.Context(), []string{"fifo", "hadoop2", "shed"})
	if err != nil {
		t.Fatal(err)
	}
	if !(met[0] < met[1] && met[1] < met[2] && met[2] >= 0.95) {
		t.Errorf("fifo, hadoop2 and shed meet %v", met)
	}
	r.progress, r.workload = sim.Progress{Every: reportGap}, shedArrivals(alike(loadJobs, 10, 500), 10*360/shedSlots/2, 1)
	if met, _, err = r.met(t.Context(), []string{"chronos-resume", "shed", "laxity"}); err != nil {
		t.Fatal(err)
	}
	if met[2] < 0.9 || met[0] > met[2] || met[1] > met[2] {
		t.Errorf("chronos-resume, shed and laxity meet %v", met)
	}
}

// TestShedGrid: half of the quick grid, with every law; there laxity meets most deadlines in every cell, and never more than
// the bound allows.
func TestShedGrid(t *testing.T) {
	x := newShedGrid(&Options{Quick: true, Seed: 1}, 1)
	for c := len(x.cells) - 1; c >= 0; c-- { // of each law every other
		if (c+x.cells[c].law)%2 == 1 {
			x.cells, x.met = slices.Delete(x.cells, c, c+1), slices.Delete(x.met, c, c+1)
		}
	}
	o := Options{Workers: 2}
	if err := o.each(t.Context(), x.steps()); err != nil {
		t.Fatal(err)
	}
	s := x.section()
	if table := s.Tables[0]; len(table.Rows) != 4*len(x.laws) || len(table.Columns) != len(table.Rows[0]) {
		t.Errorf("%+v", table)
	}
	for c := range x.cells {
		last := len(gridOf) - 1
		if gain := x.gain(c); gain.Mean < -gridShort {
			t.Errorf("%+v: laxity meets %.3f fewer than the best of the others: %v", x.cells[c], -gain.Mean, x.met[c])
		}
		for _, met := range x.met[c] {
			if met[last] > met[last+1]+1e-3 {
				t.Errorf("%+v: %v, above the bound", x.cells[c], met)
			}
		}
	}
}
