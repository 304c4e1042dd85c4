package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// shedReadings is Figure 5's jobs under what the paper leaves open: how long an attempt takes to launch, and what
// policies are told of progress.
type shedReadings struct {
	models []shedModel
	seed   uint64
	met    [][][][]float64 // by model, reading and repetition, then policy
	lost   [][][][]float64 // likewise, the share of jobs that the policy gave up
}

// shedReading is a launch time and what is told of attempts' progress.
type shedReading struct {
	launch   sched.Time
	told     string
	progress sim.Progress
}

var shedReadingsOf = func() (all []shedReading) {
	for _, launch := range []sched.Time{0, 2 * sched.Second, 5 * sched.Second, 10 * sched.Second} {
		all = append(all, shedReading{launch, "exactly", exactly}, shedReading{launch, fmt.Sprintf("every %v", reportGap), sim.Progress{Every: reportGap}})
	}
	wrong := sim.Progress{Every: reportGap, Noise: 0.5}
	return append(all, shedReading{shedLaunch, fmt.Sprintf("every %v, error 50 %%", reportGap), wrong})
}()

func newShedReadings(seed uint64, repeats int) *shedReadings {
	x := &shedReadings{models: []shedModel{pureModel(1.5), contendedModel(1.5)}, seed: seed}
	for range x.models {
		met, lost := make([][][]float64, len(shedReadingsOf)), make([][][]float64, len(shedReadingsOf))
		for r := range met {
			met[r], lost[r] = make([][]float64, repeats), make([][]float64, repeats)
		}
		x.met, x.lost = append(x.met, met), append(x.lost, lost)
	}
	return x
}

func (x *shedReadings) steps() (steps []func(context.Context) error) {
	for m := range x.models {
		for i, reading := range shedReadingsOf {
			for k := range x.met[m][i] {
				steps = append(steps, func(ctx context.Context) (err error) {
					seed := repetition(x.seed, k)
					r := shedRun{
						model: x.models[m], slots: shedSlots, seed: seed, launch: reading.launch, progress: reading.progress,
						workload: shedArrivals(alike(shedJobs, 10, 500), shedGap, seed),
					}
					x.met[m][i][k], x.lost[m][i][k], err = r.met(ctx, shedPolicies[:])
					return err
				})
			}
		}
	}
	return steps
}

func (x *shedReadings) section() report.Section {
	s := report.Section{Title: "What the readings change", Text: []string{
		"The paper takes the launch of an attempt into account and does not print how long it lasts; nor does it state the error of its slaves' reports. Jobs of 10 tasks, deadline 500 s. " +
			"Policies know an attempt's progress exactly from its start, or from reports, or from reports whose remaining time has an error of that standard deviation.",
		gaveUpText,
	}}
	for m, model := range x.models {
		lead := worst{}
		t := report.Table{Name: "readings_" + slug(model.name), Caption: "PoCD: " + model.name, Columns: []string{
			"launch (s)", "progress", "Shed", "±", "Dolly", "±", "Dolly as printed", "±", "Hadoop", "±", "given up by Shed",
		}}
		for i, reading := range shedReadingsOf {
			rows := x.met[m][i]
			row := []any{reading.launch.Seconds(), reading.told}
			for p := range shedPolicies {
				e := column(rows, p)
				row = append(row, e.Mean, e.Half)
				if p > 0 {
					lead.add(difference(rows, 0, rows, p), fmt.Sprintf("launch %v, %s, %s", reading.launch, reading.told, shedNames[p]))
				}
			}
			t.Add(append(row, column(x.lost[m][i], 0).Mean)...)
		}
		s.Tables = append(s.Tables, t)
		s.Claims = append(s.Claims, lead.atLeast(-shedSlack, model.name+": Shed is no worse than Dolly and Hadoop under any reading, within 0.05", "much better"))
	}
	return s
}
