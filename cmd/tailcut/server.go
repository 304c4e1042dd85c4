package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
)

// serverFlag is the flag of all verbs that ask a server.
type serverFlag struct{ place string }

// addServer adds --server.
func addServer(fl *pflag.FlagSet) *serverFlag {
	f := &serverFlag{}
	fl.StringVar(&f.place, "server", "", "`place` of the server: a socket, or http://127.0.0.1:PORT with its token in $TAILCUT_TOKEN (default: $TAILCUT_SERVER, else your own server's socket)")
	return f
}

// client returns a client of the server.
func (f *serverFlag) client() (*serve.Client, error) { return serve.NewClient(f.place) }

// answered says whose fault an error of a server is: those of the request are the user's, others are failures.
func answered(err error) error {
	var p *serve.Problem
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &p) && len(p.Mistakes) > 0:
		var all wrongRequest
		for _, m := range p.Mistakes {
			all = append(all, grammar.FieldError{Field: m.Field, Problem: errors.New(m.Detail)})
		}
		return all
	case errors.As(err, &p) && p.Usage() && p.Status != 409:
		return err
	}
	return failure{err}
}

// wrongRequest is all that a server found wrong with a request.
type wrongRequest []grammar.FieldError

func (w wrongRequest) Error() string { return w.Lines()[0] }

// Lines returns the mistakes, a line each.
func (w wrongRequest) Lines() (all []string) {
	for i := range w {
		if w[i].Field == "" {
			all = append(all, w[i].Problem.Error())
			continue
		}
		all = append(all, w[i].Error())
	}
	return all
}

// completeJobs completes names of jobs, and ids where a job has no name of its own.
func completeJobs(cmd *cobra.Command, _ []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	client, err := serve.NewClient(cmd.Flag("server").Value.String())
	if err != nil {
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	jobs, err := client.Jobs(ctx, serve.Filter{Limit: 100})
	if err != nil {
		return nil, noFiles
	}
	seen := map[string]bool{}
	for _, j := range jobs.Jobs {
		if !seen[j.Name] {
			seen[j.Name] = true
			id := strconv.FormatInt(j.ID, 10)
			if word := run.PasteWords([]string{j.Name}); word == j.Name {
				all = append(all, cobra.CompletionWithDesc(j.Name, "job "+id+", "+string(j.State)))
			} else { // shells would take the name for something else
				all = append(all, cobra.CompletionWithDesc(id, string(j.State)+" job "+word))
			}
		}
	}
	return all, noFiles
}

// completeJob completes the one job that a verb takes.
func completeJob(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return completeJobs(cmd, args, typed)
}
