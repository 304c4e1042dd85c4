package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/show"
)

// Recorded is what the clones did that the log has.
type Recorded struct {
	Clones  int     `json:"clones"`
	Won     int     `json:"won"`             // that ended before the attempt that they were for
	Killed  int     `json:"killed"`          // that another attempt beat, or the end of the log
	Lost    float64 `json:"lost_seconds"`    // machine time of attempts that another one beat, clones or not
	Saved   float64 `json:"saved_seconds"`   // of the time of application or stage, by replays with and without clones
	Share   float64 `json:"saved_ratio"`     // the same, of its time without clones
	Without float64 `json:"without_seconds"` // what the replay takes without clones
	// of a stage, the clones in order of start; nil of the application
	Attempts []RecordedClone `json:"attempts,omitempty"`
}

// RecordedClone is a clone that the log has.
type RecordedClone struct {
	Task    int32   `json:"task"`
	Began   float64 `json:"began_seconds"` // after the stage was submitted
	Seconds float64 `json:"seconds"`       // that it ran
	Outcome string  `json:"outcome"`
	// By how much its task ended sooner, by the estimate of what the original would have taken; 0 unless it won.
	Saved float64 `json:"saved_seconds"`
	Lost  float64 `json:"lost_seconds"` // machine time of the attempt that lost the race
}

// recordedIn sums up the clones of a stage; nil if there are none.
func recordedIn(st *history.StageRecord, again *replay.Rerun) *Recorded {
	c := &Recorded{}
	originals := map[int32]*replay.Hold{}
	holds := again.Holds(st)
	for i := range holds {
		originals[holds[i].Last.Task] = &holds[i]
	}
	from, _, _ := again.Span(st)
	for i := range st.Attempts {
		a := &st.Attempts[i]
		if !a.Speculative {
			continue
		}
		clone := RecordedClone{Task: a.Task, Began: (a.Start - from).Seconds(), Seconds: a.Duration.Seconds(), Outcome: a.Outcome.String()}
		c.Clones++
		original := originals[a.Task]
		switch {
		case a.Outcome == history.Killed || a.Outcome == history.Running: // the log may end with the task
			c.Killed++
			clone.Lost = clone.Seconds
		case a.Outcome == history.Succeeded:
			c.Won++
			if original != nil && original.Last.Outcome == history.Killed && !original.Last.Speculative {
				o := &original.Last
				clone.Saved = max(0, o.Start+o.Duration+original.Beyond-a.Start-a.Duration).Seconds()
				clone.Lost = o.Duration.Seconds()
			}
		}
		c.Lost += clone.Lost
		c.Attempts = append(c.Attempts, clone)
	}
	if c.Clones == 0 {
		return nil
	}
	slices.SortStableFunc(c.Attempts, func(a, b RecordedClone) int { return cmp.Compare(a.Began, b.Began) })
	return c
}

// add adds up the clones of a stage.
func (c *Recorded) add(of *Recorded) {
	c.Clones, c.Won, c.Killed, c.Lost = c.Clones+of.Clones, c.Won+of.Won, c.Killed+of.Killed, c.Lost+of.Lost
}

// sumUpClones tells what the clones of the log did, in each stage and in all.
func (d *Diagnosis) sumUpClones(r *Request, byRecord map[*history.StageRecord]*Finding) {
	all := &Recorded{}
	for _, st := range r.Stages {
		c := recordedIn(st, r.Again)
		if c == nil {
			continue
		}
		all.add(c)
		if with, without := d.own.apart[st], d.own.plain[st]; len(with) > 0 && len(without) > 0 {
			c.compare(with[0].Mean, without[0].Mean)
		}
		byRecord[st].Clones = c
	}
	if all.Clones == 0 {
		return
	}
	if d.own.without != nil {
		all.compare(d.own.now.Mean, d.own.without.Mean)
	}
	d.Clones = all
}

// compare sets what the clones saved, by the replays of what happened and of the same without clones.
func (c *Recorded) compare(now, without float64) {
	c.Without, c.Saved = without, without-now
	c.Share = c.Saved / max(without, 1e-9)
}

// words says what the clones did.
func (c *Recorded) words() string {
	did := fmt.Sprintf("The log has %s; %d of them won. Attempts that another one beat took %s of machine time.",
		show.Count(c.Clones, "clone"), c.Won, show.Seconds(c.Lost))
	if c.Without == 0 {
		return did
	}
	return fmt.Sprintf("%s Without clones the replay takes %s: clones saved %s (%s).", did, show.Seconds(c.Without), signed(c.Saved), show.Percent(c.Share))
}

// writeClones writes what the clones of each stage did, where the log has some.
func (d *Diagnosis) writeClones(out io.Writer) {
	if d.Clones == nil {
		return
	}
	t := show.NewTable("stage", "clones", "won", "killed", "machine time lost", "time saved", "of")
	t.AlignRight(2, 6)
	for _, s := range d.Stages {
		if c := s.Clones; c != nil {
			saved, of := "", ""
			if c.Without > 0 {
				saved, of = signed(c.Saved), show.Seconds(c.Without)
			}
			t.Row(s.title, c.Clones, c.Won, c.Killed, show.Seconds(c.Lost), saved, of)
		}
	}
	fmt.Fprintf(out, "What the clones of the log did:\n%s\n\n", t)
}

// mostClones is of how many clones a page has rows.
const mostClones = 500

// clonesSection has each clone, and what it saved or cost.
func (d *Diagnosis) clonesSection() report.Section {
	s := report.Section{Title: "What each clone of the log saved or cost"}
	t := report.Table{Name: "clones", Columns: []string{"stage", "task", "began (s)", "ran (s)", "outcome", "its task ended sooner by (s)", "machine time lost (s)"}}
	rows := 0
	for _, f := range d.Stages {
		if f.Clones == nil {
			continue
		}
		for _, c := range f.Clones.Attempts {
			if rows++; rows <= mostClones {
				t.Add(f.title, int(c.Task), c.Began, c.Seconds, c.Outcome, c.Saved, c.Lost)
			}
		}
	}
	s.Text = []string{"What an original that was beaten would have taken is an estimate."}
	if rows > mostClones {
		s.Text = append(s.Text, fmt.Sprintf("The first %d of %s. --format json has all.", mostClones, show.Count(rows, "clone")))
	}
	s.Tables = []report.Table{t}
	return s
}
