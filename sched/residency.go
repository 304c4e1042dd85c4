package sched

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Data may have to stay at some sites (Dataset). A task may run where all that it holds may be: the datasets that it
// reads, and those that went into the results that it can read. A result holds what its task holds, but for what the
// stage releases. All edges count, whether or not somebody said how many bytes they carry: that nobody said so is no
// reason to believe that nothing was read.
//
// Where tasks may run is found once, when the job is submitted. View.admit checks each launch, so that no policy and no
// driver can break it. A job that has datasets is refused unless the policy chooses sites and asks Sites.Allows first.
//
// See docs/decisions/0095-data-may-have-to-stay.md.

// Dataset is data of a job that may be at some sites only.
type Dataset struct {
	Name  string   `json:"name"`
	Sites []SiteID `json:"sites"` // where it may be, ascending
}

// Confiner is a policy that chooses the site of every attempt, and takes only those that Sites.Allows.
type Confiner interface {
	Policy
	Confines() bool // the answer does not change
}

// Confines tells whether a policy can be trusted with data that may not be everywhere.
func Confines(p Policy) bool {
	q, ok := p.(Confiner)
	return ok && q.Confines()
}

// zone is a set of sites, a bit for each.
type zone []uint64

func (z zone) has(s SiteID) bool { return int(s>>6) < len(z) && z[s>>6]&(1<<(s&63)) != 0 }

// confined is a job some of whose tasks may not run everywhere.
type confined struct {
	// as submitted, for snapshots
	datasets []Dataset
	stages   []held

	first TaskID
	of    []int32 // by task: 0 if it may run everywhere, else 1 + its index in zones
	zones []zone  // all different
}

// held is what a stage's spec says of datasets.
type held struct {
	reads    [][]uint32
	releases []uint32
}

// Allows tells whether attempts of a task may run at a site.
func (at *Sites) Allows(t TaskID, s SiteID) bool { return (*View)(at).allows(t, s) }

func (v *View) allows(t TaskID, s SiteID) bool {
	if v.confined.Len() == 0 {
		return true
	}
	c := v.confinedBy(t)
	if c == nil || c.of[t-c.first] == 0 {
		return true
	}
	return c.zones[c.of[t-c.first]-1].has(s)
}

// Zone tells apart the tasks of a job by where they may run: 0 stands for everywhere. Tasks of a job that have the same
// may run at the same sites.
func (at *Sites) Zone(t TaskID) int32 {
	v := (*View)(at)
	if v.confined.Len() == 0 {
		return 0
	}
	c := v.confinedBy(t)
	if c == nil {
		return 0
	}
	return c.of[t-c.first]
}

// Confined tells whether there are sites at which some tasks of a job may not run.
func (at *Sites) Confined(j JobID) bool { return at.confined.Len() > 0 && at.confined.Get(j) != nil }

func (v *View) confinedBy(t TaskID) *confined {
	task := v.tasks.look(t)
	if task.State == TaskGone {
		return nil
	}
	return v.confined.Get(v.stage(task.Stage).Job)
}

// confine stores where the tasks of a new job may run.
func (v *View) confine(id JobID, first TaskID, spec *JobSpec) {
	if len(spec.Datasets) == 0 {
		return
	}
	c := &confined{first: first}
	for _, d := range spec.Datasets {
		c.datasets = append(c.datasets, Dataset{d.Name, slices.Clone(d.Sites)})
	}
	for i := range spec.Stages {
		st := &spec.Stages[i]
		h := held{releases: slices.Clone(st.Releases)}
		for _, list := range st.Datasets {
			h.reads = append(h.reads, slices.Clone(list))
		}
		c.stages = append(c.stages, h)
	}
	c.of, c.zones, _ = spec.zones() // the spec is valid
	*v.confined.At(id) = c
}

// mayConfine says why a job with datasets cannot be submitted, nil if it can.
func (c *Core) mayConfine(spec *JobSpec) error {
	v := &c.view
	switch {
	case len(spec.Datasets) == 0:
		return nil
	case !Confines(c.policy):
		return fmt.Errorf("datasets: data of the job may not be everywhere, and the policy does not choose sites")
	case v.bounded():
		return fmt.Errorf("datasets: data of the job may not be everywhere, and a bound on waiting (MaxWait) starts tasks anywhere")
	}
	for _, d := range spec.Datasets {
		if s := d.Sites[len(d.Sites)-1]; v.network != nil && int(s) >= v.network.Sites() {
			return fmt.Errorf("datasets: %s: there is no site %d, they are numbered 0 to %d", d.Name, s, v.network.Sites()-1)
		}
	}
	return nil
}

// validateDatasets checks what a job without cycles says of datasets, and that each task has a site.
func (s *JobSpec) validateDatasets() error {
	for i, d := range s.Datasets {
		if len(d.Sites) == 0 || d.Sites[len(d.Sites)-1] >= maxSites {
			return fmt.Errorf("datasets[%d].sites: %d sites, expected at least one, and numbers below %d", i, len(d.Sites), maxSites)
		}
		for k := 1; k < len(d.Sites); k++ {
			if d.Sites[k] <= d.Sites[k-1] {
				return fmt.Errorf("datasets[%d].sites[%d]: expected numbers that ascend, got %d after %d", i, k, d.Sites[k], d.Sites[k-1])
			}
		}
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		if n := len(st.Datasets); n > 1 && n != st.Tasks {
			return fmt.Errorf("stages[%d].datasets: %d lists are neither one for all nor one for each of %d tasks", i, n, st.Tasks)
		}
		for k, list := range st.Datasets {
			for _, d := range list {
				if int(d) >= len(s.Datasets) {
					return fmt.Errorf("stages[%d].datasets[%d]: there is no dataset %d", i, k, d)
				}
			}
		}
		for _, d := range st.Releases {
			if int(d) >= len(s.Datasets) {
				return fmt.Errorf("stages[%d].releases: there is no dataset %d", i, d)
			}
		}
	}
	if len(s.Datasets) == 0 {
		return nil
	}
	_, _, err := s.zones()
	return err
}

// zones finds where each task of a job may run: 0 for everywhere, else 1 and an index of what is returned beside it.
// The job has datasets and is otherwise valid.
func (s *JobSpec) zones() (of []int32, zones []zone, err error) {
	h := newHoldings()
	tasks := s.holds(h)
	of = make([]int32, len(tasks))
	zoneOf := make([]int32, len(h.lists)) // by holding: 1 + index, 0 for not looked up
	index := map[string]int32{}
	stage, first := 0, 0
	for t, x := range tasks {
		for t >= first+s.Stages[stage].Tasks {
			first += s.Stages[stage].Tasks
			stage++
		}
		if x == 0 {
			continue
		}
		if zoneOf[x] == 0 {
			z := s.common(h.lists[x])
			if slices.Max(z) == 0 {
				return nil, nil, fmt.Errorf("stages[%d]: task %d: expected a site where all that it holds may be, %s have none in common", stage, t-first, s.namesOf(h.lists[x]))
			}
			key := string(bytesOf(z))
			if _, known := index[key]; !known {
				zones = append(zones, z)
				index[key] = int32(len(zones))
			}
			zoneOf[x] = index[key]
		}
		of[t] = zoneOf[x]
	}
	return of, zones, nil
}

func bytesOf(z zone) (b []byte) {
	for _, w := range z {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// common returns where several datasets may all be.
func (s *JobSpec) common(list []uint32) zone {
	last := SiteID(0)
	for _, d := range s.Datasets {
		last = max(last, d.Sites[len(d.Sites)-1])
	}
	var all zone
	for _, d := range list {
		z := make(zone, last>>6+1)
		for _, k := range s.Datasets[d].Sites {
			z[k>>6] |= 1 << (k & 63)
		}
		for i := range all {
			z[i] &= all[i]
		}
		all = z
	}
	return all
}

func (s *JobSpec) namesOf(list []uint32) (names string) {
	for i, d := range list {
		if i > 0 {
			names += ", "
		}
		names += s.Datasets[d].Name
	}
	return names
}

// holds returns which set of datasets each task of the job holds, in the order of the stages (Kahn 1962).
func (s *JobSpec) holds(h *holdings) []int32 {
	first, waits := make([]int, len(s.Stages)+1), make([]int, len(s.Stages))
	for i := range s.Stages {
		first[i+1] = first[i] + s.Stages[i].Tasks
	}
	for i := range s.Edges {
		waits[s.Edges[i].To]++
	}
	tasks := make([]int32, first[len(s.Stages)])
	whole := make([]int32, len(s.Stages)) // what all tasks of a stage hold
	var ready []int
	for i, w := range waits {
		if w == 0 {
			ready = append(ready, i)
		}
	}
	for n := 0; n < len(ready); n++ {
		i := ready[n]
		of := tasks[first[i]:first[i+1]]
		s.holdOwn(h, i, of, whole[i])
		for k := range s.Edges {
			e := &s.Edges[k]
			if e.From != i {
				continue
			}
			s.pass(h, e, of, tasks[first[e.To]:first[e.To+1]], &whole[e.To])
			if waits[e.To]--; waits[e.To] == 0 {
				ready = append(ready, e.To)
			}
		}
	}
	return tasks
}

// holdOwn adds to what the tasks of a stage have inherited what they read, and what all of them have inherited.
func (s *JobSpec) holdOwn(h *holdings, stage int, of []int32, whole int32) {
	lists := s.Stages[stage].Datasets
	for t := range of {
		of[t] = h.union(of[t], whole)
		switch {
		case len(lists) == 1:
			of[t] = h.union(of[t], h.id(lists[0]))
		case len(lists) > 1:
			of[t] = h.union(of[t], h.id(lists[t]))
		}
	}
}

// pass hands on over an edge what results hold.
func (s *JobSpec) pass(h *holdings, e *Edge, from, to []int32, whole *int32) {
	released := s.Stages[e.From].Releases
	switch e.Kind {
	case Barrier:
		for _, x := range from {
			*whole = h.union(*whole, h.without(x, released))
		}
	case Pointwise:
		for t, x := range from {
			to[t] = h.union(to[t], h.without(x, released))
		}
	case PerTask:
		for _, p := range e.Pairs {
			to[p[1]] = h.union(to[p[1]], h.without(from[p[0]], released))
		}
	}
}

// holdings gives numbers to sets of datasets; 0 is that of the empty one.
type holdings struct {
	lists  [][]uint32 // ascending
	index  map[string]int32
	unions map[[2]int32]int32
}

func newHoldings() *holdings {
	return &holdings{lists: [][]uint32{nil}, index: map[string]int32{"": 0}, unions: map[[2]int32]int32{}}
}

func (h *holdings) id(list []uint32) int32 {
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	var key []byte
	for _, d := range list {
		key = binary.LittleEndian.AppendUint32(key, d)
	}
	n, known := h.index[string(key)]
	if !known {
		n = int32(len(h.lists))
		h.lists = append(h.lists, list)
		h.index[string(key)] = n
	}
	return n
}

func (h *holdings) union(a, b int32) int32 {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	key := [2]int32{min(a, b), max(a, b)}
	n, known := h.unions[key]
	if !known {
		n = h.id(slices.Concat(h.lists[a], h.lists[b]))
		h.unions[key] = n
	}
	return n
}

func (h *holdings) without(a int32, released []uint32) int32 {
	if a == 0 || len(released) == 0 {
		return a
	}
	left := slices.DeleteFunc(slices.Clone(h.lists[a]), func(d uint32) bool { return slices.Contains(released, d) })
	return h.id(left)
}
