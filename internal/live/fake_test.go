package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// place names an attempt on disk, as folders do.
type place struct{ Stage, Index, Number int }

// outputOf is what an attempt writes; the first of all writes nothing.
func outputOf(p place) []byte {
	if p == (place{}) {
		return []byte{}
	}
	return fmt.Append(nil, p)
}

func placeOf(a Attempt) place { return place{a.Stage, a.Index, a.Number} }

// remains are what a run has left on its disk; they survive the engine.
type remains struct {
	mu       sync.Mutex     // of attempts: the other fields are those of who calls the executor
	attempts map[place]bool // true once the attempt's output is complete
	done     map[[2]int]place
	memory   map[[2]int]bool // of done, what only the journal and the engine have
	started  map[place]bool
	result   map[[2]int]place // published
}

func newDisk() *remains {
	return &remains{attempts: map[place]bool{}, done: map[[2]int]place{}, memory: map[[2]int]bool{}, started: map[place]bool{}}
}

// forget is what the death of an engine does to what it had in memory.
func (d *remains) forget() {
	for task := range d.memory {
		delete(d.done, task)
	}
	clear(d.memory)
}

// complete lets the output of an attempt be whole.
func (d *remains) complete(p place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attempts[p] = true
}

// fate says how an attempt goes.
type fate struct {
	waits    time.Duration // before it begins, which is reported, unless it does not wait
	takes    time.Duration
	fails    bool
	doomed   bool          // at once
	refused  bool          // at once
	short    bool          // with fails, for good
	then     func()        // called before the report of the end
	lost     bool          // with its machine, when it should have ended
	progress []float64     // reported at even steps
	late     time.Duration // between the end and the report
	silent   bool          // the report is lost
	twice    bool          // the report comes twice
	inline   bool          // the output is in the report and nowhere else
}

// fake is an executor whose attempts are goroutines that sleep. Virtual time makes them exact.
type fake struct {
	t       *testing.T
	disk    *remains
	fate    func(Attempt) fate
	hook    func(deed string, a place) // before every call, nil for none
	gone    func() error               // of an engine that is dead, whose queue is not; nil for nobody
	harm    func(deed string) error    // of a commit, or of publishing; nil for none
	closing func()                     // called by Close, nil for nothing
	reports chan Report
	ended   chan struct{} // closed when no attempt may go on
	ends    sync.Once     // closes it: an engine's death may meet the end of a job

	mu    sync.Mutex
	kills map[sched.AttemptID]chan struct{}
	log   []string
}

func newFake(t *testing.T, d *remains, f func(Attempt) fate) *fake {
	return &fake{
		t: t, disk: d, fate: f, reports: make(chan Report, 1000), ended: make(chan struct{}), kills: map[sched.AttemptID]chan struct{}{},
	}
}

func (f *fake) do(deed string, p place) {
	if f.hook != nil {
		f.hook(deed, p)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf("%s %d/%d#%d", deed, p.Stage, p.Index, p.Number))
}

func (f *fake) Start(a Attempt) {
	p := placeOf(a)
	f.do("start", p)
	if f.gone != nil && f.gone() != nil {
		return
	}
	if f.harm != nil {
		_ = f.harm("start")
	}
	f.disk.start(f.t, a)
	kill := make(chan struct{})
	f.mu.Lock()
	f.kills[a.ID] = kill
	f.mu.Unlock()
	go f.live(a, f.fate(a), kill)
}

// start takes notice of an attempt. Of an engine that is gone a goroutine may still be at work.
func (d *remains) start(t testing.TB, a Attempt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := placeOf(a)
	if d.started[p] {
		t.Errorf("attempt %v is started a second time", p)
	}
	if winner, ok := d.done[[2]int{a.Stage, a.Index}]; ok {
		t.Errorf("attempt %v is started although %v is committed", p, winner)
	}
	d.started[p] = true
}

// live is the life of an attempt.
func (f *fake) live(a Attempt, life fate, kill chan struct{}) {
	if life.doomed || life.refused {
		kind := sched.AttemptDoomed
		if life.refused {
			kind = sched.AttemptRefused
		}
		f.reports <- Report{At: time.Now(), Attempt: a.ID, Kind: kind, Exit: 127, Note: "cannot start"}
		return
	}
	if life.waits > 0 {
		select {
		case <-time.After(life.waits):
		case <-kill:
			return
		case <-f.ended:
			return
		}
		f.reports <- Report{At: time.Now(), Attempt: a.ID, Kind: sched.AttemptBegan}
	}
	steps := len(life.progress) + 1
	for i := range steps {
		select {
		case <-time.After(life.takes / time.Duration(steps)):
		case <-kill:
			return
		case <-f.ended:
			return
		}
		if i < len(life.progress) {
			f.reports <- Report{At: time.Now(), Attempt: a.ID, Kind: sched.AttemptProgress, Progress: life.progress[i]}
		}
	}
	rep := Report{At: time.Now(), Attempt: a.ID, Kind: sched.AttemptDone, Bytes: 500}
	if life.fails {
		rep.Kind, rep.Exit, rep.Note = sched.AttemptFailed, 1, fmt.Sprintf("attempt %d broke", a.Number)
	}
	if life.short {
		rep.Kind, rep.Short = sched.AttemptDoomed, true
	}
	if life.lost {
		rep = Report{At: rep.At, Attempt: a.ID, Kind: sched.MachineLost}
	}
	switch {
	case life.fails, life.lost:
	case life.inline:
		rep.Output = outputOf(placeOf(a))
	default:
		f.disk.complete(placeOf(a))
	}
	select {
	case <-time.After(life.late):
	case <-f.ended:
		return
	}
	if life.silent {
		return
	}
	if life.then != nil {
		life.then()
	}
	f.reports <- rep
	if life.twice {
		f.reports <- rep
	}
}

func (f *fake) Kill(id sched.AttemptID) {
	f.do("kill", place{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if kill, ok := f.kills[id]; ok {
		delete(f.kills, id)
		close(kill)
	}
}

func (f *fake) Commit(a Attempt, output []byte) error {
	p, task := placeOf(a), [2]int{a.Stage, a.Index}
	f.do("commit", p)
	if f.gone != nil && f.gone() != nil {
		return f.gone()
	}
	if f.harm != nil {
		if err := f.harm("commit"); err != nil {
			return err
		}
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if output != nil {
		if string(output) != string(outputOf(p)) {
			return fmt.Errorf("the output of %v is %q", p, output)
		}
		f.disk.done[task], f.disk.memory[task] = p, true
		return nil
	}
	if _, ok := f.disk.done[task]; ok {
		delete(f.disk.attempts, p)
		return nil
	}
	if !f.disk.attempts[p] {
		return fmt.Errorf("the output of %v is not there", p)
	}
	delete(f.disk.attempts, p)
	f.disk.done[task] = p
	return nil
}

func (f *fake) Clean() error {
	f.do("clean", place{})
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	clear(f.disk.attempts)
	return nil
}

func (f *fake) Reports() <-chan Report {
	if f.hook != nil {
		f.hook("reports", place{})
	}
	return f.reports
}

func (f *fake) Publish() error {
	f.do("publish", place{})
	if f.harm != nil {
		if err := f.harm("publish"); err != nil {
			return err
		}
	}
	f.disk.result = map[[2]int]place{}
	for task, p := range f.disk.done {
		f.disk.result[task] = p
	}
	return nil
}

func (f *fake) Close() error {
	if f.closing != nil {
		f.closing()
	}
	f.die()
	return nil
}

// die ends all attempts at once, as the death of the engine does.
func (f *fake) die() {
	f.ends.Do(func() { close(f.ended) })
}

// nervous launches waiting tasks and clones every one that has run for patience. What it launches first depends on how often
// it was asked and on how many timers have fired, so that a replay that is not exact shows.
type nervous struct {
	patience      sched.Time
	asked, timers int
}

func (p *nervous) Observe(_ *sched.View, ev *sched.Event) {
	if ev.Kind == sched.TimerFired {
		p.timers++
	}
}

func (p *nervous) Decide(v *sched.View, act *sched.Actions) {
	p.asked++
	for v.FreeSlots() > 0 && v.Pending() > 0 {
		s, _ := v.WaitingStage(0)
		t, ok := v.PendingTask(s, 0)
		if next, more := v.PendingTask(s, t+1); more && (p.asked+p.timers)%2 == 0 {
			t = next
		}
		m, free := v.FreeMachine(0)
		if !ok || !free {
			return
		}
		if _, err := act.Launch(t, m, 0, sched.Original); err != nil {
			return // its last attempt decides
		}
	}
	for s := range v.Rows().Stages() {
		p.clone(v, act, sched.StageID(s))
	}
}

func (p *nervous) clone(v *sched.View, act *sched.Actions, s sched.StageID) {
	for t, ok := v.RunningTask(s, 0); ok && v.FreeSlots() > 0; t, ok = v.RunningTask(s, t+1) {
		newest, _ := v.FirstAttempt(t)
		due := v.Attempt(newest).Started + p.patience
		if due > v.Now() {
			act.WakeAt(due)
		} else if m, free := v.FreeMachine(0); free && v.AttemptRoom(t) > 0 && v.CloneRoom() > 0 {
			_, _ = act.Launch(t, m, 0, sched.Straggling)
		}
	}
}

// header describes a run of stages with so many tasks, a barrier between each two, on machines of two slots.
func header(machines, retries int, stages ...int) *trace.JournalHeader {
	h := &trace.JournalHeader{Run: "test", Started: time.Now(), Policy: "nervous", Limits: sched.DefaultLimits(), Job: sched.JobSpec{Retries: retries}}
	for range machines {
		h.Machines = append(h.Machines, trace.JournalMachine{Slots: 2})
	}
	for i, n := range stages {
		h.Stages = append(h.Stages, fmt.Sprintf("stage%d", i))
		h.Job.Stages = append(h.Job.Stages, sched.StageSpec{Tasks: n})
		if i > 0 {
			h.Job.Edges = append(h.Job.Edges, sched.Edge{From: i - 1, To: i})
		}
	}
	return h
}

// apart puts each machine of a run at a site of its own, with 100 kB/s and 3 ms of latency between them. The tasks of the first stage read 1000 bytes at the first site, and of each result
// 500 bytes are read.
func apart(h *trace.JournalHeader) {
	n := len(h.Machines)
	h.Network = &sched.Network{Bandwidth: make([]float64, n*n), Latency: make([]sched.Time, n*n)}
	for i := range h.Machines {
		h.Machines[i].Site = sched.SiteID(i)
		h.Network.Names = append(h.Network.Names, fmt.Sprintf("site%d", i))
	}
	for i := range n * n {
		h.Network.Bandwidth[i], h.Network.Latency[i] = 1e5, 3*sched.Millisecond
	}
	h.Job.Stages[0].Inputs = [][]sched.Source{{{Site: 0, Bytes: 1000}}}
	for i := range h.Job.Edges {
		h.Job.Edges[i].Measured = true
	}
}

// memory returns a folder on a file system in memory if there is one: these tests are about order, not about the disk.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tailcut")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func journalPath(t *testing.T) string { return filepath.Join(memory(t), "journal") }

// create begins a run under the nervous policy.
func create(t *testing.T, path string, h *trace.JournalHeader, patience time.Duration) *Run {
	t.Helper()
	r, err := Create(path, h, &nervous{patience: sched.Time(patience)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reopen(t *testing.T, path string, patience time.Duration) *Run {
	t.Helper()
	r, err := Open(path, func(*trace.JournalHeader) (sched.Policy, error) { return &nervous{patience: sched.Time(patience)}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// batches reads a journal to its end and returns copies.
func batches(t *testing.T, path string) []trace.Batch {
	t.Helper()
	r, err := trace.OpenJournalReader(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []trace.Batch
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, trace.Batch{Now: b.Now, Facts: append([]sched.Event(nil), b.Facts...), Decisions: append([]sched.Decision(nil), b.Decisions...), Outputs: append([]trace.Output(nil), b.Outputs...)})
	}
}

// mustReplay checks that a fresh core decides as the journal says.
func mustReplay(t *testing.T, path string, patience time.Duration) {
	t.Helper()
	r, err := trace.OpenJournalReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(r, func(*trace.JournalHeader) (sched.Policy, error) { return &nervous{patience: sched.Time(patience)}, nil }, nil); err != nil {
		t.Errorf("replay: %v", err)
	}
}

// always has a policy whatever the settings.
func always(p sched.Policy) Policies {
	return func(*trace.JournalHeader) (sched.Policy, error) { return p, nil }
}
