package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// costly is the same where data may not be everywhere, and with money as a term.
var costly = oracle{
	name: "geoclone with money", costs: true, most: 500, rounded: geocloneOracle.rounded, slow: geocloneOracle.slow,
	specs: []string{
		"geoclone:money=100", "geoclone:money=1e5,slot=0s", "geoclone", "geoclone:money=1000,tasks=unfinished,slot=1s,stop=best", "geoclone:money=30,truth=true,slot=1s,round=quota,stop=best",
		"geoclone:money=300,tasks=unfinished,draws=3,slot=1s", "geoclone:stop=least,slot=1s,tasks=unfinished",
	},
}

var geocloneOracle = oracle{
	name: "geoclone", sites: true, most: 500, rounded: func(p sched.Policy) sched.Time { return p.(*slowGeoClone).close },
	specs: []string{
		"geoclone", "geoclone:slot=0s,epsilon=0.3", "geoclone:first=printed,round=quota,epsilon=1", "geoclone:slots=free,slot=1s,epsilon=0.5",
		"geoclone:tasks=unfinished,slot=2s", "geoclone:copies=2,prior=(exp:mean=2)", "geoclone:truth=true,slot=1s,epsilon=0.1",
		"geoclone:tasks=unfinished,round=quota,memory=20s,epsilon=0.6", "geoclone:prior=(det:value=1),slot=1s",
		"geoclone:stop=best", "geoclone:tasks=fresh", "geoclone:stop=least,slot=1s", "geoclone:stop=site,tasks=unfinished,left=fresh,slot=1s", "geoclone:stop=least,tasks=unfinished,slot=2s,gain=0.2",
		"geoclone:stop=best,tasks=unfinished,draws=0,slot=1s", "geoclone:stop=site,slot=1s,copies=2", "geoclone:slot=1s,draws=3,gain=0.5", "geoclone:slot=1s", "geoclone:left=age,slot=1s", "geoclone:slot=0s,draws=4,gain=0",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowGeoClone{
			money: a.Float("money"), close: sched.Never, clock: kit.Clock{Slot: a.Span("slot")}, watch: newSlowSites(a), quiet: &kit.Silence{}, stop: a.Choice("stop"), left: a.Choice("left"), gain: a.Float("gain"), draws: uint32(a.Int("draws")), told: map[sched.StageID]bool{}, never: a.Choice("tasks") == "fresh", eps: a.Float("epsilon"), seed: a.Seed(), copies: a.Int("copies"), budget: a.Float("budget"),
			printed: a.Choice("first") == "printed", free: a.Choice("slots") == "free", running: a.Choice("tasks") == "unfinished", limited: a.Choice("tasks") == "limited", quota: a.Choice("round") == "quota",
		}
	},
}

// slowGeoClone is Algorithm 1 of the paper and its readings, with all that they ask for reckoned anew at each visit, the
// profiler included. It shares with the policy how tasks are drawn, the clock, and which attempts stand still.
type slowGeoClone struct {
	clock                         kit.Clock
	watch                         *slowSites
	quiet                         *kit.Silence
	stop, left                    string
	gain                          float64
	draws                         uint32
	told                          map[sched.StageID]bool // stages of which an attempt has reported
	never                         bool                   // running tasks get no attempts
	eps, money                    float64
	seed                          uint64
	copies                        int
	budget                        float64
	printed, free, running, quota bool
	limited                       bool // running is so while the clone budget leaves slots idle

	close sched.Time // when numbers first differed by so little that rounding may have decided
}

// line10 tells whether a task is done with. At equality the order of multiplications decides.
func (p *slowGeoClone) line10(v *sched.View, e, bar float64) bool {
	if e == bar {
		p.close = min(p.close, v.Now())
	}
	return p.compare(v, e, bar) <= 0
}

// compare compares two numbers of seconds.
func (p *slowGeoClone) compare(v *sched.View, a, b float64) int {
	if a != b && math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) {
		p.close = min(p.close, v.Now())
	}
	return cmp.Compare(a, b)
}

// slowGeoTask is a task that may get so many more attempts.
type slowGeoTask struct {
	id    sched.TaskID
	quota int
	at    []slowGeoAttempt // as they joined
}

// slowGeoAttempt is an attempt of a task: one that ran before, or one that starts now, whose id is 0.
type slowGeoAttempt struct {
	site sched.SiteID
	id   sched.AttemptID
}

func (p *slowGeoClone) Confines() bool { return true }

// Bounds are those of decision 0072: the attempts of a task are the affair of line 10.
func (p *slowGeoClone) Bounds() sched.Bounds {
	if p.copies > 0 {
		return sched.Bounds{Attempts: p.copies, Running: p.budget}
	}
	return sched.Bounds{Attempts: sched.Unlimited, Running: p.budget}
}

func (p *slowGeoClone) Observe(v *sched.View, ev *sched.Event) {
	p.watch.Observe(v, ev)
	p.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress:
		p.told[ev.Stage] = true
	case sched.AttemptTaken:
		if a := v.Attempt(ev.Attempt); a.Rate > 0 || a.Progress > a.From {
			p.told[ev.Stage] = true
		}
	}
}

func (p *slowGeoClone) Decide(v *sched.View, act *sched.Actions) {
	if len(p.told) > 0 && p.left == "progress" && !p.never {
		p.quiet.Look(v, func(sched.StageID, sched.TaskID) {})
		kit.WakeFor(act, &p.quiet.Due)
	}
	if !p.clock.Begins(v, act) {
		return
	}
	if p.prune(v, act); v.FreeSlots() == 0 {
		return
	}
	if p.limited {
		p.running = v.CloneRoom() < v.FreeSlots()
	}
	var jobs []sched.JobID
	for j := range sched.JobID(v.Rows().Jobs()) {
		if job := v.Job(j); job.State == sched.JobActive && !job.Paused {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return
	}
	p.watch.refresh(v)
	earlier := func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(a).Arrived, v.Job(b).Arrived), cmp.Compare(a, b))
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(a).Unfinished, v.Job(b).Unfinished), earlier(a, b))
	})
	n := p.eps * float64(len(jobs))
	jobs = jobs[:min(len(jobs), int(math.Ceil(n-1e-9)))]
	open := map[sched.JobID][]*slowGeoTask{}
	for _, j := range jobs {
		open[j] = p.quotas(v, j, n)
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		x, y := v.Job(a).StagesLeft, v.Job(b).StagesLeft
		c := cmp.Or(cmp.Compare(x, y), cmp.Compare(p.remain(v, a), p.remain(v, b)))
		if p.printed {
			c = -c
		}
		return cmp.Or(c, earlier(a, b))
	})
	for first := true; len(open) > 0; first = false {
		for _, j := range jobs {
			if open[j] = p.round(v, act, open[j], first); len(open[j]) == 0 {
				delete(open, j)
			}
		}
	}
}

// remain returns how many tasks of the open stages of a job are not done.
func (p *slowGeoClone) remain(v *sched.View, j sched.JobID) (n int) {
	for _, s := range stagesOf(v, j) {
		if st := v.Stage(s); st.Pending+st.Running > 0 {
			n += int(st.Unfinished())
		}
	}
	return n
}

// quotas is step 1 for a job: its tasks and how many attempts each may get.
func (p *slowGeoClone) quotas(v *sched.View, j sched.JobID, n float64) (tasks []*slowGeoTask) {
	for _, s := range stagesOf(v, j) {
		for _, state := range []sched.TaskState{sched.TaskPending, sched.TaskRunning} {
			for t := range sched.TaskID(v.Rows().Tasks()) {
				if task := v.Task(t); task.Stage != s || task.State != state {
					continue
				}
				x, known := &slowGeoTask{id: t}, false
				for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
					x.at = append(x.at, slowGeoAttempt{v.Machine(v.Attempt(a).Machine).Site, a})
					_, told := p.says(v, a)
					known = known || told
				}
				if state == sched.TaskPending || p.running || known {
					tasks = append(tasks, x)
				}
			}
		}
	}
	slots := v.Slots()
	if p.free {
		slots = v.FreeSlots()
	}
	c := max(0, int(math.Ceil(float64(slots)/n-1e-9))-int(v.Job(j).Live))
	if len(tasks) > c {
		r := rand.NewPCG(p.seed, uint64(v.Now()))
		for i := range c {
			k := i + int(r.Uint64()%uint64(len(tasks)-i))
			tasks[i], tasks[k] = tasks[k], tasks[i]
		}
		tasks = tasks[:c]
	}
	for _, x := range tasks {
		x.quota = max(1, c/len(tasks))
	}
	return tasks
}

// round offers a slot to each open task of a job and returns those that stay open.
func (p *slowGeoClone) round(v *sched.View, act *sched.Actions, tasks []*slowGeoTask, first bool) (open []*slowGeoTask) {
	if !first {
		e := map[sched.TaskID]float64{}
		for _, x := range tasks {
			e[x.id] = p.expected(v, x)
		}
		slices.SortFunc(tasks, func(a, b *slowGeoTask) int { return cmp.Or(p.compare(v, e[b.id], e[a.id]), cmp.Compare(a.id, b.id)) })
	}
	for _, x := range tasks {
		goes := p.give(v, act, x)
		for goes && p.quota {
			goes = p.give(v, act, x)
		}
		if goes {
			open = append(open, x)
		}
	}
	return open
}

// give gives a task a slot at the site where it is expected to be quickest, unless it is to be closed.
func (p *slowGeoClone) give(v *sched.View, act *sched.Actions, x *slowGeoTask) bool {
	live, u := int(v.Task(x.id).Live), float64(v.Cluster().Live())/float64(v.Slots())
	if x.quota == 0 || v.FreeSlots() == 0 || len(x.at) > 0 && p.line10(v, p.expected(v, x), p.bar(v, x)*(1+p.eps)*u) {
		return false
	}
	if p.copies > 0 && live >= p.copies || v.AttemptRoom(x.id) == 0 || live > 0 && v.CloneRoom() == 0 {
		return false
	}
	best, found := p.best(v, x)
	if !found {
		return false
	}
	with := *x
	with.at = append(slices.Clone(x.at), slowGeoAttempt{site: best})
	gain := 0.0
	if p.left == "progress" && !p.never && p.told[v.Task(x.id).Stage] {
		gain = p.gain
	}
	if e := p.expected(v, &with); len(x.at) > 0 && p.compare(v, p.expected(v, x)-e, max(gain*e, p.price(v, x, best))) < 0 {
		return false
	}
	m, _ := v.Sites().FreeMachine(best, 0)
	if live == 0 {
		kit.Start(v, act, x.id, m)
	} else {
		kit.Launch(act, x.id, m, 0, sched.Cloning)
	}
	x.at = with.at
	x.quota--
	return true
}

// prune ends the attempts of a task that by reports will be done later than another one of it; of equals the
// latest goes on.
func (p *slowGeoClone) prune(v *sched.View, act *sched.Actions) {
	var ends []sched.AttemptID
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if p.draws == 0 || v.Task(t).State != sched.TaskRunning || v.Task(t).Launched >= p.draws {
			continue
		}
		var known []sched.AttemptID
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			if _, ok := p.says(v, a); ok {
				known = append(known, a)
			}
		}
		for i, a := range known {
			left := func(a sched.AttemptID) float64 { rem, _ := p.says(v, a); return rem }
			first := !slices.ContainsFunc(known[:i], func(b sched.AttemptID) bool { return left(b) <= left(a) }) &&
				!slices.ContainsFunc(known[i+1:], func(b sched.AttemptID) bool { return left(b) < left(a) })
			if !first {
				ends = append(ends, a)
			}
		}
	}
	for _, a := range ends {
		if v.Rows().MayKill(a) {
			kit.Kill(act, a, sched.Replaced)
		}
	}
}

// says returns what an attempt still takes by its reports; ok is false if nothing was reported in its stage, or nothing
// that says so.
func (p *slowGeoClone) says(v *sched.View, a sched.AttemptID) (seconds float64, ok bool) {
	if p.left != "progress" || p.never || !p.told[v.Task(v.Attempt(a).Task).Stage] {
		return 0, false
	}
	row := p.quiet.Attempt(v, a)
	rem, ok := row.Remaining(v.Now())
	return rem.Seconds(), ok
}

// best returns the site with a free slot where a fresh attempt is expected to be quickest, prices counted, then that with
// more free slots.
func (p *slowGeoClone) best(v *sched.View, x *slowGeoTask) (best sched.SiteID, found bool) {
	costs := func(k sched.SiteID) float64 { return p.one(v, x, k) + p.price(v, x, k) }
	free := v.Sites().FreeSlots
	for k := range sched.SiteID(v.Sites().Len()) {
		if free(k) == 0 || !v.Sites().Allows(x.id, k) {
			continue
		}
		c := p.compare(v, costs(k), costs(best))
		if found && c == 0 && !p.watch.alike(k, best) {
			p.close = min(p.close, v.Now()) // the policy adds the laws in another order
		}
		if !found || c < 0 || c == 0 && free(k) > free(best) {
			best, found = k, true
		}
	}
	return best, found
}

// price returns in seconds what an attempt costs at a site.
func (p *slowGeoClone) price(v *sched.View, x *slowGeoTask, k sched.SiteID) (cost float64) {
	n := v.Sites().Network()
	if n == nil || n.Price == nil {
		return 0
	}
	for _, s := range v.Sites().AppendSources(nil, x.id) {
		if s.Site != k {
			cost += float64(n.Price[int(s.Site)*n.Sites()+int(k)]) * float64(s.Bytes) / 1e18
		}
	}
	return p.money * (cost + float64(n.Rent[k])/1e9/3600*p.one(v, x, k))
}

// bar returns p of line 10.
func (p *slowGeoClone) bar(v *sched.View, x *slowGeoTask) float64 {
	switch p.stop {
	case "site":
		return p.one(v, x, x.at[0].site)
	case "least":
		least := math.Inf(1)
		for k := range sched.SiteID(v.Sites().Len()) {
			if v.Sites().Allows(x.id, k) {
				least = min(least, p.one(v, x, k))
			}
		}
		return least
	}
	return p.intrinsic(v, x)
}

// intrinsic returns p.
func (p *slowGeoClone) intrinsic(v *sched.View, x *slowGeoTask) float64 {
	st := v.Stage(v.Task(x.id).Stage)
	if mean, _, ok := st.Estimate(); ok && mean > 0 {
		return mean
	}
	return 1
}

// one returns E[p s + d], of a fresh attempt at a site.
func (p *slowGeoClone) one(v *sched.View, x *slowGeoTask, k sched.SiteID) float64 {
	return p.intrinsic(v, x)*p.watch.mean(k) + p.fetch(v, x, k)
}

// fetch returns d at a site.
func (p *slowGeoClone) fetch(v *sched.View, x *slowGeoTask, k sched.SiteID) float64 {
	return p.watch.fetchTo(v, v.Sites().AppendSources(nil, x.id), k)
}

// expected returns E[min over its attempts of what they still take], of P(min > y) = product of P(each > y); infinite
// without attempts.
func (p *slowGeoClone) expected(v *sched.View, x *slowGeoTask) (e float64) {
	if len(x.at) == 0 {
		return math.Inf(1)
	}
	var at []float64
	var values, tails [][]float64
	for _, a := range x.at {
		value, tail := p.rest(v, x, a)
		values, tails, at = append(values, value), append(tails, tail), append(at, value...)
	}
	slices.Sort(at)
	above := 1.0
	for _, y := range slices.Compact(at) {
		tail := 1.0
		for k := range values {
			its := 1.0
			for i, z := range values[k] {
				if z <= y {
					its = tails[k][i]
				}
			}
			tail *= its
		}
		if tail < 1e-18 {
			tail = 0
		}
		e += y * (above - tail)
		above = tail
	}
	return e
}

// rest returns what an attempt still takes: values, and the probabilities that it takes more.
func (p *slowGeoClone) rest(v *sched.View, x *slowGeoTask, a slowGeoAttempt) (values, tails []float64) {
	size, age := p.intrinsic(v, x), 0.0
	if a.id != 0 && p.left != "fresh" {
		if rem, ok := p.says(v, a.id); ok {
			return []float64{rem}, []float64{0}
		}
		row := v.Attempt(a.id)
		size, age = size*(1-row.From), (v.Now() - row.Started).Seconds()
	}
	older := 1.0 // P(it takes longer than its age)
	for i, s := range p.watch.laws[a.site].values {
		takes := size*s + p.fetch(v, x, a.site)
		if takes <= age {
			older = p.watch.above(a.site, i)
			continue
		}
		values, tails = append(values, takes-age), append(tails, p.watch.above(a.site, i)/older)
	}
	if len(values) == 0 || older <= 0 {
		return []float64{age}, []float64{0}
	}
	return values, tails
}
