package serve

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// Forecasts cost their share and no more, however much happens; what was saved is for jobs that come.
func TestPurse(t *testing.T) {
	now := time.Unix(0, 0)
	p := purse{left: mostSaved, at: now}
	spent := time.Duration(0)
	for range 100_000 { // 1000 s
		now = now.Add(10 * time.Millisecond)
		if p.enough(now, false) {
			p.spend(40 * time.Millisecond)
			spent += 40 * time.Millisecond
		}
	}
	if share := spent.Seconds() / 1000; share < 0.9*forecastShare || share > forecastShare+0.0005 {
		t.Errorf("%.4f of a core is spent", share)
	}
	if !p.enough(now, true) || p.left < mostSaved/2-40*time.Millisecond {
		t.Errorf("%v is left for a job that comes", p.left)
	}
	p.spend(time.Second)
	if owed := p.owes(now.Add(time.Second)); owed < 650*time.Millisecond || owed > 900*time.Millisecond {
		t.Errorf("%v is owed", owed)
	}
	if p.enough(now, true) || p.enough(now.Add(time.Minute), true) || !p.enough(now.Add(3*time.Minute), true) {
		t.Errorf("%v is left", p.left)
	}
}

// A forecast that costs little does not rest, although the purse is empty; one that costs much does.
func TestForecastRests(t *testing.T) {
	p := purse{at: time.Now()}
	began := time.Now()
	p.rest(t.Context(), mostSaved-50*time.Millisecond)
	if took := time.Since(began); took > 5*time.Second { // it would take 50 s to save that
		t.Errorf("it rested for %v", took)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	p.rest(ctx, time.Minute)
	if ctx.Err() == nil {
		t.Error("it did not rest")
	}
}

// What is kept of a job's promises is the first, and those that said something else, as far as there is room.
func TestPromisesKept(t *testing.T) {
	f := newForecast(nil)
	at := time.Unix(1e9, 0)
	made := func(after, end time.Duration) promise.Promise {
		p := promise.Promise{Made: at.Add(after)}
		for range promise.Levels {
			p.Ends = append(p.Ends, at.Add(end))
		}
		return p
	}
	f.take(1, promise.Promise{Made: at})                      // unknown
	f.take(1, made(time.Second, 100*time.Second))             // the first
	f.take(1, made(2*time.Second, 105*time.Second))           // nearly the same
	f.take(1, made(50*time.Second, 110*time.Second))          // 10 s of 50 s that are left
	f.take(1, made(109*time.Second, 110*time.Second))         // the same
	f.take(1, made(109*time.Second, 109500*time.Millisecond)) // half of what is left
	latest, kept := f.of(1)
	if len(kept) != 3 || !kept[0].Made.Equal(at.Add(time.Second)) || !latest.Middle().Equal(at.Add(109500*time.Millisecond)) {
		t.Errorf("%v, %v", latest, kept)
	}
	for i := range 100 {
		f.take(1, made(0, time.Duration(1000*(i+1))*time.Second))
	}
	if len(f.kept(1)) != mostPromises {
		t.Errorf("%d are kept", len(f.kept(1)))
	}
	if f.over(1, "n"); f.kept(1) != nil {
		t.Error("promises of a job that is over stay")
	}
}

// onePast is a history that knows one run.
type onePast struct {
	past.None
	run live.PastRun
}

func (p onePast) Past(context.Context, string, int) (*live.Past, error) {
	return &live.Past{Runs: []live.PastRun{p.run}}, nil
}

// noAnswer is a history that does not answer.
type noAnswer struct{ past.None }

func (noAnswer) Past(ctx context.Context, _ string, _ int) (*live.Past, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A history that does not answer does not keep promises from being made by what jobs themselves show.
func TestPromisesWithoutAnswer(t *testing.T) {
	t.Parallel() // it waits
	f := newForecast(noAnswer{})
	f.lookUp(t.Context(), map[sched.JobID]*waiting{1: {name: "n", stages: []string{"map"}, spec: make([]sched.StageSpec, 1)}}, nil)
	if f.known["n"] == nil {
		t.Error("the name will be asked for again")
	}
}

// Promises reckon with the durations of earlier jobs by the bytes that a task reads, as estimates at submission do. Jobs that read the same share them.
func TestPromisesFollowBytes(t *testing.T) {
	f := newForecast(onePast{run: live.PastRun{Stages: []live.PastStage{
		{Name: "map", Tasks: 4, Bytes: 400, Durations: []float64{1, 1, 1, 1}}, {Name: "reduce", Tasks: 2, Bytes: 200, Durations: []float64{2, 2}, Cut: []float64{3}},
	}}})
	job := func(maps int, input int64) *waiting {
		work, err := json.Marshal(&jobfile.Work{MapReduce: &mapreduce.Plan{InputBytes: input}})
		if err != nil {
			t.Fatal(err)
		}
		return &waiting{name: "n", stages: []string{"map", "reduce"}, spec: []sched.StageSpec{{Tasks: maps}, {Tasks: 2}}, work: work}
	}
	array := job(4, 0)
	array.work = []byte(`{"dir":"/","array":{}}`)
	jobs := map[sched.JobID]*waiting{1: job(4, 400), 2: job(12, 1200), 3: job(12, 1200), 4: array, 5: {name: "n", stages: []string{"other"}, spec: make([]sched.StageSpec, 1)}}
	f.lookUp(t.Context(), jobs, nil)
	for id, want := range map[sched.JobID][3]float64{1: {1, 2, 3}, 2: {1, 6, 9}, 4: {1, 2, 3}} {
		maps, reduces := f.knownOf(id, jobs[id], 0).Past[0], f.knownOf(id, jobs[id], 1).Past[0]
		if got := [3]float64{maps.Ended[3], reduces.Ended[1], reduces.Cut[0]}; got != want {
			t.Errorf("job %d: %v, want %v", id, got, want)
		}
	}
	if f.knownOf(2, jobs[2], 1) != f.knownOf(3, jobs[3], 1) {
		t.Error("jobs that read the same do not share what is known")
	}
	if f.knownOf(5, jobs[5], 0) != nil {
		t.Error("something is known of a stage that never was")
	}
}

// Submissions count with deadlines as they were given, and with what jobs of their names took, those that are over too. Jobs
// for slots that the server has no more do not.
func TestSubmissionsForPlays(t *testing.T) {
	f := newForecast(onePast{run: live.PastRun{Stages: []live.PastStage{{Name: "main", Durations: []float64{1, 2}}}}})
	epoch := time.Unix(1e9, 0)
	submitted := func(id sched.JobID, class sched.Class, deadline sched.Time) submission {
		spec := sched.JobSpec{Deadline: deadline, Stages: []sched.StageSpec{{Tasks: 3, Class: class}}}
		return submission{id, "n", epoch.Add(time.Duration(id) * time.Second), &shape{spec, []string{"main"}}}
	}
	all := []submission{submitted(1, 0, 61*sched.Second), submitted(2, 1, 0), submitted(3, 0, 0), submitted(4, 0, sched.Second)}
	f.lookUp(t.Context(), nil, all)
	own := &promise.Durations{Own: promise.Run{Ended: []float64{7}}}
	state := &promise.State{Epoch: epoch, Known: func(id sched.JobID, _ int) *promise.Durations {
		if id == 3 {
			return own
		}
		return nil
	}}
	came := f.came(all, 1, state)
	if len(came) != 3 {
		t.Fatalf("%d submissions, not 3", len(came))
	}
	for i, want := range []struct{ at, deadline sched.Time }{{1, 60 * sched.Second}, {3, 0}, {4, 1}} {
		if c := came[i]; c.At != want.at*sched.Second || c.Spec.Deadline != want.deadline {
			t.Errorf("%d came at %v with a deadline of %v", i, c.At, c.Spec.Deadline)
		}
	}
	if past := came[0].Known[0]; len(past.Past) != 1 || past != came[2].Known[0] || came[1].Known[0] != own {
		t.Errorf("known: %+v", came)
	}
}
