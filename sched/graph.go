package sched

import "iter"

// links are the edges of a job's stages, and what its tasks read. A job of stages that wait for nothing has none.
type links struct {
	edges []edge
	heads []uint32 // see edge.base
	tails []TaskID
	bytes []int64 // that tasks read of each other, see edge.bytes

	reads   []reads // by index of the stage in its job; empty where no task reads
	lists   []sources
	sources []Source
}

// empty takes everything out and keeps the memory.
func (l *links) empty() *links {
	*l = links{l.edges[:0], l.heads[:0], l.tails[:0], l.bytes[:0], l.reads[:0], l.lists[:0], l.sources[:0]}
	return l
}

// mostSpare bounds the memory that links of a retired job keep for the next, in numbers of any one kind.
const mostSpare = 1 << 12

// large tells whether links would keep too much.
func (l *links) large() bool {
	return max(cap(l.edges), cap(l.heads), cap(l.tails), cap(l.bytes), cap(l.reads), cap(l.lists), cap(l.sources)) > mostSpare
}

// connect stores what the stages and tasks of a new job wait for and read.
func (v *View) connect(id JobID, base StageID, spec *JobSpec) {
	if !spec.linked() {
		return
	}
	l := v.linksOf(id)
	v.addEdges(l, base, spec)
	v.addReads(l, base, spec)
}

// linksOf returns the links of a job, which gets some if it has none.
func (v *View) linksOf(j JobID) *links {
	at := v.links.At(j)
	if n := len(v.spareLinks); *at == nil && n > 0 {
		*at = v.spareLinks[n-1]
		v.spareLinks = v.spareLinks[:n-1]
	}
	if *at == nil {
		*at = &links{}
	}
	return *at
}

// linked tells whether a job has links.
func (s *JobSpec) linked() bool {
	if len(s.Edges) > 0 {
		return true
	}
	for i := range s.Stages {
		if len(s.Stages[i].Inputs) > 0 {
			return true
		}
	}
	return false
}

// of returns the outgoing edges of a stage.
func (l *links) of(st *Stage) []edge { return l.edges[st.edgeFirst : st.edgeFirst+st.edgeCount] }

// edgesOf is the same for who needs nothing but them.
func (v *View) edgesOf(st *Stage) []edge {
	if st.edgeCount == 0 {
		return nil
	}
	return (*v.links.Of(st.Job)).of(st)
}

// Successors returns the stages that wait for a stage, or of which tasks wait for its tasks, in order of the job's
// edges. One to which several edges lead comes as often.
func (v *View) Successors(s StageID) iter.Seq[StageID] {
	return func(yield func(StageID) bool) {
		for _, e := range v.edgesOf(v.stages.look(s)) {
			if !yield(e.to) {
				return
			}
		}
	}
}

// edge is an outgoing edge of a stage.
type edge struct {
	to StageID
	// index in links.bytes of what is read of the results, one number per task of the earlier stage or per pair in
	// order of tails; -1 for nothing
	bytes int32
	kind  EdgeKind

	// bytes that are read over it in all; over a measured edge the number of reads
	total float64

	measured bool   // what is read of a result is known when it is there
	base     uint32 // PerTask: heads[base+i : base+i+1] bounds the successors of task i in tails
}

// addEdges stores the edges of a new job whose first stage is base, in order of the stage they leave, and counts what
// each stage and task waits for.
func (v *View) addEdges(l *links, base StageID, spec *JobSpec) {
	for i := range spec.Stages {
		st := v.stage(base + StageID(i))
		st.edgeFirst = uint32(len(l.edges))
		for k := range spec.Edges {
			e := &spec.Edges[k]
			if e.From != i {
				continue
			}
			to := base + StageID(e.To)
			l.edges = append(l.edges, edge{
				to: to, bytes: l.addBytes(e, st), kind: e.Kind, total: e.total(st, v.stage(to)), measured: e.Measured, base: uint32(len(l.heads)),
			})
			switch e.Kind {
			case Barrier:
				v.stage(to).blocked++
			case Pointwise:
				for t := range v.stage(to).Tasks {
					v.task(v.stage(to).First+TaskID(t)).blocked++
				}
			case PerTask:
				v.addPairs(l, st, v.stage(to), e)
			}
		}
		st.edgeCount = uint32(len(l.edges)) - st.edgeFirst
	}
}

// total returns the bytes that are read over an edge in all; the number of reads if it is measured.
func (e *Edge) total(from, to *Stage) (total float64) {
	reads, each := float64(from.Tasks), 1.0
	switch e.Kind {
	case Barrier:
		each = float64(to.Tasks)
	case PerTask:
		reads = float64(len(e.Pairs))
	}
	switch {
	case e.Measured:
		return reads * each
	case len(e.Bytes) == 1:
		return reads * each * float64(e.Bytes[0])
	}
	for _, b := range e.Bytes {
		total += each * float64(b)
	}
	return total
}

// addPairs stores task-level edges as a compressed sparse row: heads has a start per task of the earlier stage and one
// end, tails the tasks that wait.
func (v *View) addPairs(l *links, from, to *Stage, e *Edge) {
	pairs := e.Pairs
	head := len(l.heads)
	for range from.Tasks + 1 {
		l.heads = append(l.heads, 0)
	}
	count := l.heads[head:]
	for _, p := range pairs {
		count[p[0]]++
	}
	sum := uint32(len(l.tails))
	for i := range count {
		count[i], sum = sum, sum+count[i]
	}
	for range pairs {
		l.tails = append(l.tails, 0)
	}
	next := append([]uint32(nil), count...)
	bytes := int64(len(l.bytes)) - int64(sum) // of the first tail, if the edge has any
	for k, p := range pairs {
		t := to.First + TaskID(p[1])
		l.tails[next[p[0]]] = t
		if len(e.Bytes) > 1 {
			l.bytes[bytes+int64(next[p[0]])] = e.Bytes[k]
		}
		next[p[0]]++
		v.task(t).blocked++
	}
}

// addBytes stores what is read of the results of tasks of stage from over an edge, and returns where. Those of pairs
// are put into order later.
func (l *links) addBytes(e *Edge, from *Stage) int32 {
	n := int(from.Tasks)
	if e.Kind == PerTask {
		n = len(e.Pairs)
	}
	switch first := int32(len(l.bytes)); len(e.Bytes) {
	case 0:
		return -1
	case n:
		l.bytes = append(l.bytes, e.Bytes...)
		return first
	default:
		for range n {
			l.bytes = append(l.bytes, e.Bytes[0])
		}
		return first
	}
}

// release tells the tasks that wait for task t of a stage that it is done or not needed.
func (c *Core) release(st *Stage, t TaskID) {
	v := &c.view
	if st.edgeCount == 0 {
		return
	}
	l := *v.links.Of(st.Job)
	for _, e := range l.of(st) {
		switch e.kind {
		case Barrier:
		case Pointwise:
			c.unblock(v.stage(e.to).First + (t - st.First))
		case PerTask:
			i := e.base + uint32(t-st.First)
			for _, next := range l.tails[l.heads[i]:l.heads[i+1]] {
				c.unblock(next)
			}
		}
	}
}

func (c *Core) unblock(t TaskID) {
	v := &c.view
	k := v.kin(t)
	task, st := k.task, k.stage
	task.blocked--
	if task.blocked == 0 && task.State == TaskBlocked && st.State == StageOpen {
		if v.enqueue(t, k) {
			c.observe(Event{Kind: TaskReady, Job: st.Job, Stage: task.Stage, Task: t})
		}
	}
}

// lowerBarriers opens the stages that waited for s alone.
func (c *Core) lowerBarriers(s StageID) {
	v := &c.view
	st := v.stage(s)
	for _, e := range v.edgesOf(st) {
		if e.kind == Barrier {
			next := v.stage(e.to)
			if next.blocked--; next.blocked == 0 && next.State == StageBlocked {
				c.openStage(e.to)
			}
		}
	}
}
