package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// runSites is the sites of a run. All are this machine: what is emulated is that some are slow and that data takes time
// between them. Nil stands for a run in one place.
type runSites struct {
	*sim.Cluster
	data     []siteData
	datasets []sched.Dataset // of the job, see jobfile.Whereabouts
}

// siteData is input at a site: a file, or all below a folder.
type siteData struct {
	site    sched.SiteID
	path    string // absolute; may be a pattern
	given   int    // of what is found of a pattern, the index of the pattern
	dataset int    // that it is of, an index of datasets; -1 for none
	field   string // of the job file, "" for --data
}

// holds tells whether a file is a part of the data.
func (d *siteData) holds(file string) bool {
	return file == d.path || strings.HasPrefix(file, strings.TrimSuffix(d.path, string(filepath.Separator))+string(filepath.Separator))
}

// named returns the index of the site of a name, -1 if there is none.
func (r *runSites) named(name string) int {
	return slices.IndexFunc(r.Sites, func(s sim.Site) bool { return s.Name == name })
}

// machines returns the machines of the run, one after the other as the sites have them.
func (r *runSites) machines(slots int) (all []trace.JournalMachine) {
	if r == nil {
		return []trace.JournalMachine{{Name: "local", Slots: slots}}
	}
	for k := range r.Sites {
		s := &r.Sites[k]
		for i := range s.Machines {
			name := s.Name
			if s.Machines > 1 {
				name += "/" + strconv.Itoa(i)
			}
			all = append(all, trace.JournalMachine{Name: name, Site: sched.SiteID(k), Slots: s.Slots})
		}
	}
	return all
}

func (r *runSites) network() *sched.Network {
	if r == nil {
		return nil
	}
	return r.Network
}

// seat gives a core the machines of the run, and returns the facts that they are there.
func (e *Engine) seat(core *sched.Core) (facts []sched.Event, err error) {
	if r := e.sites; r != nil {
		if err := core.Connect(r.Network); err != nil {
			return nil, err
		}
	}
	for _, m := range e.machines() {
		id, err := core.AddMachineOf(m.Class, m.Site, m.Slots)
		if err != nil {
			return nil, err
		}
		facts = append(facts, sched.Event{Kind: sched.MachineJoined, Machine: id})
	}
	return facts, nil
}

// where says at which site a machine is, for a list of launches.
func (r *runSites) where(m sched.MachineID) string {
	if r == nil {
		return ""
	}
	return " at " + r.Sites[r.machines(0)[m].Site].Name
}

// place says where the input of a job is and may be, and that what tasks read of each other is known when it is there.
func (r *runSites) place(ctx context.Context, p *jobfile.Plan, w *jobfile.Whereabouts, seed uint64) (err error) {
	if r == nil {
		return nil
	}
	for i := range p.Spec.Edges {
		p.Spec.Edges[i].Measured = true
	}
	switch mr := p.Work.MapReduce; {
	case mr != nil:
		err = r.placeSplits(ctx, &p.Spec, mr.Stages[0].Splits, seed)
		p.Spec.Stages[0].Releases = r.released(w, 0)
	case w != nil:
		r.placeStages(&p.Spec, w)
	}
	if err != nil {
		return err
	}
	return checkTasks(&p.Spec)
}

// placeSplits says where the splits of the input are, and of which datasets.
func (r *runSites) placeSplits(ctx context.Context, spec *sched.JobSpec, splits []mapreduce.Split, seed uint64) error {
	data, err := r.dataFound(ctx)
	if err != nil {
		return err
	}
	st := &spec.Stages[0]
	found := make([]bool, len(r.data))
	for i, split := range splits {
		drawn := sched.SiteID(rand.New(rand.NewPCG(seed, uint64(i))).IntN(len(r.Sites)))
		var reads []sched.Source
		var of []uint32
		for _, part := range split {
			at, file := drawn, string(part.File.Path)
			if d := dataOf(data, file); d >= 0 {
				at, found[data[d].given] = data[d].site, true
			}
			if of = datasetsOf(data, file); len(of) > 0 { // the same for all parts, see apart
				if err := r.checkSite(of, at, file); err != nil {
					return err
				}
			}
			reads = append(reads, sched.Source{Site: at, Bytes: part.Length})
		}
		st.Inputs = append(st.Inputs, reads)
		if len(r.datasets) > 0 {
			st.Datasets = append(st.Datasets, of)
		}
	}
	for d, ok := range found {
		if !ok {
			return r.wrongData(&r.data[d], errors.New("no input of the job is there"))
		}
	}
	spec.Datasets = r.datasets
	return nil
}

// dataFound returns what the data's paths name, which may be patterns.
func (r *runSites) dataFound(ctx context.Context) (all []siteData, err error) {
	for i, d := range r.data {
		paths, err := mapreduce.Glob(ctx, d.path)
		if err != nil {
			return nil, r.wrongData(&d, err)
		}
		for _, path := range paths {
			d.path, d.given = path, i
			all = append(all, d)
		}
	}
	return all, nil
}

// dataOf returns the index of the data that a file is part of: of several that of the longest path; -1 for none.
func dataOf(data []siteData, file string) int {
	best := -1
	for i := range data {
		if d := &data[i]; d.holds(file) && (best < 0 || len(d.path) > len(data[best].path)) {
			best = i
		}
	}
	return best
}

// slower returns how many times longer attempts compute where they are: their slowdown over the speed of their machine,
// as a simulation of the same cluster draws them; at least 1.
func (r *runSites) slower(h *trace.JournalHeader) func(live.Attempt) float64 {
	if r == nil {
		return nil
	}
	return func(a live.Attempt) float64 {
		site, task := h.Machines[a.Machine].Site, a.Index
		for _, st := range h.Job.Stages[:a.Stage] {
			task += st.Tasks
		}
		factor := r.SlowdownOf(site, h.Seed, 0, uint32(task), uint32(a.Number)) / r.SpeedOf(site, a.Machine, h.Seed)
		if math.IsNaN(factor) {
			return 1
		}
		return min(max(factor, 1), 1/leastSpeed)
	}
}

// siteTable is a line for each site.
func siteTable(sites []live.SiteSummary) string {
	header := []any{"site", "slots", "tasks", "busy seconds", "fetched"}
	priced := slices.ContainsFunc(sites, func(s live.SiteSummary) bool { return s.Money > 0 })
	if priced {
		header = append(header, "money")
	}
	t := show.NewTable(header...)
	t.AlignRight(2, len(header))
	for _, s := range sites {
		row := []any{s.Name, s.Slots, s.Tasks, fmt.Sprintf("%.2f", s.Seconds), show.Bytes(s.Bytes)}
		if priced {
			row = append(row, fmt.Sprintf("%.6f", s.Money))
		}
		t.Row(row...)
	}
	return t.String()
}
