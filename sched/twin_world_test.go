package sched

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestCoreAgainstTwin drives the core and its naive twin through the same messy world: jobs of every shape, machines that come and go,
// facts that are late, double or contradict each other, and a policy that orders whatever comes to its mind, legal or not.
// Both have to give the same decisions, tell the same events, meet the same errors and know the same. A second world is for
// what Reset may have left behind.
func TestCoreAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var core Core
		for range rapid.IntRange(1, 2).Draw(t, "worlds") {
			w := newChaos(t, &core)
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				w.step()
			}
		}
	})
}

// chaos is the world and its policy.
type chaos struct {
	*rapid.T
	core *Core
	twin *twin
	seen []Event
	ids  map[AttemptID]bool

	classes int // of slots
}

func newChaos(t *rapid.T, core *Core) *chaos {
	l := Limits{
		Attempts: rapid.SampledFrom([]int{Unlimited, Unlimited, 1, 2, 3}).Draw(t, "attempts"),
		Clones: CloneBudget{
			Floor:        rapid.SampledFrom([]int{Unlimited, Unlimited, 0, 1, 3}).Draw(t, "floor"),
			TaskShare:    rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "share of tasks"),
			RunningShare: rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "share of running"),
		},
		Gentle: rapid.Bool().Draw(t, "gentle"),
	}
	w := &chaos{T: t, core: core, twin: &twin{limits: l, wake: Never, told: Never, paces: rapid.Bool().Draw(t, "paces"), waits: rapid.Bool().Draw(t, "waits")}, ids: map[AttemptID]bool{}, classes: rapid.IntRange(1, 2).Draw(t, "classes")}
	w.core.Reset(w, l)
	if w.twin.waits {
		w.core.WaitToBegin()
	}
	if w.twin.sites = rapid.IntRange(0, 4).Draw(t, "sites"); w.twin.sites > 0 {
		if err := w.core.Connect(network(w.twin.sites)); err != nil {
			t.Fatal(err)
		}
	}
	w.machine()
	w.submit()
	w.advance(0, []Event{{Kind: MachineJoined}, {Kind: JobArrived}})
	return w
}

func (w *chaos) oneIn(n int, what string) bool { return rapid.IntRange(1, n).Draw(w.T, what) == 1 }

func (w *chaos) machine() {
	site, slots := SiteID(rapid.IntRange(0, w.lastSite()).Draw(w.T, "site")), rapid.IntRange(1, 4).Draw(w.T, "slots")
	class := Class(rapid.IntRange(0, w.classes-1).Draw(w.T, "class"))
	if _, err := w.core.AddMachineOf(class, site, slots); err != nil {
		w.Fatal(err)
	}
	w.twin.machines = append(w.twin.machines, &twinMachine{site: site, class: class, slots: slots, room: slots})
}

// lastSite returns the largest site there may be.
func (w *chaos) lastSite() int {
	if w.twin.sites == 0 {
		return 2
	}
	return w.twin.sites - 1
}

// network returns one in which all links are alike.
func network(sites int) *Network {
	n := &Network{Names: make([]string, sites), Bandwidth: make([]float64, sites*sites)}
	for i := range n.Bandwidth {
		n.Bandwidth[i] = 1
	}
	return n
}

func (w *chaos) submit() {
	spec := drawJob(w.T, w.classes, w.lastSite())
	if _, err := w.core.Submit(spec); err != nil {
		w.Fatal(err)
	}
	w.twin.submit(spec)
}

func drawJob(t *rapid.T, classes, lastSite int) *JobSpec {
	amounts := func(n int) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(0, 3), n, n).Draw(t, "bytes")
	}
	spec := &JobSpec{Retries: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "retries"), MaxFailed: rapid.SampledFrom([]int{0, 1, 2, Unlimited, Unlimited}).Draw(t, "max failed")}
	spec.MaxLive, spec.MaxAttempts = rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "max live"), rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "max attempts")
	spec.Deadline, spec.Value = Time(rapid.SampledFrom([]int{0, 3, 9}).Draw(t, "deadline")), rapid.SampledFrom([]float64{0, 0.5, 7}).Draw(t, "value")
	spec.Late = rapid.SampledFrom([]Late{{}, {Kind: LateHard}, {Kind: LateDrop}, {Kind: LateDrop}, {Kind: LateSoft, Cost: 0.3}}).Draw(t, "late")
	for range rapid.IntRange(1, 4).Draw(t, "stages") {
		n := rapid.IntRange(0, 4).Draw(t, "tasks")
		spec.Stages = append(spec.Stages, StageSpec{
			Tasks: n, Need: rapid.IntRange(0, n).Draw(t, "need"), Resumable: rapid.Bool().Draw(t, "resumable"), Waits: rapid.Bool().Draw(t, "stage waits"),
			Class: Class(rapid.IntRange(0, classes-1).Draw(t, "class")), Inputs: drawInputs(t, n, lastSite),
			Retries: rapid.SampledFrom([]*int{nil, nil, new(0), new(1), new(3)}).Draw(t, "retries of the stage"),
		})
	}
	for to := range spec.Stages {
		for from := range to {
			a, b := spec.Stages[from].Tasks, spec.Stages[to].Tasks
			switch rapid.IntRange(0, 5).Draw(t, "edge") {
			case 0, 1:
				spec.Edges = append(spec.Edges, Edge{From: from, To: to})
			case 2:
				if a == b {
					spec.Edges = append(spec.Edges, Edge{From: from, To: to, Kind: Pointwise})
				}
			case 3:
				e := Edge{From: from, To: to, Kind: PerTask}
				for range rapid.IntRange(0, a*b).Draw(t, "pairs") {
					e.Pairs = append(e.Pairs, [2]uint32{
						uint32(rapid.IntRange(0, a-1).Draw(t, "a")), uint32(rapid.IntRange(0, b-1).Draw(t, "b")),
					})
				}
				spec.Edges = append(spec.Edges, e)
			}
		}
	}
	for i := range spec.Edges {
		e := &spec.Edges[i]
		each := spec.Stages[e.From].Tasks
		if e.Kind == PerTask {
			each = len(e.Pairs)
		}
		if n := rapid.SampledFrom([]int{0, 0, 1, each}).Draw(t, "amounts"); n > 0 {
			e.Bytes = amounts(n)
		} else {
			e.Measured = rapid.Bool().Draw(t, "measured")
		}
	}
	spec.Edges = rapid.Permutation(spec.Edges).Draw(t, "order of edges")
	return spec
}

func drawInputs(t *rapid.T, tasks, lastSite int) [][]Source {
	source := rapid.Custom(func(t *rapid.T) Source {
		return Source{SiteID(rapid.IntRange(0, lastSite).Draw(t, "site")), rapid.Int64Range(0, 3).Draw(t, "bytes")}
	})
	n := rapid.SampledFrom([]int{0, 0, 1, tasks}).Draw(t, "lists")
	return rapid.SliceOfN(rapid.SliceOfN(source, 0, 3), n, n).Draw(t, "inputs")
}

func (w *chaos) step() {
	if w.oneIn(6, "restore") {
		w.takeUp()
	}
	if w.oneIn(8, "new machine") {
		w.machine()
	}
	if w.oneIn(8, "new job") {
		w.submit()
	}
	was := w.twin.now
	now := was + Time(rapid.IntRange(0, 3).Draw(w.T, "passed"))
	var facts []Event
	for range rapid.IntRange(0, 5).Draw(w.T, "facts") {
		f := w.fact()
		f.At = was + Time(rapid.IntRange(0, int(now-was)).Draw(w.T, "at"))
		facts = append(facts, f)
	}
	if w.oneIn(20, "impossible") {
		bad := rapid.SampledFrom([]Event{
			{At: now + 1, Kind: TimerFired}, {At: was - 1, Kind: TimerFired}, {At: now, Kind: JobFailed},
			{At: now, Kind: JobArrived, Job: 99}, {At: now, Kind: MachineLost, Machine: 99}, {At: now, Kind: MachineStopped, Machine: 99}, {At: now, Kind: AttemptDone},
			{At: now, Kind: AttemptDone, Attempt: attemptID(999, 1)}, {At: now, Kind: DataFetched}, {At: now, Kind: DataFetched, Bytes: 1, Site: 99},
			{At: now, Kind: DataFetched, Bytes: 1, Machine: 99}, {At: now, Kind: DataFetched, Bytes: 1, Attempt: attemptID(999, 1)},
			{At: now, Kind: DataFetched, Bytes: 1, Span: -1}, {At: now, Kind: MachineResized, Slots: maxSlots + 1}, {At: now, Kind: MachineResized, Slots: 1, Machine: 99},
			{At: now, Kind: JobPaused, Job: 99}, {At: now, Kind: JobContinued, Job: 99}, {At: now, Kind: JobChanged, Job: 99},
			{At: now, Kind: JobChanged, Weight: -1}, {At: now, Kind: JobChanged, Weight: math.NaN()}, {At: now, Kind: JobChanged, Weight: math.Inf(1)},
			{At: now, Kind: JobChanged, Deadline: -1}, {At: now, Kind: AttemptTaken},
			{At: now, Kind: AttemptRefused}, {At: now, Kind: AttemptBegan}, {At: now, Kind: AttemptDoomed, Attempt: attemptID(999, 1)},
		}).Draw(w.T, "bad")
		if _, err := w.core.Advance(now, append(slices.Clone(facts), bad)); err == nil {
			w.Fatalf("%+v was accepted", bad)
		}
		w.compare() // and nothing of the batch was applied
	}
	w.advance(now, facts)
}

// fact draws something that a driver might report, true or not.
func (w *chaos) fact() Event {
	kind := rapid.SampledFrom([]EventKind{
		AttemptDone, AttemptDone, AttemptDone, AttemptFailed, AttemptFailed, AttemptProgress, AttemptProgress,
		JobArrived, JobArrived, JobCancelled, JobRetried, JobRetried, MachineJoined, MachineJoined, MachineLost, MachineStopped, TimerFired, DataFetched,
		AttemptDoomed, AttemptRefused, AttemptRefused, MachineResized, MachineResized, AttemptBegan, AttemptBegan, AttemptBegan,
		JobPaused, JobContinued, JobContinued, JobChanged, JobRetired, JobRetired,
	}).Draw(w.T, "kind")
	f := Event{Kind: kind}
	switch kind {
	case AttemptDone, AttemptFailed, AttemptProgress, AttemptDoomed, AttemptRefused, AttemptBegan:
		if f.Attempt = w.someAttempt(); f.Attempt == 0 {
			return Event{Kind: TimerFired}
		}
		if kind == AttemptDone {
			f.Bytes = rapid.Int64Range(0, 3).Draw(w.T, "result")
		}
		if kind == AttemptProgress {
			f.Progress = rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.75, 1}).Draw(w.T, "progress")
			f.Rate = rapid.SampledFrom([]float64{0, 1e7, 1e8, 1e9}).Draw(w.T, "rate") // spans are nanoseconds here
		}
	case JobArrived, JobCancelled, JobRetried, JobPaused, JobContinued, JobChanged, JobRetired:
		if kind == JobChanged {
			f.Priority, f.Weight = rapid.Int32Range(-1, 1).Draw(w.T, "priority"), rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(w.T, "weight")
			f.Deadline = Time(rapid.IntRange(0, 9).Draw(w.T, "deadline"))
		}
		f.Job = JobID(rapid.IntRange(0, len(w.twin.jobs)-1).Draw(w.T, "job"))
		if kind == JobRetired && w.twin.jobs[f.Job].state <= JobActive {
			return Event{Kind: TimerFired} // it cannot be, see impossible
		}
	case DataFetched:
		f.Attempt = w.someAttempt()
		f.Machine = MachineID(rapid.IntRange(0, len(w.twin.machines)-1).Draw(w.T, "machine"))
		f.Site = SiteID(rapid.IntRange(0, w.core.View().Sites().Len()-1).Draw(w.T, "site"))
		f.Bytes, f.Span = rapid.Int64Range(1, 3).Draw(w.T, "bytes"), Time(rapid.IntRange(0, 3).Draw(w.T, "span"))
	case MachineJoined, MachineLost, MachineStopped, MachineResized:
		if kind == MachineResized {
			f.Slots = uint32(rapid.IntRange(0, 6).Draw(w.T, "resized"))
		}
		f.Machine = MachineID(rapid.IntRange(0, len(w.twin.machines)-1).Draw(w.T, "machine"))
	}
	return f
}

// someAttempt draws an attempt, most often one that runs; 0 if there has been none.
func (w *chaos) someAttempt() AttemptID {
	known := w.twin.live(func(*twinAttempt) bool { return true })
	if len(known) == 0 || w.oneIn(5, "late") {
		known = w.twin.attempts
	}
	if len(known) == 0 {
		return 0
	}
	return rapid.SampledFrom(known).Draw(w.T, "attempt").id
}

func (w *chaos) advance(now Time, facts []Event) {
	w.seen = nil
	w.twin.advance(slices.Clone(facts))
	w.twin.timer(now)
	got, err := w.core.Advance(now, facts)
	if err != nil {
		w.Fatal(err)
	}
	w.twin.decided()
	if d := diff(w.twin.out, got); d != "" {
		w.Fatalf("decisions (-twin +core):\n%s", d)
	}
	if err := w.core.Check(); err != nil {
		w.Fatal(err)
	}
	w.compare()
}

// Observe keeps what the core tells. That it is the same as the twin's is seen in Decide.
func (w *chaos) Observe(v *View, ev *Event) {
	if ev.At != v.Now() || v.FreeSlots() < 0 || v.CloneRoom() < 0 {
		w.Fatalf("%+v observed at %v with %d free slots", *ev, v.Now(), v.FreeSlots())
	}
	w.seen = append(w.seen, *ev)
}

func (w *chaos) Decide(v *View, act *Actions) {
	byText := func(a, b Event) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	w.twin.giveUp()
	w.twin.admit()
	slices.SortFunc(w.seen, byText)
	slices.SortFunc(w.twin.seen, byText)
	if d := diff(w.twin.seen, w.seen); d != "" {
		w.Fatalf("events (-twin +core):\n%s", d)
	}
	w.compare()
	for range rapid.IntRange(0, 6).Draw(w.T, "orders") {
		switch rapid.IntRange(0, 11).Draw(w.T, "order") {
		case 0, 1, 2:
			w.launchNext(v, act)
		case 3, 4:
			w.cloneSome(v, act)
		case 5, 6:
			w.launch(act, TaskID(rapid.IntRange(0, v.Rows().Tasks()).Draw(w.T, "task")),
				MachineID(rapid.IntRange(0, v.Rows().Machines()).Draw(w.T, "machine")),
				rapid.SampledFrom([]float64{0, 0, 0, 0.5, 0.75, 1, -1, math.NaN()}).Draw(w.T, "from"))
		case 7, 8:
			w.kill(act)
		case 9:
			at := v.Now() + Time(rapid.IntRange(-1, 6).Draw(w.T, "wake"))
			act.WakeAt(at)
			w.twin.wakeAt(at)
		case 10:
			w.cancel(act, JobID(rapid.IntRange(0, v.Rows().Jobs()).Draw(w.T, "job")))
		case 11:
			w.pace(act, rapid.SampledFrom([]float64{0.5, 1, 1, 2, 0, -1, math.Inf(1), math.NaN()}).Draw(w.T, "speed"))
		}
	}
}

// launchNext does what a sensible policy would, so that jobs get on.
func (w *chaos) launchNext(v *View, act *Actions) {
	s, waiting := v.WaitingStage(0)
	m, free := v.FreeMachine(0)
	for waiting && free && v.Machine(m).Class != v.Stage(s).Class {
		m, free = v.FreeMachine(m + 1)
	}
	if waiting && free {
		t, _ := v.PendingTask(s, 0)
		w.launch(act, t, m, v.Task(t).Saved)
	}
}

func (w *chaos) cloneSome(v *View, act *Actions) {
	m, free := v.FreeMachine(0)
	if a := w.twin.find(w.someAttempt()); free && a != nil {
		w.launch(act, a.Task, m, 0)
	}
}

func (w *chaos) launch(act *Actions, t TaskID, m MachineID, from float64) {
	id, err := act.Launch(t, m, from, Original)
	if want := w.twin.launch(t, m, from, Original, id); err != want {
		w.Fatalf("launch task %d on machine %d from %v met %v, the twin met %v", t, m, from, err, want)
	}
	if err == nil && (id == 0 || w.ids[id]) {
		w.Fatalf("attempt %x was given out before", id)
	}
	w.ids[id] = true
}

func (w *chaos) kill(act *Actions) {
	id := w.someAttempt()
	err := act.Kill(id, Share)
	if want := w.twin.kill(id, Share); err != want {
		w.Fatalf("kill %x met %v, the twin met %v", id, err, want)
	}
}

func (w *chaos) cancel(act *Actions, j JobID) {
	err := act.Cancel(j)
	if want := w.twin.cancel(j); err != want {
		w.Fatalf("cancel job %d met %v, the twin met %v", j, err, want)
	}
}

// Paces makes it a Pacer in half of the worlds.
func (w *chaos) Paces() bool { return w.twin.paces }

func (w *chaos) pace(act *Actions, speed float64) {
	err := act.Pace(speed)
	if want := w.twin.pace(speed); err != want {
		w.Fatalf("speed %v met %v, the twin met %v", speed, err, want)
	}
}

// compare asks both everything that can be asked.
func (w *chaos) compare() {
	v := w.core.View()
	if d := diff(w.twin.picture(everything), pictureOf(v)); d != "" {
		w.Fatalf("at %v they know different things (-twin +core):\n%s", w.twin.now, d)
	}
	if w.classes > 1 && w.oneIn(4, "by class") { // what a policy under PerClass sees
		for class := range Class(w.classes) {
			v.narrow(class)
			if d := diff(w.twin.picture(only(class)), pictureOf(v)); d != "" {
				w.Fatalf("at %v they know different things of class %d (-twin +core):\n%s", w.twin.now, class, d)
			}
		}
		v.widen()
	}
}

// diff compares exported fields; the twin has no others.
func diff(twin, core any) string {
	if alike(reflect.ValueOf(twin), reflect.ValueOf(core)) { // as nearly always, and several times as fast
		return ""
	}
	return cmp.Diff(twin, core, cmpopts.EquateEmpty(), cmpopts.EquateApprox(1e-9, 1e-15), cmpopts.IgnoreUnexported(Job{}, Stage{}, Task{}, Attempt{}, Machine{}))
}

// alike reports that exported fields are equal to the last bit; what it does not, diff looks at again.
func alike(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return a.IsNil() == b.IsNil() && (a.IsNil() || alike(a.Elem(), b.Elem()))
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() && !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return a.Comparable() && a.Equal(b)
}
