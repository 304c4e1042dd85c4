package policy

// GeoClone: Wang, Qian, Jiao, Li, Lu, "GeoClone: Online Task Replication and Scheduling for Geo-Distributed Analytics
// under Uncertainties", section III.
//
//	t             the beginning of a slot of time (slot)
//	eps           epsilon
//	N(t)          active jobs
//	M_k           Sites.Slots, or with slots=free Sites.FreeSlots
//	varpi_j       Job.Live
//	S_j, sigma_j  tasks of the job that wait, and of those that run what tasks lets in; their number
//	p_l           Stage.Estimate, in seconds
//	s_k, d_lk     what the profiler knows of site k, and the time of fetching, see geo.SiteWatch and geo.LinkWatch
//	e_lk          p_l s_k + d_lk
//	e_l(x)        expected time of the best of the task's attempts: exact, see geoclone_best.go
//	u             attempts running, with those of this instant, over all slots; alpha = 1/((1+eps) u)
//
//	step 1, which jobs and how many attempts at most:
//	  the ceil(eps N) jobs with the fewest unfinished tasks; h = ceil(sum of M_k / (eps N)) slots each, c = h - varpi_j of them to be given out now
//	  c >= sigma_j: floor(c/sigma_j) attempts for each task of S_j; else one for c tasks drawn at random
//	step 2, where:
//	  the jobs in the order of their progress, in rounds; a round offers one slot to each task of S_j, after the first round those with the largest e_l(x) first
//	  a task that has its number of attempts, or e_l(x) <= p/alpha, is done with; else it gets the free slot with the smallest E[e_lk]
//
// Readings, each with a switch. first: line 1 of step 2 sorts "in ascending order of progress", the text wants the most
// advanced first; more finished stages is more progress, then fewer tasks left in the open ones. slots: M_k is
// "available slots" in step 1's input list and total elsewhere; as c subtracts what the job occupies, it is total.
// tasks: start times are set once, so tasks that run get no more, unless they report or a clone budget kept them from
// what they were to have; see geoclone_reports.go. round: a visit gives one slot, or with round=quota all that the task
// may have. stop: p of line 10 is E[e_lk] of the task's first attempt at its site, or least, the smallest E[e_lk] of
// all sites, or best, p_l, which nothing is quicker than: that threshold cannot hold while u < 1/(1+eps), and Theorem 2
// is about u < 1/2; see docs/decisions/0070. left: see geoclone_left.go. copies bounds the attempts of a task; the
// paper has no such bound. Sites alike: the one with more free slots, then the first.
//
// A decision costs O(jobs log jobs + slots given x (sites + values of the laws)), and where attempts report as much for
// each that runs as for a value; a slot that goes to where the task's last one went does not look at other sites.
//
// Prices, which the paper has not: step 2 takes the site with the smallest E[e_lk] + money x price, see
// geo.LinkWatch.Toll, and a further attempt has to save as many seconds as its price is worth. Line 10 stays one of
// times.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var geocloneEntry = kit.Entry{
	Name:    "geoclone",
	Family:  kit.Sites,
	Clones:  "tasks of jobs near their end",
	Cost:    "of a decision O(jobs log jobs + slots given × (sites + values of the laws) + attempts that run, where they report)",
	Summary: "clone the tasks of the jobs nearest their end at the sites where they are expected to be quickest",
	Source:  "Wang et al., GeoClone, section III",
	Params: append([]kit.Param{
		{Name: "epsilon", Kind: kit.Float, Default: "0.8", Min: 1e-3, Max: 1, Help: "fraction of the jobs that are served; also slackens the threshold of expected time"},
		{Name: "slot", Kind: kit.Span, Default: "5s", Help: "time between decisions; 0s decides whenever something happens"},
		{Name: "first", Kind: kit.Choice, Default: "advanced", Choices: []string{"advanced", "printed"}, Help: "jobs served first: the most advanced, or the least, as printed"},
		{Name: "slots", Kind: kit.Choice, Default: "total", Choices: []string{"total", "free"}, Help: "slots that jobs share"},
		{Name: "tasks", Kind: kit.Choice, Default: "limited", Choices: []string{"limited", "fresh", "unfinished"}, Help: "tasks that get attempts: those that wait, and of those that run all (unfinished), none (fresh), or those whose attempts report, and the others while it is the clone budget that leaves slots idle"},
		{Name: "round", Kind: kit.Choice, Default: "slot", Choices: []string{"slot", "quota"}, Help: "what a task is offered in a round"},
		{Name: "stop", Kind: kit.Choice, Default: "site", Choices: []string{"site", "least", "best"}, Help: "no further attempt once a task is expected to take (1+epsilon) u times: what its first attempt alone is expected to take at its site; the least that one is at any site; what it takes at best"},
		{Name: "left", Kind: kit.Choice, Default: "progress", Choices: []string{"progress", "age", "fresh"}, Help: "what a running attempt still takes: what its reports say and without any what is left of those of its age, always the latter, or as much as a fresh one"},
		{Name: "draws", Kind: kit.Int, Default: "16", Min: 0, Max: 65535, Help: "where attempts report: of the first N attempts of a task only the one that will be done first goes on; 0 for all"},
		{Name: "gain", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1e6, Help: "where attempts report: a further attempt has to save at least this times the time that it is expected to run"},
		{Name: "budget", Kind: kit.Float, Default: "0.6", Min: 0, Max: 65535, Help: "clones that run at once, for each task that runs, where no limits are given"},
		{Name: "copies", Kind: kit.Int, Default: "0", Min: 0, Max: 65535, Help: "attempts of a task at most; 0 for no bound"},
	}, geo.WatchParams...),
	New: newGeoclone,

	ProgressIf: func(a kit.Args) bool { return a.Choice("left") == "progress" && a.Choice("tasks") != "fresh" },
}

type geoclone struct {
	epsilon             float64
	printed, free, full bool
	copies              int32
	tasks, stop, left   string
	gain, budget        float64
	draws               uint32
	seed                uint64

	clock kit.Clock
	watch *geo.SiteWatch
	geoReports

	running  bool // tasks that run may get attempts now
	jobs     []geoJob
	open     []geoTask // of chosen jobs
	room     []int32   // free slots by site
	spare    int       // free slots
	races    races
	ties     []int32           // sites that were tied, see search
	mostTies int               // of them, at most
	found    []int32           // sites that are as good as the best that a search has seen
	byMean   []int32           // sites, those first whose attempts take least
	rest     geo.Stair         // of an attempt that runs
	late     []sched.AttemptID // of a task that have reported
	sources  []sched.Source
}

// geoJob is a job and its tasks open[from:to].
type geoJob struct {
	id         sched.JobID
	unfinished uint32
	arrived    sched.Time
	live       uint32
	behind     uint32 // stages that are not done
	remains    uint32 // tasks of the open stages that are not done
	from, to   int32
}

// geoTask is a task that may get attempts.
type geoTask struct {
	id    sched.TaskID
	quota int32
	p     float64
	alone float64 // expected time of its first attempt, from beginning to end
	least float64 // of one attempt at any site; 0 before anybody asked
	race  race
	candidate
	alike span // in geoclone.ties: the sites that are tied with it
}

func newGeoclone(a kit.Args) sched.Policy {
	p := &geoclone{
		stop: a.Choice("stop"), left: a.Choice("left"), gain: a.Float("gain"), draws: uint32(a.Int("draws")), budget: a.Float("budget"), epsilon: a.Float("epsilon"), printed: a.Choice("first") == "printed", free: a.Choice("slots") == "free",
		tasks: a.Choice("tasks"), full: a.Choice("round") == "quota", copies: int32(a.Int("copies")), seed: a.Seed(),
		clock: kit.Clock{Slot: a.Span("slot")}, watch: geo.NewSiteWatch(a), mostTies: mostTies,
	}
	p.on = p.left == "progress" && p.tasks != "fresh"
	return p
}

// Bounds are its own: attempts of a task by line 10, and clones by budget. Attempts that start together run until the
// first ends, so that with a clone for each task half of the machine time is fruitless; clones that start later win
// less often in less time. At 0.6 a little less than half is; see docs/decisions/0072.
func (p *geoclone) Bounds() sched.Bounds {
	b := sched.Bounds{Attempts: sched.Unlimited, Running: p.budget}
	if p.copies > 0 {
		b.Attempts = int(p.copies)
	}
	return b
}

func (p *geoclone) watching() *geo.SiteWatch { return p.watch }

// Confines tells that the policy chooses all sites.
func (p *geoclone) Confines() bool { return true }

func (p *geoclone) Observe(v *sched.View, ev *sched.Event) {
	p.watch.Observe(v, ev)
	p.listen(v, ev)
}

func (p *geoclone) Decide(v *sched.View, act *sched.Actions) {
	p.wake(v, act)
	if !p.clock.Begins(v, act) {
		return
	}
	if p.prune(v, act); v.FreeSlots() == 0 {
		return
	}
	p.running = p.tasks == "unfinished" || p.tasks == "limited" && v.CloneRoom() < v.FreeSlots()
	p.choose(v)
	if len(p.jobs) == 0 {
		return
	}
	p.watch.Refresh(v)
	p.watch.Survey(v)
	p.look(v)
	p.races.empty()
	p.ties = p.ties[:0]
	p.estimate(v)
	p.arrange()
	p.place(v, act)
}

// choose finds the jobs with the fewest unfinished tasks: ceil(eps N) of them.
func (p *geoclone) choose(v *sched.View) {
	p.jobs = p.jobs[:0]
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		job := v.Job(j)
		if job.Paused {
			continue
		}
		p.jobs = append(p.jobs, geoJob{id: j, unfinished: job.Unfinished, arrived: job.Arrived, live: job.Live})
	}
	slices.SortFunc(p.jobs, func(a, b geoJob) int {
		return cmp.Or(cmp.Compare(a.unfinished, b.unfinished), cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.id, b.id))
	})
}

// look counts the free slots of each site.
func (p *geoclone) look(v *sched.View) {
	p.room = kit.Zeroed(p.room, v.Sites().Len())
	p.spare = 0
	for k := range p.room {
		p.room[k] = int32(v.Sites().FreeSlots(sched.SiteID(k)))
		p.spare += int(p.room[k])
	}
	p.byMean = kit.Zeroed(p.byMean, len(p.room))
	for k := range p.byMean {
		p.byMean[k] = int32(k)
	}
	slices.SortFunc(p.byMean, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.watch.Laws[a].Mean, p.watch.Laws[b].Mean), cmp.Compare(a, b))
	})
}

// estimate is step 1: it cuts the jobs to those chosen that have something to start, and says how many attempts their
// tasks may get.
func (p *geoclone) estimate(v *sched.View) {
	n := p.epsilon * float64(len(p.jobs))
	slots := v.Slots()
	if p.free {
		slots = v.FreeSlots()
	}
	share := int(math.Ceil(float64(slots)/n - 1e-9))
	kept := p.jobs[:0]
	p.open = p.open[:0]
	for _, job := range p.jobs[:min(len(p.jobs), int(math.Ceil(n-1e-9)))] {
		job.from = int32(len(p.open))
		p.gather(v, &job)
		c := max(share-int(job.live), 0)
		if sigma := len(p.open) - int(job.from); sigma > c {
			p.draw(v, job.from, c)
		} else if sigma > 0 {
			p.grant(job.from, int32(c/sigma))
		}
		if job.to = int32(len(p.open)); job.to > job.from {
			kept = append(kept, job)
		}
	}
	p.jobs = kept
}

// gather appends the tasks of S_j to the open ones, and notes how far the job is.
func (p *geoclone) gather(v *sched.View, job *geoJob) {
	row := v.Job(job.id)
	job.behind = row.StagesLeft
	for s := row.FirstStage; s < row.FirstStage+sched.StageID(row.Stages); s++ {
		st := v.Stage(s)
		if st.Pending+st.Running == 0 || !v.Rows().Visible(s) {
			continue
		}
		job.remains += st.Unfinished()
		mean, _, ok := st.Estimate()
		if !ok || mean <= 0 {
			mean = 1 // the scale of time matters only beside that of fetching
		}
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			p.open = append(p.open, geoTask{id: t, p: mean, candidate: nowhere})
		}
		for t, ok := v.RunningTask(s, 0); ok && (p.running || p.from(s)); t, ok = v.RunningTask(s, t+1) {
			x := geoTask{id: t, p: mean, candidate: nowhere}
			if told := p.rejoin(v, &x); told || p.running {
				p.open = append(p.open, x)
			}
		}
	}
}

// grant allows each task from an index on so many attempts.
func (p *geoclone) grant(from, quota int32) {
	for i := range p.open[from:] {
		p.open[int(from)+i].quota = quota
	}
}

// draw keeps c of the open tasks from an index on, drawn at random, and allows them one attempt.
func (p *geoclone) draw(v *sched.View, from int32, c int) {
	tasks := p.open[from:]
	r := rand.PCG{}
	r.Seed(p.seed, uint64(v.Now()))
	for i := range c {
		k := i + int(r.Uint64()%uint64(len(tasks)-i)) // the bias is below 1e-9
		tasks[i], tasks[k] = tasks[k], tasks[i]
	}
	p.open = p.open[:int(from)+c]
	p.grant(from, 1)
}

// arrange puts the chosen jobs into the order in which they are served.
func (p *geoclone) arrange() {
	slices.SortFunc(p.jobs, func(a, b geoJob) int {
		c := cmp.Or(cmp.Compare(a.behind, b.behind), cmp.Compare(a.remains, b.remains))
		if p.printed {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.id, b.id))
	})
}

// place is step 2.
func (p *geoclone) place(v *sched.View, act *sched.Actions) {
	for round := 0; len(p.jobs) > 0; round++ {
		kept := p.jobs[:0]
		for _, job := range p.jobs {
			tasks := p.open[job.from:job.to]
			if round > 0 {
				slices.SortFunc(tasks, func(a, b geoTask) int {
					return cmp.Or(cmp.Compare(b.race.expected, a.race.expected), cmp.Compare(a.id, b.id))
				})
			}
			if job.to = job.from + p.visit(v, act, tasks); job.to > job.from {
				kept = append(kept, job)
			}
			if p.spare == 0 {
				return
			}
		}
		p.jobs = kept
	}
}

// visit offers a round's slots to the tasks of a job, moves those that are still open to the front, and returns how
// many these are.
func (p *geoclone) visit(v *sched.View, act *sched.Actions, tasks []geoTask) (open int32) {
	for i := range tasks {
		x := &tasks[i]
		goes := p.launch(v, act, x)
		for p.full && goes {
			goes = p.launch(v, act, x)
		}
		if p.spare == 0 {
			return open
		}
		if goes {
			tasks[open] = *x
			open++
		}
	}
	return open
}

// launch gives a task a slot unless it is done with, which it tells.
func (p *geoclone) launch(v *sched.View, act *sched.Actions, x *geoTask) (goes bool) {
	task := v.Task(x.id)
	switch {
	case x.quota == 0 || p.spare == 0 || p.copies > 0 && int32(task.Live) >= p.copies:
		return false
	case x.race.n > 0 && x.race.expected <= p.bar(v, x)*(1+p.epsilon)*float64(v.Cluster().Live())/float64(v.Slots()):
		return false
	case v.AttemptRoom(x.id) == 0 || task.Live > 0 && v.CloneRoom() == 0:
		return false
	}
	if x.best < 0 || x.tied || p.room[x.best] == 0 {
		p.search(v, x)
	}
	if x.best < 0 {
		return false // no slot is free where its data may be
	}
	gain, toll := 0.0, x.cost-x.seconds
	if p.from(task.Stage) {
		gain = p.gain
	}
	if x.race.n > 0 && (gain > 0 || toll > 0) {
		if e := p.joined(v, x).expected; x.race.expected-e < max(gain*e, toll) {
			return false
		}
	}
	p.sources = v.Sites().AppendSources(p.sources[:0], x.id)
	if task.Live > 0 {
		p.watch.Starts(v, p.sources, x.p, sched.SiteID(x.best))
	} else if !p.watch.Goes(v, x.id, p.sources, x.p, sched.SiteID(x.best)) {
		return false
	}
	m, _ := v.Sites().FreeMachine(sched.SiteID(x.best), 0)
	if task.Live == 0 {
		kit.Start(v, act, x.id, m)
	} else {
		kit.Launch(act, x.id, m, 0, sched.Cloning)
	}
	p.took(x, p.joined(v, x))
	return true
}

// joined returns the race of a task with one more attempt at the best site.
func (p *geoclone) joined(v *sched.View, x *geoTask) race {
	p.sources = v.Sites().AppendSources(p.sources[:0], x.id)
	return p.races.join(x.race, p.watch.Laws[x.best].Stair, x.p, p.watch.Links.FetchTo(v, p.sources, sched.SiteID(x.best)))
}

// took notes that a task has taken a slot at the best site.
func (p *geoclone) took(x *geoTask, joined race) {
	if x.race.n == 0 {
		x.alone = x.seconds
	}
	x.race = joined
	x.quota--
	p.room[x.best]--
	p.spare--
}
