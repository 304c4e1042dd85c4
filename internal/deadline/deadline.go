// Package deadline divides the slots of a cluster among jobs with deadlines: how many clones of each of their tasks
// make the most of the slots that the originals leave, and how many of their tasks run at once where the originals do
// not fit. The division itself is [plan.Joint]'s.
package deadline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// Entry is a job with a deadline.
type Entry struct {
	plan.Work
	Name string
}

// Request asks for a division of slots among jobs.
type Request struct {
	Jobs        []Entry // in the order of their arrival, those that run first
	Slots       int     // of the cluster, from 1 to 100 million
	Lambda      float64 // share of the slots that may be used, more than 0 and at most 1
	MaxAttempts int     // most attempts of a task, the original included; at least 1
	MasterSlots int     // that each job needs beside those of its tasks
	Utility     plan.Utility
	Earliest    float64 // a chance for which the earliest deadline of each job is told; 0 for none
}

// maxSlots is the most slots of a cluster that are planned with.
const maxSlots = 100_000_000

// steps bound the search for a proof to some tenths of a second, and its memory to 128 MiB.
const steps = 1 << 26

// Check returns an error that begins with the field that is wrong, as a flag calls it; nil if none is.
func (r *Request) Check() error {
	switch {
	case r.Slots == 0:
		return errors.New("capacity: expected the number of slots of the cluster")
	case r.Slots < 1 || r.Slots > maxSlots:
		return fmt.Errorf("capacity: expected a number from 1 to %d, got %d", maxSlots, r.Slots)
	case !(r.Lambda > 0 && r.Lambda <= 1):
		return fmt.Errorf("lambda: expected a number of more than 0 and at most 1, got %g", r.Lambda)
	case r.MaxAttempts < 1:
		return fmt.Errorf("max-attempts: expected a number of at least 1, got %d", r.MaxAttempts)
	}
	return nil
}

// Result is the answer for programs.
type Result struct {
	Schema   string   `json:"schema"`
	Capacity int      `json:"capacity"`
	Used     int      `json:"used"`
	Jobs     []Figure `json:"jobs"`
	Total    float64  `json:"total_pocd"` // of how many jobs can be expected to meet their deadlines
	Min      float64  `json:"min_pocd"`
	// by how much the sum of utilities may be short of the largest
	Gap float64 `json:"utility_gap,omitempty"`
}

// Figure is what a job gets and can expect.
type Figure struct {
	Name     string   `json:"name"`
	Clones   int      `json:"clones"`             // of each task
	Attempts int      `json:"attempts_per_task"`  // 0 of a job that waits
	AtOnce   int      `json:"tasks_at_once"`      // fewer than its tasks if it runs in waves; 0 of a job that waits
	PoCD     float64  `json:"pocd"`               // 0 of a job that waits
	Low      *float64 `json:"pocd_low,omitempty"` // nil where the PoCD is exact
	High     *float64 `json:"pocd_high,omitempty"`
	Without  float64  `json:"pocd_without_clones"` // on as many slots
	// seconds from now to the earliest deadline with the chance that was asked for; nil if none is known
	Within  *float64 `json:"earliest_seconds,omitempty"`
	AtRisk  bool     `json:"at_risk"`
	Queued  bool     `json:"queued,omitempty"` // there are no slots for it
	Reason  string   `json:"reason,omitempty"` // why it is at risk, or waits
	chance  plan.Chance
	without plan.Chance
}

// Answer is the result, and what people are told beside.
type Answer struct {
	Result
	jobs     []Entry
	usable   int     // slots
	earliest float64 // the chance whose earliest deadlines are told, 0 for none
}

// Divide answers a request that is as [Request.Check] wants it.
func Divide(r Request) *Answer {
	pool := plan.Pool{Slots: r.Slots, Lambda: r.Lambda, MaxAttempts: r.MaxAttempts, MasterSlots: r.MasterSlots, HopelessLast: true, Waves: true}
	works := make([]plan.Work, len(r.Jobs))
	for i, j := range r.Jobs {
		works[i] = j.Work
	}
	joint := plan.Joint{Steps: steps}
	got := joint.Optimise(pool, r.Utility, works)
	a := &Answer{Result{Schema: "tailcut.plan.deadline/v1", Capacity: pool.Slots, Used: got.Used, Min: 1, Gap: got.Gap}, r.Jobs, pool.Usable(), r.Earliest}
	plays := playsOf(r.Jobs, got.AtOnce)
	for i, j := range r.Jobs {
		f := Figure{Name: j.Name, Queued: got.Clones[i] == plan.Queued, AtOnce: got.AtOnce[i]}
		if !f.Queued {
			f.Clones, f.Attempts = got.Clones[i], got.Clones[i]+1
			f.chance = j.Waves(f.Clones, f.AtOnce, plays)
			f.PoCD = f.chance.P
			f.Low, f.High = interval(f.chance)
			if r.Earliest > 0 {
				f.Within = show.Finite(j.Within(r.Earliest, f.Clones, f.AtOnce))
			}
		}
		f.without = without(j.Work, f, a.usable, plays)
		f.Without = f.without.P
		f.AtRisk = f.chance.Low < plan.AtRisk
		f.Reason = a.reason(j, f)
		a.Jobs = append(a.Jobs, f)
		a.Total += f.PoCD
		a.Min = min(a.Min, f.PoCD)
	}
	return a
}

// playsOf returns how many times each job in waves is simulated at most to tell its chance, 100 times if they are many.
func playsOf(jobs []Entry, atOnce []int) int {
	tasks := 0
	for i, j := range jobs {
		if atOnce[i] < j.Tasks {
			tasks += j.Tasks
		}
	}
	return max(100, draws/max(tasks, 1))
}

// draws are the durations to draw for all jobs together, about.
const draws = 10_000_000

// without returns the chance of a job without clones, on the slots that it has, or on all if it waits.
func without(w plan.Work, f Figure, usable, plays int) plan.Chance {
	slots := f.AtOnce * f.Attempts
	switch {
	case f.Queued:
		slots = max(1, usable)
	case f.Clones == 0:
		return f.chance
	}
	return w.Waves(0, min(slots, w.Tasks), plays)
}

// WriteJSON writes the result for programs.
func (a *Answer) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(&a.Result) }

// WriteCSV writes a row for each job.
func (a *Answer) WriteCSV(out io.Writer) error {
	w := show.NewCSV(out)
	_ = w.Write([]string{"name", "clones", "attempts_per_task", "tasks_at_once", "pocd", "pocd_low", "pocd_high", "pocd_without_clones", "earliest_seconds", "at_risk", "queued", "reason"})
	for _, f := range a.Jobs {
		_ = w.Write([]string{f.Name, strconv.Itoa(f.Clones), strconv.Itoa(f.Attempts), strconv.Itoa(f.AtOnce), strconv.FormatFloat(f.PoCD, 'g', -1, 64),
			show.PlainOrNone(f.Low), show.PlainOrNone(f.High), strconv.FormatFloat(f.Without, 'g', -1, 64), show.PlainOrNone(f.Within), strconv.FormatBool(f.AtRisk), strconv.FormatBool(f.Queued), f.Reason})
	}
	w.Flush()
	return w.Error()
}

// WriteText writes the answer for people.
func (a *Answer) WriteText(out io.Writer) error {
	within := ""
	if a.earliest > 0 {
		within = strconv.FormatFloat(100*a.earliest, 'g', 10, 64) + " % within"
	}
	t := show.NewTable("job", "tasks", "time left", "on time without clones", "at once", "attempts of each task", "on time", within, "")
	t.AlignRight(2, 8)
	t.HideEmptyColumns()
	var chances []plan.Chance
	for i, f := range a.Jobs {
		j := a.jobs[i]
		row := []any{show.Trim(f.Name, 32), j.Tasks, show.Seconds(max(0, j.Deadline-j.Elapsed)), shownChance(f.without, false), "", f.Attempts, shownChance(f.chance, true), "", f.Reason}
		if f.Queued {
			row[5], row[6] = "-", "-"
		} else if f.AtOnce < j.Tasks {
			row[4] = f.AtOnce
		}
		if a.earliest > 0 {
			row[7] = show.OrDash(f.Within, show.Seconds)
		}
		chances = append(chances, f.chance)
		t.Row(row...)
	}
	before := 0.0
	for _, f := range a.Jobs {
		if !f.Queued {
			before += f.Without
		}
	}
	fmt.Fprintf(out, "%s\n\n%d of %s used. ", t, a.Used, show.Count(a.usable, "slot"))
	_, err := fmt.Fprintf(out, "Expected on time: %.2f of %s; without clones: %.2f.\n", a.Total, show.Count(len(a.Jobs), "job"), before)
	if err == nil && a.Gap > 0 {
		_, err = fmt.Fprintf(out, "A better division may exist, but it gains at most %.2g in utility.\n", a.Gap)
	}
	if text := inBrackets(a.jobs, chances); err == nil && text != "" {
		_, err = fmt.Fprintln(out, text)
	}
	return err
}

// bracketed says what shownChance adds to a chance that is not exact.
const bracketed = "In brackets: intervals of 95 % confidence, from simulations of the job; bounds for jobs of more than 20,000 tasks."

// bounded is added to that for stages in a row.
const bounded = " Bounds for stages in a row that run all their tasks at once, too."

// inBrackets explains chances, "" if all are exact.
func inBrackets(jobs []Entry, chances []plan.Chance) (text string) {
	for i, c := range chances {
		if c.High-c.Low <= visible {
			continue
		}
		if text == "" {
			text = bracketed
		}
		if len(jobs[i].Stages) > 0 && c.Samples == 0 {
			return bracketed + bounded
		}
	}
	return text
}

// visible is the width of the narrowest interval that shownChance shows.
const visible = 1e-4

// shownChance writes a chance, and where it is not exact its interval, if that is wanted.
func shownChance(c plan.Chance, interval bool) string {
	percent := func(p float64) string { return strconv.FormatFloat(100*p, 'f', 1, 64) }
	switch {
	case c.Low == c.High || c.Low > 1-visible:
		return show.Chance(c.Low)
	case c.P == 1:
		return ">" + percent(math.Floor(1000*c.Low)/1000) + " %"
	case c.P == 0:
		return "<" + percent(math.Ceil(1000*c.High)/1000) + " %"
	case !interval:
		return percent(c.P) + " %"
	}
	return fmt.Sprintf("%s %% (%s to %s)", percent(c.P), percent(c.Low), percent(c.High))
}

// reason says what is the matter with a job.
func (a *Answer) reason(j Entry, f Figure) string {
	behind := ""
	if f.Queued {
		behind = "; waits for the jobs that can meet their deadlines"
	}
	switch {
	case j.Elapsed >= j.Deadline:
		return "past its deadline" + behind
	case f.PoCD == 0 && j.Hopeless():
		return "cannot meet its deadline: no attempt can be that fast" + behind
	case f.Queued:
		return "waits for slots"
	case f.AtRisk:
		return "at risk"
	}
	return ""
}
