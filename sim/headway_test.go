package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// paces are machines whose paces are known: each lasts for a second, the last for ever.
type paces struct {
	by [][]float64 // machine, second
	Service
}

func (p *paces) at(m sched.MachineID, second sched.Time) float64 {
	all := p.by[m]
	return all[min(int(second), len(all)-1)]
}

func (p *paces) through(m sched.MachineID, begun, _ sched.Time, work float64) (sched.Time, spell) {
	t := float64(begun)
	for second := begun / sched.Second; ; second++ {
		end := float64((second + 1) * sched.Second)
		if can := p.at(m, second) * (end - t); can < work {
			work -= can
			t = end
			continue
		}
		return sched.Time(math.Round(t + work/p.at(m, second))), spell{}
	}
}

func (p *paces) did(m sched.MachineID, _ *spell, from, to sched.Time) (sum float64) {
	for t := from; t < to; {
		end := min((t/sched.Second+1)*sched.Second, to)
		sum += p.at(m, t/sched.Second) * float64(end-t)
		t = end
	}
	return sum
}

func (p *paces) pace(m sched.MachineID, _ *spell, now sched.Time) (float64, sched.Time) {
	return p.at(m, now/sched.Second), (now/sched.Second + 1) * sched.Second
}

func drawPaces(t *rapid.T, machines int) *paces {
	p := &paces{}
	for m := range machines {
		all := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 0.25, 1, 3}), 1, 30).Draw(t, fmt.Sprint("paces of ", m))
		p.by = append(p.by, append(all, 1))
	}
	return p
}

func (p *paces) model(*trace.Workload, int, uint64) (Service, error) { return p, nil }

// preemptor runs one task on one machine after the other: at each instant of its list it kills the attempt and at once
// launches another that goes on from what is saved.
type preemptor struct {
	at    []sched.Time
	times []sched.Time // of launches
	saved []float64    // at launches
	told  []string
}

func (p *preemptor) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptProgress {
		p.told = append(p.told, fmt.Sprint(v.Now(), ev.Progress, ev.Rate))
	}
}

func (p *preemptor) Decide(v *sched.View, act *sched.Actions) {
	a, runs := v.FirstAttempt(0)
	if v.Task(0).State == sched.TaskDone {
		return
	}
	if n := len(p.times); runs && n <= len(p.at) && v.Now() == p.at[n-1] {
		if err := act.Kill(a, sched.Share); err != nil {
			panic(err)
		}
		runs = false
	}
	if !runs {
		n := len(p.times)
		p.times, p.saved = append(p.times, v.Now()), append(p.saved, v.Task(0).Saved)
		must(act.Launch(0, sched.MachineID(n%4), v.Task(0).Saved, sched.Resume))
	}
	if n := len(p.times); n <= len(p.at) {
		act.WakeAt(p.at[n-1])
	}
}

// TestResumingConservesWork: whatever the paces of the machines, and whenever an attempt is killed and another goes on, what all did
// between the beginning of their work and what was kept of it is the task's work, to the nanosecond.
func TestResumingConservesWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := drawPaces(t, 4)
		size := rapid.IntRange(1, 40).Draw(t, "size")
		delay := rapid.SampledFrom([]sched.Time{0, sched.Second / 3}).Draw(t, "delay")
		progress := rapid.SampledFrom([]Progress{{Exact: true}, {Every: 700 * sched.Millisecond}}).Draw(t, "progress")
		p := &preemptor{}
		for _, ms := range rapid.SliceOfN(rapid.IntRange(1, 20_000), 0, 6).Draw(t, "kills") {
			p.at = append(p.at, sched.Time(ms)*sched.Second/1000)
		}
		slices.Sort(p.at)
		p.at = slices.Compact(p.at)
		w, err := trace.Synthesize(fmt.Sprintf("synth:jobs=1;tasks=1;law=det:value=%d", size), 1)
		if err != nil {
			t.Fatal(err)
		}
		w.Stages[0].Resumable = true
		r, err := Run(t.Context(), w, p, Options{Machines: 4, Model: world.model, Progress: progress, LaunchDelay: delay, Limits: sched.NoLimits(), Check: true})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for n, at := range p.times {
			begun, end := at+delay, r.End
			if n+1 < len(p.times) {
				end = max(begun, p.times[n+1])
				if span := end - begun; progress.Every > 0 { // up to the last report, which the kill may have come before
					end = begun + span/progress.Every*progress.Every
				}
			}
			did := world.did(sched.MachineID(n%4), nil, begun, end)
			if n+1 < len(p.times) {
				if kept := (p.saved[n+1] - p.saved[n]) * float64(size) * 1e9; math.Abs(kept-did) > 1 && !(progress.Every > 0 && kept < did) {
					t.Fatalf("attempt %d did %v and left %v", n, did, kept)
				} else if progress.Every > 0 {
					did = kept
				}
			}
			sum += did
		}
		if off := math.Abs(sum - float64(size)*1e9); off > 3 { // half a nanosecond at the fastest pace, and its rounding
			t.Fatalf("%v of work was done for a task of %d s: %v ns off", sum, size, off)
		}
	})
}

// TestProgressIsOfThePast: two worlds that are alike up to an instant tell the same up to it.
func TestProgressIsOfThePast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, n := drawPaces(t, 4), rapid.IntRange(0, 20).Draw(t, "alike")
		other := drawPaces(t, 4)
		for m := range other.by {
			for len(one.by[m]) < n || len(other.by[m]) < n {
				one.by[m], other.by[m] = append(one.by[m], 1), append(other.by[m], 1)
			}
			copy(other.by[m], one.by[m][:n])
			one.by[m], other.by[m] = append(one.by[m], 1), append(other.by[m], 1)
		}
		progress := rapid.SampledFrom([]Progress{{Exact: true}, {Every: 700 * sched.Millisecond}, {Every: sched.Second, Noise: 0.3}}).Draw(t, "progress")
		w, err := trace.Synthesize("synth:jobs=1;tasks=1;law=det:value=10", 1)
		if err != nil {
			t.Fatal(err)
		}
		w.Stages[0].Resumable = true
		tell := func(world *paces) (early []string) {
			p := &preemptor{at: []sched.Time{3 * sched.Second, 7 * sched.Second}}
			if _, err := Run(t.Context(), w, &until{Policy: p, end: sched.Time(n) * sched.Second, told: &early}, Options{Machines: 4, Model: world.model, Progress: progress, Limits: sched.NoLimits()}); err != nil {
				t.Fatal(err)
			}
			return early
		}
		if a, b := tell(one), tell(other); !slices.Equal(a, b) {
			t.Fatalf("alike for %d s, but told\n%v\n%v", n, a, b)
		}
	})
}

// until keeps what is told before an instant.
type until struct {
	sched.Policy
	end  sched.Time
	told *[]string
}

func (u *until) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptProgress && v.Now() < u.end {
		*u.told = append(*u.told, fmt.Sprint(v.Now(), ev.Progress, ev.Rate))
	}
	u.Policy.Observe(v, ev)
}

// TestMachinesTellTheirPace: the services themselves report what their machines did so far: a slow machine's attempt, reported on after 10 s,
// has at its present pace as long to go as the pace says, and whoever waits for what it reads has done nothing.
func TestMachinesTellTheirPace(t *testing.T) {
	for _, spec := range []string{"machine:slowdown=(twopoint:lo=1,hi=5,p=0.5),keep=30s", "capacity:law=(uniform:lo=0,hi=2),slot=7s"} {
		for seed := range uint64(20) {
			m := model(t, spec)
			w := synth(t, "synth:jobs=1;tasks=1;law=det:value=300")
			service, _ := m(w, 1, seed)
			did, at, last := 0.0, spell{}, sched.Time(0)
			if s, ok := service.(*machineSlowdown); ok {
				at = s.spells[0]
			}
			p := &watch{}
			p.check = func(now sched.Time, done float64) {
				// a thousand steps a second: the naive integral
				for ; last < now; last += sched.Second / 1000 {
					pace, _ := service.(varying).pace(0, &at, last)
					did += pace / 1000
				}
				if want := min(1, did/300); math.Abs(done-want) > 1e-4 {
					t.Errorf("%s, seed %d: at %v %v is done, by its past %v", spec, seed, now, done, want)
				}
			}
			simulate(t, w, p, Options{Machines: 1, Model: m, Progress: Progress{Every: 10 * sched.Second}, Seed: seed})
			if p.n < 10 {
				t.Errorf("%s, seed %d: %d reports", spec, seed, p.n)
			}
		}
	}
}

// watch is greedy and checks what it is told.
type watch struct {
	greedy
	n     int
	check func(sched.Time, float64)
}

func (p *watch) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptProgress {
		p.n++
		p.check(v.Now(), ev.Progress)
	}
}

// TestFetchingIsNoWork: 13 s of fetching and 40 of work. Reports begin with the work, on links of one's own and on shared ones.
func TestFetchingIsNoWork(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for name, progress := range map[string]Progress{"every 10 s": {Every: 10 * sched.Second}, "exact": {Exact: true}} {
			cluster := twoSites()
			cluster.Network.Shared = shared
			p := &watch{}
			w := load(t, `{"stages":[{"durations_seconds":[40,40],"inputs":[[{"site":"a","bytes":1000}]]}]}`)
			p.check = func(now sched.Time, done float64) {
				if want := max(0, (now.Seconds()-13)/40); math.Abs(done-want) > 1e-9 && math.Abs(done-now.Seconds()/20) > 1e-9 { // a is twice as fast and has its data
					t.Errorf("shared %v, %s: at %v %v is done", shared, name, now, done)
				}
			}
			simulate(t, w, p, Options{Cluster: cluster, Progress: progress, Limits: sched.NoLimits()})
			if p.n == 0 {
				t.Errorf("shared %v, %s: no report", shared, name)
			}
		}
	}
}

// TestNobodyResumesFromWhatIsNotDone: who says that half of a task is done gets what is.
func TestNobodyResumesFromWhatIsNotDone(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[20],"resumable":true}]}`)
	r := simulate(t, w, boaster{}, Options{Machines: 1})
	if r.End != 20*sched.Second {
		t.Errorf("a task of 20 s of which nothing was done is over after %v", r.End)
	}
}

type boaster struct{}

func (boaster) Observe(*sched.View, *sched.Event) {}

func (boaster) Decide(v *sched.View, act *sched.Actions) {
	if v.Task(0).State == sched.TaskPending {
		must(act.Launch(0, 0, 0.5, sched.Resume))
	}
}
