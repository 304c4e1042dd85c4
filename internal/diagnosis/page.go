package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/show"
)

// mostStages is of how many stages a page has rows.
const mostStages = 200

// Page is the diagnosis with its pictures. The first one is the stage that matters most, as it ran and as it would run.
func (d *Diagnosis) Page(ctx context.Context, r Request) (*report.Page, error) {
	p := &report.Page{Name: "plan-explain", Title: d.Log}
	if d.Application != "" {
		p.Title += ": " + d.Application
	}
	p.Intro = append(p.Intro, d.headline())
	if d.Clones != nil {
		p.Intro = append(p.Intro, d.Clones.words())
	}
	if s := d.shown(); s != nil {
		picture, err := d.picture(ctx, &r, s)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, picture)
	}
	p.Sections = append(p.Sections, d.settingsSection(), d.stagesSection(), d.causesSection())
	if d.Clones != nil {
		p.Sections = append(p.Sections, d.clonesSection())
	}
	return p, nil
}

// shown is the stage that is drawn: the one where clones save most, else the one that loses most; nil if none was
// replayed.
func (d *Diagnosis) shown() (most *Finding) {
	for _, s := range d.Stages {
		switch {
		case s.Wall == nil || s.Excess == nil:
		case s.Verdict == Replicate:
			return s
		case most == nil || *s.Excess > *most.Excess:
			most = s
		}
	}
	return most
}

// picture draws a stage by host as it ran, and as one replay under the best settings has it.
func (d *Diagnosis) picture(ctx context.Context, r *Request, s *Finding) (report.Section, error) {
	i := slices.IndexFunc(r.Stages, func(st *history.StageRecord) bool { return st.Job == s.Job && st.Stage == s.Stage })
	st := r.Stages[i]
	title := strings.TrimSpace(s.title + " " + s.Name)
	section := report.Section{Title: strings.ToUpper(title[:1]) + title[1:]}
	slow := r.Thresholds.Slow * s.Median
	runs := []report.TimelineRun{asItRan(r, st, slow)}
	runs[0].Title = fmt.Sprintf("As it ran: %s", show.Seconds(*s.Wall))
	if spec := d.chosen(); spec != "" {
		played, err := r.Again.Attempts(ctx, d.own.system, spec, st, r.Seed)
		if err != nil {
			return section, err
		}
		after := report.TimelineRun{}
		for _, a := range played {
			after.End = max(after.End, a.End.Seconds())
			after.Bars = append(after.Bars, bar(a.Task, a.Start.Seconds(), a.End.Seconds(), slow, a.Clone, a.Won, ""))
		}
		after.Title = fmt.Sprintf("One replay with the best settings: %s", show.Seconds(after.End))
		runs = append(runs, after)
		section.Text = append(section.Text, "Each row is a slot. The replay meets other random draws each time; the figures are means of many. It does not know hosts.")
	} else {
		section.Text = append(section.Text, "Each row is a slot.")
	}
	if t := (&report.Timeline{Runs: runs}); !t.Empty() { // as where the log's clock is too coarse for its tasks
		section.Timelines = []*report.Timeline{t}
	}
	if todo := s.todo(); todo != "" {
		section.Text = append(section.Text, "What to do: "+todo+".")
	}
	return section, nil
}

// asItRan is a stage as the log has it.
func asItRan(r *Request, st *history.StageRecord, slow float64) (run report.TimelineRun) {
	from, _, _ := r.Again.Span(st)
	for i := range st.Attempts {
		a := &st.Attempts[i]
		host := ""
		if int(a.Host) < len(r.Hosts) {
			host = r.Hosts[a.Host]
		}
		b := bar(a.Task, (a.Start - from).Seconds(), (a.Start + a.Duration - from).Seconds(), slow, a.Speculative, a.Outcome == history.Succeeded, host)
		if a.Outcome != history.Succeeded {
			b.Note += ", " + a.Outcome.String()
		}
		run.End = max(run.End, b.End)
		run.Bars = append(run.Bars, b)
	}
	return run
}

func bar(task int32, start, end, slow float64, clone, won bool, host string) report.Bar {
	b := report.Bar{
		Host: host, Label: fmt.Sprint(task), Start: start, End: end, Clone: clone, Wasted: !won, Straggler: end-start > slow,
	}
	what := "task"
	if clone {
		what = "clone of task"
	}
	b.Note = fmt.Sprintf("%s %d: %s", what, task, show.Seconds(b.End-b.Start))
	if host != "" {
		b.Note += " on " + host
	}
	return b
}

// settingsSection has the lines to copy.
func (d *Diagnosis) settingsSection() report.Section {
	s := report.Section{Title: "Settings"}
	switch {
	case d.Replay == nil:
		s.Text = []string{"Nothing was replayed, so no settings are compared."}
	case d.Settings == nil:
		s.Text = []string{"No setting of clones would make the application faster. The next table says what would."}
	default:
		t := report.Table{Name: "settings", Columns: []string{"application", "seconds", "from", "to"}}
		t.Add("as measured", d.Wall, nil, nil)
		t.Add("replayed as it was", *d.Replay, nil, nil)
		t.Add("replayed with these settings", d.Settings.Seconds, d.Settings.Low, d.Settings.High)
		if d.Engine != nil {
			t.Add("replayed with Tailcut's own engine: "+strings.Join(d.Engine.Lines, " "), d.Engine.Seconds, d.Engine.Low, d.Engine.High)
		}
		s.Text, s.Lines, s.Tables = []string{"For " + places[d.Settings.System] + ":"}, d.Settings.Lines, []report.Table{t}
	}
	return s
}

// stagesSection is the table of the terminal.
func (d *Diagnosis) stagesSection() report.Section {
	shown := d.Stages[:min(len(d.Stages), mostStages)]
	s := report.Section{Title: "Stages"}
	if len(shown) < len(d.Stages) {
		s.Text = []string{fmt.Sprintf("The first %d of %s. --format csv has all.", len(shown), show.Count(len(d.Stages), "stage"))}
	}
	t := report.Table{Name: "stages", Columns: []string{"job", "stage", "tasks", "median (s)", "longest (s)", "took (s)", "replay (s)", "best (s)", "mostly", "what to do"}}
	cell := func(x *float64) any {
		if x == nil {
			return nil
		}
		return *x
	}
	for _, f := range shown {
		mostly := ""
		if main := f.main(); main != nil {
			mostly = main.words()
		}
		t.Add(f.Job, strings.TrimSpace(f.Stage+" "+f.Name), f.Tasks, f.Median, f.Longest, cell(f.Wall), cell(f.Replay), cell(f.bestSeconds()), mostly, f.todo())
	}
	s.Tables = []report.Table{t}
	return s
}

// causesSection has the evidence, of what loses most time first.
func (d *Diagnosis) causesSection() report.Section {
	s := report.Section{Title: "Where the time beyond that of a typical task went"}
	t := report.Table{Name: "causes", Columns: []string{"stage", "cause", "seconds", "evidence"}}
	type row struct {
		title   string
		cause   *Cause
		seconds float64
	}
	var rows []row
	for _, f := range d.Stages {
		if f.Excess == nil {
			continue
		}
		for i := range f.Causes {
			c := &f.Causes[i]
			if seconds := *c.Share * *f.Excess; seconds >= max(0.1, 0.001*d.Wall) {
				rows = append(rows, row{f.title, c, seconds})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, r := range rows[:min(len(rows), mostStages)] {
		t.Add(r.title, string(r.cause.Cause), r.seconds, r.cause.Evidence)
	}
	if len(rows) == 0 {
		s.Text = []string{"No cause accounts for a thousandth of the application's time."}
		return s
	}
	s.Tables = []report.Table{t}
	return s
}

// chosen is the policy of the best settings; "" if there are none.
func (d *Diagnosis) chosen() string {
	if d.Settings == nil {
		return ""
	}
	for _, c := range d.own.candidates {
		if slices.Equal(c.lines, d.Settings.Lines) {
			return c.spec
		}
	}
	return ""
}
