package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// errand is a job of tasks that report nothing and cannot resume. Their originals last so long, all other attempts
// 1,000 s.
type errand struct {
	at, deadline sched.Time
	lasts        []sched.Time
}

// TestShedMute works the division of slots by hand where tasks report nothing: a clone that runs is killed where fewer
// are due, or where one begun now is likelier to be in time.
func TestShedMute(t *testing.T) {
	s := sched.Second
	for _, c := range []struct {
		name, spec string
		slots      int
		jobs       []errand
		from       sched.Time
		want       []string
	}{
		// Of 12 slots each job has r = 2, and alone the second has r = 3. A new attempt is late with
		// (120/370)^1.5 = 0.185, one of 130 s with (130/500)^1.5 = 0.133: those that run go on.
		{"a job's end", "when=departures,master_slots=0", 12,
			[]errand{{0, 500 * s, []sched.Time{130 * s}}, {0, 500 * s, []sched.Time{900 * s, 900 * s, 900 * s}}}, 130 * s,
			[]string{"2m10s close 0", "2m10s launch t1 #3 from 0.00", "2m10s launch t2 #3 from 0.00", "2m10s launch t3 #3 from 0.00"}},
		// Of 250 s (250/500)^1.5 = 0.354, of a new one (120/250)^1.5 = 0.333: they are replaced, but for the originals.
		{"a job's late end", "when=departures,master_slots=0", 12,
			[]errand{{0, 500 * s, []sched.Time{250 * s}}, {0, 500 * s, []sched.Time{900 * s}}}, 250 * s,
			[]string{"4m10s close 0", "4m10s kill t1 #4", "4m10s kill t1 #3", "4m10s kill t1 #2", "4m10s kill t1 #1", "4m10s launch t1 #5 from 0.00",
				"4m10s launch t1 #6 from 0.00", "4m10s launch t1 #7 from 0.00", "4m10s launch t1 #8 from 0.00"}},
		// R_1 = 0.687 is raised to 0.959, R_0 = (1-(120/500)^1.5)^2 = 0.779 to 0.973: the first job keeps one clone of four.
		{"an arrival", "master_slots=1", 12,
			[]errand{{0, 500 * s, []sched.Time{900 * s, 900 * s}}, {60 * s, 500 * s, []sched.Time{900 * s, 900 * s, 900 * s}}}, 60 * s,
			[]string{"1m0s kill t0 #4", "1m0s kill t0 #3", "1m0s kill t0 #2", "1m0s kill t1 #4", "1m0s kill t1 #3", "1m0s kill t1 #2",
				"1m0s launch t2 #0 from 0.00", "1m0s launch t3 #0 from 0.00", "1m0s launch t4 #0 from 0.00",
				"1m0s launch t2 #1 from 0.00", "1m0s launch t3 #1 from 0.00", "1m0s launch t4 #1 from 0.00"}},
		// With 100 s left a new attempt is late for sure. One that runs is with (120/200)^1.5 = 0.465, so two of a task stay.
		{"too late for clones", "master_slots=0", 6,
			[]errand{{0, 200 * s, []sched.Time{900 * s, 900 * s}}, {100 * s, 1000 * s, []sched.Time{900 * s}}}, 100 * s,
			[]string{"1m40s kill t0 #2", "1m40s kill t1 #2", "1m40s launch t2 #0 from 0.00", "1m40s launch t2 #1 from 0.00"}},
		{"past the deadline, slots for two more", "master_slots=0,max_attempts=2", 4,
			[]errand{{0, 130 * s, []sched.Time{900 * s}}, {160 * s, 1000 * s, []sched.Time{900 * s}}}, 160 * s,
			[]string{"2m40s launch t1 #0 from 0.00", "2m40s launch t1 #1 from 0.00"}},
		{"past the deadline, slots for none", "master_slots=0,max_attempts=2", 3,
			[]errand{{0, 130 * s, []sched.Time{900 * s}}, {160 * s, 1000 * s, []sched.Time{900 * s}}}, 160 * s,
			[]string{"2m40s kill t0 #1", "2m40s launch t1 #0 from 0.00", "2m40s launch t1 #1 from 0.00"}},
		{"a task's end is a report", "master_slots=0,when=reports,interval=50s", 3,
			[]errand{{0, 500 * s, []sched.Time{60 * s, 900 * s}}}, 1,
			[]string{"1m0s launch t1 #1 from 0.00", "1m0s launch t1 #2 from 0.00"}},
		{"a task's end before its time", "master_slots=0,when=reports,interval=50s", 3,
			[]errand{{0, 500 * s, []sched.Time{30 * s, 900 * s}}}, 1,
			[]string{"50s launch t1 #1 from 0.00", "50s launch t1 #2 from 0.00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, "shed:"+shedLaw+","+c.spec, sched.NoLimits())
			w.Machines(c.slots)
			var lasts []sched.Time
			for _, j := range c.jobs {
				w.Submit(j.at, &sched.JobSpec{Deadline: j.at + j.deadline, Stages: []sched.StageSpec{{Tasks: len(j.lasts)}}})
				lasts = append(lasts, j.lasts...)
			}
			w.Fate = policytest.Lasts(1000*s, lasts...)
			for w.Now < max(c.from, 60*s) && w.Step() {
			}
			if diff := cmp.Diff(c.want, orderLines(w, c.from)); diff != "" {
				t.Errorf("orders (-want +got):\n%s", diff)
			}
		})
	}
}
