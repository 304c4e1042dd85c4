// Package sizing finds how many slots a log's application needs: it replays the log on other numbers of slots, with
// and without clones.
package sizing

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
)

// Request asks how long a log takes on other numbers of slots.
type Request struct {
	Log, Application string
	Stages           []*history.StageRecord
	Again            *replay.Rerun // of the log, on its own slots
	Sizes            []int         // numbers of slots; nil for an eighth to four times those of the log
	Seed             uint64
	// Watch is told what is being done, and of how many tasks, and returns what is called with the tasks that are done
	// meanwhile, by several goroutines at once, and at the end; nil if nobody watches.
	Watch func(doing string, tasks int) (tick func(tasks int), stop func())
}

// Schema names the JSON.
const Schema = "tailcut.plan.slots/v1"

// Answer is what the log takes.
type Answer struct {
	Schema      string        `json:"schema"`
	Log         string        `json:"log"`
	Application string        `json:"application,omitempty"`
	Slots       int           `json:"slots"` // the most that the log had
	Source      replay.Source `json:"slots_source"`
	SlotTime    float64       `json:"slot_seconds"` // of the log's slots, idle or not
	Wall        float64       `json:"wall_seconds"`
	Arranged    bool          `json:"arranged,omitempty"` // no start times: Wall is that of the log's order
	Replay      float64       `json:"replay_seconds"`
	Policies    []string      `json:"policies"` // the first is what the log did
	Rows        []Row         `json:"rows"`
	Knees       []Knee        `json:"knees"` // of each policy
}

// Row is the log under a policy on a number of slots.
type Row struct {
	Slots    int     `json:"slots"`
	Policy   string  `json:"policy"`
	Seconds  float64 `json:"seconds"`
	Low      float64 `json:"low_seconds"`
	High     float64 `json:"high_seconds"`
	SlotTime float64 `json:"slot_seconds"` // what the slots cost, idle or not
	Busy     float64 `json:"busy_ratio"`   // share of it in which attempts ran
}

// Knee is the number of slots at which time × slot time is least: Kleinrock's power. With fewer slots the time grows
// by a larger factor than the cost falls; with more the cost grows by a larger factor than the time falls.
type Knee struct {
	Policy string `json:"policy"`
	Slots  int    `json:"slots"`
	// whether it stays so wherever in their intervals the times are
	Sure bool `json:"sure"`
}

// A candidate is played mostPlays times, of a large log as often as playedTasks allow.
const (
	mostPlays   = 50
	leastPlays  = 3
	playedTasks = 1_000_000
)

// Plan replays the log on each number of slots under each policy. All meet the same random draws.
func Plan(ctx context.Context, r Request) (*Answer, error) {
	a := &Answer{
		Schema: Schema, Log: r.Log, Application: r.Application, Slots: r.Again.Slots, Source: r.Again.Source, Wall: r.Again.Wall(), Arranged: r.Again.Arranged,
		SlotTime: r.Again.SlotTime(), Policies: policies(r.Again),
	}
	own, err := r.Again.Whole(ctx, replay.Rules{System: r.Again.System(), Specs: a.Policies[:1], Runs: 1, Seed: r.Seed})
	if err != nil {
		return nil, err
	}
	a.Replay = own[0].Mean
	sizes := r.Sizes
	if sizes == nil {
		sizes = around(a.Slots)
	}
	tasks := 0
	for _, st := range r.Stages {
		tasks += st.Tasks
	}
	rules := replay.Rules{System: r.Again.System(), Specs: a.Policies, Seed: r.Seed}
	rules.Runs = max(leastPlays, min(mostPlays, playedTasks/max(1, tasks*len(sizes))))
	if r.Watch != nil {
		var stop func()
		rules.Tick, stop = r.Watch("replaying", r.Again.Tasks()*len(sizes)*r.plays(a.Policies, rules.Runs))
		defer stop()
	}
	for _, slots := range sizes {
		taken, err := r.Again.On(slots).Whole(ctx, rules)
		if err != nil {
			return nil, err
		}
		for k, policy := range a.Policies {
			a.Rows = append(a.Rows, rowOf(slots, policy, &taken[k]))
		}
	}
	for _, policy := range a.Policies {
		a.Knees = append(a.Knees, a.knee(policy))
	}
	return a, nil
}

// plays is how many plays there are on each number of slots. One without clones draws nothing.
func (r *Request) plays(policies []string, runs int) (n int) {
	for _, p := range policies {
		if n++; p != replay.Without {
			n += runs - 1
		}
	}
	return n
}

// policies are what the log did, no clones, and what its system can do by default.
func policies(again *replay.Rerun) []string {
	all := []string{again.Rule, replay.Without}
	switch system := again.System(); {
	case system == "spark" && again.OneHost(): // on which it has no clones
	case system == "spark":
		all = append(all, "spark3", "spark")
	case system == "hadoop":
		all = append(all, "hadoop2")
	default:
		all = append(all, "auto")
	}
	var out []string
	for _, p := range all {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// around are numbers of slots from an eighth to four times so many.
func around(slots int) (all []int) {
	for _, factor := range []float64{1. / 8, 1. / 4, 1. / 2, 1, 2, 4} {
		all = append(all, max(1, int(math.Round(float64(slots)*factor))))
	}
	return slices.Compact(all)
}

func rowOf(slots int, policy string, t *replay.Taken) Row {
	r := Row{Slots: slots, Policy: policy, Seconds: t.Mean, Low: t.Low, High: t.High, SlotTime: float64(slots) * t.Mean}
	if r.SlotTime > 0 {
		r.Busy = t.Machine / r.SlotTime
	}
	return r
}

// knee returns the knee of a policy.
func (a *Answer) knee(policy string) Knee {
	var rows []Row
	for _, x := range a.Rows {
		if x.Policy == policy {
			rows = append(rows, x)
		}
	}
	power := func(slots int, seconds float64) float64 { return float64(slots) * seconds * seconds }
	best := slices.MinFunc(rows, func(x, y Row) int { return cmp.Compare(power(x.Slots, x.Seconds), power(y.Slots, y.Seconds)) })
	k := Knee{Policy: policy, Slots: best.Slots, Sure: true}
	for _, x := range rows {
		if x.Slots != best.Slots && power(x.Slots, x.Low) <= power(best.Slots, best.High) {
			k.Sure = false
		}
	}
	return k
}
