package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// settleWhereabouts settles what a job file says of the job's data. Errors are about its fields.
func (e *Engine) settleWhereabouts() error {
	w, r := e.o.Whereabouts, e.sites
	if w == nil {
		return nil
	}
	named := "data"
	if len(w.Datasets) > 0 {
		named = "datasets"
	}
	switch {
	case r == nil:
		return grammar.Wrong(named, errors.New("expected sites for it: add the field cluster, or --cluster or --site"))
	case len(e.o.Data) > 0:
		return errors.New("--data: the job file says what is at which site; remove one of them")
	}
	e.Request.Whereabouts = w
	for i := range w.Datasets {
		if err := r.addDataset(fmt.Sprintf("datasets[%d]", i), &w.Datasets[i]); err != nil {
			return err
		}
	}
	for i, s := range w.Data {
		at, err := r.site(fmt.Sprintf("data[%d].site", i), s.Site)
		if err != nil {
			return err
		}
		d := siteData{site: at, path: s.Path, dataset: w.Dataset(s.Dataset), field: fmt.Sprintf("data[%d].path", i)}
		if err := r.addData(d); err != nil {
			return grammar.Wrong(d.field, err)
		}
	}
	for i, st := range w.Stages {
		for k, s := range st.Data {
			if _, err := r.site(fmt.Sprintf("stages[%d].data[%d].site", i, k), s.Site); err != nil {
				return err
			}
		}
	}
	return nil
}

// site returns the site of a name that a field of the job file gives.
func (r *runSites) site(field, name string) (sched.SiteID, error) {
	if k := r.named(name); k >= 0 {
		return sched.SiteID(k), nil
	}
	return 0, grammar.Wrong(field, fmt.Errorf("expected the name of a site, not %q; %s has %s", name, r.Name, strings.Join(r.Network.Names, ", ")))
}

// addDataset adds a dataset of the job, which a field of the job file gives.
func (r *runSites) addDataset(field string, d *jobfile.Dataset) error {
	for _, of := range []struct {
		list  string
		sites []string
	}{{"allow", d.Allow}, {"deny", d.Deny}} {
		for k, name := range of.sites {
			if _, err := r.site(fmt.Sprintf("%s.%s[%d]", field, of.list, k), name); err != nil {
				return err
			}
		}
	}
	x := sched.Dataset{Name: d.Name}
	for k := range r.Sites {
		if d.May(r.Sites[k].Name) {
			x.Sites = append(x.Sites, sched.SiteID(k))
		}
	}
	r.datasets = append(r.datasets, x)
	return nil
}

// confine refuses a policy that does not choose sites where the job has datasets.
func (e *Engine) confine() error {
	if e.sites == nil || len(e.sites.datasets) == 0 {
		return nil
	}
	p, err := policy.New(e.Policy, 0)
	if err == nil && !sched.Confines(p) {
		err = policy.Unconfined(e.o.Policy, "the job")
	}
	if err != nil {
		return grammar.Wrong("policy", err)
	}
	return nil
}

// placeStages says what the tasks of an array read, and of which datasets that is.
func (r *runSites) placeStages(spec *sched.JobSpec, w *jobfile.Whereabouts) {
	spec.Datasets = r.datasets
	for i := range w.Stages {
		st := &spec.Stages[i]
		var reads []sched.Source
		var of []uint32
		for _, s := range w.Stages[i].Data {
			reads = append(reads, sched.Source{Site: sched.SiteID(r.named(s.Site)), Bytes: s.Bytes})
			if d := w.Dataset(s.Dataset); d >= 0 {
				of = append(of, uint32(d))
			}
		}
		if len(reads) > 0 {
			st.Inputs = [][]sched.Source{reads}
		}
		if len(of) > 0 {
			st.Datasets = [][]uint32{of}
		}
		st.Releases = r.released(w, i)
	}
}

// released are the datasets that the results of a stage no longer hold.
func (r *runSites) released(w *jobfile.Whereabouts, stage int) (all []uint32) {
	if w == nil || stage >= len(w.Stages) {
		return nil
	}
	for _, name := range w.Stages[stage].Releases {
		all = append(all, uint32(w.Dataset(name)))
	}
	return all
}

// datasetsOf returns the datasets that a file is of, ascending. It is of all that it lies in: a part of a dataset, at a
// path of its own, does not become free.
func datasetsOf(data []siteData, file string) (all []uint32) {
	for i := range data {
		if d := &data[i]; d.dataset >= 0 && d.holds(file) {
			all = append(all, uint32(d.dataset))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// apart tells whether two files of the input are to be read by different tasks: they are of different datasets, and a
// task that held both could run only where both may be. Nil if the job has no datasets.
func (r *runSites) apart(ctx context.Context) (func(a, b mapreduce.File) bool, error) {
	if r == nil || len(r.datasets) == 0 {
		return nil, nil
	}
	data, err := r.dataFound(ctx)
	if err != nil {
		return nil, err
	}
	return func(a, b mapreduce.File) bool {
		return !slices.Equal(datasetsOf(data, string(a.Path)), datasetsOf(data, string(b.Path)))
	}, nil
}

// checkSite finds data that is where it may not be: a file of these datasets at a site.
func (r *runSites) checkSite(of []uint32, at sched.SiteID, file string) error {
	for _, d := range of {
		if x := &r.datasets[d]; !slices.Contains(x.Sites, at) {
			return grammar.Wrong("data", fmt.Errorf("%s is of dataset %q and at %s, where it may not be", file, x.Name, r.Sites[at].Name))
		}
	}
	return nil
}

// checkTasks finds tasks that may run nowhere.
func checkTasks(spec *sched.JobSpec) error {
	if len(spec.Datasets) == 0 {
		return nil
	}
	if err := spec.Validate(); err != nil {
		return grammar.Wrong("datasets", fmt.Errorf("%w; a stage whose results no longer hold a dataset can say so: releases", err))
	}
	return nil
}

// wrongData is an error about what is at a site: of the flag --data, or a field of the job file.
func (r *runSites) wrongData(d *siteData, err error) error {
	if d.field != "" {
		return grammar.Wrong(d.field, fmt.Errorf("%s: %w", d.path, err))
	}
	return fmt.Errorf("--data %s=%s: %w", r.Sites[d.site].Name, d.path, err)
}
