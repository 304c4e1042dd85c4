package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/whatif"
	"github.com/tailcut/tailcut/trace"
)

// fromHistory are the flags of verbs that can take past jobs from the history instead of a file.
type fromHistory struct{ name, last, folder string }

// addFromHistory adds the flags.
func addFromHistory(cmd *cobra.Command, instead string) *fromHistory {
	f := &fromHistory{}
	fl := cmd.Flags()
	fl.StringVar(&f.name, "from-history", "", "use past jobs of this `name` instead of "+instead+"; a pattern such as 'nightly-*' takes several names")
	fl.StringVar(&f.last, "last", "", "with --from-history: only jobs submitted within this `span` before now, such as 30d or 12h")
	fl.StringVar(&f.folder, "history", "", "with --from-history: `folder` of the history (default: ~/.local/state/tailcut/history)")
	_ = cmd.RegisterFlagCompletionFunc("from-history", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return run.HistoryNames(f.folder), cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.MarkFlagDirname("history")
	return f
}

// check finds flags that have no meaning, and takes a file or a name, but not both and not none.
func (f *fromHistory) check(args []string, what string) error {
	switch {
	case f.name != "" && len(args) > 0:
		return fmt.Errorf("give %s or --from-history, not both", what)
	case f.name == "" && f.last != "":
		return errors.New("--last: works with --from-history")
	case f.name == "" && f.folder != "":
		return errors.New("--history: works with --from-history")
	}
	return nil
}

// open opens the history: the program's, or if it is not there the files.
func (f *fromHistory) open(cmd *cobra.Command) (past.History, error) {
	folder := run.HistoryFolder(f.folder)
	if folder == "" {
		return nil, errors.New("--history: no history is kept; name its folder, or set XDG_STATE_HOME or HOME")
	}
	h, err := past.Open(folder, cmd.ErrOrStderr())
	if errors.Is(err, past.ErrNoProgram) {
		return past.Files{Folder: folder}, nil
	}
	return h, err
}

// ask calls do with the history.
func (f *fromHistory) ask(cmd *cobra.Command, do func(past.History) error) error {
	h, err := f.open(cmd)
	if err != nil {
		return err
	}
	err = do(h)
	if end := h.Close(); err == nil && end != nil {
		err = failure{fmt.Errorf("%s: %w", past.Program, end)}
	}
	return err
}

// take makes the log one of the durations of the last runs of a name.
func (f *fromHistory) take(cmd *cobra.Command, log *durations.Log) error {
	return f.ask(cmd, func(h past.History) error {
		p, err := f.durations(cmd, h)
		if err != nil {
			return err
		}
		if len(p.Runs) == 0 {
			return f.unknown()
		}
		notice(cmd.ErrOrStderr(), "%s: durations of its last %s that succeeded", f.name, show.Count(len(p.Runs), "run"))
		text, err := json.Marshal(p)
		log.Path, log.Title, log.Stdin = "-", f.name, bytes.NewReader(text)
		return err
	})
}

// durations returns those of the runs that are asked for, or of the last ones of a name.
func (f *fromHistory) durations(cmd *cobra.Command, h past.History) (*live.Past, error) {
	if f.last == "" && !strings.ContainsAny(f.name, "*?[") {
		return h.Past(cmd.Context(), f.name, 0)
	}
	jobs, err := f.jobs(cmd, h)
	if err != nil {
		return nil, err
	}
	return past.Durations(f.name, jobs), nil
}

// jobs returns the jobs that are asked for.
func (f *fromHistory) jobs(cmd *cobra.Command, h past.History) ([]*past.JobRecord, error) {
	q := whatif.Question{Name: f.name, Last: f.last}
	query, err := q.Query(time.Now())
	if err != nil {
		return nil, ofFlag(err)
	}
	jobs, err := h.Jobs(cmd.Context(), query)
	var useless past.Useless
	switch {
	case errors.Is(err, past.ErrNoProgram):
		return nil, fmt.Errorf("--from-history: when jobs ran is in a database, and %w", err)
	case errors.As(err, &useless):
		return nil, err
	case err != nil:
		return nil, failure{err}
	case len(jobs) == 0:
		return nil, f.unknown()
	}
	return jobs, nil
}

func (f *fromHistory) unknown() error {
	within := ""
	if f.last != "" {
		within = " within " + f.last
	}
	return fmt.Errorf("--from-history: no job named %s has succeeded%s; jobs are kept if they have a --name, and the history is in %s", f.name, within, run.HistoryFolder(f.folder))
}

// nights returns the jobs for the simulator, and tells what is known of them.
func (f *fromHistory) nights(cmd *cobra.Command) (n *whatif.Nights, err error) {
	err = f.ask(cmd, func(h past.History) error {
		jobs, err := f.jobs(cmd, h)
		if err != nil {
			return err
		}
		n = whatif.Choose(jobs)
		tell := func(format string, args ...any) { notice(cmd.ErrOrStderr(), format, args...) }
		for _, why := range slices.Sorted(maps.Keys(n.LeftOut)) {
			tell("%s: left out %s that %s", f.name, show.Count(n.LeftOut[why], "job"), why)
		}
		if len(n.Jobs) == 0 {
			return fmt.Errorf("--from-history: none of the jobs named %s can be simulated", f.name)
		}
		r := n.Recorded()
		under := ""
		if r.Policy != "" {
			under = " under " + r.Policy
		}
		tell("%s: %s, submitted from %s to %s, took %s on average%s on %s", f.name, show.Count(len(n.Jobs), "job"), day(r.From), day(r.To), show.Seconds(r.MeanFlow), under, show.Count(r.Slots, "slot"))
		return nil
	})
	return n, err
}

func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// workload returns the jobs as a workload.
func (f *fromHistory) workload(n *whatif.Nights, deadline string, filter *trace.Filter) (*trace.Workload, error) {
	var span time.Duration
	if deadline != "" {
		var err error
		if span, err = whatif.ParseSpan(deadline); err != nil {
			return nil, wrongFlag("deadline", err)
		}
	}
	w, err := n.Workload(f.name, span)
	if err != nil {
		return nil, failure{err}
	}
	w, err = filter.Apply(w)
	return w, ofFlag(err)
}
