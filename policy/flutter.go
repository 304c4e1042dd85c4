package policy

// Flutter: Hu, Li, Luo, "Flutter: Scheduling Tasks Closer to Data Across Geo-Distributed Datacenters", INFOCOM 2016.
//
//	i, j     tasks of a job that have become runnable together, sites
//	f_j      Sites.FreeSlots
//	t_ij     time of fetching from all sources at once + p E[s_j], see geo.LinkWatch and geo.SiteWatch; what it costs beside,
//	         see geo.LinkWatch.Toll
//
//	lexicographic min-max of t_ij x_ij: each task at one site, no more tasks at a site than slots are free there
//
// The first two levels are solved exactly: the least time of the slowest task, and under that the least sum
// (geo.Transport); they decide when a stage ends and how soon its slots are free again. Tasks of a stage that read the
// same are one group. If there are more tasks than free slots, those that read most go first and the others wait.
// Where links are shared, a task that would spill waits for a slot at its data if that is sooner: see
// geo.SiteWatch.Goes. Between jobs Flutter says nothing: order, fair by default; a job that is served is served as a
// whole.

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var flutterEntry = kit.Entry{
	Name:           "flutter",
	Family:         kit.Sites,
	Cost:           "of a stage that becomes runnable: a flow between its groups of tasks and the sites",
	Summary:        "place tasks that become runnable together at the sites where the slowest finishes first; no clones",
	Needs:          kit.Needs{Sites: true, Lacking: fifoAlone},
	Source:         "Hu, Li, Luo, INFOCOM 2016",
	Params:         append([]kit.Param{kit.OrderBy("fair")}, geo.WatchParams...),
	WorkConserving: true,
	New: func(a kit.Args) sched.Policy {
		return &plain{kit.NewOrder(a).PlacedBy(newFlutter(geo.NewSiteWatch(a)), true)}
	},
}

type flutter struct {
	watch   *geo.SiteWatch
	batch   geo.Batch
	problem geo.Transport
	fetch   geo.FetchTimes
	kept    []kit.Placement
	ends    []int32 // by group of the problem: the index in the batch behind its tasks
}

func newFlutter(w *geo.SiteWatch) *flutter { return &flutter{watch: w} }

func (p *flutter) Observe(v *sched.View, ev *sched.Event) {
	p.watch.Observe(v, ev)
	p.batch.Observe(v, ev)
}

func (p *flutter) Wake() sched.Time { return sched.Never }

func (p *flutter) Plan(v *sched.View, j sched.JobID, to []kit.Placement) []kit.Placement {
	p.watch.Refresh(v)
	p.watch.Survey(v)
	p.batch.Empty()
	job := v.Job(j)
	for s, ok := v.WaitingStage(job.FirstStage); ok && s < job.FirstStage+sched.StageID(job.Stages); s, ok = v.WaitingStage(s + 1) {
		p.batch.Gather(v, s, v.FreeSlots())
	}
	if !v.Sites().Confined(j) { // else there are no more than can start, or Solve leaves them out
		p.batch.Cut(v.FreeSlots())
	}
	p.pose(v)
	p.problem.Solve()
	from := len(to)
	to = p.answer(to)
	return p.hold(v, to, from)
}

// pose writes the problem down: the tasks sorted into groups.
func (p *flutter) pose(v *sched.View) {
	b, x := &p.batch, &p.problem
	slices.SortFunc(b.Tasks, func(s, t geo.Batched) int { return cmp.Or(b.Compare(&s, &t), cmp.Compare(s.ID, t.ID)) })
	p.ends = p.ends[:0]
	x.Reset(v.Sites().Len())
	for k := range x.Room {
		x.Room[k] = int32(v.Sites().FreeSlots(sched.SiteID(k)))
	}
	for from := 0; from < len(b.Tasks); {
		first := &b.Tasks[from]
		to := from + 1
		for to < len(b.Tasks) && b.Compare(first, &b.Tasks[to]) == 0 {
			to++
		}
		stage := v.Stage(first.Stage)
		mean, _, _ := stage.Estimate() // 0 where nothing is known: then fetching alone counts
		fetch := p.watch.Links.Fetch(&p.fetch, v, b.Of(first))
		costs := x.Group(int32(to - from))
		for k := range costs {
			costs[k] = mean*p.watch.Laws[k].Mean + fetch[k]
		}
		if p.watch.Links.Charges(v, first.ID) {
			for k, e := range costs {
				costs[k] += p.watch.Links.Toll(v, first.ID, b.Of(first), sched.SiteID(k), e)
			}
		}
		p.ends = append(p.ends, int32(to))
		from = to
	}
}

// answer reads the solution: tasks of a group are alike, so the first go to the first sites. It takes those that go
// nowhere out of the batch.
func (p *flutter) answer(to []kit.Placement) []kit.Placement {
	x, i := &p.problem, 0
	kept := p.batch.Tasks[:0]
	for g := range x.Supply {
		for k := range x.Sites {
			for range x.Sent[g*x.Sites+k] {
				to = append(to, kit.Placement{Task: p.batch.Tasks[i].ID, Site: sched.SiteID(k)})
				kept = append(kept, p.batch.Tasks[i])
				i++
			}
		}
		i = int(p.ends[g])
	}
	p.batch.Tasks = kept
	return to
}

// hold takes out of an answer, which begins at an index, the tasks that had better wait for a slot at their data, where
// links are shared. Those that start where they read go before the others.
func (p *flutter) hold(v *sched.View, to []kit.Placement, from int) []kit.Placement {
	if !p.watch.Weighs(v) {
		return to
	}
	p.kept = p.kept[:0]
	for _, away := range []bool{false, true} {
		for i, x := range to[from:] {
			task := &p.batch.Tasks[i]
			stage := v.Stage(task.Stage)
			mean, _, _ := stage.Estimate()
			if (p.batch.At(task, x.Site) == 0) == away && p.watch.Goes(v, x.Task, p.batch.Of(task), mean, x.Site) {
				p.kept = append(p.kept, x)
			}
		}
	}
	return append(to[:from], p.kept...)
}
