package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
)

// A replay plays each candidate mostPlays times, of a large log as often as playedTasks allow.
const (
	mostPlays    = 100
	leastPlays   = 3
	playedTasks  = 1_000_000
	toldTasks    = 100_000 // likewise, under rules that are told of progress
	leastWorth   = 0.01    // share of the application's time below which no setting is worth to be set
	mostProposed = 4       // stages, those with most to save, whose best forks become candidates
)

// Setting is what a system can be told, and what it would take.
type Setting struct {
	System string   `json:"system"`
	Lines  []string `json:"lines"`
	Best
}

// Best is what the best candidate takes: on average, and what 95 % of the plays are between.
type Best struct {
	Seconds float64 `json:"seconds"`
	Low     float64 `json:"low_seconds"`
	High    float64 `json:"high_seconds"`
}

// StageBest is the best of the system's own rules for one stage.
type StageBest struct {
	System   string `json:"system"`
	Settings string `json:"settings"`
	Best
}

// causesOfVerdict are what is known of why a stage is slow whose log does not say when its attempts started.
func (s *Finding) causesOfVerdict() []Cause {
	kind := map[Verdict]Kind{Replicate: Straggler, SlowHost: Host, DataSkew: Skew}[s.Verdict]
	if kind == "" {
		return []Cause{}
	}
	evidence := s.Reason
	if s.Verdict == Replicate {
		evidence = fmt.Sprintf("the longest of %s took %s, the median %s", show.Count(s.Tasks, "task"), show.Seconds(s.Longest), show.Seconds(s.Median))
	}
	return []Cause{{Cause: kind, Evidence: evidence, Remedy: remedies[kind]}}
}

// diagnose finds why a stage took as long as it did, and tells the replay what a further attempt of a task would keep.
func (s *Finding) diagnose(st *history.StageRecord, r *Request) {
	tasks := r.Again.Holds(st)
	if len(tasks) == 0 {
		return
	}
	e := excessOf(st, tasks, r)
	wall, slots, _ := r.Again.Walls(st)
	held, idle := r.Again.Waited(st)
	total, causes := e.shares(wall, waiting{slots: slots, held: held, idle: idle})
	s.Excess, s.Causes = &total, causes
	kept := make([]float64, len(tasks))
	for k, part := range e.parts {
		if !k.drawn() {
			for i, x := range part {
				kept[i] += x
			}
		}
	}
	r.Again.Keep(st, kept)
}

// replayStages plays the log again, as it happened and under candidates that the exact plans of the stages propose.
// What clones save on the slots that there were takes the place of what they would save with a machine for each task.
func (d *Diagnosis) replayStages(ctx context.Context, r *Request) error {
	byRecord := map[*history.StageRecord]*Finding{}
	for i, st := range r.Stages {
		byRecord[st] = d.Stages[i]
	}
	again := r.Again
	for st, s := range byRecord {
		s.diagnose(st, r)
	}
	system := cmp.Or(r.System, again.System())
	candidates, engine := d.candidates(system), []candidate(nil)
	if system != Tailcut && system != Kubernetes {
		engine = d.candidates(Tailcut)
	}
	played, err := d.play(ctx, r, system, candidates, engine)
	if err != nil {
		return fmt.Errorf("%s: replay: %w", r.Log, err)
	}
	d.Slots, d.Source, d.Wall, d.Replay = again.Slots, again.Source, again.Wall(), &played.Whole[0].Mean
	n := 1 + len(candidates)
	d.Settings = setting(system, candidates, played.Whole[:n])
	d.Engine = setting(Tailcut, engine, slices.Concat(played.Whole[:1], played.Whole[n:]))
	if d.Engine != nil && d.Settings != nil && d.Engine.Seconds > (1-leastWorth)*d.Settings.Seconds {
		d.Engine = nil // the system can do as much
	}
	for _, st := range r.Stages {
		ranges, ok := played.Stages[st]
		if !ok {
			continue
		}
		s := byRecord[st]
		wall, slots, _ := again.Walls(st)
		s.Wall, s.Slots, s.Replay = &wall, slots, &ranges[0].Mean
		if k := fastest(ranges[:n]); k > 0 {
			s.Best = &StageBest{system, strings.Join(candidates[k-1].lines, " "), Best{ranges[k].Mean, ranges[k].Low, ranges[k].High}}
			s.doing = candidates[k-1].words
			s.extra = played.Machine[st][k] - played.Machine[st][0]
		}
		s.onItsSlots(&r.Thresholds)
	}
	return nil
}

// play plays what happened, the candidates of a system, and those of Tailcut's own engine, in that order. All meet the
// same draws.
func (d *Diagnosis) play(ctx context.Context, r *Request, system string, candidates, engine []candidate) (*replay.Played, error) {
	specs := []string{r.Again.Rule}
	for _, c := range candidates {
		specs = append(specs, c.spec)
	}
	var own []string
	for _, c := range engine {
		own = append(own, c.spec)
	}
	tasks := 0
	for _, s := range d.Stages {
		tasks += s.Tasks
	}
	most := playedTasks
	if system == Hadoop {
		most = toldTasks
	}
	plays := max(leastPlays, min(mostPlays, most/max(1, tasks*(len(specs)+len(own)))))
	if len(specs)+len(own) == 1 && r.Again.Rule == "fifo" {
		plays = 1 // nothing is drawn
	}
	played, err := r.Again.Play(ctx, system, specs, plays, r.Seed)
	if err != nil || len(own) == 0 {
		return played, err
	}
	more, err := r.Again.Play(ctx, Tailcut, own, plays, r.Seed)
	if err != nil {
		return nil, err
	}
	played.Add(more)
	return played, nil
}

// setting is the fastest candidate for all stages together. The first range is that of what happened; nil if nothing is
// faster than that on average, and no slower in at least 97.5 % of the plays.
func setting(system string, candidates []candidate, whole []replay.Range) *Setting {
	k := fastest(whole)
	if k == 0 || whole[k].Mean >= (1-leastWorth)*whole[0].Mean || whole[k].High > whole[0].Mean*(1+1e-9) {
		return nil
	}
	return &Setting{system, candidates[k-1].lines, Best{whole[k].Mean, whole[k].Low, whole[k].High}}
}

// onItsSlots judges a stage that clones would help with a machine for each task by what they help on its slots.
func (s *Finding) onItsSlots(t *Thresholds) {
	if s.Verdict != Replicate {
		return
	}
	saved, machine := 0.0, 0.0
	if s.Best != nil {
		saved, machine = *s.Replay-s.Best.Seconds, -s.extra
	}
	s.Latency, s.Saved, s.SavedMachine = s.Replay, &saved, &machine
	if share := saved / max(*s.Replay, 1e-9); !(share >= t.Saving) {
		s.Verdict = LightTail
		s.Reason = fmt.Sprintf("on its %s, clones save only %.1f %%", show.Count(s.Slots, "slot"), 100*share)
	}
}

// fastest is the index of the least mean. The first counts if others are no better.
func fastest(all []replay.Range) (best int) {
	for k := range all {
		if all[k].Mean < all[best].Mean*(1-1e-9) {
			best = k
		}
	}
	return best
}

// headline says what the log took, what its replay takes, and what it would take.
func (d *Diagnosis) headline() string {
	if d.Replay == nil {
		return d.Log + " has no start times of tasks that succeeded, so it is not replayed: the figures assume a machine for each task."
	}
	slots := show.Count(d.Slots, "slot")
	switch d.Source {
	case replay.Told:
		slots = "up to " + slots
	case replay.Seen:
		slots += " (the most seen busy at once; --slots sets another number)"
	}
	line := fmt.Sprintf("%s took %s; its replay on %s takes %s (%+.1f %%)", d.Log, show.Seconds(d.Wall), slots, show.Seconds(*d.Replay),
		100*(*d.Replay/max(d.Wall, 1e-9)-1))
	if d.Settings == nil {
		return line + "; no setting of clones would make it faster."
	}
	return fmt.Sprintf("%s; with the best setting of clones %s (%s to %s).", line, show.Seconds(d.Settings.Seconds),
		show.Seconds(d.Settings.Low), show.Seconds(d.Settings.High))
}
