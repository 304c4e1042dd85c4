package sched

import (
	"fmt"
	"math"
)

// Source is data at a site that a task reads.
type Source struct {
	Site  SiteID
	Bytes int64
}

// reads is what the tasks of a stage read, site by site. Lists of sources grow as the tasks before finish, in room that
// was made for them at Submit.
type reads struct {
	shared sources // what every task of the stage reads
	own    int32   // lists[own+i] is what task i alone reads beside that; -1 if there is nothing of the kind
}

// sources is the list links.sources[base : base+n], in ascending order of sites, each site once, bytes positive. It has
// room for most.
type sources struct{ base, n, most uint32 }

// addReads stores where the inputs of a new job are, and makes room for the results that its tasks will read of each
// other. Jobs that say nothing of bytes cost nothing.
func (v *View) addReads(l *links, base StageID, spec *JobSpec) {
	for i := range spec.Stages {
		if !spec.reads(i) {
			continue
		}
		st, in := &spec.Stages[i], l.readsOf(i)
		v.stage(base + StageID(i)).Reads = true
		var own []int // origins of what each task alone reads
		shared := 0
		if len(st.Inputs) == 1 {
			shared = len(st.Inputs[0])
		}
		if spec.readsOfItsOwn(i) {
			own = make([]int, st.Tasks)
			for k, list := range st.Inputs {
				if len(st.Inputs) > 1 {
					own[k] = len(list)
				}
			}
		}
		for k := range spec.Edges {
			if e := &spec.Edges[k]; e.To == i && e.carries() {
				v.stage(base + StageID(e.From)).feeds = true
				if e.Kind == Barrier {
					shared += spec.Stages[e.From].Tasks
				} else {
					e.count(own)
				}
			}
		}
		in.shared = v.room(l, shared)
		if in.own = -1; len(own) > 0 {
			in.own = int32(len(l.lists))
			for _, n := range own {
				l.lists = append(l.lists, v.room(l, n))
			}
		}
		l.addInputs(in, st)
	}
}

// readsOf returns what the tasks of a stage of the job read.
func (l *links) readsOf(stage int) *reads {
	for len(l.reads) <= stage {
		l.reads = append(l.reads, reads{own: -1})
	}
	return &l.reads[stage]
}

// reads tells whether tasks of stage i read anything that is somewhere.
func (s *JobSpec) reads(i int) bool {
	if len(s.Stages[i].Inputs) > 0 {
		return true
	}
	for k := range s.Edges {
		if s.Edges[k].To == i && s.Edges[k].carries() {
			return true
		}
	}
	return false
}

// readsOfItsOwn tells whether a task of stage i may read what others of the stage do not.
func (s *JobSpec) readsOfItsOwn(i int) bool {
	if len(s.Stages[i].Inputs) > 1 {
		return true
	}
	for k := range s.Edges {
		if e := &s.Edges[k]; e.To == i && e.carries() && e.Kind != Barrier {
			return true
		}
	}
	return false
}

// count adds to each task of the later stage how many tasks of the earlier one it reads from.
func (e *Edge) count(own []int) {
	if e.Kind == Pointwise {
		for i := range own {
			own[i]++
		}
	}
	for _, p := range e.Pairs {
		own[p[1]]++
	}
}

// room makes room for sources of n origins: there are no more sites than these, or than the network has.
func (v *View) room(links *links, n int) sources {
	if v.network != nil {
		n = min(n, v.network.Sites())
	}
	l := sources{base: uint32(len(links.sources)), most: uint32(n)}
	for range n {
		links.sources = append(links.sources, Source{})
	}
	return l
}

func (l *links) addInputs(in *reads, st *StageSpec) {
	if len(st.Inputs) == 1 {
		for _, x := range st.Inputs[0] {
			l.put(&in.shared, x.Site, x.Bytes)
		}
		return
	}
	for i, list := range st.Inputs {
		for _, x := range list {
			l.put(&l.lists[int(in.own)+i], x.Site, x.Bytes)
		}
	}
}

// put adds bytes at a site to a list of sources.
func (in *links) put(l *sources, s SiteID, bytes int64) {
	if bytes == 0 {
		return
	}
	all := in.sources[l.base : l.base+l.most]
	i := l.n
	for i > 0 && all[i-1].Site >= s {
		i--
	}
	if i < l.n && all[i].Site == s {
		all[i].Bytes = plus(all[i].Bytes, bytes)
		return
	}
	copy(all[i+1:l.n+1], all[i:l.n])
	all[i] = Source{s, bytes}
	l.n++
}

// plus adds numbers of at least 0; what is beyond the range stays at its end.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// produce puts the result of task t of stage s, which is at a site from now on, into the sources of those who read it.
// Over edges that are measured, each reads so many bytes.
func (v *View) produce(s StageID, t TaskID, at SiteID, measured int64) {
	st := v.stage(s)
	i := uint32(t - st.First)
	l := *v.links.Of(st.Job)
	for k := st.edgeFirst; k < st.edgeFirst+st.edgeCount; k++ {
		e := &l.edges[k]
		if e.bytes < 0 && !e.measured {
			continue
		}
		bytes := func(k uint32) int64 {
			if e.measured {
				return measured
			}
			return l.bytes[uint32(e.bytes)+k]
		}
		switch to := &l.reads[v.stage(e.to).Index]; e.kind {
		case Barrier:
			l.put(&to.shared, at, bytes(i))
		case Pointwise:
			l.put(&l.lists[uint32(to.own)+i], at, bytes(i))
		case PerTask:
			heads := l.heads[e.base:]
			for n := heads[i]; n < heads[i+1]; n++ {
				reader := uint32(l.tails[n] - v.stage(e.to).First)
				l.put(&l.lists[uint32(to.own)+reader], at, bytes(n-heads[0]))
			}
		}
	}
}

// AppendSources appends where the data is that a task reads: its inputs, and the results so far of the tasks that it
// waits for. They are complete once the task is pending. Sites ascend, each is there once, with the bytes of all that
// the task reads there, which are positive; a task that reads nothing, or nobody said what, has no sources. It
// allocates nothing if buf has room, in which case a reader passes his buffer as buf[:0].
func (at *Sites) AppendSources(buf []Source, t TaskID) []Source {
	v := (*View)(at)
	task := v.tasks.look(t)
	if task.State == TaskGone {
		return buf
	}
	st := v.stage(task.Stage)
	if !st.Reads {
		return buf
	}
	all := *v.links.Of(st.Job)
	in := &all.reads[st.Index]
	a := all.sources[in.shared.base : in.shared.base+in.shared.n]
	if in.own < 0 {
		return append(buf, a...)
	}
	l := all.lists[in.own+int32(t-st.First)]
	b := all.sources[l.base : l.base+l.n]
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.Site < y.Site:
			buf, a = append(buf, x), a[1:]
		case y.Site < x.Site:
			buf, b = append(buf, y), b[1:]
		default:
			buf, a, b = append(buf, Source{x.Site, plus(x.Bytes, y.Bytes)}), a[1:], b[1:]
		}
	}
	return append(append(buf, a...), b...)
}

// Carries returns how many bytes the tasks of one stage read of the results of another in all: those that edges state,
// and over a measured edge those that the results so far promise, 0 while there is none.
func (at *Sites) Carries(from, to StageID) (bytes float64) {
	v := (*View)(at)
	st := v.stages.look(from)
	for _, e := range v.edgesOf(st) {
		switch {
		case e.to != to:
		case !e.measured:
			bytes += e.total
		case st.Done > 0:
			bytes += float64(st.told) / float64(st.Done) * e.total
		}
	}
	return bytes
}

// Foretold returns how many bytes the tasks of one stage will read of the results of another in all, as the results so
// far let expect: as much of each of the others as of the mean one. It asks AttemptDone alone and no edge. ok is false
// until a result is known to hold something; a result of which nobody said it counts as empty.
func (at *Sites) Foretold(from, to StageID) (bytes float64, ok bool) {
	v := (*View)(at)
	st := v.stages.look(from)
	if st.told == 0 || st.tellers == 0 {
		return 0, false
	}
	for _, e := range v.edgesOf(st) {
		if e.to == to {
			bytes += e.reads(*v.links.Of(st.Job), st, v.stage(to))
		}
	}
	return bytes * float64(st.told) / float64(st.tellers), bytes > 0
}

// reads returns how often a task reads a result over the edge.
func (e *edge) reads(l *links, from, to *Stage) float64 {
	switch e.kind {
	case Barrier:
		return float64(from.Tasks) * float64(to.Tasks)
	case PerTask:
		return float64(l.heads[e.base+from.Tasks] - l.heads[e.base])
	default:
		return float64(from.Tasks)
	}
}

func (s *JobSpec) validateInputs(i int) error {
	st := &s.Stages[i]
	if n := len(st.Inputs); n > 1 && n != st.Tasks {
		return fmt.Errorf("stages[%d].inputs: %d lists are neither one for all nor one for each of %d tasks", i, n, st.Tasks)
	}
	for k, list := range st.Inputs {
		for _, x := range list {
			if x.Bytes < 0 || x.Site >= maxSites {
				return fmt.Errorf("stages[%d].inputs[%d]: %d bytes at site %d: bytes are at least 0, sites below %d", i, k, x.Bytes, x.Site, maxSites)
			}
		}
	}
	return nil
}

// validateBytes checks an edge whose stages and pairs make sense.
func (e *Edge) validateBytes(from int) error {
	each, of := from, "tasks"
	if e.Kind == PerTask {
		each, of = len(e.Pairs), "pairs"
	}
	if n := len(e.Bytes); n > 1 && n != each {
		return fmt.Errorf("%d -> %d: %d numbers of bytes are neither one for all nor one for each of %d %s", e.From, e.To, n, each, of)
	}
	if e.Measured && len(e.Bytes) > 0 {
		return fmt.Errorf("%d -> %d: a measured edge has no numbers of bytes before the run, not %d", e.From, e.To, len(e.Bytes))
	}
	for _, b := range e.Bytes {
		if b < 0 {
			return fmt.Errorf("%d -> %d: a task cannot read %d bytes", e.From, e.To, b)
		}
	}
	return nil
}

// reach checks that inputs are at sites of the network, if there is one.
func (v *View) reach(spec *JobSpec) error {
	if v.network == nil {
		return nil
	}
	for i := range spec.Stages {
		for k, list := range spec.Stages[i].Inputs {
			for _, x := range list {
				if int(x.Site) >= v.network.Sites() {
					return fmt.Errorf("stages[%d].inputs[%d]: there is no site %d, they are numbered 0 to %d", i, k, x.Site, v.network.Sites()-1)
				}
			}
		}
	}
	return nil
}
