package diagnosis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/advice"
	"github.com/tailcut/tailcut/internal/show"
)

// WriteJSON writes the diagnosis for programs.
func (d *Diagnosis) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(d) }

// WriteCSV writes a row for each stage.
func (d *Diagnosis) WriteCSV(out io.Writer) error {
	w := show.NewCSV(out)
	_ = w.Write([]string{"job", "stage", "name", "tasks", "attempts_succeeded", "attempts_failed", "attempts_censored", "median_seconds", "longest_seconds",
		"verdict", "latency_seconds", "latency_saved_seconds", "machine_saved_seconds", "policy", "input_r2_ratio", "input_rank_correlation_ratio", "reason",
		"attempts_timed_out", "attempts_cancelled", "slots", "wall_seconds", "replay_seconds", "best_seconds", "excess_seconds", "cause", "cause_share_ratio"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	optional := func(x *float64) string {
		if x == nil {
			return ""
		}
		return number(*x)
	}
	for _, s := range d.Stages {
		cause, share := "", ""
		if len(s.Causes) > 0 {
			cause, share = string(s.Causes[0].Cause), optional(s.Causes[0].Share)
		}
		_ = w.Write([]string{s.Job, s.Stage, s.Name, strconv.Itoa(s.Tasks), strconv.Itoa(s.Succeeded), strconv.Itoa(s.Failed), strconv.Itoa(s.Censored),
			number(s.Median), number(s.Longest), string(s.Verdict), optional(s.Latency), optional(s.Saved), optional(s.SavedMachine), s.Policy,
			optional(s.R2), optional(s.Rank), s.Reason, strconv.Itoa(s.TimedOut), strconv.Itoa(s.Cancelled),
			strconv.Itoa(s.Slots), optional(s.Wall), optional(s.Replay), optional(s.bestSeconds()), optional(s.Excess), cause, share})
	}
	w.Flush()
	return w.Error()
}

// WriteText writes the diagnosis for people: what to clone, then where clones would not help; of at most top stages, 0
// for all.
func (d *Diagnosis) WriteText(out io.Writer, top int) error {
	shown := d.Stages
	if top > 0 {
		shown = shown[:min(top, len(shown))]
	}
	fmt.Fprintf(out, "%s\n", d.headline())
	if d.Clones != nil {
		fmt.Fprintln(out, d.Clones.words())
	}
	fmt.Fprintln(out)
	t := show.NewTable("job", "stage", "tasks", "median", "longest", "took", "replay", "time saved", "of", "machine time saved", "mostly", "what to do")
	t.AlignRight(3, 10)
	t.HideEmptyColumns() // a list of durations has neither jobs nor stages
	for _, s := range shown {
		stage := s.Stage
		if s.Name != "" {
			stage = show.Trim(stage+" "+s.Name, 32)
		}
		median, longest := show.Seconds(s.Median), show.Seconds(s.Longest)
		switch {
		case s.Succeeded == 0:
			median, longest = "-", "-"
		case s.Beyond != nil:
			longest = "> " + longest
		}
		row := []any{s.Job, stage, s.Tasks, median, longest, "", "", "", "", "", "", s.todo()}
		if s.Replay != nil {
			row[5], row[6] = show.Seconds(*s.Wall), show.Seconds(*s.Replay)
			if d.Arranged {
				row[5] = ""
			}
		}
		if main := s.main(); main != nil {
			row[10] = main.words()
		}
		if s.Verdict == Replicate {
			row[7], row[8], row[9] = show.Seconds(*s.Saved), show.Seconds(*s.Latency), signed(*s.SavedMachine)
		}
		t.Row(row...)
	}
	fmt.Fprintf(out, "%s\n\n", t)
	d.writeWhy(out)
	d.writeClones(out)
	if line := d.roundedStages(); line != "" {
		fmt.Fprintln(out, line)
	}
	stages := show.Count(len(d.Stages), "stage")
	if more := len(d.Stages) - len(shown); more > 0 {
		fmt.Fprintf(out, "%s more; --top 0 shows all.\n", show.Count(more, "stage"))
	}
	worth := d.worth()
	if worth == 0 {
		_, err := fmt.Fprintf(out, "Clones would not help any of %s.\n", stages)
		return err
	}
	_, err := fmt.Fprintf(out, "Clones pay off in %d of %s: they save %s, and %s of machine time, if the stages run one after another.\n",
		worth, stages, show.Seconds(d.Saved), signed(d.SavedMachine))
	if d.Settings != nil {
		_, err = fmt.Fprintf(out, "The best settings for all stages together:\n  %s\n", strings.Join(d.Settings.Lines, "\n  "))
	}
	if d.Engine != nil {
		_, err = fmt.Fprintln(out, d.engine())
	}
	return err
}

// roundedStages says how far the figures of stages are off whose durations were rounded; nothing if there are none.
func (d *Diagnosis) roundedStages() string {
	var off advice.Off
	n := 0
	for _, s := range d.Stages {
		if s.Off != nil {
			n++
			off.Latency, off.Cost = max(off.Latency, s.Off.Latency), max(off.Cost, s.Off.Cost)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("The durations of %s were rounded to save time; errors are at most %.2g %% (latency) and %.2g %% (machine time).",
		show.Count(n, "stage"), 100*off.Latency, 100*off.Cost)
}

// leastMain is the share of a stage's time that its main cause has to have, to be worth a cure.
const leastMain = 0.1

// main is what most of a stage's time beyond the typical is due to; nil if that is not known, or not worth a cure.
func (s *Finding) main() *Cause {
	if s.Excess == nil || len(s.Causes) == 0 || *s.Causes[0].Share**s.Excess < leastMain**s.Wall {
		return nil
	}
	return &s.Causes[0]
}

// words are a cause with its share.
func (c *Cause) words() string { return fmt.Sprintf("%s %.0f %%", c.Cause, 100**c.Share) }

// todo is what to do about a stage.
func (s *Finding) todo() string {
	main := s.main()
	switch {
	case s.Verdict == Replicate:
		return cmp.Or(s.doing, advice.Words(s.best, s.Tasks))
	case main != nil && main.Cause != Straggler && s.Verdict != SlowHost && s.Verdict != DataSkew:
		return main.Remedy
	}
	return s.Reason
}

// mostWhy is of how many stages the evidence is written for people.
const mostWhy = 5

// writeWhy writes the evidence of the stages that lose most time.
func (d *Diagnosis) writeWhy(out io.Writer) {
	var slow []*Finding
	for _, s := range d.Stages {
		if s.main() != nil {
			slow = append(slow, s)
		}
	}
	if len(slow) == 0 {
		return
	}
	slices.SortStableFunc(slow, func(a, b *Finding) int { return cmp.Compare(*b.Excess, *a.Excess) })
	fmt.Fprintln(out, "Where the time beyond that of a typical task went:")
	for _, s := range slow[:min(len(slow), mostWhy)] {
		fmt.Fprintf(out, "  %s: %s\n", s.title, show.Seconds(*s.Excess))
		for i := range s.Causes {
			if c := &s.Causes[i]; *c.Share >= leastMain {
				fmt.Fprintf(out, "    %s: %s\n", c.words(), c.Evidence)
			}
		}
	}
	fmt.Fprintln(out)
}

func (s *Finding) bestSeconds() *float64 {
	if s.Best == nil {
		return nil
	}
	return &s.Best.Seconds
}

// signed writes seconds that may be negative.
func signed(seconds float64) string {
	if seconds < 0 {
		return "-" + show.Seconds(-seconds)
	}
	return show.Seconds(seconds)
}
