package audit

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/page"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Timeline returns what a run's slots did, up to the end of its journal. The error is that of [Journal.Replay].
func (j *Journal) Timeline() (*report.TimelineRun, error) {
	last := sched.Time(0)
	records, err := live.Lives(j.JournalReader, policiesOf, func(_ *sched.Core, b *trace.Batch) { last = b.Now })
	if err != nil {
		return nil, err
	}
	for i := range records { // a journal that a server left has no batches
		last = max(last, records[i].Stop)
	}
	stages := j.Header.Stages
	run := &report.TimelineRun{End: last.Seconds()}
	slow := live.Slowness(records, len(stages))
	clones, done := 0, 0
	for i := range records {
		r := &records[i]
		if r.End == live.Running {
			r.Stop = last
		}
		b := report.Bar{
			Label: strconv.Itoa(r.Index), Start: r.Start.Seconds(), End: r.Stop.Seconds(), Clone: r.Clone,
			Straggler: slow[i] >= live.Straggling, Wasted: r.End != live.Won && r.End != live.Running,
		}
		end := string(r.End)
		if r.End == live.Running {
			end = "running"
		}
		b.Note = fmt.Sprintf("%s task %d, attempt %d: %s after %s", stages[r.Stage], r.Index, r.Number, end, show.Seconds(r.Seconds()))
		if r.Clone {
			clones++
		}
		if r.End == live.Won {
			done++
		}
		run.Bars = append(run.Bars, b)
	}
	run.Title = fmt.Sprintf("%s, policy %s: %s in %s, %s", j.name(), j.Header.Policy, show.Count(done, "task"), show.Seconds(run.End), show.Count(clones, "clone"))
	return run, nil
}

// name is how a reader knows the run, or the server: the last part of its folder's name.
func (j *Journal) name() string {
	path, err := filepath.Abs(j.path)
	if err != nil {
		path = j.path
	}
	if folder := filepath.Dir(path); journalOf(filepath.Dir(folder)) == path || j.segments != nil {
		path = filepath.Dir(folder)
	}
	return filepath.Base(path)
}

// Columns returns what a run's attempts did, up to the end of its journal, for pages and programs. The error is that of
// [Journal.Replay].
func (j *Journal) Columns() (*timeline.Timeline, error) {
	if j.segments != nil {
		s, err := j.Served()
		if err != nil {
			return nil, err
		}
		j.gone = s.Gone
		return timeline.FromJobs(s.Header, s.Jobs, s.Until, j.name()), nil
	}
	return timeline.FromJournal(j.JournalReader, policiesOf, j.name())
}

// Gone is how many jobs of the server are missing in Columns, which was called before: see [Served].
func (j *Journal) Gone() int { return j.gone }

// Page returns a timeline of Columns as an HTML page.
func Page(t *timeline.Timeline) *page.Report {
	title := fmt.Sprintf("%s: %s", t.Name, show.Count(len(t.Jobs), "job"))
	if len(t.Jobs) == 1 {
		title = fmt.Sprintf("%s: %s, %s", t.Name, show.Count(t.Jobs[0].Tasks, "task"), t.Jobs[0].State)
	}
	return &page.Report{
		Timeline: t, Title: title, Subtitle: fmt.Sprintf("Policy %s, begun %s", t.Policy, t.Started.Format("2006-01-02 15:04:05 MST")),
	}
}
