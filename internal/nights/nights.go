// Package nights explains many runs of the same applications together: which tasks are slow every time, what settings
// would have saved over all of them, and what has changed.
package nights

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Schema names the JSON.
const Schema = "tailcut.plan.nights/v1"

// Answer is what the runs of one application tell.
type Answer struct {
	Schema      string               `json:"schema"`
	Application string               `json:"application"`
	Runs        []Run                `json:"runs"` // in order of time
	Median      float64              `json:"wall_median_seconds"`
	Settings    *diagnosis.Across    `json:"settings"` // nil if none saves anything
	Stages      []*Recognised        `json:"stages"`   // those that take most time first
	Last        *diagnosis.Diagnosis `json:"last"`     // of the last run
	Recent      int                  `json:"recent_runs"`
}

// Run is one of them.
type Run struct {
	Log   string     `json:"log"`
	Began sched.Time `json:"began_ns"` // since 1970
	Wall  float64    `json:"wall_seconds"`
}

// Recognised is a stage that was recognised in several runs.
type Recognised struct {
	Name    string  `json:"name"`
	Stage   string  `json:"stage"` // its id in the last run that has it
	Runs    int     `json:"runs"`
	Tasks   int     `json:"tasks"`               // in the last of them
	Wall    float64 `json:"wall_median_seconds"` // by the logs
	Slow    int     `json:"slow"`                // slow tasks, over all runs
	Same    int     `json:"slow_again"`          // of these, such as were slow in most other runs too
	Low     float64 `json:"slow_again_low_ratio"`
	High    float64 `json:"slow_again_high_ratio"`
	Verdict Verdict `json:"verdict"`
	Always  []int32 `json:"slow_tasks"` // that are slow in most runs
	Change  *Change `json:"change"`     // nil if there are too few runs before

	members []member
}

// Verdict says what the slow tasks of a stage are.
type Verdict string

// The verdicts.
const (
	Skew      Verdict = "skew"      // the same every night
	Chance    Verdict = "chance"    // others every night
	Undecided Verdict = "undecided" // more nights will tell
	Even      Verdict = "even"      // there are no slow tasks
)

// Change is by how much a stage takes longer in the recent runs than in those before, as a share. The intervals of all
// stages hold together with 95 % (Bonferroni). Bytes is the same of what it reads; nil if the logs do not say.
type Change struct {
	Ratio float64  `json:"ratio"`
	Low   float64  `json:"low_ratio"`
	High  float64  `json:"high_ratio"`
	Bytes *float64 `json:"bytes_ratio,omitempty"`
}

// member is a stage in a night.
type member struct {
	night  int
	record *history.StageRecord
	wall   float64
	slower *diagnosis.Slower
}

// read is how many bytes its tasks read; 0 if the log does not say.
func (m *member) read() (bytes float64) {
	for _, o := range m.record.Succeeded {
		bytes += float64(o.Bytes)
	}
	return bytes
}

// Explain explains nights, which are of one application and in order of time. began tells when each began.
func Explain(ctx context.Context, nights []diagnosis.Request, began []sched.Time) (a *Answer, err error) {
	a = compareAll(nights, began)
	last, slowest := len(nights)-1, 0
	for i := range a.Runs {
		if a.Runs[i].Wall > a.Runs[slowest].Wall {
			slowest = i
		}
	}
	if a.Last, err = diagnosis.Explain(ctx, nights[last]); err != nil {
		return nil, err
	}
	proposed := []*diagnosis.Diagnosis{a.Last}
	for _, i := range asked(last, slowest) {
		if i != slowest && proposes(proposed) { // the slowest is asked in any case
			break
		}
		d, err := diagnosis.Explain(ctx, nights[i])
		if err != nil {
			return nil, err
		}
		proposed = append(proposed, d)
	}
	a.Settings, err = diagnosis.PlayAcross(ctx, nights, proposed)
	return a, err
}

// mostAsked is how many runs beside the last are asked for candidates, if those before have none.
const mostAsked = 5

// asked are the runs that are asked for candidates beside the last: the slowest, then the latest of the others.
func asked(last, slowest int) (all []int) {
	if slowest != last {
		all = append(all, slowest)
	}
	for i := last - 1; i >= 0 && len(all) < mostAsked; i-- {
		if i != slowest {
			all = append(all, i)
		}
	}
	return all
}

// proposes tells whether some diagnosis has candidates.
func proposes(all []*diagnosis.Diagnosis) bool {
	return slices.ContainsFunc(all, (*diagnosis.Diagnosis).Proposes)
}

// compareAll compares the stages of nights. The requests are told what those of the other nights tell of them.
func compareAll(nights []diagnosis.Request, began []sched.Time) *Answer {
	a := &Answer{Schema: Schema, Application: nights[len(nights)-1].Application, Recent: recent(began)}
	var walls []float64
	for i := range nights {
		a.Runs = append(a.Runs, Run{nights[i].Log, began[i], nights[i].Again.Wall()})
		walls = append(walls, nights[i].Again.Wall())
	}
	a.Median = median(walls)
	a.Stages = recognise(nights)
	for _, s := range a.Stages {
		s.compare(nights)
		s.change(len(nights)-a.Recent, 1-0.05/float64(len(a.Stages)))
	}
	return a
}

// week is for how long runs are recent.
const week = 7 * 24 * 3600 * sched.Second

// recent is how many of the last runs are compared with those before: those of a week, or the last one alone if the
// first is no older than that.
func recent(began []sched.Time) (n int) {
	last := began[len(began)-1]
	for _, t := range began {
		if t > last-week {
			n++
		}
	}
	if n == len(began) {
		return 1
	}
	return n
}

// recognise finds the same stage in each night: by its name, and the number of it among stages of that name.
func recognise(nights []diagnosis.Request) (all []*Recognised) {
	type key struct {
		name   string
		number int
	}
	byKey := map[key]*Recognised{}
	for i := range nights {
		count := map[string]int{}
		for _, st := range nights[i].Stages {
			wall, _, ok := nights[i].Again.Walls(st)
			if !ok || strings.Contains(st.Stage, ".") { // a retry
				continue
			}
			k := key{cmp.Or(st.StageName, st.Stage), count[cmp.Or(st.StageName, st.Stage)]}
			count[k.name]++
			s := byKey[k]
			if s == nil {
				s = &Recognised{Name: k.name}
				byKey[k] = s
				all = append(all, s)
			}
			s.Stage, s.Tasks = st.Stage, st.Tasks
			s.members = append(s.members, member{i, st, wall, nights[i].Slower(st)})
		}
	}
	for _, s := range all {
		s.Runs = len(s.members)
		var walls []float64
		for _, m := range s.members {
			walls = append(walls, m.wall)
		}
		s.Wall = median(walls)
	}
	slices.SortStableFunc(all, func(a, b *Recognised) int { return cmp.Compare(b.Wall, a.Wall) })
	return all
}

// alike are the members with as many tasks as the last one: only of these is a task's number that of the same data.
func (s *Recognised) alike() (some []member) {
	for _, m := range s.members {
		if m.record.Tasks == s.Tasks && m.slower != nil {
			some = append(some, m)
		}
	}
	return some
}

// byChance is how likely chance may be to have put any task of a stage among the slow ones so often, for that to be
// called its data. Where most slow tasks are slow again, it is for all that are slow in most nights: nobody is to be
// told of savings that the data would prevent.
const byChance = 0.01

// compare finds how many of the slow tasks are the same in most other nights, and tells the nights of these. Tasks that
// are slow together on a slow host are one event, and not one each: what chance may have put on a slow host so often
// does not accuse their data.
func (s *Recognised) compare(nights []diagnosis.Request) {
	some := s.alike()
	slow, onSlow, hosts := map[int32]int{}, map[int32]int{}, 0 // by task, in how many nights, and on a slow host
	for _, m := range some {
		hosts = max(hosts, m.slower.Hosts)
		for task, over := range m.slower.Over {
			if nights[m.night].Thresholds.IsSlow(over) {
				s.Slow++
				slow[task]++
				if m.slower.OnSlow[task] {
					onSlow[task]++
				}
			}
		}
	}
	n := len(some)
	for task, k := range onSlow {
		if k > 0 && float64(hosts)*laws.AtLeast(k, n, 1/float64(hosts)) >= byChance {
			slow[task] -= k
		}
	}
	if s.Verdict = Undecided; s.Slow == 0 {
		s.Verdict = Even
	}
	if n < 2 || s.Slow == 0 {
		return
	}
	for _, k := range slow {
		if 2*(k-1) > n-1 {
			s.Same += k
		}
	}
	rate := float64(s.Slow) / float64(n*s.Tasks)
	for task, k := range slow {
		if 2*k > n && (2*s.Same > s.Slow || float64(s.Tasks)*laws.AtLeast(k, n, rate) < byChance) {
			s.Always = append(s.Always, task)
		}
	}
	slices.Sort(s.Always)
	switch s.Low, s.High = laws.ShareInterval(s.Same, s.Slow); {
	case s.Low > 0.5:
		s.Verdict = Skew
	case s.High < 0.5:
		s.Verdict = Chance
	}
	s.tell(nights, some, slow)
}

// tell lets the diagnoses know which tasks are slow in most nights.
func (s *Recognised) tell(nights []diagnosis.Request, some []member, slow map[int32]int) {
	known := map[int32]diagnosis.Recurring{}
	for _, task := range s.Always {
		var over []float64
		for _, m := range some {
			over = append(over, m.slower.Over[task])
		}
		known[task] = diagnosis.Recurring{Slow: slow[task], Of: len(some), Over: median(over)}
	}
	for _, m := range s.members {
		if len(known) > 0 && m.record.Tasks == s.Tasks {
			r := &nights[m.night]
			if r.Recurring == nil {
				r.Recurring = map[*history.StageRecord]map[int32]diagnosis.Recurring{}
			}
			r.Recurring[m.record] = known
		}
	}
}

// change compares the nights from one on with those before.
func (s *Recognised) change(first int, confidence float64) {
	var before, since []float64 // logarithms of the wall times
	var read [2][]float64
	for _, m := range s.members {
		x, bytes := math.Log(max(m.wall, 1e-9)), m.read()
		if m.night < first {
			before, read[0] = append(before, x), append(read[0], bytes)
		} else {
			since, read[1] = append(since, x), append(read[1], bytes)
		}
	}
	d, half := laws.DifferenceInterval(before, since, confidence)
	if math.IsNaN(half) || len(before) < 2 {
		return
	}
	s.Change = &Change{Ratio: math.Expm1(d), Low: math.Expm1(d - half), High: math.Expm1(d + half)}
	if was := median(read[0]); was > 0 {
		more := median(read[1])/was - 1
		s.Change.Bytes = &more
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
