package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func service(t testing.TB, spec string, machines int) Service {
	t.Helper()
	s, err := model(t, spec)(&trace.Workload{}, machines, 3)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestServicesFollowTheirLaws draws many attempts and compares the mean with the model's, within five standard errors.
func TestServicesFollowTheirLaws(t *testing.T) {
	recorded := []sched.Time{1 * sched.Second, 2 * sched.Second, 6 * sched.Second}
	const n = 40_000
	for _, c := range []struct {
		spec     string
		number   uint32 // of the attempt
		mean, sd float64
	}{
		{"resample", 0, 2, 0},
		{"recorded", 0, 2, 0},
		{"resample", 1, 3, math.Sqrt(14. / 3)},
		{"law", 0, 5, 5},
		{"exp:mean=4", 2, 4, 4},
		{"uniform:lo=-1,hi=1", 0, 0.25, math.Sqrt(1./6 - 1./16)}, // what is below 0 counts as 0
		{"sx", 0, 2 * 4.691, 2 * math.Sqrt(31.555-4.691*4.691)},  // moments of traces/README.md
		{"sx:slowdown=(twopoint:lo=1,hi=3,p=0.5)", 1, 4, 2},
		{"machine:slowdown=det:value=3", 0, 6, 0},
	} {
		s := service(t, c.spec, 1)
		sum := 0.0
		for i := range uint32(n) {
			a := Attempt{Seed: 1, Job: i, Number: c.number, Index: 1, Recorded: recorded, Law: laws.Exponential{Mu: 0.2}, Share: 1}
			sum += s.Duration(&a).Seconds()
		}
		if mean := sum / n; math.Abs(mean-c.mean) > 5*c.sd/math.Sqrt(n)+1e-9 {
			t.Errorf("%s, attempt %d: mean %v, want %v", c.spec, c.number, mean, c.mean)
		}
	}
}

// TestServicesScale: half of a task takes half the time, by any model in which an attempt keeps its pace.
func TestServicesScale(t *testing.T) {
	for _, spec := range []string{"resample", "sx", "pareto:alpha=2,xm=3", "machine:keep=1000h"} {
		s := service(t, spec, 1)
		a := Attempt{Seed: 1, Number: 1, Recorded: []sched.Time{8 * sched.Second}, Share: 1}
		whole := s.Duration(&a)
		a.Share = 0.5
		if half := s.Duration(&a); math.Abs(float64(2*half-whole)) > 2 {
			t.Errorf("%s: half of it takes %v of %v", spec, half, whole)
		}
	}
}

// TestMachineKeepsItsSlowdown checks the correlated model: attempts on one machine at one time are slowed alike, machines differ, and over a long time a machine
// spends the right share of it slow. A task of size x takes as long as the machine needs to do x, whatever the spells in between.
func TestMachineKeepsItsSlowdown(t *testing.T) {
	const spec = "machine:slowdown=(twopoint:lo=1,hi=5,p=0.25),keep=10s"
	s := service(t, spec, 400)
	small := []sched.Time{sched.Millisecond}
	slow := 0
	for m := range sched.MachineID(400) {
		a := Attempt{Machine: m, Recorded: small, Share: 1, At: sched.Second}
		b := Attempt{Machine: m, Recorded: small, Share: 1, At: sched.Second, Job: 7, Task: 3, Number: 2, Seed: 99}
		if s.Duration(&a) != s.Duration(&b) {
			t.Fatalf("machine %d slows two attempts differently", m)
		}
		if s.Duration(&a) > 2*sched.Millisecond {
			slow++
		}
	}
	if slow < 60 || slow > 140 { // 100 expected, standard deviation 8.7
		t.Errorf("%d of 400 machines are slow, want about 100", slow)
	}
	// A second of wall time does 1 s of work with probability 3/4 and 0.2 s with 1/4: pace 0.8. Spells have mean 10 s, so over 10^6 s the pace has a standard
	// deviation of about 0.8 * sqrt(2 * 10 / 10^6) * (sd/mean of the pace) = 0.0016.
	long := Attempt{Machine: 0, Recorded: []sched.Time{1e6 * sched.Second}, Share: 1, At: 2 * sched.Second}
	whole := s.Duration(&long)
	if pace := 1e6 / whole.Seconds(); math.Abs(pace-0.8) > 0.01 {
		t.Errorf("pace %v over a long time, want 0.8", pace)
	}
	half := Attempt{Machine: 0, Recorded: []sched.Time{4e5 * sched.Second}, Share: 1, At: 2 * sched.Second}
	first := s.Duration(&half)
	rest := Attempt{Machine: 0, Recorded: []sched.Time{6e5 * sched.Second}, Share: 1, At: 2*sched.Second + first}
	if sum := first + s.Duration(&rest); sum-whole < -sched.Millisecond || sum-whole > sched.Millisecond {
		t.Errorf("two parts take %v, the whole %v", sum, whole)
	}
}

func TestParseService(t *testing.T) {
	for spec, want := range map[string]string{
		"nope":                      `unknown service "nope"; valid: resample, recorded, law, sx`,
		"resample:x=1":              "resample has no parameters",
		"pareto:alpha=1":            "pareto wants",
		"sx:keep=5m":                `sx: unknown parameter "keep"`,
		"sx:slowdown=(nope)":        "sx: slowdown: expected dolly or a law in parentheses",
		"machine:keep=0s":           "machine: keep: expected a duration of at least 1ms",
		"machine:keep=1m,slowness=": `machine: unknown parameter "slowness"`,
	} {
		if _, err := ParseService(spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", spec, err, want)
		}
	}
	for _, spec := range []string{"sx:slowdown=dolly", "machine:keep=5m,slowdown=(empirical:values=(1 2x3))", "machine", "det:value=1"} {
		if _, err := ParseService(spec); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := StatedLaw(load(t, "0 1 1 1"), 1, 1); err == nil || !strings.Contains(err.Error(), "job 0 states no law for stage 0") {
		t.Errorf("law without a law: %v", err)
	}
}

func TestParseFaultsAndProgress(t *testing.T) {
	if f, err := ParseFaults("mttr=5m,mtbf=24h"); err != nil || f != (Faults{MTBF: 86400 * sched.Second, MTTR: 300 * sched.Second}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, spec := range []string{"mtbf=1h,mtbf=2h,mttr=1s", "mtbf=1h", "mtbf=1h,mttr=0s", "mtbf", "x=1h", "mtbf=1h,mttr=1"} {
		if _, err := ParseFaults(spec); err == nil || !strings.Contains(err.Error(), "expected ") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if p, err := ParseProgress("10s"); err != nil || p != (Progress{Every: 10 * sched.Second}) {
		t.Errorf("%v, %v", p, err)
	}
	for _, spec := range []string{"", "often", "0s", "-1s", "5"} {
		if _, err := ParseProgress(spec); err == nil || !strings.HasPrefix(err.Error(), "expected none, exact, ") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func FuzzParseService(f *testing.F) {
	f.Add("machine:slowdown=(twopoint:lo=1,hi=5,p=0.1),keep=10m")
	f.Add("sx:slowdown=dolly")
	f.Add("capacity:law=(uniform:lo=0,hi=2),slot=5s,checkpoint=true")
	f.Fuzz(func(t *testing.T, spec string) {
		if _, err := ParseService(spec); err != nil && !strings.HasPrefix(err.Error(), "") {
			t.Errorf("%q", err)
		}
	})
}

// watcher runs FIFO and records what it is told of progress: when, and the remaining time that follows from it.
type watcher struct {
	greedy
	at, left []sched.Time
}

func (w *watcher) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind != sched.AttemptProgress {
		return
	}
	a := v.Attempt(ev.Attempt)
	rem, ok := a.Remaining(v.Now())
	if !ok {
		rem = -1
	}
	w.at, w.left = append(w.at, v.Now()), append(w.left, rem)
}

// TestProgress: what a policy concludes from a report is the truth, but for the noise asked for.
func TestProgress(t *testing.T) {
	w := load(t, "0 1 10 10\n")
	near := func(a, b sched.Time) bool { return a-b < 10 && b-a < 10 } // nanoseconds of rounding
	for _, c := range []struct {
		name     string
		p        Progress
		launch   sched.Time
		at, left []sched.Time
	}{
		{"none", Progress{}, 0, nil, nil},
		{"exact", Progress{Exact: true}, 0, []sched.Time{0}, []sched.Time{10 * sched.Second}},
		{"every 4 s", Progress{Every: 4 * sched.Second}, 0, []sched.Time{4 * sched.Second, 8 * sched.Second}, []sched.Time{6 * sched.Second, 2 * sched.Second}},
		{"a report at the end is not sent", Progress{Every: 5 * sched.Second}, 0, []sched.Time{5 * sched.Second}, []sched.Time{5 * sched.Second}},
		{"exact, two seconds to launch", Progress{Exact: true}, 2 * sched.Second, []sched.Time{2 * sched.Second}, []sched.Time{10 * sched.Second}},
	} {
		p := &watcher{}
		simulate(t, w, p, Options{Machines: 1, Progress: c.p, LaunchDelay: c.launch})
		if len(p.at) != len(c.at) {
			t.Errorf("%s: reports at %v, want %v", c.name, p.at, c.at)
			continue
		}
		for i := range p.at {
			if p.at[i] != c.at[i] || !near(p.left[i], c.left[i]) {
				t.Errorf("%s: at %v %v are left, want %v at %v", c.name, p.at[i], p.left[i], c.left[i], c.at[i])
			}
		}
	}
}

// TestSilentStages: attempts of silent stages report if reports are exact or for all.
func TestSilentStages(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10],"silent":true}]}`+"\n"+`{"stages":[{"durations_seconds":[10]}]}`)
	for _, c := range []struct {
		name string
		p    Progress
		want int
	}{
		{"none", Progress{}, 0},
		{"every 4 s", Progress{Every: 4 * sched.Second}, 2},
		{"every 4 s, from all", Progress{Every: 4 * sched.Second, Loud: true}, 4},
		{"exact", Progress{Exact: true}, 2},
	} {
		for _, o := range []Options{{}, {Overheads: Overheads{Heartbeat: sched.Second}}} {
			p := &watcher{}
			o.Machines, o.Progress = 2, c.p
			if simulate(t, w, p, o); len(p.at) != c.want {
				t.Errorf("%s, %+v: reports at %v, want %d", c.name, o.Overheads, p.at, c.want)
			}
		}
	}
}

// TestProgressAfterLaunch: what is done is reported as it is. A clone goes on from the half that the original will have done when the clone begins, at 12 s: it
// has done 0.5 + 0.05 t of the task t seconds after that. The original is killed then.
func TestProgressAfterLaunch(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[20],"resumable":true}]}`)
	for name, p := range map[string]Progress{
		"every 4 s":           {Every: 4 * sched.Second},
		"exact and every 4 s": {Exact: true, Every: 4 * sched.Second},
	} {
		halfway := &fromHalf{}
		res := simulate(t, w, halfway, Options{Machines: 2, Model: Intrinsic, Progress: p, LaunchDelay: 2 * sched.Second, Limits: sched.NoLimits()})
		want := []string{"16s 0.70", "20s 0.90"}
		if p.Exact {
			want = []string{"12s 0.50", "16s 0.70", "20s 0.90"}
		}
		if d := cmp.Diff(want, halfway.told); d != "" || res.End != 22*sched.Second {
			t.Errorf("%s: end %v (-want +got)\n%s", name, res.End, d)
		}
	}
}

// fromHalf launches a clone that goes on from half the work, kills the original when the clone begins, and records what it is told of the clone.
type fromHalf struct{ told []string }

func (p *fromHalf) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptProgress && v.Attempt(ev.Attempt).Number == 1 {
		p.told = append(p.told, fmt.Sprintf("%v %.2f", ev.At, ev.Progress))
	}
}

func (*fromHalf) Decide(v *sched.View, act *sched.Actions) {
	a, runs := v.FirstAttempt(0)
	switch {
	case !runs && v.Now() == 0:
		must(act.Launch(0, 0, 0, sched.Original))
		act.WakeAt(10 * sched.Second)
	case v.Now() == 10*sched.Second && v.Task(0).Live == 1:
		must(act.Launch(0, 1, 0.5, sched.Straggling))
		act.WakeAt(12 * sched.Second)
	case v.Now() == 12*sched.Second && v.Task(0).Live == 2:
		if v.Attempt(a).Number == 1 {
			a, _ = v.NextAttempt(a)
		}
		if err := act.Kill(a, sched.Replaced); err != nil {
			panic(err)
		}
	}
}

// TestProgressNoise: the relative error of the remaining time has the standard deviation asked for, within five standard errors.
func TestProgressNoise(t *testing.T) {
	w := synth(t, "synth:jobs=1;tasks=4000;law=10")
	for name, p := range map[string]Progress{"exact": {Exact: true, Noise: 0.2}, "reports": {Every: 6 * sched.Second, Noise: 0.2}} {
		policy := &watcher{}
		simulate(t, w, policy, Options{Machines: 4000, Progress: p})
		truth := 10.0
		if !p.Exact {
			truth = 4
		}
		var sum, squares float64
		for _, left := range policy.left {
			e := left.Seconds()/truth - 1
			sum += e
			squares += e * e
		}
		n := float64(len(policy.left))
		if n != 4000 || math.Abs(sum/n) > 5*0.2/math.Sqrt(n) || math.Abs(math.Sqrt(squares/n)-0.2) > 5*0.2/math.Sqrt(2*n) {
			t.Errorf("%s: %v reports with mean error %v and deviation %v, want 4000, 0, 0.2", name, n, sum/n, math.Sqrt(squares/n))
		}
	}
}

// TestProgressPersists: an error that persists is the same in all reports of an attempt, one that does not is another in each; attempts of other tasks have others.
func TestProgressPersists(t *testing.T) {
	w := synth(t, "synth:jobs=1;tasks=50;law=10")
	for _, persists := range []bool{false, true} {
		policy := &watcher{}
		simulate(t, w, policy, Options{Machines: 50, Progress: Progress{Every: 3 * sched.Second, Noise: 0.3, Persists: persists}})
		if len(policy.left) != 150 { // at 3, 6 and 9 s
			t.Fatalf("%d reports, want 150", len(policy.left))
		}
		same, all := 0, map[float64]bool{}
		for i := range 50 {
			first, last := policy.left[i].Seconds()/7, policy.left[100+i].Seconds()/1
			if math.Abs(first-last) < 1e-6 {
				same++
			}
			all[first] = true
		}
		if persists != (same == 50) || len(all) != 50 {
			t.Errorf("persists=%v: the same error at the first and the last report of %d tasks of 50; %d different ones", persists, same, len(all))
		}
	}
}
