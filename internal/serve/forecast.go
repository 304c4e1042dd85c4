package serve

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// forecast promises jobs when they will have ended, anew whenever something has happened, but never for more than a
// small share of a core.
type forecast struct {
	history past.History  // nil for none
	news    chan struct{} // holds a value if something has happened
	urgent  atomic.Bool   // a job has no promise yet

	mu    sync.Mutex
	made  map[sched.JobID]*promised
	known map[string]*earlier // by name of job
}

// earlier is what earlier jobs of a name took.
type earlier struct {
	past      *live.Past
	inputs    map[sched.JobID]int64 // of jobs of the name that are not over, in bytes
	durations map[portion]*promise.Durations
}

// portion is what durations depend on: what each task of a stage reads. Without input it is only the stage.
type portion struct {
	stage string
	tasks int
	input int64
}

// promised is what a job was promised so far.
type promised struct {
	latest promise.Promise
	kept   []promise.Promise // the first, and those that said something else
}

const (
	// up to which a forecast is played often; one that takes longer is played as seldom as can be
	forecastBudget = 10 * time.Millisecond
	mostNewNames   = 100 // of jobs whose past is looked up for one forecast: it is a question each
	mostPromises   = 20  // kept of a job
	moved          = 0.1 // from how much of the time left on another end counts as said anew
)

func newForecast(h past.History) *forecast {
	return &forecast{history: h, news: make(chan struct{}, 1), made: map[sched.JobID]*promised{}, known: map[string]*earlier{}}
}

// wake says that something has happened; urgent if a job has no promise yet.
func (f *forecast) wake(urgent bool) {
	if urgent {
		f.urgent.Store(true)
	}
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// run makes promises until ctx is done.
func (f *forecast) run(ctx context.Context, s *Server) {
	p := purse{left: mostSaved, at: time.Now()}
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.news:
		}
		for !p.enough(time.Now(), f.urgent.Load()) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(forecastPause):
			}
		}
		f.urgent.Store(false)
		err := f.foresee(ctx, s, &p)
		if err != nil && ctx.Err() == nil && !told {
			told = true
			s.say("warning: no ends are promised: %v", err)
		}
		select { // for what comes in together
		case <-ctx.Done():
			return
		case <-time.After(forecastPause):
		}
	}
}

// purse is what forecasts may cost: a share of the time that passes, some of which is saved for jobs that come.
type purse struct {
	left time.Duration
	at   time.Time
}

const (
	forecastPause = 250 * time.Millisecond
	forecastShare = 0.005 // of a core
	mostSaved     = 300 * time.Millisecond
)

// spend takes out what something has cost.
func (p *purse) spend(cost time.Duration) { p.left -= cost }

// rest spends, and waits while more is owed than is ever saved. A forecast that costs less is told at once, and the
// next one waits: it would be old before it is told if it rested between its plays.
func (p *purse) rest(ctx context.Context, cost time.Duration) {
	for p.spend(cost); p.owes(time.Now()) > mostSaved; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(time.Minute, time.Duration(float64(-p.left-mostSaved+time.Millisecond)/forecastShare))):
		}
	}
}

// owes is what was spent of what is not there yet.
func (p *purse) owes(now time.Time) time.Duration {
	p.fill(now)
	return max(0, -p.left)
}

func (p *purse) fill(now time.Time) {
	p.left = min(mostSaved, p.left+time.Duration(forecastShare*float64(now.Sub(p.at))))
	p.at = now
}

// enough tells whether a forecast may be made now. One that is not urgent leaves half.
func (p *purse) enough(now time.Time, urgent bool) bool {
	p.fill(now)
	return p.left > mostSaved/2 || urgent && p.left > 0
}

// waiting is a job that is not over, as a forecast needs it.
type waiting struct {
	name   string
	stages []string
	spec   []sched.StageSpec
	work   json.RawMessage
	own    []promise.Run // of stages of which attempts have ended, nil if there are none
}

// foresee makes a promise to every job. It rests where the purse is empty, so that a long queue takes minutes.
func (f *forecast) foresee(ctx context.Context, s *Server, p *purse) error {
	jobs := map[sched.JobID]*waiting{}
	state := promise.State{Epoch: s.engine.Started(), After: map[sched.JobID][]sched.JobID{}, Seed: rand.Uint64(), Rest: p.rest}
	var looked time.Duration
	err := s.engine.Look(ctx, func(v live.Sight) {
		began := time.Now()
		defer func() { looked = time.Since(began) }()
		spec, _, limits := v.Policy()
		state.Snapshot, state.Limits = v.Snapshot(), limits
		state.Snapshot.At = max(state.Snapshot.At, s.now()) // the core's clock stands still while nothing happens
		state.Policy = func(seed uint64) (sched.Policy, error) {
			return policy.NewPerClass(spec, seed, max(1, len(s.cfg.Classes)))
		}
		for j := range v.Jobs() {
			if State(j.State()).Over() {
				continue
			}
			jobs[j.ID] = &waiting{name: j.Name, stages: j.Stages, spec: j.Spec.Stages, work: j.Work}
			if all := j.Records(); len(all) > 0 {
				jobs[j.ID].own = run.OwnRuns(all, len(j.Stages))
			}
			if len(j.After) > 0 {
				state.After[j.ID] = j.After
			}
		}
	})
	if err != nil || len(jobs) == 0 {
		return err
	}
	p.spend(looked)
	came := s.jobs.latest(promise.MostCame, state.Snapshot.NextJob)
	f.lookUp(ctx, jobs, came)
	state.Known = func(id sched.JobID, stage int) *promise.Durations {
		j := jobs[id]
		if j == nil {
			return nil
		}
		d := f.knownOf(id, j, stage)
		if j.own == nil {
			return d
		}
		own := &promise.Durations{Own: j.own[stage]}
		if d != nil {
			own.Past = d.Past
		}
		return own
	}
	state.Came = f.came(came, len(s.cfg.Classes), &state)
	all, err := state.Foresee(ctx, forecastBudget)
	if err != nil {
		return err
	}
	for id, p := range all {
		if e, _ := s.jobs.get(int64(id)); e != nil {
			f.take(id, p)
		}
	}
	return s.judge(ctx, &state)
}

// came is what is known of submissions to a server with so many classes of slots. Of jobs that are over it is what jobs
// of their names took.
func (f *forecast) came(all []submission, classes int, state *promise.State) (came []promise.Came) {
	for _, x := range all {
		c := promise.Came{At: sched.Time(x.at.Sub(state.Epoch)), Spec: x.Spec}
		if c.Spec.Deadline > 0 {
			c.Spec.Deadline = max(1, c.Spec.Deadline-c.At)
		}
		fits := true
		for k := range x.Spec.Stages {
			d := state.Known(x.id, k)
			if d == nil {
				d = f.knownOf(x.id, &waiting{name: x.name, stages: x.Stages, spec: x.Spec.Stages}, k)
			}
			c.Known = append(c.Known, d)
			fits = fits && int(x.Spec.Stages[k].Class) < max(1, classes)
		}
		if fits {
			came = append(came, c)
		}
	}
	return came
}

// knownOf returns what earlier jobs of a job's name took in a stage, for what its tasks read; nil for nothing.
func (f *forecast) knownOf(id sched.JobID, j *waiting, stage int) *promise.Durations {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.known[j.name]
	if e == nil {
		return nil
	}
	input, read := e.inputs[id]
	if !read {
		var w jobfile.Work
		if json.Unmarshal(j.work, &w) == nil { // or they count as they are
			input = w.InputBytes()
		}
		e.inputs[id] = input
	}
	p := portion{stage: j.stages[stage]}
	if input > 0 {
		p.tasks, p.input = j.spec[stage].Tasks, input
	}
	if d, made := e.durations[p]; made {
		return d
	}
	var d *promise.Durations
	for _, st := range e.past.DurationsFor(p.stage, p.tasks, p.input) {
		if d == nil {
			d = &promise.Durations{}
		}
		d.Past = append(d.Past, promise.Run{Ended: st.Durations, Cut: st.Cut})
	}
	e.durations[p] = d
	return d
}

// lookUp asks the history for the names of which nothing was asked yet, and forgets those that no job has any more: the
// last may have ended while it was asked about.
func (f *forecast) lookUp(ctx context.Context, jobs map[sched.JobID]*waiting, came []submission) {
	asked := 0
	var names []string
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		names = append(names, jobs[id].name)
	}
	for i := range came {
		names = append(names, came[i].name)
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	f.mu.Lock()
	maps.DeleteFunc(f.known, func(name string, _ *earlier) bool { return !wanted[name] })
	f.mu.Unlock()
	for _, name := range names {
		f.mu.Lock()
		_, known := f.known[name]
		f.mu.Unlock()
		if known || f.history == nil || asked == mostNewNames {
			continue
		}
		asked++
		soon, cancel := context.WithTimeout(ctx, past.Soon)
		p, err := f.history.Past(soon, name, 0)
		cancel()
		if err != nil { // the job's own attempts tell
			p = &live.Past{}
		}
		f.mu.Lock()
		f.known[name] = &earlier{past: p, inputs: map[sched.JobID]int64{}, durations: map[portion]*promise.Durations{}}
		f.mu.Unlock()
	}
}

// take keeps a promise.
func (f *forecast) take(id sched.JobID, p promise.Promise) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.made[id]
	if j == nil {
		j = &promised{}
		f.made[id] = j
	}
	j.latest = p
	if !p.Known() {
		return
	}
	if n := len(j.kept); n > 0 {
		last := &j.kept[n-1]
		left := last.Middle().Sub(p.Made)
		if n == mostPromises || p.Middle().Sub(last.Middle()).Abs().Seconds() < moved*left.Abs().Seconds() {
			return
		}
	}
	p.Plays = nil
	j.kept = append(j.kept, p)
}

// of returns what a job is promised now, and what it was.
func (f *forecast) of(id sched.JobID) (latest promise.Promise, kept []promise.Promise) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.made[id]; j != nil {
		return j.latest, slices.Clone(j.kept)
	}
	return latest, nil
}

// chanceOf returns the probability that a job that is not over meets its deadline, as it was played last; nil for none.
func (f *forecast) chanceOf(id sched.JobID) *float64 {
	latest, _ := f.of(id)
	return latest.ChanceAt(time.Now())
}

// kept returns what a job was promised.
func (f *forecast) kept(id sched.JobID) []promise.Promise {
	_, all := f.of(id)
	return all
}

// over forgets a job that is over, and what was known of its name: there is more now.
func (f *forecast) over(id sched.JobID, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.made, id)
	delete(f.known, name)
}

// promise puts what a job is promised into its row.
func (f *forecast) promise(job *Job, p *promise.Promise) {
	job.Chance = p.Chance
	if !p.Known() {
		return
	}
	from, to := p.Interval()
	middle := p.Middle().Sub(job.Submitted).Seconds()
	job.Promised, job.Between = &middle, &[2]float64{from.Sub(job.Submitted).Seconds(), to.Sub(job.Submitted).Seconds()}
}
