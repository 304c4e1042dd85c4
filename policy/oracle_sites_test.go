package policy

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// Flutter and Iridium say which placements are good, and there may be several. So what they have launched is judged: in
// each decision the jobs are served in their order, each as a whole, and its placement must be as good as the best one
// that a slow search finds.
type siteOracle struct {
	name  string
	specs []string
	judge func(a kit.Args) siteJudge
}

var siteOracles = []siteOracle{
	{"flutter", []string{"flutter", "flutter:order=fifo", "flutter:truth=true,order=srpt", "flutter:prior=(exp:mean=2),memory=20s,weight=1", "flutter:bandwidth=1e6"}, judgeFlutter},
	{"flutter with money", []string{"flutter:money=1000", "flutter:money=1e5,order=fifo", "flutter:money=10,truth=true"}, judgeFlutter},
	{"iridium", []string{"iridium:place=slots", "iridium:place=slots,order=fifo", "iridium:place=slots,truth=true,order=srpt", "iridium:place=slots,memory=20s,weight=1", "iridium:place=slots,bandwidth=1e6"}, judgeIridium},
}

// siteJudge sees all events, and judges the places of a job's tasks; free are the slots that the job could have.
type siteJudge interface {
	Observe(v *sched.View, ev *sched.Event)
	Judge(t *testing.T, v *sched.View, waited []siteTask, free []int)
}

// siteTask is a task that waited, and where it is now.
type siteTask struct {
	id      sched.TaskID
	stage   sched.StageID
	reads   []sched.Source
	started bool
	site    sched.SiteID
}

func (x *siteTask) bytes() (sum float64) {
	for _, s := range x.reads {
		sum += float64(s.Bytes)
	}
	return sum
}

func (x *siteTask) at(k sched.SiteID) float64 {
	for _, s := range x.reads {
		if s.Site == k {
			return float64(s.Bytes)
		}
	}
	return 0
}

// TestSiteOracles is TestOracles for policies that place tasks.
func TestSiteOracles(t *testing.T) {
	t.Parallel()
	for i := range siteOracles {
		o := &siteOracles[i]
		t.Run(o.name, func(t *testing.T) {
			if placed := o.compare(t, 0, 40); placed < 1000 {
				t.Errorf("only %d tasks were placed", placed)
			}
		})
	}
}

func (o *siteOracle) compare(t *testing.T, from, worlds uint64) (placed int) {
	t.Helper()
	for seed := from; seed < from+worlds; seed++ {
		spec := o.specs[seed%uint64(len(o.specs))]
		e, args, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		x := &judged{Policy: e.New(args), judge: o.judge(args), ranking: kit.NewRanking(args), t: t}
		w := policytest.MessySites(t, x, sched.NoLimits(), seed)
		if strings.Contains(spec, "money") {
			w = policytest.MessyPriced(t, x, sched.NoLimits(), seed)
		}
		for range seed / uint64(len(o.specs)) % 2 * 4 { // where slots are many, links decide
			w.Machine(0, 10)
		}
		w.Run()
		if placed += x.placed; t.Failed() {
			t.Fatalf("%s, world %d", spec, seed)
		}
	}
	return placed
}

// judged is a policy whose decisions are judged.
type judged struct {
	sched.Policy
	judge   siteJudge
	ranking kit.Ranking
	t       *testing.T
	placed  int
}

func (p *judged) Observe(v *sched.View, ev *sched.Event) {
	p.Policy.Observe(v, ev)
	p.judge.Observe(v, ev)
	p.ranking.Learn(v, ev)
}

func (p *judged) Decide(v *sched.View, act *sched.Actions) {
	waiting, rows, free := map[sched.JobID][]siteTask{}, map[sched.JobID]*sched.Job{}, make([]int, v.Sites().Len())
	for k := range free {
		free[k] = v.Sites().FreeSlots(sched.SiteID(k))
	}
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if j := v.Rows().JobOf(t); v.Task(t).State == sched.TaskPending && v.Job(j).State == sched.JobActive {
			waiting[j] = append(waiting[j], siteTask{id: t, stage: v.Task(t).Stage, reads: v.Sites().AppendSources(nil, t)})
			row := v.Job(j)
			rows[j] = &row
		}
	}
	p.Policy.Decide(v, act)
	for len(waiting) > 0 && slices.Max(free) > 0 {
		first, found := sched.JobID(0), false
		for j := range waiting {
			c := 0
			if found {
				c = cmp.Or(p.ranking.Standing(v, j, rows[j]).Compare(p.ranking.Standing(v, first, rows[first])), cmp.Compare(j, first))
			}
			if !found || c < 0 {
				first, found = j, true
			}
		}
		p.served(v, waiting[first], free)
		delete(waiting, first)
	}
	for _, tasks := range waiting { // for whom nothing was left
		p.served(v, tasks, free)
	}
}

// served judges the placement of a job, and takes the slots that it got.
func (p *judged) served(v *sched.View, tasks []siteTask, free []int) {
	left, started := slices.Clone(free), 0
	for i := range tasks {
		x := &tasks[i]
		if a, ok := v.FirstAttempt(x.id); ok {
			x.started, x.site = true, v.Machine(v.Attempt(a).Machine).Site
			started++
			left[x.site]--
		}
	}
	total := 0
	for _, n := range free {
		total += n
	}
	if slices.Min(left) < 0 || started != min(total, len(tasks)) {
		p.t.Errorf("%v: %d of %d tasks got slots, of which %v were free: %v", v.Now(), started, len(tasks), free, left)
		return
	}
	if p.placed += started; started > 0 {
		p.judge.Judge(p.t, v, tasks, free)
	}
	copy(free, left)
}

// most sorts tasks by what they read in all, the most first.
func most(tasks []siteTask) []siteTask {
	return slices.SortedFunc(slices.Values(tasks), func(a, b siteTask) int { return cmp.Or(cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(a.id, b.id)) })
}

// flutterJudge is section 29 of the digest.
type flutterJudge struct {
	*geo.SiteWatch
	money float64
}

func judgeFlutter(a kit.Args) siteJudge { return flutterJudge{geo.NewSiteWatch(a), a.Float("money")} }

func (p flutterJudge) Judge(t *testing.T, v *sched.View, waited []siteTask, free []int) {
	p.Refresh(v)
	var times [][]float64
	slowest, sum, started := 0.0, 0.0, 0
	for _, x := range waited {
		if x.started {
			started++
		}
	}
	for i, x := range most(waited) {
		if x.started != (i < started) {
			t.Errorf("%v: task %d is number %d by what it reads; it started: %v", v.Now(), x.id, i, x.started)
		}
		if !x.started {
			continue
		}
		st, row := v.Stage(x.stage), make([]float64, len(free))
		e, _, _ := st.Estimate()
		for k := range row {
			row[k] = e*p.Laws[k].Mean + p.Links.FetchTo(v, x.reads, sched.SiteID(k))
			if n := v.Sites().Network(); p.money > 0 {
				price := row[k] / 3600 * float64(n.Rent[k]) / 1e9
				for _, s := range x.reads {
					if int(s.Site) != k {
						price += float64(s.Bytes) * float64(n.Price[int(s.Site)*n.Sites()+k]) / 1e18
					}
				}
				row[k] += p.money * price
			}
		}
		times = append(times, row)
		slowest, sum = max(slowest, row[x.site]), sum+row[x.site]
	}
	least := leastOf(times, free, math.Inf(1), func(a, b float64) float64 { return max(a, b) })
	under := leastOf(times, free, least, func(a, b float64) float64 { return a + b })
	if slowest > least*(1+1e-9) || sum > under*(1+1e-9) {
		t.Errorf("%v: the slowest takes %v s and all %v, but %v and %v can be had: %v in %v", v.Now(), slowest, sum, least, under, times, free)
	}
}

// leastOf returns the least that the times of all tasks come to, each at a site with room and none above a bound, by
// trying all sites for one task after the other; what is left of the room is all that the others depend on.
func leastOf(times [][]float64, room []int, bound float64, both func(a, b float64) float64) float64 {
	known := map[string]float64{}
	var rest func(i int) float64
	rest = func(i int) float64 {
		if i == len(times) {
			return 0
		}
		key := ""
		for _, n := range room {
			key += string(rune('0' + n))
		}
		if x, ok := known[key]; ok { // i follows from the room
			return x
		}
		best := math.Inf(1)
		for k := range room {
			if room[k] > 0 && times[i][k] <= bound {
				room[k]--
				best = min(best, both(times[i][k], rest(i+1)))
				room[k]++
			}
		}
		known[key] = best
		return best
	}
	return rest(0)
}

// iridiumJudge is section 28 of the digest with place=slots, in the slots that are free now: tasks that read at one site start there
// while there is room, and the others of a stage are divided so that the slowest link ends first.
type iridiumJudge struct{ watch geo.LinkWatch }

func judgeIridium(a kit.Args) siteJudge { return &iridiumJudge{geo.NewLinkWatch(a)} }

func (p *iridiumJudge) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.DataFetched {
		p.watch.Observe(v, ev)
	}
}

func (p *iridiumJudge) Judge(t *testing.T, v *sched.View, waited []siteTask, free []int) {
	free = slices.Clone(free)
	for s := range sched.StageID(v.Rows().Stages()) {
		var all, stage []siteTask
		total := 0
		for _, x := range waited {
			if x.stage == s {
				all = append(all, x)
			}
		}
		for _, n := range free {
			total += n
		}
		if len(all) == 0 || total == 0 {
			continue
		}
		for i, x := range most(all) {
			if x.started != (i < total) {
				t.Errorf("%v: task %d is number %d by what it reads, and %d slots are free; it started: %v", v.Now(), x.id, i, total, x.started)
			}
			if x.started {
				stage = append(stage, x)
			}
		}
		p.divided(t, v, p.atHome(t, v, stage, free), free)
	}
}

// atHome takes out the tasks that start where all that they read is, and checks that no task does not for which there
// was room.
func (p *iridiumJudge) atHome(t *testing.T, v *sched.View, stage []siteTask, free []int) (others []siteTask) {
	alone, home := make([]int, len(free)), make([]int, len(free))
	for _, x := range stage {
		if len(x.reads) == 1 {
			alone[x.reads[0].Site]++
		}
	}
	for _, x := range stage {
		if len(x.reads) == 1 && x.site == x.reads[0].Site && home[x.site] < min(alone[x.site], free[x.site]) {
			home[x.site]++
			continue
		}
		others = append(others, x)
	}
	for k := range free {
		if home[k] < min(alone[k], free[k]) {
			t.Errorf("%v: %d tasks start at home at site %d, of %d with room for %d", v.Now(), home[k], k, alone[k], free[k])
		}
		free[k] -= home[k]
	}
	return others
}

// divided checks that the numbers of tasks at the sites have the least z and move least, and that each site, the one with
// the most tasks first, got those that read most there.
func (p *iridiumJudge) divided(t *testing.T, v *sched.View, tasks []siteTask, free []int) {
	data, count := make([]float64, len(free)), make([]int, len(free))
	if len(tasks) == 0 {
		return
	}
	for _, x := range tasks {
		for k := range data {
			data[k] += x.at(sched.SiteID(k))
		}
		count[x.site]++
	}
	up, down := make([]float64, len(free)), make([]float64, len(free))
	for k := range free {
		up[k], down[k] = p.watch.Ends(v, k)
	}
	w := division{data, up, down, slices.Clone(free), len(tasks)}
	z, moved := w.best()
	if got, bytes := w.of(count); got > z*(1+1e-9) || bytes > moved*(1+1e-9) {
		t.Errorf("%v: %v has z = %v and moves %v bytes, but %v and %v can be had: %+v", v.Now(), count, got, bytes, z, moved, w)
	}
	for k := range free {
		free[k] -= count[k]
	}
	p.chosen(t, v, tasks, count)
}

func (p *iridiumJudge) chosen(t *testing.T, v *sched.View, tasks []siteTask, count []int) {
	var sites []int
	for k := range count {
		sites = append(sites, k)
	}
	slices.SortStableFunc(sites, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	for _, k := range sites {
		slices.SortFunc(tasks, func(a, b siteTask) int {
			return cmp.Or(cmp.Compare(b.at(sched.SiteID(k)), a.at(sched.SiteID(k))), cmp.Compare(a.id, b.id))
		})
		for _, x := range tasks[:count[k]] {
			if int(x.site) != k {
				t.Errorf("%v: task %d is at site %d, but %d, with %d tasks, comes first and has more for it", v.Now(), x.id, x.site, k, count[k])
			}
		}
		tasks = slices.Clone(tasks[count[k]:])
	}
}
