package jobfile

import "slices"

// Whereabouts says where the data of a job is and where it may be, in the words of workload files
// (docs/reference/workloads.md). It is about runs on several sites. Sites are names: a job file does not know which
// there are.
type Whereabouts struct {
	Datasets []Dataset      `json:"datasets,omitempty"` // names are unique
	Data     []Source       `json:"data,omitempty"`     // parts of the input of map/reduce work
	Stages   []StageData    `json:"stages,omitempty"`   // one for each stage of an array; of other work for its first
	lines    map[string]int // of fields, by their place in the file
}

// Dataset is data that may not be everywhere: Allow, Deny or both are given.
type Dataset struct {
	Name  string   `json:"name"`
	Allow []string `json:"allow,omitempty"` // the only sites where it may be; none for all
	Deny  []string `json:"deny,omitempty"`  // sites where it may not be
}

// May tells whether the dataset may be at a site.
func (d *Dataset) May(site string) bool {
	return (len(d.Allow) == 0 || slices.Contains(d.Allow, site)) && !slices.Contains(d.Deny, site)
}

// Source is data at a site: a part of a job's input, or what each task of a stage reads.
type Source struct {
	Site    string `json:"site"`
	Path    string `json:"path,omitempty"`    // of input: absolute; a file, all below a folder, or a pattern
	Bytes   int64  `json:"bytes,omitempty"`   // that each task of a stage reads, at least 0
	Dataset string `json:"dataset,omitempty"` // that it is of; "" for none
}

// StageData is what a stage reads that is there before the job, and whose data its results no longer hold.
type StageData struct {
	Data     []Source `json:"data,omitempty"`
	Releases []string `json:"releases,omitempty"` // names of datasets
}

// Dataset returns the index of the dataset of a name, -1 if there is none.
func (w *Whereabouts) Dataset(name string) int {
	return slices.IndexFunc(w.Datasets, func(d Dataset) bool { return d.Name == name })
}

// none tells whether nothing is said of data.
func (w *Whereabouts) none() bool {
	return len(w.Datasets) == 0 && len(w.Data) == 0 && !slices.ContainsFunc(w.Stages, func(s StageData) bool { return len(s.Data)+len(s.Releases) > 0 })
}
