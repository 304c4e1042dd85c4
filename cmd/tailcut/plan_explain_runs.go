package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/nights"
	"github.com/tailcut/tailcut/internal/whatif"
)

// explainRuns is plan explain of many logs.
type explainRuns struct {
	cmd        *cobra.Command
	paths      []string
	since      string
	slots, top int
	request    diagnosis.Request
	from       durations.Log
	format     *choice
}

// several tells whether the arguments are many logs: several, a folder of them, or a server that has them.
func several(args []string) bool {
	return len(args) > 1 || len(args) == 1 && (nights.IsServer(args[0]) || nights.Folder(args[0]))
}

func (e explainRuns) explain() (err error) {
	q := nights.Query{Slots: e.slots, Log: e.from}
	q.Each = func() diagnosis.Request { return e.request }
	q.Log.Tell = nil // what single logs lack is told of each alone
	q.Tell = func(line string) { notice(e.cmd.ErrOrStderr(), "%s", line) }
	if q.Since, err = parseSince(e.since, time.Now()); err != nil {
		return err
	}
	for _, path := range e.paths {
		if !nights.IsServer(path) {
			q.Paths = append(q.Paths, path)
			continue
		}
		endsItself(e.cmd.Context()) // the folder is removed
		folder, err := os.MkdirTemp("", "tailcut-logs-")
		if err != nil {
			return failure{err}
		}
		defer os.RemoveAll(folder)
		logs, err := nights.Fetch(e.cmd.Context(), path, q.Since, folder)
		if err != nil {
			return failure{err}
		}
		q.Paths = append(q.Paths, logs...)
	}
	applications, err := nights.Read(e.cmd.Context(), q)
	if err != nil {
		return err
	}
	for i, a := range applications {
		answer, err := nights.Explain(e.cmd.Context(), a.Runs, a.Began)
		if err != nil {
			return err
		}
		if err := e.write(answer, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// write writes the answer about one of several applications.
func (e *explainRuns) write(a *nights.Answer, more bool) error {
	out := e.cmd.OutOrStdout()
	if e.request.System != "" && !e.cmd.Flags().Changed("format") {
		return a.Emit(out, e.request.System)
	}
	if more && e.format.value == "table" {
		fmt.Fprintln(out)
	}
	return e.format.write(out, topOfRuns{a, e.top})
}

// topOfRuns is an answer of which people see the first stages.
type topOfRuns struct {
	*nights.Answer
	top int
}

// WriteText writes the tables of the first stages.
func (t topOfRuns) WriteText(out io.Writer) error { return t.Answer.WriteText(out, t.top) }

// parseSince reads a span before now, or a day.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation("2006-01-02", text, now.Location()); err == nil {
		return day, nil
	}
	span, err := whatif.ParseSpan(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--since: expected a span such as 30d, or a day such as 2026-11-01, got %q", text)
	}
	return now.Add(-span), nil
}
