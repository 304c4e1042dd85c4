package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Placement is data that was moved before jobs.
type Placement struct {
	Moves []Move
	Jobs  int         // that something was moved for
	Bytes int64       // of all moves
	Price sched.Money // likewise
}

// Move is the move of what one task reads.
type Move struct {
	Job, Stage, Task int // the job is an index of Workload.Jobs, the stage and task count from its first
	From, To         sched.SiteID
	Bytes            int64
}

// CanPlace tells why data cannot be placed on a cluster: it needs bounds of what leaves and enters sites.
func (c *Cluster) CanPlace() error {
	if n := c.Network; !n.Shared || len(n.Up) == 0 && len(n.Down) == 0 {
		return fmt.Errorf("expected sites with up or down, and links.shared: true, in %s: without them no site is a bottleneck", c.Name)
	}
	return nil
}

// PlaceData returns a copy of a workload whose inputs have been moved to where the transfers of each job are expected
// to take least, within a lag before its arrival: placement.go says how. Moves are in the order in which they were
// decided.
//
// What can move is what a task reads that reads at one named site and nothing else, to sites where its dataset may be.
// It moves for the stages that read bytes of such tasks' results over edges other than [sched.Pointwise], over which a
// task has one result to read and runs there. Jobs must not share stages, as those of [trace.Workload.Resample] do.
func (c *Cluster) PlaceData(w *trace.Workload, lag sched.Time) (*trace.Workload, *Placement, error) {
	if err := c.CanPlace(); err != nil {
		return nil, nil, err
	}
	at, err := c.Locate(w)
	if err != nil {
		return nil, nil, err
	}
	m := mover{}
	for k := range c.Sites {
		up, down := c.ends(k)
		m.up, m.down = append(m.up, up), append(m.down, down)
	}
	var arrivals []sched.Time
	seen := map[uint32]bool{}
	for j := range w.Jobs {
		if first := w.Jobs[j].FirstStage; seen[first] {
			return nil, nil, errors.New("expected jobs with stages of their own")
		} else if seen[first] = true; w.Jobs[j].Stages == 0 {
			delete(seen, first)
		}
		if x := c.dataset(w, j, at); len(x.pieces) > 0 {
			m.sets, arrivals = append(m.sets, x), append(arrivals, x.arrival)
		}
	}
	m.room = newRoom(c.Network, m.up, m.down, lag, arrivals)
	p := &Placement{}
	m.run(func(x *dataset, y *piece, to sched.SiteID) {
		p.Moves = append(p.Moves, Move{x.job, y.stage, y.task, y.at, to, y.bytes})
		p.Bytes += y.bytes
		p.Price += c.Network.Toll(y.at, to, y.bytes)
	})
	moved := slices.Clone(p.Moves)
	slices.SortStableFunc(moved, func(a, b Move) int { return a.Job - b.Job })
	p.Jobs = len(slices.CompactFunc(moved, func(a, b Move) bool { return a.Job == b.Job }))
	return c.moved(w, p.Moves), p, nil
}

// ends returns how many bytes per second leave and enter a site at most: what its bounds and links carry.
func (c *Cluster) ends(k int) (up, down float64) {
	n := c.Network
	for l := range c.Sites {
		if l != k {
			up += n.Bandwidth[k*len(c.Sites)+l]
			down += n.Bandwidth[l*len(c.Sites)+k]
		}
	}
	leaves, enters := n.Ends(sched.SiteID(k))
	return min(up, leaves), min(down, enters)
}

// dataset returns what can move of what a job reads.
func (c *Cluster) dataset(w *trace.Workload, j int, at []sched.SiteID) dataset {
	job, rules := &w.Jobs[j], w.RulesOf(j)
	x := dataset{job: j, arrival: job.Arrival, weight: job.Weight}
	if x.weight == 0 {
		x.weight = 1
	}
	for i, st := range w.StagesOf(j) {
		lists := w.InputsOf(&st)
		if len(lists) == 0 {
			continue
		}
		for t, made := range madeOf(w, j, i) {
			list := min(t, len(lists)-1)
			sources := w.SourcesOf(lists[list])
			if len(sources) != 1 || sources[0].Site == 0 {
				continue
			}
			p := piece{stage: i, task: t, at: at[sources[0].Site], bytes: sources[0].Bytes, made: made}
			if rules != nil {
				p.sites = c.allowed(rules, rules.Of[i][list], at)
			}
			x.pieces = append(x.pieces, p)
		}
	}
	for range w.StagesOf(j) {
		x.data = append(x.data, make([]float64, len(c.Sites)))
	}
	for i := range x.pieces {
		for reader, bytes := range x.pieces[i].made {
			x.data[reader][x.pieces[i].at] += bytes
		}
	}
	return x
}

// madeOf returns, by task of a stage and stage of its job, the bytes that are read of the task's result; nil if none
// are, or the stage's tasks read results themselves.
func madeOf(w *trace.Workload, j, stage int) [][]float64 {
	stages := w.StagesOf(j)
	var made [][]float64
	for _, e := range w.EdgesOf(j) {
		bytes := w.BytesOf(&e)
		if int(e.To) == stage && len(bytes) > 0 {
			return nil
		}
		if int(e.From) != stage || len(bytes) == 0 || e.Kind == sched.Pointwise {
			continue
		}
		if made == nil {
			made = make([][]float64, stages[stage].Tasks)
			for t := range made {
				made[t] = make([]float64, len(stages))
			}
		}
		if e.Kind == sched.PerTask {
			for k, pair := range w.Pairs[e.FirstPair : e.FirstPair+e.Pairs] {
				made[pair[0]][e.To] += float64(bytes[min(k, len(bytes)-1)])
			}
			continue
		}
		for t := range made {
			made[t][e.To] += float64(bytes[min(t, len(bytes)-1)]) * float64(stages[e.To].Tasks)
		}
	}
	return made
}

// allowed returns where data of some datasets may be, each 1 + its index or 0; nil for everywhere.
func (c *Cluster) allowed(rules *trace.Rules, of []uint32, at []sched.SiteID) (sites []bool) {
	for _, d := range of {
		if d == 0 {
			continue
		}
		x := &rules.Datasets[d-1]
		for k := range c.Sites {
			is := func(site uint32) bool { return at[site] == sched.SiteID(k) }
			sites = append(sites, (len(x.Allow) == 0 || slices.ContainsFunc(x.Allow, is)) && !slices.ContainsFunc(x.Deny, is))
		}
	}
	return sites
}

// moved returns a copy of a workload after moves.
func (c *Cluster) moved(w *trace.Workload, moves []Move) *trace.Workload {
	own := *w
	own.Stages, own.Inputs, own.Sources = slices.Clone(w.Stages), slices.Clone(w.Inputs), slices.Clone(w.Sources)
	own.Sites, own.Rules = slices.Clone(w.Sites), slices.Clone(w.Rules)
	index := make([]uint32, len(c.Sites)) // in own.Sites; 0 if it does not name the site
	for i, name := range own.Sites {
		for k := range c.Sites {
			if i > 0 && c.Sites[k].Name == name {
				index[k] = uint32(i)
			}
		}
	}
	spread := map[uint32]bool{} // stages with a list for each task, of their own
	for _, m := range moves {
		if index[m.To] == 0 {
			index[m.To] = uint32(len(own.Sites))
			own.Sites = append(own.Sites, c.Sites[m.To].Name)
		}
		i := own.Jobs[m.Job].FirstStage + uint32(m.Stage)
		if !spread[i] {
			spread[i] = true
			own.Spread(m.Job, m.Stage)
		}
		own.Sources[own.Inputs[own.Stages[i].FirstInput+uint32(m.Task)].First].Site = index[m.To]
	}
	return &own
}
