package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
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

// Keep tells the replay what a further attempt of a task would meet again, so that it can be asked about clones.
func Keep(r Request) {
	for _, st := range r.Stages {
		if tasks := r.Again.Holds(st); len(tasks) > 0 {
			excessOf(st, tasks, &r).keep(r.Again)
		}
	}
}

// keep tells the replay of the stage's tasks what is no chance.
func (e *excess) keep(again *replay.Rerun) {
	kept := make([]float64, len(e.tasks))
	for k, part := range e.parts {
		if !k.drawn() {
			for i, x := range part {
				kept[i] += x
			}
		}
	}
	again.Keep(e.record, kept, e.slow)
}

// diagnose finds why a stage took as long as it did, and tells the replay what a further attempt of a task would keep.
func (s *Finding) diagnose(st *history.StageRecord, r *Request) {
	tasks := r.Again.Holds(st)
	if len(tasks) == 0 {
		return
	}
	e := excessOf(st, tasks, r)
	wall, slots, _ := r.Again.Walls(st)
	w := waiting{slots: slots}
	w.held, w.idle, w.others = r.Again.Waited(st)
	total, causes := e.shares(wall, w)
	s.Excess, s.Causes = &total, causes
	e.keep(r.Again)
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
	own, engine := &played{system: system, candidates: d.candidates(system, again)}, &played{system: Tailcut}
	if system != Tailcut && system != Kubernetes {
		engine.candidates = d.candidates(Tailcut, again)
	}
	if err := playAll(ctx, r, own, engine); err != nil {
		return fmt.Errorf("%s: replay: %w", r.Log, err)
	}
	d.own, d.oneHost = own, system == Spark && again.OneHost()
	d.sumUpClones(r, byRecord)
	d.Slots, d.Source, d.Wall, d.Replay = again.Slots, again.Source, again.Wall(), &own.now.Mean
	d.Arranged = again.Arranged
	d.Settings, d.Engine = own.setting(own.now), engine.setting(own.now)
	if d.Engine != nil && d.Settings != nil && d.Engine.Seconds > (1-leastWorth)*d.Settings.Seconds {
		d.Engine = nil // the system can do as much
	}
	for _, st := range r.Stages {
		taken, ok := own.apart[st]
		if !ok {
			continue
		}
		s := byRecord[st]
		wall, slots, _ := again.Walls(st)
		s.Wall, s.Slots, s.Replay = &wall, slots, &taken[0].Mean
		if k := fastest(taken); k > 0 {
			c := &own.candidates[k-1]
			s.Best = &StageBest{system, strings.Join(c.lines, " "), bestOf(&taken[k])}
			s.doing = c.words(s.Tasks)
			s.extra = taken[k].Machine - taken[0].Machine
		}
		s.onItsSlots(&r.Thresholds)
	}
	return nil
}

// onItsSlots judges a stage that clones would help with a machine for each task by what they help on its slots. Where
// one machine is slow, clones are the second choice.
func (s *Finding) onItsSlots(t *Thresholds) {
	if s.Verdict != Replicate && s.Verdict != SlowHost {
		return
	}
	saved, machine := 0.0, 0.0
	if s.Best != nil {
		saved, machine = *s.Replay-s.Best.Seconds, -s.extra
	}
	s.Latency, s.Saved, s.SavedMachine = s.Replay, &saved, &machine
	switch share := saved / max(*s.Replay, 1e-9); {
	case share >= t.Saving && s.Verdict == SlowHost:
		s.doing = s.Reason + "; or " + s.doing
		s.Verdict, s.Reason = Replicate, ""
	case !(share >= t.Saving) && s.Verdict == Replicate:
		s.Verdict = LightTail
		s.Reason = fmt.Sprintf("on its %s, clones save only %.1f %%", show.Count(s.Slots, "slot"), 100*share)
		if s.Clones != nil {
			s.Reason = fmt.Sprintf("on its %s, other settings save only %.1f %% more than its clones did", show.Count(s.Slots, "slot"), 100*share)
		}
	}
}

// headline says what the log took, what its replay takes, and what it would take.
func (d *Diagnosis) headline() string {
	if d.Replay == nil {
		return d.Log + " has no start times of tasks that succeeded, so it is not replayed: the figures assume a machine for each task; --slots sets a number."
	}
	slots := show.Count(d.Slots, "slot")
	switch d.Source {
	case replay.Told:
		slots = "up to " + slots
	case replay.Seen:
		slots += " (the most seen busy at once; --slots sets another number)"
	}
	if d.Arranged {
		line := fmt.Sprintf("%s does not say when its tasks started. In the order of the log they take %s on %s", d.Log, show.Seconds(*d.Replay), slots)
		if d.Settings == nil {
			return line + "; no setting of clones would make it faster."
		}
		return fmt.Sprintf("%s; with the best setting of clones %s.", line, d.Settings.Best.words())
	}
	change := 0.0
	if d.Wall > 0 {
		change = *d.Replay/d.Wall - 1
	}
	line := fmt.Sprintf("%s took %s; its replay on %s takes %s (%s)", d.Log, show.Seconds(d.Wall), slots, show.Seconds(*d.Replay), show.Change(change))
	if d.Settings == nil && d.oneHost {
		return line + "; Spark runs no clone on the host of the original, and there was one host only."
	}
	if d.Settings == nil {
		return line + "; no setting of clones would make it faster."
	}
	return fmt.Sprintf("%s; with the best setting of clones %s.", line, d.Settings.Best.words())
}

func (b Best) words() string {
	return fmt.Sprintf("%s (%s to %s)", show.Seconds(b.Seconds), show.Seconds(b.Low), show.Seconds(b.High))
}
