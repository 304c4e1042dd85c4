package policy

// Flutter: Hu, Li, Luo, "Flutter: Scheduling Tasks Closer to Data Across Geo-Distributed Datacenters", INFOCOM 2016.
//
//	i, j     tasks of a job that have become runnable together, sites
//	f_j      Sites.FreeSlots
//	t_ij     time of fetching from all sources at once + p E[s_j], see linkwatch.go and sitewatch.go
//
//	lexicographic min-max of t_ij x_ij: each task at one site, no more tasks at a site than slots are free there
//
// The first two levels are solved exactly: the least time of the slowest task, and under that the least sum
// (transport.go); they decide when a stage ends and how soon its slots are free again. Tasks of a stage that read the
// same are one group. If there are more tasks than free slots, those that read most go first and the others wait.
// Between jobs Flutter says nothing: order, fair by default; a job that is served is served as a whole.

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

var flutterEntry = Entry{
	Name:           "flutter",
	Summary:        "tasks that become runnable together at the sites where the slowest of them is done first; no clones",
	Needs:          Needs{Sites: true, Lacking: fifoAlone},
	Source:         "Hu, Li, Luo, INFOCOM 2016",
	Params:         append([]Param{orderBy("fair")}, watchParams...),
	WorkConserving: true,
	New: func(a Args) sched.Policy {
		return &plain{jobOrder{ranking: ranked(a), siting: &siting{by: newFlutter(newSiteWatch(a)), stays: true}}}
	},
}

type flutter struct {
	watch   *siteWatch
	batch   batch
	problem transport
	fetch   fetchTimes
}

func newFlutter(w *siteWatch) *flutter { return &flutter{watch: w} }

func (p *flutter) observe(v *sched.View, ev *sched.Event) {
	p.watch.observe(v, ev)
	p.batch.observe(v, ev)
}

func (p *flutter) wake() sched.Time { return sched.Never }

func (p *flutter) plan(v *sched.View, j sched.JobID, to []placement) []placement {
	p.watch.refresh(v)
	p.batch.empty()
	job := v.Job(j)
	for s, ok := v.WaitingStage(job.FirstStage); ok && s < job.FirstStage+sched.StageID(job.Stages); s, ok = v.WaitingStage(s + 1) {
		p.batch.gather(v, s, v.FreeSlots())
	}
	p.batch.cut(v.FreeSlots())
	p.pose(v)
	p.problem.solve()
	return p.answer(to)
}

// cut keeps n tasks: those that read most.
func (b *batch) cut(n int) {
	if len(b.tasks) <= n {
		return
	}
	slices.SortFunc(b.tasks, func(x, y batched) int { return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.id, y.id)) })
	b.tasks = b.tasks[:n]
}

// pose writes the problem down: the tasks sorted into groups.
func (p *flutter) pose(v *sched.View) {
	b, x := &p.batch, &p.problem
	slices.SortFunc(b.tasks, func(s, t batched) int { return cmp.Or(b.compare(&s, &t), cmp.Compare(s.id, t.id)) })
	x.reset(v.Sites().Len())
	for k := range x.room {
		x.room[k] = int32(v.Sites().FreeSlots(sched.SiteID(k)))
	}
	for from := 0; from < len(b.tasks); {
		first := &b.tasks[from]
		to := from + 1
		for to < len(b.tasks) && b.compare(first, &b.tasks[to]) == 0 {
			to++
		}
		stage := v.Stage(first.stage)
		mean, _, _ := stage.Estimate() // 0 where nothing is known: then fetching alone counts
		fetch := p.watch.links.fetch(&p.fetch, v, b.of(first))
		for k, costs := 0, x.group(int32(to-from)); k < x.sites; k++ {
			costs[k] = mean*p.watch.laws[k].mean + fetch[k]
		}
		from = to
	}
}

// compare sorts tasks by stage and by what they read.
func (b *batch) compare(x, y *batched) int {
	if c := cmp.Compare(x.stage, y.stage); c != 0 {
		return c
	}
	return slices.CompareFunc(b.of(x), b.of(y), func(s, t sched.Source) int { return cmp.Or(cmp.Compare(s.Site, t.Site), cmp.Compare(s.Bytes, t.Bytes)) })
}

// answer reads the solution: tasks of a group are alike, so the first go to the first sites.
func (p *flutter) answer(to []placement) []placement {
	x, i := &p.problem, 0
	for g := range x.supply {
		for k := range x.sites {
			for range x.sent[g*x.sites+k] {
				to = append(to, placement{p.batch.tasks[i].id, sched.SiteID(k)})
				i++
			}
		}
	}
	return to
}
