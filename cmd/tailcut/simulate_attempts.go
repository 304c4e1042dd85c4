package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// attemptsOut is the file of --attempts-out. Its suffix selects the format, CSV where report has none of that suffix.
type attemptsOut struct {
	outFile
	recorder *timeline.Recorder
}

func addAttemptsOut(cmd *cobra.Command) *attemptsOut {
	a := &attemptsOut{outFile: outFile{called: "--attempts-out"}}
	cmd.Flags().StringVar(&a.path, "attempts-out", "", "write what each attempt did to `file`: as a page, JSON or a Perfetto trace if it ends in .html, .json or .pftrace, else as CSV; for one policy and one repetition")
	return a
}

// follow has a simulation that is about to run recorded, if that was asked for.
func (a *attemptsOut) follow(r *simulation.Request) {
	if a.path == "" {
		return
	}
	delay, _ := time.ParseDuration(r.LaunchDelay) // of a law the core is told
	a.recorder = timeline.NewRecorder(r.Workload, r.Policies[0], sched.Time(delay))
	r.Watch = a.recorder.Watch
}

// write writes the file, if it was asked for.
func (a *attemptsOut) write(m *simulation.Manifest) error {
	if a.recorder == nil {
		return nil
	}
	t := a.recorder.Timeline()
	sheet := audit.Page(t)
	sheet.Subtitle = fmt.Sprintf("Policy %s, simulated by version %s with seed %d: %s (SHA-256 %.12s...), %d slots, service %s, failures %s, overheads %s, progress %s; parameters %s",
		t.Policy, m.Version, m.Seed, m.Workload.Name, m.Workload.SHA256, m.Slots, m.Service, m.Failures, m.Overheads, m.Policies[0].Progress, m.Policies[0].Full)
	writers := reportWriters(t, sheet.WriteHTML)
	for format, suffix := range reportSuffixes {
		if filepath.Ext(a.path) == suffix {
			return a.fill(writers[format])
		}
	}
	return a.fill(writers["csv"])
}
