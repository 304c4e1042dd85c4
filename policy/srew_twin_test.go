package policy

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// srewTwin is Algorithm 2 written down as the paper and the errata have it, in time proportional to everything there is. Shares come from the printed formula in
// rationals, attempts are dealt one by one like cards, and all is counted anew from the rows of tasks and attempts.
type srewTwin struct {
	beta    *big.Rat
	lambda  float64
	slot    sched.Time
	preempt string
	spill   bool

	due      sched.Time
	sum, won float64
	turn     map[sched.JobID]sched.TaskID
}

func (p *srewTwin) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptDone {
		a := v.Attempt(ev.Attempt)
		if 1-a.From >= 1./64 {
			p.sum += (v.Now() - a.Started).Seconds() / (1 - a.From)
			p.won++
		}
	}
}

func (p *srewTwin) Decide(v *sched.View, act *sched.Actions) {
	jobs := p.ranked(v)
	if len(jobs) == 0 {
		p.due = 0
		return
	}
	if p.slot > 0 {
		if p.due == 0 {
			for p.due < v.Now() {
				p.due += p.slot
			}
		}
		if v.Now() < p.due {
			act.WakeAt(p.due)
			return
		}
		for p.due <= v.Now() {
			p.due += p.slot
		}
		act.WakeAt(p.due)
	}
	g := largestRemainder(p.beta, v.Slots(), len(jobs))
	if p.preempt != "false" {
		p.line7(v, act, jobs, g)
	}
	for i, j := range jobs {
		o := len(p.attempts(v, j))
		if o < g[i] {
			p.deal(v, act, j, p.plan(v, j, min(g[i]-o, v.FreeSlots()), srewCloneBudget(v)))
		}
	}
	for _, j := range jobs {
		if p.spill {
			waiting := p.tasks(v, j, sched.TaskPending)
			p.deal(v, act, j, waiting[:min(len(waiting), v.FreeSlots())])
		}
	}
}

// line7 preempts every attempt above a share, or with limits as many as can be used, the worst rank first.
func (p *srewTwin) line7(v *sched.View, act *sched.Actions, jobs []sched.JobID, g []int) {
	use := -v.FreeSlots()
	budget := srewCloneBudget(v)
	for i, j := range jobs {
		if o := len(p.attempts(v, j)); o < g[i] {
			cards := p.plan(v, j, g[i]-o, budget)
			use += len(cards)
			fresh := len(p.tasks(v, j, sched.TaskPending))
			budget -= max(0, len(cards)-fresh)
		}
	}
	for i := len(jobs) - 1; i >= 0; i-- {
		for use > 0 && len(p.attempts(v, jobs[i])) > g[i] {
			x, ok := p.victim(v, jobs[i])
			if !ok {
				break
			}
			if err := act.Kill(x, sched.Share); err != nil {
				panic(err)
			}
			use--
		}
	}
	if v.Cluster().Limits() != sched.NoLimits() || slices.ContainsFunc(jobs, func(j sched.JobID) bool { return v.Job(j).Failures > 0 || p.young(v, j) }) {
		return
	}
	for i, j := range jobs {
		above := len(p.attempts(v, j)) > g[i]
		if above && p.preempt == "true" || above && len(p.attempts(v, j)) > len(p.tasks(v, j, sched.TaskRunning)) {
			panic("without limits line 7 leaves no attempt above a share that it may take")
		}
	}
}

// young tells whether an attempt of a job was launched at this instant.
func (p *srewTwin) young(v *sched.View, j sched.JobID) bool {
	return slices.ContainsFunc(p.attempts(v, j), func(a sched.AttemptID) bool { return v.Attempt(a).Started == v.Now() })
}

// victim returns the attempt to go next: of the tasks with most attempts the youngest attempt that is not the most advanced.
func (p *srewTwin) victim(v *sched.View, j sched.JobID) (best sched.AttemptID, ok bool) {
	var most srewVictim
	for _, t := range p.tasks(v, j, sched.TaskRunning) {
		all := p.attemptsOf(v, t)
		keep := slices.MaxFunc(all, func(a, b sched.AttemptID) int {
			x, y := v.Attempt(a), v.Attempt(b)
			return cmp.Or(cmp.Compare(x.ProgressAtTime(v.Now()), y.ProgressAtTime(v.Now())), cmp.Compare(y.Number, x.Number))
		})
		old := slices.DeleteFunc(slices.Clone(all), func(a sched.AttemptID) bool { return v.Attempt(a).Started == v.Now() })
		if len(old) == 0 || len(all) == 1 && uint32(v.Task(t).Failures) > v.Job(j).Retries {
			continue
		}
		x := old[0]
		switch {
		case x == keep && len(old) > 1:
			x = old[1]
		case x == keep && (len(all) > 1 || p.preempt == "clones"):
			continue
		}
		at := srewVictim{spare: len(all) - 1, started: v.Attempt(x).Started, task: t, attempt: x}
		if !ok || at.spare > most.spare || at.spare == most.spare && (at.started > most.started || at.started == most.started && at.task > most.task) {
			most, ok = at, true
		}
	}
	return most.attempt, ok
}

// plan deals up to k attempts, one card at a time: to the waiting tasks in order, again and again (line 12), or to the running ones in turn (line 14). It returns a task per card.
func (p *srewTwin) plan(v *sched.View, j sched.JobID, k, budget int) (cards []sched.TaskID) {
	tasks := p.tasks(v, j, sched.TaskPending)
	fresh := len(tasks) > 0
	if !fresh {
		tasks = p.tasks(v, j, sched.TaskRunning)
		for range tasks {
			if tasks[0] < p.turn[j] {
				tasks = append(tasks[1:], tasks[0])
			}
		}
	}
	got := map[sched.TaskID]int{}
	for passed := 0; len(cards) < k && passed < len(tasks); {
		t := tasks[0]
		tasks = append(tasks[1:], t)
		clone := !fresh || got[t] > 0
		if got[t] == v.AttemptRoom(t) || clone && budget == 0 {
			passed++
			continue
		}
		if clone {
			budget--
		}
		got[t]++
		cards = append(cards, t)
		passed = 0
	}
	return cards
}

// deal launches the planned attempts: those of a waiting task together, in the order of the tasks, those of running tasks as they were dealt.
func (p *srewTwin) deal(v *sched.View, act *sched.Actions, j sched.JobID, cards []sched.TaskID) {
	if len(cards) == 0 {
		return
	}
	fresh := v.Task(cards[0]).State == sched.TaskPending
	all := p.tasks(v, j, sched.TaskPending)
	single := 0
	for _, t := range all {
		if v.Task(t).NoClones {
			single++
		}
	}
	if u := len(all); !fresh || len(cards) > u && (len(cards)-single)%(u-single) > 0 {
		p.turn[j] = cards[len(cards)-1] + 1
	}
	if fresh {
		cards = slices.Sorted(slices.Values(cards))
	}
	for _, t := range cards {
		p.launch(v, act, t)
	}
}

func (p *srewTwin) launch(v *sched.View, act *sched.Actions, t sched.TaskID) {
	task := v.Task(t)
	attempts := p.attemptsOf(v, t)
	why := sched.Original
	if task.Launched > 0 {
		why = sched.Retry
	}
	if task.Saved > 0 {
		why = sched.Resume
	}
	if len(attempts) > 0 {
		why = sched.Cloning
	}
	from := 0.0
	if v.Stage(task.Stage).Resumable {
		from = task.Saved
		for _, x := range attempts {
			if a := v.Attempt(x); p.preempt != "false" {
				from = max(from, min(a.ProgressAtTime(v.Now()), srewNearlyDone))
			}
		}
	}
	var free, apart []sched.MachineID
	for m := range sched.MachineID(v.Rows().Machines()) {
		if mc := v.Machine(m); mc.Up && mc.Used < mc.Slots {
			free = append(free, m)
			if !slices.ContainsFunc(attempts, func(x sched.AttemptID) bool { return v.Attempt(x).Machine == m }) {
				apart = append(apart, m)
			}
		}
	}
	if len(apart) == 0 || len(attempts) >= srewCrowd {
		apart = free
	}
	if _, err := act.Launch(t, apart[0], from, why); err != nil {
		panic(err)
	}
}

// ranked returns the active jobs by workload, arrival and id.
func (p *srewTwin) ranked(v *sched.View) []sched.JobID {
	work := map[sched.JobID]float64{}
	var jobs []sched.JobID
	for j := range sched.JobID(v.Rows().Jobs()) {
		job := v.Job(j)
		if job.State != sched.JobActive {
			continue
		}
		jobs = append(jobs, j)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			st := v.Stage(s)
			done := uint32(0)
			for t := range st.Tasks {
				if v.Task(st.First+sched.TaskID(t)).State == sched.TaskDone {
					done++
				}
			}
			mean, sd, ok := st.Estimate()
			if !ok && p.won > 0 {
				mean = p.sum / p.won
			} else if !ok {
				mean = 1
			}
			if done < st.Need {
				work[j] += float64(st.Need-done) * (mean + p.lambda*sd)
			}
		}
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(work[a], work[b]), cmp.Compare(v.Job(a).Arrived, v.Job(b).Arrived), cmp.Compare(a, b))
	})
	return jobs
}

// tasks returns the job's tasks in a state.
func (p *srewTwin) tasks(v *sched.View, j sched.JobID, state sched.TaskState) (tasks []sched.TaskID) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Rows().JobOf(t) == j && v.Task(t).State == state {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// attemptsOf returns the running attempts of a task, the youngest first.
func (p *srewTwin) attemptsOf(v *sched.View, t sched.TaskID) (attempts []sched.AttemptID) {
	for x, ok := v.FirstAttempt(t); ok; x, ok = v.NextAttempt(x) {
		attempts = append(attempts, x)
	}
	return attempts
}

func (p *srewTwin) attempts(v *sched.View, j sched.JobID) (attempts []sched.AttemptID) {
	for _, t := range p.tasks(v, j, sched.TaskRunning) {
		attempts = append(attempts, p.attemptsOf(v, t)...)
	}
	return attempts
}

// The policy and its twin decide the same in random worlds where jobs come and go, attempts fail, machines are lost and progress is reported.
func TestSREWTwin(t *testing.T) {
	t.Parallel()
	unbounded := sched.CloneBudget{Floor: sched.Unlimited}
	sums := map[string]*srewPair{"false": {}, "clones": {}, "true": {}} // under all limits: a clone is seldom preempted where few are let run
	for _, limits := range []struct {
		name string
		sched.Limits
	}{
		{"none", sched.NoLimits()},
		{"default", sched.DefaultLimits()},
		{"few attempts", sched.Limits{Attempts: 2, Clones: unbounded}},
		{"few clones", sched.Limits{Attempts: 3, Clones: sched.CloneBudget{Floor: 1, RunningShare: 0.5}}},
	} {
		for _, preempt := range []string{"false", "clones", "true"} {
			t.Run(fmt.Sprintf("limits=%s,preempt=%s", limits.name, preempt), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					x := drawSrewPair(t, preempt, limits.Limits)
					for range rapid.IntRange(1, 50).Draw(t, "steps") {
						x.advance(t)
					}
					x.finish(t)
					sum := sums[preempt]
					sum.launched, sum.preempted, sum.cloned = sum.launched+x.launched, sum.preempted+x.preempted, sum.cloned+x.cloned
				})
			})
		}
	}
	for preempt, sum := range sums {
		if tame := sum.launched == 0 || sum.cloned == 0 || (preempt != "false") != (sum.preempted > 0); tame && !testing.Short() {
			t.Errorf("preempt=%s: %d launches, %d preemptions, %d clones: the worlds are too tame", preempt, sum.launched, sum.preempted, sum.cloned)
		}
	}
}

func drawSrewPair(t *rapid.T, preempt string, l sched.Limits) *srewPair {
	beta := rapid.IntRange(1, 10).Draw(t, "beta")
	lambda := rapid.IntRange(0, 2).Draw(t, "lambda")
	slot := rapid.SampledFrom([]sched.Time{0, sched.Second, 5 * sched.Second}).Draw(t, "slot")
	spill := rapid.Bool().Draw(t, "spill")
	p, err := New(fmt.Sprintf("srew:beta=%g,lambda=%d,slot=%v,preempt=%s,spill=%v", float64(beta)/10, lambda, slot, preempt, spill), 1)
	if err != nil {
		t.Fatal(err)
	}
	return newSrewPair(t, p, &srewTwin{
		beta: big.NewRat(int64(beta), 10), lambda: float64(lambda), slot: slot, preempt: preempt, spill: spill,
		turn: map[sched.JobID]sched.TaskID{},
	}, l)
}

// srewPair is two cores that are told the same.
type srewPair struct {
	a, b   *sched.Core
	loose  bool // the twin may ask to be woken when it likes, and both are called in time
	wakes  [2]sched.Time
	queued []sched.JobID // submitted, not arrived
	facts  []sched.Event

	launched, preempted, cloned int
}

func newSrewPair(t *rapid.T, p, twin sched.Policy, l sched.Limits) *srewPair {
	x := &srewPair{a: sched.New(p, l), b: sched.New(twin, l), wakes: [2]sched.Time{sched.Never, sched.Never}}
	for range rapid.IntRange(1, 6).Draw(t, "machines") {
		slots := rapid.IntRange(1, 4).Draw(t, "slots")
		m, _ := x.a.AddMachine(0, slots)
		x.b.AddMachine(0, slots)
		x.facts = append(x.facts, sched.Event{Kind: sched.MachineJoined, Machine: m})
	}
	for range rapid.IntRange(1, 6).Draw(t, "jobs") {
		spec := drawJob(t)
		if rapid.IntRange(0, 2).Draw(t, "bound") == 0 {
			spec.Deadline = sched.Time(rapid.IntRange(1, 300).Draw(t, "deadline")) * sched.Second / 10
		}
		j, err := x.a.Submit(spec)
		if err != nil {
			t.Fatal(err)
		}
		x.b.Submit(spec)
		x.queued = append(x.queued, j)
	}
	return x
}

// drawJob draws a job of up to three stages in a row.
func drawJob(t *rapid.T) *sched.JobSpec {
	spec := &sched.JobSpec{Retries: rapid.IntRange(0, 2).Draw(t, "retries")}
	known, resumable, n := rapid.Bool().Draw(t, "known"), rapid.Bool().Draw(t, "resumable"), rapid.IntRange(1, 6).Draw(t, "tasks")
	for i := range rapid.IntRange(1, 3).Draw(t, "stages") {
		st := sched.StageSpec{Tasks: n, Resumable: resumable}
		if known {
			st.Mean = sched.Time(rapid.IntRange(1, 4).Draw(t, "mean")) * sched.Second
			st.SD = sched.Time(rapid.IntRange(0, 4).Draw(t, "sd")) * sched.Second
			for range rapid.IntRange(0, 4).Draw(t, "sample") {
				st.Sample = append(st.Sample, sched.Time(rapid.IntRange(1, 9).Draw(t, "lasts"))*sched.Second)
			}
		}
		kind := sched.Pointwise
		if rapid.Bool().Draw(t, "barrier") {
			kind = sched.Barrier
			st.Tasks = rapid.IntRange(0, 6).Draw(t, "tasks")
			st.Need = rapid.IntRange(0, st.Tasks).Draw(t, "need")
			n = st.Tasks
		}
		if i > 0 {
			spec.Edges = append(spec.Edges, sched.Edge{From: i - 1, To: i, Kind: kind})
		}
		spec.Stages = append(spec.Stages, st)
	}
	return spec
}

// advance lets time pass and a few random things happen.
func (x *srewPair) advance(t *rapid.T) {
	v := x.a.View()
	now := v.Now() + sched.Time(rapid.IntRange(0, 30).Draw(t, "tenths"))*sched.Second/10
	if rapid.Bool().Draw(t, "punctual") || x.loose {
		now = min(now, x.wakes[0], x.wakes[1])
	}
	most := 3
	if x.loose {
		most = 8
	}
	for range rapid.IntRange(0, most).Draw(t, "facts") {
		ev := sched.Event{Kind: sched.EventKind(rapid.IntRange(0, int(sched.JobCancelled)).Draw(t, "kind"))}
		if x.loose && rapid.IntRange(0, 2).Draw(t, "report") > 0 {
			ev.Kind = sched.AttemptProgress
		}
		switch ev.Kind {
		case sched.MachineJoined, sched.MachineLost:
			ev.Machine = sched.MachineID(rapid.IntRange(0, v.Rows().Machines()-1).Draw(t, "machine"))
		case sched.JobCancelled:
			if rapid.IntRange(0, 9).Draw(t, "cancel") > 0 {
				continue
			}
			ev.Job = sched.JobID(rapid.IntRange(0, v.Rows().Jobs()-1).Draw(t, "job"))
		case sched.JobArrived:
			if len(x.queued) == 0 {
				continue
			}
			ev.Job, x.queued = x.queued[0], x.queued[1:]
		default:
			id, ok := drawAttempt(t, v)
			if !ok {
				continue
			}
			ev.Attempt = id
			if ev.Kind == sched.DataFetched {
				ev.Bytes = 1
			}
			if ev.Kind == sched.AttemptProgress {
				ev.Progress = rapid.Float64Range(0, 1).Draw(t, "progress")
				ev.Rate = rapid.SampledFrom([]float64{0, 0.1, 0.3}).Draw(t, "rate")
			}
		}
		x.facts = append(x.facts, ev)
	}
	x.tell(t, now)
}

// drawAttempt draws one of the running attempts.
func drawAttempt(t *rapid.T, v *sched.View) (sched.AttemptID, bool) {
	var all []sched.AttemptID
	for task := range sched.TaskID(v.Rows().Tasks()) {
		for id, ok := v.FirstAttempt(task); ok; id, ok = v.NextAttempt(id) {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(all).Draw(t, "attempt"), true
}

// tell advances both cores and compares what they decide.
func (x *srewPair) tell(t *rapid.T, now sched.Time) {
	for i := range x.facts {
		x.facts[i].At = now
	}
	got, err := x.a.Advance(now, slices.Clone(x.facts))
	if err != nil {
		t.Fatal(err)
	}
	want, err := x.b.Advance(now, x.facts)
	if err != nil {
		t.Fatal(err)
	}
	want = x.note(1, now, want)
	got = x.note(0, now, got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("at %v (-twin +policy)\n%s", now, diff)
	}
	if err := x.a.Check(); err != nil {
		t.Fatal(err)
	}
	x.facts = x.facts[:0]
	for i := range got {
		switch d := &got[i]; {
		case d.Kind == sched.Launch:
			x.launched++
			if d.Reason == sched.Cloning || d.Reason == sched.Straggling {
				x.cloned++
			}
		case d.Kind == sched.Kill && d.Reason == sched.Share:
			x.preempted++
		}
	}
}

// note takes note of when a core wants to be called, and returns its orders, without that if the pair is loose.
func (x *srewPair) note(side int, now sched.Time, orders []sched.Decision) []sched.Decision {
	if x.wakes[side] <= now {
		x.wakes[side] = sched.Never
	}
	for i := range orders {
		if orders[i].Kind == sched.Wake {
			x.wakes[side] = orders[i].At
		}
	}
	if !x.loose {
		return orders
	}
	return slices.DeleteFunc(append([]sched.Decision{}, orders...), func(d sched.Decision) bool { return d.Kind == sched.Wake })
}

// finish brings all machines and jobs in and lets everything run to its end.
func (x *srewPair) finish(t *rapid.T) {
	v := x.a.View()
	for m := range sched.MachineID(v.Rows().Machines()) {
		x.facts = append(x.facts, sched.Event{Kind: sched.MachineJoined, Machine: m})
	}
	for _, j := range x.queued {
		x.facts = append(x.facts, sched.Event{Kind: sched.JobArrived, Job: j})
	}
	now := v.Now()
	for range 10 * (v.Rows().Tasks() + 2) {
		x.tell(t, now)
		if v.Cluster().Unfinished() == 0 {
			return
		}
		now = min(x.wakes[0], x.wakes[1], now+sched.Second)
		for task := range sched.TaskID(v.Rows().Tasks()) {
			if id, ok := v.FirstAttempt(task); ok {
				x.facts = append(x.facts, sched.Event{Kind: sched.AttemptDone, Attempt: id})
			}
		}
	}
	t.Fatalf("%d tasks are left at %v", v.Cluster().Unfinished(), now)
}
