package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/internal/timeline"
)

// A job of a server leaves its journal in its output folder when it is over. Until then the server knows how it stands.

// servedIn returns whose job writes into an output folder that has no journal; nil if none does.
func servedIn(out string) *run.Claimed {
	private := filepath.Join(out, mapreduce.PrivateName)
	if _, err := os.Lstat((proc.Folders{Root: private}).Journal()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c, _ := run.ReadClaimed(private)
	return c
}

// underWay says instead of an error about an output folder what can be asked of the server whose job writes there.
func underWay(ctx context.Context, out string, err error) error {
	c := servedIn(out)
	if err == nil || c == nil {
		return err
	}
	client, j := jobIn(ctx, c)
	if j == nil {
		return failure{fmt.Errorf("%s: belongs to a job of the server in %s, which does not answer; start it and the job goes on: tailcut serve --dir %s",
			out, c.Server, run.PasteWords([]string{c.Server}))}
	}
	where := ""
	if usual, err := serve.NewClient(""); err != nil || usual.Server != client.Server {
		where = " --server " + run.PasteWords([]string{client.Server})
	}
	return failure{fmt.Errorf("%s: job %d (%s) of the server at %s is %s, and its journal comes at its end; see it with: tailcut show %d --tasks%s; wait for it with: tailcut wait %d%s",
		out, j.ID, j.Name, client.Server, j.State, j.ID, where, j.ID, where)}
}

// jobIn asks a server for the job that writes into an output folder; nil if it does not answer.
func jobIn(ctx context.Context, c *run.Claimed) (*serve.Client, *serve.Job) {
	client, err := serve.NewClient(c.Place)
	if err != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	j, err := client.Job(ctx, c.Run, 0)
	if err != nil {
		return client, nil
	}
	return client, j
}

// timelineUnderWay asks a server what the attempts of its job did that writes into an output folder; nil if none does,
// or the server does not tell.
func timelineUnderWay(ctx context.Context, out string) *timeline.Timeline {
	c := servedIn(out)
	if c == nil {
		return nil
	}
	client, j := jobIn(ctx, c)
	if j == nil {
		return nil
	}
	t, err := client.Timeline(ctx, c.Run)
	if err != nil {
		return nil
	}
	return t
}
