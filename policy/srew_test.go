package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// Slots begin at multiples of the slot, also after the cluster was idle; a late call stands for the boundary that it missed.
func TestSREWSlots(t *testing.T) {
	s := sched.Second
	w := srewOn(t, "srew:slot=5s", sched.NoLimits(), 1)
	w.advance(0)
	if w.wake != sched.Never {
		t.Errorf("wakes at %v without a job", w.wake)
	}
	w.submit(2*s, flat(2, s, 0))
	for _, tc := range []struct {
		now, wake sched.Time
		launches  int
	}{{2 * s, 5 * s, 0}, {4 * s, 5 * s, 0}, {5 * s, 10 * s, 1}, {13 * s, 15 * s, 1}} {
		w.advance(tc.now)
		if w.wake != tc.wake || w.launches != tc.launches {
			t.Errorf("at %v: wakes at %v after %d launches, want %v and %d", tc.now, w.wake, w.launches, tc.wake, tc.launches)
		}
	}
	w.end(16*s, sched.AttemptDone, 0)
	w.advance(16 * s)
	w.advance(20 * s)
	w.end(21*s, sched.AttemptDone, 1)
	w.advance(21 * s)
	w.advance(25 * s) // the wake asked for before the job ended
	if w.wake != sched.Never {
		t.Errorf("wakes at %v without a job", w.wake)
	}
	w.submit(31*s, flat(1, s, 0))
	w.advance(31 * s)
	if w.wake != 35*s || w.launches != 2 {
		t.Errorf("wakes at %v after %d launches, want 35s and 2", w.wake, w.launches)
	}
}

func TestSREWWithoutSlots(t *testing.T) {
	w := srewOn(t, "srew:slot=0s", sched.NoLimits(), 2)
	w.lasts = func(sched.TaskID, uint32) sched.Time { return sched.Second }
	j := w.submit(sched.Second/2, flat(3, sched.Second, 0))
	w.advance(sched.Second / 2)
	for w.step(sched.Never) {
	}
	if got := w.core.View().Job(j).Closed; got != 2500*sched.Millisecond {
		t.Errorf("closed at %v, want 2.5s: two waves from 0.5s on", got)
	}
}

// A share that limits keep from clones goes to waiting tasks of other jobs.
func TestSREWSpill(t *testing.T) {
	for _, tc := range []struct {
		spec   string
		limits sched.Limits
		want   []int
	}{
		{"srew:beta=0.5", sched.NoLimits(), []int{10, 0}},
		{"srew:beta=0.5", sched.Limits{Attempts: 2, Clones: sched.CloneBudget{Floor: sched.Unlimited}}, []int{4, 6}},
		{"srew:beta=0.5", sched.Limits{Attempts: 4, Clones: sched.CloneBudget{Floor: 1}}, []int{3, 7}},
		{"srew:beta=0.5,spill=false", sched.Limits{Attempts: 2, Clones: sched.CloneBudget{Floor: sched.Unlimited}}, []int{4, 0}},
	} {
		w := srewOn(t, tc.spec, tc.limits, 10)
		w.submit(0, flat(2, sched.Second, 0))
		w.submit(0, flat(20, sched.Second, 0))
		w.advance(0)
		if diff := cmp.Diff(tc.want, w.held()); diff != "" {
			t.Errorf("%s under %+v: slots held (-want +got)\n%s", tc.spec, tc.limits, diff)
		}
	}
}

// What spilled over is not preempted and launched again slot after slot: the better job cannot use the slots.
func TestSREWPreemptsOnlyForUse(t *testing.T) {
	w := srewOn(t, "srew:beta=0.5,preempt=true", sched.Limits{Attempts: 2, Clones: sched.CloneBudget{Floor: sched.Unlimited}}, 10)
	w.submit(0, flat(2, sched.Second, 0))
	w.submit(0, flat(20, sched.Second, 0))
	for now := sched.Time(0); now < 50*sched.Second; now += 5 * sched.Second {
		w.advance(now)
	}
	if w.kills != 0 || w.launches != 10 {
		t.Errorf("%d kills, %d launches; want 0, 10", w.kills, w.launches)
	}
}

// Where nothing is known of a job the cluster's mean stands for it, and before anything has finished, one second per task.
func TestSREWUnknownDurations(t *testing.T) {
	s := sched.Second
	w := srewOn(t, "srew:beta=0.01,slot=1s", sched.NoLimits(), 1)
	known := w.submit(0, flat(4, 3*s, 0)) // 12 s
	first := w.submit(0, flat(10, 0, 0))  // 10 s by the prior
	second := w.submit(0, flat(11, 0, 0)) // 11 s by the prior
	order := func() (jobs []sched.JobID) {
		for _, k := range w.ranks().order {
			jobs = append(jobs, k.job)
		}
		return jobs
	}
	w.advance(0)
	if diff := cmp.Diff([]sched.JobID{first, second, known}, order()); diff != "" {
		t.Errorf("by the prior (-want +got)\n%s", diff)
	}
	w.end(2*s, sched.AttemptDone, w.core.View().Stage(1).First) // 9 tasks left at 2 s each, measured; 11 at 2 s, guessed
	w.advance(2 * s)
	if diff := cmp.Diff([]sched.JobID{known, first, second}, order()); diff != "" {
		t.Errorf("by what has finished (-want +got)\n%s", diff)
	}
}

// A clone runs beside its siblings only where no other machine is free.
func TestSREWPlacesClonesApart(t *testing.T) {
	p, err := New("srew", 1)
	if err != nil {
		t.Fatal(err)
	}
	w := newSrewWorld(t, p, sched.NoLimits())
	w.join(3, 2)
	w.submit(0, flat(2, sched.Second, 0))
	on := map[sched.TaskID]map[sched.MachineID]int{0: {}, 1: {}}
	for _, d := range w.advance(0) {
		if d.Kind == sched.Launch {
			on[d.Task][d.Machine]++
		}
	}
	want := map[sched.TaskID]map[sched.MachineID]int{0: {0: 1, 1: 1, 2: 1}, 1: {0: 1, 1: 1, 2: 1}}
	if diff := cmp.Diff(want, on); diff != "" {
		t.Errorf("attempts of tasks on machines (-want +got)\n%s", diff)
	}
}

// The last attempt of a task without retries left decides over its job and cannot be preempted; others go in its place.
func TestSREWKeepsTheLastChance(t *testing.T) {
	w := srewOn(t, "srew:beta=0.5,preempt=true", sched.NoLimits(), 4)
	big := w.submit(0, flat(3, 100*sched.Second, 0)) // 2 1 1
	w.advance(0)
	v := w.core.View()
	clone, _ := v.FirstAttempt(0)
	original, _ := v.NextAttempt(clone)
	w.facts = append(w.facts, sched.Event{At: sched.Second, Kind: sched.AttemptFailed, Attempt: original}) // no retries
	w.advance(sched.Second)
	w.submit(5*sched.Second, flat(1, sched.Second, 0))
	w.advance(5 * sched.Second)
	if diff := cmp.Diff([]int{1, 0, 0}, w.live(big)); diff != "" {
		t.Errorf("attempts (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 3}, w.held()); diff != "" {
		t.Errorf("slots held (-want +got)\n%s", diff)
	}
}

func TestSREWParameters(t *testing.T) {
	for _, bad := range []string{"beta=0", "beta=1.1", "beta=-1", "lambda=-1", "lambda=NaN", "slot=-5s", "slot=5", "preempt=1", "gamma=1"} {
		if _, err := New("srew:"+bad, 1); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
