package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
)

// durationsFrom says where durations come from: a log of any format that package history knows, and what to take from
// it.
type durationsFrom struct {
	path   string // a file, a folder, or "-" for standard input
	title  string // what to call it instead of path; "" for that
	column string // of a CSV: its name or its number from 1
	job    string // "" is all
	stage  string // its id or its name, "" is all
}

// addFlags adds the flags that choose what to take of the argument.
func (d *durationsFrom) addFlags(cmd *cobra.Command, argument string) {
	flags := cmd.Flags()
	flags.StringVar(&d.column, "column", "", argument+" is a CSV: name of the column with durations in seconds, or its number from 1")
	flags.StringVar(&d.job, "job", "", "job to take from "+argument+": its id, of a workload its number from 0")
	flags.StringVar(&d.stage, "stage", "", "stage to take from "+argument+": its id or its name")
}

// read returns the one stage that is asked for, and prints what is to be known of the log. An error is one line that
// names file, line and what was expected.
func (d durationsFrom) read(stdin io.Reader, notes io.Writer) (*history.Stage, error) {
	stages, _, said, err := d.stages(stdin)
	if err != nil {
		return nil, err
	}
	printNotes(notes, said)
	st, err := d.choose(stages)
	if len(stages) == 0 && d.path != "-" && (d.job != "" || d.stage != "") {
		err = fmt.Errorf("%w; %s", err, d.instead())
	}
	return st, err
}

// instead tells which stages of the job, or else of the file, there are instead of the one that is not.
func (d durationsFrom) instead() string {
	all := durationsFrom{path: d.path, column: d.column}
	if d.stage != "" {
		all.job = d.job
	}
	stages, _, _, err := all.stages(nil)
	if err == nil && len(stages) == 0 {
		all.job = ""
		stages, _, _, err = all.stages(nil)
	}
	switch {
	case err != nil || len(stages) == 0:
		return "it is empty"
	case len(stages) == 1 && stages[0].Job == "" && stages[0].Stage == "":
		return "it does not tell jobs and stages"
	}
	what, how := differ(stages)
	return "its " + what + " are " + largest(stages, how)
}

// leftOut tells which attempts of the stages are not planned with, and what the log's clock cannot show.
func (d durationsFrom) leftOut(stages []*history.Stage, notes io.Writer) {
	var timedOut, cancelled, raised int
	var longest, resolution float64
	for _, st := range stages {
		timedOut, cancelled, raised = timedOut+st.TimedOut, cancelled+st.Cancelled, raised+st.Raised
		longest, resolution = max(longest, st.LeftOut), max(resolution, st.Resolution)
	}
	if n := timedOut + cancelled; n > 0 {
		notice(notes, "%s: %s left out, the longest after %s: %d timed out, %d cancelled; how long they would have taken is not known",
			d.name(), show.Count(n, "attempt"), show.Seconds(longest), timedOut, cancelled)
	}
	if raised > 0 {
		notice(notes, "%s: the log has whole seconds: %s shorter than %s count as that long", d.name(), show.Count(raised, "duration"), show.Seconds(resolution))
	}
}

// note tells what was done about attempts that did not end.
func (d durationsFrom) note(st *history.Stage, cut *cutTail, notes io.Writer) {
	n := len(st.Censored)
	if n == 0 {
		return
	}
	notice(notes, "%s: %s killed or still running when the log ended: they count as longer than that, by the estimate of Kaplan and Meier",
		d.name(), show.Count(n, "attempt"))
	if cut != nil {
		notice(notes, "%s: nobody saw the longest end, which was cut off at %s: %.2g %% of attempts are longer, and are planned with %s on average; "+
			"how long they are is not known", d.name(), show.Seconds(cut.Last), 100*cut.Share, show.Seconds(cut.Mean))
	}
}

// noteCut tells what was done about attempts of a whole log that did not end.
func (d durationsFrom) noteCut(stages []*history.Stage, notes io.Writer) {
	attempts, in, longest := 0, 0, 0
	for _, st := range stages {
		if len(st.Censored) == 0 {
			continue
		}
		attempts += len(st.Censored)
		in++
		if len(st.Succeeded) > 0 && slices.Max(st.Censored) > slices.Max(st.Seconds()) {
			longest++
		}
	}
	if attempts == 0 {
		return
	}
	notice(notes, "%s: %s of %s killed or still running when the log ended: they count as longer than that, by the estimate of Kaplan and Meier",
		d.name(), show.Count(attempts, "attempt"), show.Count(in, "stage"))
	if longest > 0 {
		notice(notes, "%s: nobody saw the longest of %s end: how long they are is a guess; 'tailcut plan fork' tells which", d.name(), show.Count(longest, "stage"))
	}
}

// censoredParts is into how many parts an observation is cut when weights become counts.
const censoredParts = 1000

// cutTail is what is assumed of the attempts that are longer than any whose end was seen.
type cutTail struct {
	Last  float64 `json:"last_seconds"` // for how long the longest attempt was seen to run
	Share float64 `json:"share_ratio"`  // of the attempts that are longer
	Mean  float64 `json:"mean_seconds"` // how long these are taken to be on average
}

// lawOf returns the law of one attempt's duration: the attempts of a stage that succeeded, and if others were cut off
// the estimate of Kaplan and Meier from all. If the longest was cut off, the estimate is completed by a tail, which is
// returned too. Its weights are then rounded to a thousandth of an observation.
func lawOf(st *history.Stage) (*laws.Empirical, *cutTail, error) {
	if len(st.Censored) == 0 {
		law, err := laws.NewEmpirical(st.Seconds())
		return law, nil, err
	}
	observations := laws.Complete(st.Seconds())
	for _, v := range st.Censored {
		observations = append(observations, laws.Observation{Value: v, Censored: true})
	}
	estimate, err := laws.KaplanMeier(observations)
	if err != nil {
		return nil, nil, err
	}
	var cut *cutTail
	if estimate.Defect() > 0 {
		cut = &cutTail{estimate.Last(), estimate.Defect(), estimate.Last() + estimate.Beyond()}
	}
	parts := float64(min(censoredParts*len(observations), 1<<30))
	var values []float64
	var counts []int
	for _, a := range laws.Atoms(estimate.Completed()) {
		values, counts = append(values, a.Value), append(counts, max(1, int(math.Round(a.Mass*parts))))
	}
	law, err := laws.NewEmpiricalCounts(values, counts)
	return law, cut, err
}

// stages reads the log; said is what is to be known of it.
func (d durationsFrom) stages(stdin io.Reader) (stages []*history.Stage, hosts, said []string, err error) {
	log, err := history.Open(d.path, stdin, d.column)
	if err != nil {
		return nil, nil, nil, err
	}
	defer log.Close()
	stages, hosts, err = history.Stages(log.Attempts(), d.job, d.stage)
	return stages, hosts, log.Notes(), err
}

func printNotes(notes io.Writer, said []string) {
	for _, s := range said {
		notice(notes, "%s", s)
	}
}

func (d durationsFrom) name() string {
	switch {
	case d.title != "":
		return d.title
	case d.path == "-":
		return "stdin"
	}
	return d.path
}

// choose returns the only stage with attempts that succeeded.
func (d durationsFrom) choose(stages []*history.Stage) (*history.Stage, error) {
	found := len(stages)
	stages = slices.DeleteFunc(slices.Clone(stages), func(s *history.Stage) bool { return len(s.Succeeded) == 0 })
	switch {
	case len(stages) == 1:
		return stages[0], nil
	case len(stages) > 1:
		return nil, d.ambiguous(stages)
	case found > 0:
		return nil, fmt.Errorf("%s: no attempt in it succeeded", d.name())
	case d.job != "" && d.stage != "":
		return nil, fmt.Errorf("%s: no stage %q of job %q in it", d.name(), d.stage, d.job)
	case d.job != "":
		return nil, fmt.Errorf("%s: no job %q in it", d.name(), d.job)
	case d.stage != "":
		return nil, fmt.Errorf("%s: no stage %q in it", d.name(), d.stage)
	}
	return nil, fmt.Errorf("%s: no durations in it", d.name())
}

// ambiguous asks for a choice among stages, and names the largest.
func (d durationsFrom) ambiguous(stages []*history.Stage) error {
	what, how := differ(stages)
	return fmt.Errorf("%s: there are %d %s in it; choose one with %s: %s; 'tailcut plan explain' ranks them",
		d.name(), len(stages), what, how, largest(stages, how))
}

// differ says what stages are told apart by, and the flags for it.
func differ(stages []*history.Stage) (what, how string) {
	names := map[string]bool{}
	for _, s := range stages {
		names[s.Stage] = true
	}
	switch {
	case len(names) == 1:
		return "jobs", "--job"
	case len(names) < len(stages):
		return "stages", "--job and --stage"
	}
	return "stages", "--stage"
}

// largest lists the largest of the stages, called as the flags call them.
func largest(stages []*history.Stage, how string) string {
	slices.SortStableFunc(stages, func(a, b *history.Stage) int { return cmp.Compare(b.Tasks, a.Tasks) })
	var list []string
	for _, s := range stages[:min(len(stages), 5)] {
		id := map[string]string{"--stage": s.Stage, "--job": s.Job}[how]
		if id == "" {
			id = s.Title()
		}
		list = append(list, fmt.Sprintf("%s (%s)", id, show.Count(s.Tasks, "task")))
	}
	more := ""
	if len(stages) > len(list) {
		more = fmt.Sprintf(" and %d more", len(stages)-len(list))
	}
	return strings.Join(list, ", ") + more
}
