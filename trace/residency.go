package trace

import (
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Rules say where the data of a job may be.
type Rules struct {
	FirstStage uint32 // of the job: what jobs consist of may be shared, see Resample
	Datasets   []Dataset
	Of         [][][]uint32 // of each source, by stage, list and source: 1 + index of its dataset, 0 for none
	Releases   [][]uint32   // by stage: datasets that its results tell nothing of
}

// Dataset is data that may not be everywhere. Sites are indexes of Workload.Sites.
type Dataset struct {
	Name  string
	Allow []uint32 // the only sites where it may be; empty for all
	Deny  []uint32 // sites where it may not be
}

// RulesOf returns the rules of job j, nil if its data may be everywhere.
func (w *Workload) RulesOf(j int) *Rules {
	first := w.Jobs[j].FirstStage
	i, found := slices.BinarySearchFunc(w.Rules, first, func(r Rules, first uint32) int { return int(int64(r.FirstStage) - int64(first)) })
	if !found {
		return nil
	}
	return &w.Rules[i]
}

// Confine completes the spec of job j, as Spec has made it, by where its data may be on a cluster of so many sites, of
// which at returns the one that stands for an index of Workload.Sites.
func (w *Workload) Confine(j int, spec *sched.JobSpec, sites int, at func(site uint32) sched.SiteID) {
	r := w.RulesOf(j)
	if r == nil {
		return
	}
	for _, d := range r.Datasets {
		x := sched.Dataset{Name: d.Name}
		for k := range sched.SiteID(sites) {
			is := func(site uint32) bool { return at(site) == k }
			if (len(d.Allow) == 0 || slices.ContainsFunc(d.Allow, is)) && !slices.ContainsFunc(d.Deny, is) {
				x.Sites = append(x.Sites, k)
			}
		}
		spec.Datasets = append(spec.Datasets, x)
	}
	for i := range spec.Stages {
		st := &spec.Stages[i]
		st.Releases, st.Datasets = r.Releases[i], nil
		for _, list := range r.Of[i] {
			var reads []uint32
			for _, d := range list {
				if d > 0 {
					reads = append(reads, d-1)
				}
			}
			st.Datasets = append(st.Datasets, reads)
		}
	}
}

// datasetLine is a dataset in the native format.
type datasetLine struct {
	Name  string   `json:"name"`
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// rules reads the datasets of a job, before its stages. The error belongs to the field that is returned.
func (in *reader) rules(l *jobLine) (r *Rules, field string, err error) {
	if len(l.Datasets) == 0 {
		return nil, "", nil
	}
	r = &Rules{FirstStage: uint32(len(in.w.Stages))}
	for i, d := range l.Datasets {
		field = fmt.Sprintf("datasets[%d]", i)
		x := Dataset{Name: d.Name}
		switch {
		case d.Name == "":
			return nil, field + ".name", fmt.Errorf("expected a name")
		case r.index(d.Name) > 0:
			return nil, field + ".name", fmt.Errorf("expected a name of its own, another dataset is called %q", d.Name)
		case len(d.Allow)+len(d.Deny) == 0:
			return nil, field, fmt.Errorf("expected allow, deny or both: lists of sites where %q may be, and may not be", d.Name)
		}
		for _, of := range []struct {
			name  string
			names []string
			to    *[]uint32
		}{{".allow", d.Allow, &x.Allow}, {".deny", d.Deny, &x.Deny}} {
			for k, site := range of.names {
				if site == "" {
					return nil, fmt.Sprintf("%s%s[%d]", field, of.name, k), fmt.Errorf("expected the name of a site")
				}
				*of.to = append(*of.to, in.site(site))
			}
		}
		r.Datasets = append(r.Datasets, x)
	}
	return r, "", nil
}

// index returns 1 + the index of the dataset of a name, 0 if there is none.
func (r *Rules) index(name string) uint32 {
	if r == nil {
		return 0
	}
	return uint32(1 + slices.IndexFunc(r.Datasets, func(d Dataset) bool { return d.Name == name }))
}

// stage reads of which datasets the sources of a stage are, and what its results tell nothing of.
func (r *Rules) stage(s *stageLine) (field string, err error) {
	var of [][]uint32
	for k, list := range s.Inputs {
		var ds []uint32
		for i, x := range list {
			at := fmt.Sprintf("inputs[%d][%d].dataset", k, i)
			d := r.index(x.Dataset)
			switch {
			case x.Dataset == "":
			case d == 0:
				return at, fmt.Errorf("expected the name of one of the job's datasets, got %q", x.Dataset)
			case x.Site == "":
				return at, fmt.Errorf("expected a field site beside it: %q may not be everywhere", x.Dataset)
			}
			ds = append(ds, d)
		}
		of = append(of, ds)
	}
	var releases []uint32
	for k, name := range s.Releases {
		d := r.index(name)
		if d == 0 {
			return fmt.Sprintf("releases[%d]", k), fmt.Errorf("expected the name of one of the job's datasets, got %q", name)
		}
		releases = append(releases, d-1)
	}
	if r != nil {
		r.Of, r.Releases = append(r.Of, of), append(r.Releases, releases)
	}
	return "", nil
}

// addRules adds the rules of a job, all of whose stages are read. Datasets that nothing is of are taken for mistakes,
// and so is data that is where it may not be.
func (in *reader) addRules(r *Rules, l *jobLine) (field string, err error) {
	used := make([]bool, len(r.Datasets))
	for i, st := range l.Stages {
		for k, list := range r.Of[i] {
			for n, d := range list {
				if d == 0 {
					continue
				}
				used[d-1] = true
				if at := st.Inputs[k][n].Site; !l.Datasets[d-1].may(at) {
					return fmt.Sprintf("stages[%d].inputs[%d][%d].site", i, k, n), fmt.Errorf("expected a site where dataset %q may be, got %q", l.Datasets[d-1].Name, at)
				}
			}
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return fmt.Sprintf("datasets[%d]", i), fmt.Errorf("expected an input that names it: no input is of dataset %q", r.Datasets[i].Name)
	}
	in.w.Rules = append(in.w.Rules, *r)
	return "", nil
}

// may tells whether a dataset may be at a site.
func (d *datasetLine) may(site string) bool {
	return (len(d.Allow) == 0 || slices.Contains(d.Allow, site)) && !slices.Contains(d.Deny, site)
}

// writeRules is the inverse of what reads them.
func (w *Workload) writeRules(j int, l *jobLine) {
	r := w.RulesOf(j)
	if r == nil {
		return
	}
	names := func(sites []uint32) (all []string) {
		for _, k := range sites {
			all = append(all, w.Sites[k])
		}
		return all
	}
	for _, d := range r.Datasets {
		l.Datasets = append(l.Datasets, datasetLine{d.Name, names(d.Allow), names(d.Deny)})
	}
	for i := range l.Stages {
		st := &l.Stages[i]
		for k, list := range r.Of[i] {
			for n, d := range list {
				if d > 0 {
					st.Inputs[k][n].Dataset = r.Datasets[d-1].Name
				}
			}
		}
		for _, d := range r.Releases[i] {
			st.Releases = append(st.Releases, r.Datasets[d].Name)
		}
	}
}
