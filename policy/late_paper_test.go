package policy

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// checkedLate compares, before every decision, the candidates of late with those that a look at every running task and a sort of all rates find.
type checkedLate struct {
	late
	t       *testing.T
	reports map[sched.AttemptID]lateAttempt
	won     map[sched.StageID][]float64
	watch   kit.Silence // of its own, but the same
	found   int
}

func (p *checkedLate) Observe(v *sched.View, ev *sched.Event) {
	p.late.Observe(v, ev)
	p.watch.Observe(v, ev)
	switch a := ev.Attempt; ev.Kind {
	case sched.AttemptProgress:
		rate := ev.Rate
		if age := (v.Now() - v.Attempt(a).Started).Seconds(); rate == 0 && age > 0 {
			rate = (ev.Progress - v.Attempt(a).From) / age
		}
		if rate > 0 {
			row := v.Attempt(a)
			end := kit.Later(v.Now(), (1-ev.Progress)/rate)
			if rem, silent := p.watch.Remaining(v, a, &row); silent {
				end = v.Now() + rem
			}
			p.reports[a] = lateAttempt{rate: rate, end: end}
		}
	case sched.AttemptDone:
		delete(p.reports, a)
		p.won[ev.Stage] = append(p.won[ev.Stage], (1-v.Attempt(a).From)/(v.Now()-v.Attempt(a).Started).Seconds())
	case sched.AttemptFailed, sched.AttemptLost:
		delete(p.reports, a)
	}
}

func (p *checkedLate) Decide(v *sched.View, act *sched.Actions) {
	p.start(v, act)
	p.look(v)
	p.watch.Look(v, func(_ sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			row := v.Attempt(a)
			rem, silent := p.watch.Remaining(v, a, &row)
			if _, reported := p.reports[a]; !silent || !reported {
				continue
			}
			done := row.Progress - row.From
			if row.Rate > 0 {
				done = 1 - row.From
			}
			p.reports[a] = lateAttempt{rate: done / (v.Now() - row.Started).Seconds(), end: v.Now() + rem}
		}
	})
	if p.room(v) {
		p.gather(v)
		got := slices.DeleteFunc(slices.Clone(p.late.found), func(c candidate) bool { return v.AttemptRoom(c.task) == 0 })
		want := p.naive(v)
		if !slices.Equal(got, want) {
			p.t.Fatalf("at %v: candidates %v, want %v", v.Now(), got, want)
		}
		p.found += len(got)
	}
	p.late.Decide(v, act)
}

func (p *checkedLate) naive(v *sched.View) (all []candidate) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).Live != 1 || v.AttemptRoom(t) == 0 {
			continue
		}
		a, _ := v.FirstAttempt(t)
		s := v.Task(t).Stage
		st := v.Stage(s)
		rates := slices.Clone(p.won[s])
		for b, r := range p.reports {
			if v.Task(v.Attempt(b).Task).Stage == s {
				rates = append(rates, r.rate)
			}
		}
		slices.Sort(rates)
		at, age := int(p.slowTask*float64(len(rates))), v.Now()-v.Attempt(a).Started
		if at >= len(rates) || age < p.minAge {
			continue
		}
		mean, _, measured := st.Measured()
		if r, reported := p.reports[a]; reported && r.rate < rates[at] {
			all = append(all, candidate{r.end - v.Now(), t})
		} else if !reported && p.byAge && measured && age > sched.FromSeconds(max(mean, 1/rates[at])) {
			all = append(all, candidate{age, t})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.left, a.left), cmp.Compare(a.task, b.task)) })
	return all
}

// TestLateTwin runs messy worlds under the eyes of the naive twin.
func TestLateTwin(t *testing.T) {
	found := 0
	for _, spec := range []string{
		"late", "late:min_age=0s,cap=1", "late:min_age=1s,slow_task=0.5,order=fair", "late:min_age=5s,estimate=progress,slow_task=1,cap=0.5",
	} {
		for seed := range uint64(100) {
			p, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			twin := &checkedLate{late: *p.(*late), t: t, reports: map[sched.AttemptID]lateAttempt{}, won: map[sched.StageID][]float64{}}
			policytest.MessyWorld(t, twin, policytest.Limits[seed%uint64(len(policytest.Limits))], seed).Run()
			found += twin.found
		}
	}
	if found < 1000 {
		t.Errorf("only %d candidates were compared", found)
	}
}

// TestLate has hand-worked examples of section 4 of the paper (digest section 13). Eight tasks start at 0 on machines 0 to 7 of 12; tasks 4, 5 and 6 last
// 300, 400 and 350 s, the others 100 s, a clone 50 s.
func TestLate(t *testing.T) {
	s := sched.Second
	times := []sched.Time{100 * s, 100 * s, 100 * s, 100 * s, 300 * s, 400 * s, 350 * s, 100 * s}
	every10 := policytest.Fate{Reports: 10 * s}
	cases := []struct {
		name, policy string
		how          policytest.Fate
		want         []string
	}{
		// cap 1. At 60 s the slowest floor(8/4) = 2 are tasks 5 and 6; 340 s are left of task 5. At 110 s its clone has won, and of 6 and 4, now the slowest,
		// 240 s and 190 s are left; and so on
		{"longest time left first", "late", every10, []string{"1m0s t5 #1 m8", "1m50s t6 #1 m0", "2m40s t4 #1 m0"}},
		{"the driver knows the rate and tells it once", "late", policytest.Fate{Rate: true}, []string{"1m0s t5 #1 m8", "1m50s t6 #1 m0", "2m40s t4 #1 m0"}},
		// cap floor(0.25 x 12) = 3. While both attempts of tasks 5 and 6 run, task 4 is the third of ten, and not below sorted[floor(10/4)]
		{"cap", "late:cap=0.25", every10, []string{"1m0s t5 #1 m8", "1m0s t6 #1 m9", "1m50s t4 #1 m0"}},
		{"cap of 0", "late:cap=0", every10, nil},
		{"min_age", "late:min_age=120s", every10, []string{"2m0s t5 #1 m0", "2m50s t6 #1 m0", "3m40s t4 #1 m0"}},
		{"nobody is below the lowest rate", "late:slow_task=0.1", every10, nil},
		// without reports: five tasks done at 100 s, rates and mean say 100 s, so older attempts are slow, equally old ones by id
		{"silent, judged by age", "late", policytest.Fate{}, []string{"1m40.000000001s t4 #1 m0", "2m30.000000001s t5 #1 m0", "3m20.000000001s t6 #1 m0"}},
		{"silent, judged by progress", "late:estimate=progress", policytest.Fate{}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, c.policy, sched.NoLimits())
			w.Machines(12)
			w.Submit(0, policytest.Tasks(8))
			length := policytest.Lasts(50*s, times...)
			w.Fate = func(d *sched.Decision) policytest.Fate {
				f := c.how
				f.Lasts = length(d).Lasts
				return f
			}
			w.Run()
			if diff := gocmp.Diff(c.want, w.Clones()); diff != "" {
				t.Errorf("clones (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLateOnOneMachine is the live engine's case: two slots of one machine, plain commands that report nothing, one of them disturbed.
func TestLateOnOneMachine(t *testing.T) {
	s := sched.Second
	w := on(t, "late-short", sched.DefaultLimits())
	w.Machine(0, 2)
	w.Submit(0, policytest.Tasks(10))
	w.Fate = policytest.Lasts(s, s, s, s, 20*s, s)
	w.Run()
	if diff := gocmp.Diff([]string{"8s t3 #1 m0"}, w.Clones()); diff != "" || w.Now != 9*s {
		t.Errorf("ended at %v, want 9s; clones (-want +got):\n%s", w.Now, diff)
	}
}

// TestLateNodeFilter: machine 3 has done nothing and so counts as slow; the clone waits for machine 1.
func TestLateNodeFilter(t *testing.T) {
	for policy, want := range map[string][]string{
		"late:slow_task=0.5":                  {"1m0s t0 #1 m3"},
		"late:slow_task=0.5,node_filter=true": {"1m40s t0 #1 m1"},
	} {
		w := on(t, policy, sched.NoLimits())
		w.Machines(4)
		w.Submit(0, policytest.Tasks(3))
		s := sched.Second
		w.Fate = func(d *sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: []sched.Time{400 * s, 100 * s, 100 * s}[d.Task], Reports: 10 * s}
		}
		w.Run()
		if diff := gocmp.Diff(want, w.Clones()); diff != "" {
			t.Errorf("%s: clones (-want +got):\n%s", policy, diff)
		}
	}
}
