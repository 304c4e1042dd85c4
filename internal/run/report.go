package run

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Result is how a run stands when it has come to an end, or has been stopped.
type Result struct {
	Summary  *live.Summary
	Header   *trace.JournalHeader
	Deadline *Deadline // nil without one
	Failed   []FailedTask
	Error    string  // why the job failed, "" if it has not
	mapped   *mapped // nil if the job does no map/reduce work
	again    string  // see Options
	kept     bool    // the same command goes on
}

// record is the result of a run for programs.
type record struct {
	Schema           string        `json:"schema"`
	State            string        `json:"state"`
	Policy           string        `json:"policy"`
	FlowSeconds      float64       `json:"flow_seconds"`
	Tasks            int           `json:"tasks"`
	Attempts         int           `json:"attempts"`
	Clones           int           `json:"clones"`
	Resumed          int           `json:"resumed"` // attempts that went on from what another had saved
	Retries          int           `json:"retries"`
	Crashed          int           `json:"crashed"` // attempts that ended with the engine or their machine
	FruitfulSeconds  float64       `json:"fruitful_seconds"`
	FruitlessSeconds float64       `json:"fruitless_seconds"`
	RecoveredTasks   int           `json:"recovered_tasks"`
	Stages           []runStage    `json:"stages"`
	Sites            []runSite     `json:"sites,omitempty"`
	FailedTasks      []FailedTask  `json:"failed_tasks,omitempty"`
	Unfinished       int           `json:"unfinished_tasks,omitempty"` // given up because others had failed
	Again            string        `json:"again,omitempty"`            // the command that tries the failed tasks again
	Straggler        *worstAttempt `json:"worst_straggler,omitempty"`
	Error            string        `json:"error,omitempty"` // why the job failed
	*Deadline
	*mapped
}

// worstAttempt is the attempt that took longest in proportion to its stage's median winner.
type worstAttempt struct {
	Stage   string   `json:"stage"`
	Task    int      `json:"task"`
	Attempt int      `json:"attempt"`
	Seconds float64  `json:"seconds"`
	Medians float64  `json:"times_median"`
	End     live.End `json:"end"`
	Alone   bool     `json:"alone"` // no other attempt of its task was started
}

// mapped is how much of its input a map/reduce job has mapped, by all attempts of all engines.
type mapped struct {
	Input  int64 `json:"input_bytes"`
	Mapped int64 `json:"mapped_bytes"` // of lines with their ends, so a byte more for a file whose last line has none
}

// mappedBy reads the account of a run. It is nil for commands, where no attempt kept one (as in pods), and with an
// error.
func mappedBy(work *jobfile.Work, folders proc.Folders) (*mapped, error) {
	if work.MapReduce == nil {
		return nil, nil
	}
	account, err := mapreduce.ReadAccount(folders.Account())
	if err != nil || len(account) == 0 {
		return nil, err
	}
	m := &mapped{Input: work.MapReduce.InputBytes}
	for i := range account {
		m.Mapped += account[i].Bytes
	}
	return m, nil
}

type runStage struct {
	Name     string  `json:"name"`
	Tasks    int     `json:"tasks"`
	Done     int     `json:"done"`
	GivenUp  int     `json:"given_up,omitempty"`
	Attempts int     `json:"attempts"`
	Seconds  float64 `json:"seconds"`
}

type runSite struct {
	Name    string  `json:"name"`
	Slots   int     `json:"slots"`
	Tasks   int     `json:"tasks"` // whose winners ran there
	Seconds float64 `json:"busy_seconds"`
	Bytes   int64   `json:"fetched_bytes"` // from other sites
	Money   float64 `json:"money,omitempty"`
}

// WriteText writes the result for people.
func (r *Result) WriteText(w io.Writer) error {
	s, h, m := r.Summary, r.Header, r.mapped
	t := show.NewTable("stage", "tasks", "attempts", "seconds")
	t.AlignRight(2, 4)
	for _, st := range s.Stages {
		t.Row(st.Name, st.Tasks, st.Attempts, fmt.Sprintf("%.2f", st.Seconds))
	}
	fmt.Fprintln(w, t)
	if len(s.Sites) > 0 {
		fmt.Fprintf(w, "\n%s\n", siteTable(s.Sites))
	}
	retries := show.Count(s.Retries, "retrie")
	if s.Retries == 1 {
		retries = "1 retry"
	}
	fmt.Fprintf(w, "\n%s in %.2f s under %s: %s, %s, %s, %s\n",
		s.State, s.Flow.Seconds(), h.Policy, show.Count(s.Tasks, "task"), show.Count(s.Attempts, "attempt"), show.Count(s.Clones, "clone"), retries)
	fmt.Fprintf(w, "machine time: %.2f s fruitful, %.2f s fruitless\n", s.Fruitful.Seconds(), s.Fruitless.Seconds())
	if s.Crashed > 0 {
		fmt.Fprintf(w, "crashed: %s ended with the engine or their machine\n", show.Count(s.Crashed, "attempt"))
	}
	if r.Deadline != nil {
		fmt.Fprintln(w, r.Deadline)
	}
	if s.Resumed > 0 {
		fmt.Fprintf(w, "resumed: %s continued work that another attempt had saved\n", show.Count(s.Resumed, "attempt"))
	}
	if m != nil && s.Attempts > s.Tasks {
		fmt.Fprintf(w, "mapped: %.2f times the input\n", float64(m.Mapped)/float64(max(1, m.Input)))
	}
	if s.Recovered > 0 {
		fmt.Fprintf(w, "recovered: %d of the tasks were done before this start\n", s.Recovered)
	}
	if worst := s.Straggler; worst != nil && worst.Seconds() >= leastStraggle {
		what := fate(worst.End)
		if s.StragglerAlone && worst.End == live.Won {
			what = "had no clone"
		}
		fmt.Fprintf(w, "worst straggler: %s attempt %d took %.2f s, %.1f times the median; it %s\n",
			taskName(h.Stages, worst), worst.Number, worst.Seconds(), s.StragglerOver, what)
	}
	r.writeFailed(w)
	return nil
}

// leastStraggle is how many seconds an attempt must take to be told of as a straggler: below, it is chance.
const leastStraggle = 1

// fate says what became of an attempt.
func fate(e live.End) string {
	switch e {
	case live.Won:
		return "finished first and won"
	case live.Lost:
		return "lost to another attempt"
	case live.Failed:
		return "failed"
	default:
		return "was killed"
	}
}

// WriteJSON writes the result for programs.
func (r *Result) WriteJSON(w io.Writer) error {
	s := r.Summary
	all := record{
		Schema: "tailcut.run/v1", State: s.State, Policy: r.Header.Policy, FlowSeconds: s.Flow.Seconds(), Tasks: s.Tasks, Attempts: s.Attempts, Clones: s.Clones,
		Resumed: s.Resumed, Retries: s.Retries, Crashed: s.Crashed, FruitfulSeconds: s.Fruitful.Seconds(), FruitlessSeconds: s.Fruitless.Seconds(), RecoveredTasks: s.Recovered,
		Deadline: r.Deadline, mapped: r.mapped, Error: r.Error,
	}
	if len(r.Failed) > 0 {
		all.FailedTasks, all.Unfinished, all.Again = r.Failed, s.Unfinished, r.again
	}
	for _, st := range s.Stages {
		all.Stages = append(all.Stages, runStage(st))
	}
	if x := s.Straggler; x != nil {
		all.Straggler = &worstAttempt{r.Header.Stages[x.Stage], x.Index, x.Number, x.Seconds(), s.StragglerOver, x.End, s.StragglerAlone}
	}
	for _, site := range s.Sites {
		all.Sites = append(all.Sites, runSite(site))
	}
	return json.NewEncoder(w).Encode(all)
}

// ReadResult reads what WriteJSON writes.
func ReadResult(text []byte) (*Result, error) {
	x := record{Deadline: new(Deadline), mapped: new(mapped)}
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, err
	}
	s := &live.Summary{
		State: x.State, Flow: sched.FromSeconds(x.FlowSeconds), Tasks: x.Tasks, Attempts: x.Attempts, Clones: x.Clones, Resumed: x.Resumed, Retries: x.Retries,
		Crashed: x.Crashed, Fruitful: sched.FromSeconds(x.FruitfulSeconds), Fruitless: sched.FromSeconds(x.FruitlessSeconds), Recovered: x.RecoveredTasks, Unfinished: x.Unfinished,
	}
	r := &Result{Summary: s, Header: &trace.JournalHeader{Policy: x.Policy}, Failed: x.FailedTasks, Error: x.Error, again: x.Again, kept: true}
	if x.Deadline.Seconds > 0 {
		r.Deadline = x.Deadline
	}
	if x.mapped.Input > 0 {
		r.mapped = x.mapped
	}
	for _, st := range x.Stages {
		s.Stages = append(s.Stages, live.StageSummary(st))
		r.Header.Stages = append(r.Header.Stages, st.Name)
	}
	for _, site := range x.Sites {
		s.Sites = append(s.Sites, live.SiteSummary(site))
	}
	if w := x.Straggler; w != nil {
		a := live.Attempt{Stage: max(0, slices.Index(r.Header.Stages, w.Stage)), Index: w.Task, Number: w.Attempt}
		s.Straggler = &live.Record{Attempt: a, Stop: sched.FromSeconds(w.Seconds), End: w.End}
		s.StragglerOver, s.StragglerAlone = w.Medians, w.Alone
	}
	return r, nil
}

// WriteCSV writes a line for each stage.
func (r *Result) WriteCSV(w io.Writer) error {
	rows := [][]string{{"stage", "tasks", "attempts", "seconds"}}
	for _, st := range r.Summary.Stages {
		rows = append(rows, []string{st.Name, strconv.Itoa(st.Tasks), strconv.Itoa(st.Attempts), strconv.FormatFloat(st.Seconds, 'f', -1, 64)})
	}
	return show.NewCSV(w).WriteAll(rows)
}

func stageNames(s *live.Summary) []string {
	var names []string
	for _, st := range s.Stages {
		names = append(names, st.Name)
	}
	return names
}
