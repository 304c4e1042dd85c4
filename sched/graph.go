package sched

// edge is an outgoing edge of a stage.
type edge struct {
	to StageID
	// index in View.bytes of what is read of the results, one number per task of the earlier stage or per pair in order
	// of tails; -1 for nothing
	bytes int32
	kind  EdgeKind

	measured bool   // what is read of a result is known when it is there
	base     uint32 // PerTask: heads[base+i : base+i+1] bounds the successors of task i in tails
}

// addEdges stores the edges of a new job whose first stage is base, in order of the stage they leave, and counts what
// each stage and task waits for.
func (v *View) addEdges(base StageID, spec *JobSpec) {
	for i := range spec.Stages {
		st := v.stage(base + StageID(i))
		st.edgeFirst = uint32(len(v.edges))
		for k := range spec.Edges {
			e := &spec.Edges[k]
			if e.From != i {
				continue
			}
			to := base + StageID(e.To)
			v.edges = append(v.edges, edge{to: to, bytes: v.addBytes(e, st), kind: e.Kind, measured: e.Measured, base: uint32(len(v.heads))})
			switch e.Kind {
			case Barrier:
				v.stage(to).blocked++
			case Pointwise:
				for t := range v.stage(to).Tasks {
					v.task(v.stage(to).First+TaskID(t)).blocked++
				}
			case PerTask:
				v.addPairs(st, v.stage(to), e)
			}
		}
		st.edgeCount = uint32(len(v.edges)) - st.edgeFirst
	}
}

// addPairs stores task-level edges as a compressed sparse row: heads has a start per task of the earlier stage and one
// end, tails the tasks that wait.
func (v *View) addPairs(from, to *Stage, e *Edge) {
	pairs := e.Pairs
	head := len(v.heads)
	for range from.Tasks + 1 {
		v.heads = append(v.heads, 0)
	}
	count := v.heads[head:]
	for _, p := range pairs {
		count[p[0]]++
	}
	sum := uint32(len(v.tails))
	for i := range count {
		count[i], sum = sum, sum+count[i]
	}
	for range pairs {
		v.tails = append(v.tails, 0)
	}
	next := append([]uint32(nil), count...)
	bytes := int64(len(v.bytes)) - int64(sum) // of the first tail, if the edge has any
	for k, p := range pairs {
		t := to.First + TaskID(p[1])
		v.tails[next[p[0]]] = t
		if len(e.Bytes) > 1 {
			v.bytes[bytes+int64(next[p[0]])] = e.Bytes[k]
		}
		next[p[0]]++
		v.task(t).blocked++
	}
}

// addBytes stores what is read of the results of tasks of stage from over an edge, and returns where. Those of pairs
// are put into order later.
func (v *View) addBytes(e *Edge, from *Stage) int32 {
	n := int(from.Tasks)
	if e.Kind == PerTask {
		n = len(e.Pairs)
	}
	switch first := int32(len(v.bytes)); len(e.Bytes) {
	case 0:
		return -1
	case n:
		v.bytes = append(v.bytes, e.Bytes...)
		return first
	default:
		for range n {
			v.bytes = append(v.bytes, e.Bytes[0])
		}
		return first
	}
}

// release tells the tasks that wait for task t of stage s that it is done or not needed.
func (c *Core) release(s StageID, t TaskID) {
	v := &c.view
	st := v.stage(s)
	for k := st.edgeFirst; k < st.edgeFirst+st.edgeCount; k++ {
		e := v.edges[k]
		switch e.kind {
		case Barrier:
		case Pointwise:
			c.unblock(v.stage(e.to).First + (t - st.First))
		case PerTask:
			i := e.base + uint32(t-st.First)
			for _, next := range v.tails[v.heads[i]:v.heads[i+1]] {
				c.unblock(next)
			}
		}
	}
}

func (c *Core) unblock(t TaskID) {
	v := &c.view
	task := v.task(t)
	task.blocked--
	st := v.stage(task.Stage)
	if task.blocked == 0 && task.State == TaskBlocked && st.State == StageOpen {
		if v.enqueue(t) {
			c.observe(Event{Kind: TaskReady, Job: st.Job, Stage: task.Stage, Task: t})
		}
	}
}

// lowerBarriers opens the stages that waited for s alone.
func (c *Core) lowerBarriers(s StageID) {
	v := &c.view
	st := v.stage(s)
	for k := st.edgeFirst; k < st.edgeFirst+st.edgeCount; k++ {
		if e := v.edges[k]; e.kind == Barrier {
			next := v.stage(e.to)
			if next.blocked--; next.blocked == 0 && next.State == StageBlocked {
				c.openStage(e.to)
			}
		}
	}
}
