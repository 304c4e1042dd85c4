package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// seated returns the jobs that get a seat, in the order of their deadlines.
func seated(jobs []seatJob, slots float64) (ids []sched.JobID) {
	var worth kit.Heap[kit.Rising[float64]]
	seat(jobs, slots, &worth)
	for i := range jobs {
		if jobs[i].seated {
			ids = append(ids, jobs[i].job)
		}
	}
	return ids
}

// sure is a job of one task of so many seconds, due after others.
func sure(id sched.JobID, takes, due float64) seatJob {
	return seatJob{job: id, until: sched.FromSeconds(due), left: due, work: takes, value: 1, tasks: 1, law: laws.Deterministic{Value: takes}}
}

// TestSeat has jobs of known length on one slot, where the rule is Moore's: his longest job goes first.
func TestSeat(t *testing.T) {
	double := sure(2, 6, 8)
	double.value = 4
	chancy := seatJob{job: 0, until: sched.FromSeconds(10), left: 10, work: 50, value: 1, tasks: 1, law: laws.Exponential{Mu: 1.0 / 50}, cost: 1} // p(0) is 0.18, and w 9.9 s
	for _, c := range []struct {
		name string
		jobs []seatJob
		want []sched.JobID
	}{
		{"all fit", []seatJob{sure(1, 2, 9), sure(0, 3, 5), sure(2, 4, 10)}, []sched.JobID{0, 1, 2}},
		{"the longest is left out", []seatJob{sure(0, 2, 6), sure(1, 5, 8), sure(2, 3, 9), sure(3, 4, 10)}, []sched.JobID{0, 2, 3}},
		{"what none can save has no seat", []seatJob{sure(0, 9, 8), sure(1, 5, 8)}, []sched.JobID{1}},
		{"a long one of more value stays", []seatJob{sure(0, 4, 6), sure(1, 4, 7), double}, []sched.JobID{2}},
		{"one that is soon known to be lost takes little", []seatJob{chancy, sure(1, 60, 62)}, []sched.JobID{0}},
		{"none", nil, nil},
	} {
		if got := seated(c.jobs, 1); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSeatIsMoore: with known lengths, no other set of jobs on one slot is larger.
func TestSeatIsMoore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []seatJob
		for i := range rapid.IntRange(0, 9).Draw(t, "jobs") {
			jobs = append(jobs, sure(sched.JobID(i), float64(rapid.IntRange(1, 9).Draw(t, "takes")), float64(rapid.IntRange(1, 30).Draw(t, "due"))))
		}
		got := len(seated(jobs, 1)) // sorts them by deadline
		most := 0
		for set := range 1 << len(jobs) {
			end, n, fits := 0.0, 0, true
			for i := range jobs {
				if set&(1<<i) != 0 {
					end, n = end+jobs[i].work, n+1
					fits = fits && end <= jobs[i].left
				}
			}
			if fits {
				most = max(most, n)
			}
		}
		if got != most {
			t.Fatalf("%d of %d jobs have a seat, %d could be in time", got, len(jobs), most)
		}
	})
}

// TestSeatTwin compares with a slow twin on jobs of uncertain length.
func TestSeatTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []seatJob
		for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
			x := sure(sched.JobID(i), float64(rapid.IntRange(1, 50).Draw(t, "takes")), float64(rapid.IntRange(1, 60).Draw(t, "due")))
			x.law, x.cost, x.chance = laws.Exponential{Mu: 1 / x.work}, 3, float64(rapid.IntRange(0, 4).Draw(t, "chance"))/4
			x.tasks, x.value = float64(rapid.IntRange(1, 20).Draw(t, "tasks")), float64(rapid.IntRange(1, 3).Draw(t, "value"))
			jobs = append(jobs, x)
		}
		slots := float64(rapid.IntRange(1, 5).Draw(t, "slots"))
		got := seated(jobs, slots)
		for i := range jobs {
			jobs[i].seated = false
		}
		slowSeat(jobs, slots)
		var want []sched.JobID
		for i := range jobs {
			if jobs[i].seated {
				want = append(want, jobs[i].job)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v have a seat, the twin seats %v", got, want)
		}
	})
}

// TestForetold: a law that is given is believed until what attempts foretell contradicts it, and then it is learned.
func TestForetold(t *testing.T) {
	given := laws.Exponential{Mu: 1.0 / 60}
	stage := &sched.Stage{}
	for _, c := range []struct {
		name  string
		y     func(i int) float64
		wrong bool
	}{
		{"as given", func(i int) float64 { return given.Quantile((float64(i) + 0.5) / 40) }, false},
		{"four times as long", func(i int) float64 { return 4 * given.Quantile((float64(i)+0.5)/40) }, true},
		{"all of 100 s", func(int) float64 { return 100 }, true},
	} {
		f, st := foretold{given: given}, stageForetold{}
		sum := 0.0
		for i := range 40 {
			f.add(&st, c.y(i))
			sum += c.y(i)
		}
		law := f.of(&st, stage)
		if wrong := law != laws.Law(given); wrong != c.wrong {
			t.Errorf("%s: %v", c.name, law)
		} else if mean := law.Mean(); wrong && (mean < 0.999*sum/40 || mean > 1.001*sum/40) {
			t.Errorf("%s: a mean of %v, foretold were %v", c.name, mean, sum/40)
		}
	}
}

// TestRedrawn: where attempts repeat the duration of their task, the chance of a new one falls; where they do not, it
// stays.
func TestRedrawn(t *testing.T) {
	law := laws.Exponential{Mu: 1.0 / 60}
	var same, drawn redrawn
	for i := range 50 {
		same.gives(sched.TaskID(i), 150)
		same.shows(sched.TaskID(i), 0, 150, law)
		drawn.gives(sched.TaskID(i), 150)
		drawn.shows(sched.TaskID(i), 0, law.Quantile((float64(i)+0.5)/50), law)
	}
	if a, b := same.chance(0), drawn.chance(0); a > 0.1 || b < 0.9 {
		t.Errorf("a chance of %v where durations repeat, %v where they are drawn anew", a, b)
	}
	if a := same.chance(1); a > 0.1 {
		t.Errorf("a job that has shown nothing has a chance of %v", a)
	}
}
