package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tailcut/tailcut/internal/show"
)

// explainResult is the answer for programs.
type explainResult struct {
	Schema       string         `json:"schema"`
	Log          string         `json:"log"`
	Saved        float64        `json:"latency_saved_seconds"` // of all stages that are worth it
	SavedMachine float64        `json:"machine_saved_seconds"`
	Stages       []explainStage `json:"stages"` // best first
}

type explainStage struct {
	Job       string   `json:"job"`
	Stage     string   `json:"stage"`
	Name      string   `json:"name"`
	Tasks     int      `json:"tasks"`
	Succeeded int      `json:"attempts_succeeded"`
	Failed    int      `json:"attempts_failed"`
	Censored  int      `json:"attempts_censored"`  // killed, or still running at the end of the log
	TimedOut  int      `json:"attempts_timed_out"` // left out
	Cancelled int      `json:"attempts_cancelled"` // left out
	Median    float64  `json:"median_seconds"`
	Longest   float64  `json:"longest_seconds"`
	Beyond    *cutTail `json:"beyond,omitempty"` // what is assumed of the longest, if nobody saw it end
	Verdict   verdict  `json:"verdict"`
	Reason    string   `json:"reason"` // "" where replication is worth it
	// without clones; this and the rest only where the stage was planned
	Latency      *float64 `json:"latency_seconds,omitempty"`
	Saved        *float64 `json:"latency_saved_seconds,omitempty"`
	SavedMachine *float64 `json:"machine_saved_seconds,omitempty"`
	Policy       string   `json:"policy,omitempty"`
	Off          *forkOff `json:"error_bound,omitempty"`    // of the figures of the policy, if durations were rounded
	R2           *float64 `json:"input_r2_ratio,omitempty"` // only where the log tells the bytes
	Rank         *float64 `json:"input_rank_correlation_ratio,omitempty"`
}

func (e *explained) result() explainStage {
	r := explainStage{
		Job: e.Job, Stage: e.Stage.Stage, Name: e.StageName, Tasks: e.Tasks, Succeeded: len(e.Succeeded), Failed: e.Failed, Censored: len(e.Censored), TimedOut: e.TimedOut, Cancelled: e.Cancelled,
		Median: e.median, Longest: e.longest, Beyond: e.cut, Verdict: e.verdict, Reason: e.why,
	}
	if e.planned {
		saved, machine := e.saved(), e.savedMachine()
		r.Latency, r.Saved, r.SavedMachine = &e.now.Latency, &saved, &machine
		r.Policy, r.Off = forkSpec(e.policy(), e.Tasks), e.off
	}
	if e.hasSkew {
		r.R2, r.Rank = &e.skew.R2, &e.skew.Rank
	}
	return r
}

// totals adds up what the stages save that are worth it.
func totals(all []*explained) (worth int, saved, machine float64) {
	for _, e := range all {
		if e.verdict == worthIt {
			worth++
			saved += e.saved()
			machine += e.savedMachine()
		}
	}
	return worth, saved, machine
}

func printExplainedJSON(out io.Writer, log string, all []*explained) error {
	r := explainResult{Schema: "tailcut.plan.explain/v1", Log: log}
	_, r.Saved, r.SavedMachine = totals(all)
	for _, e := range all {
		r.Stages = append(r.Stages, e.result())
	}
	return json.NewEncoder(out).Encode(&r)
}

func printExplainedCSV(out io.Writer, all []*explained) error {
	w := show.NewCSV(out)
	_ = w.Write([]string{"job", "stage", "name", "tasks", "attempts_succeeded", "attempts_failed", "attempts_censored", "median_seconds", "longest_seconds",
		"verdict", "latency_seconds", "latency_saved_seconds", "machine_saved_seconds", "policy", "input_r2_ratio", "input_rank_correlation_ratio", "reason",
		"attempts_timed_out", "attempts_cancelled"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	optional := func(x *float64) string {
		if x == nil {
			return ""
		}
		return number(*x)
	}
	for _, e := range all {
		r := e.result()
		_ = w.Write([]string{r.Job, r.Stage, r.Name, strconv.Itoa(r.Tasks), strconv.Itoa(r.Succeeded), strconv.Itoa(r.Failed), strconv.Itoa(r.Censored),
			number(r.Median), number(r.Longest), string(r.Verdict), optional(r.Latency), optional(r.Saved), optional(r.SavedMachine), r.Policy,
			optional(r.R2), optional(r.Rank), r.Reason, strconv.Itoa(r.TimedOut), strconv.Itoa(r.Cancelled)})
	}
	w.Flush()
	return w.Error()
}

// printTable prints the answer for people: what to clone, then where clones would not help.
func (f *explainFlags) printTable(out io.Writer, all []*explained) error {
	worth, saved, machine := totals(all)
	shown := all
	if f.top > 0 {
		shown = all[:min(f.top, len(all))]
	}
	t := show.NewTable("job", "stage", "tasks", "median", "longest", "time saved", "of", "machine time saved", "what to do")
	t.AlignRight(3, 8)
	t.HideEmptyColumns() // a list of durations has neither jobs nor stages
	for _, e := range shown {
		stage := e.Stage.Stage
		if e.StageName != "" {
			stage = text.Trim(stage+" "+e.StageName, 32)
		}
		longest := show.Seconds(e.longest)
		if e.cut != nil {
			longest = "> " + longest
		}
		row := []any{e.Job, stage, e.Tasks, show.Seconds(e.median), longest, "", "", "", e.why}
		if e.verdict == worthIt {
			row[5], row[6], row[7] = show.Seconds(e.saved()), show.Seconds(e.now.Latency), show.Seconds(e.savedMachine())
			row[8] = words(e.policy(), e.Tasks)
		}
		t.Row(row...)
	}
	fmt.Fprintf(out, "%s\n\n", t)
	if line := roundedStages(all); line != "" {
		fmt.Fprintln(out, line)
	}
	if len(shown) < len(all) {
		fmt.Fprintf(out, "%s more; --top 0 shows all.\n", show.Count(len(all)-len(shown), "stage"))
	}
	if worth == 0 {
		fmt.Fprintf(out, "Clones would help none of %s.\n", show.Count(len(all), "stage"))
		return nil
	}
	fmt.Fprintf(out, "Clones are worth it in %d of %s: they save %s, and %s of machine time, if the stages run one after the other.\n",
		worth, show.Count(len(all), "stage"), show.Seconds(saved), show.Seconds(machine))
	return nil
}

// roundedStages says how far the figures of stages are off whose durations were rounded; nothing if there are none.
func roundedStages(all []*explained) string {
	var off forkOff
	n := 0
	for _, e := range all {
		if e.off != nil {
			n++
			off.Latency, off.Cost = max(off.Latency, e.off.Latency), max(off.Cost, e.off.Cost)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("The durations of %s are rounded: figures are off by at most %.2g %% (latency), %.2g %% (machine time).",
		show.Count(n, "stage"), 100*off.Latency, 100*off.Cost)
}
