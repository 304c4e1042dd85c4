package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/reproduce"
	"github.com/tailcut/tailcut/internal/show"
)

// page is the study with a plot.
func (s *overlapStudy) page() *report.Page {
	r := s.result()
	t := report.Table{Name: "flow", Columns: []string{"policy", "mean flow (s)", "median (s)", "p99 (s)", "max (s)", "mean slowdown", "times the lower bound"}}
	for _, f := range r.Results {
		row := []any{f.Policy}
		for _, v := range []*float64{f.MeanFlow, f.MedianFlow, f.P99Flow, f.MaxFlow, f.MeanSlowdown, f.Relative} {
			if v == nil {
				row = append(row, nil)
				continue
			}
			row = append(row, *v)
		}
		t.Add(row...)
	}
	page := &report.Page{
		Name: "overlap", Title: "Overlapping map and shuffle", Intro: []string{
			fmt.Sprintf("%d jobs in the fluid model; no policy has a mean flow time below %s.", r.Jobs, show.OrDash(r.LowerBound, show.Seconds)),
		},
		Sections: []report.Section{{Title: "Flow times", Tables: []report.Table{t}}},
	}
	var policies []string
	var fair []*overlap.Fairness
	for _, l := range s.lines {
		if l.sim != nil {
			policies, fair = append(policies, l.name), append(fair, &l.fair)
		}
	}
	if plot := reproduce.SlowdownPlot("slowdown", "", policies, fair, 1); len(plot.Series) > 0 {
		page.Sections = append(page.Sections, report.Section{
			Title: "What happens to large jobs?",
			Text:  []string{"Flow time over the time that a job takes alone, in buckets of 0.25 s. Large jobs are few, and their means vary."},
			Plots: []report.Plot{plot},
		})
	}
	return page
}

// completeOverlap completes the values of the verb's flags.
func completeOverlap(cmd *cobra.Command, f *overlapFlags) {
	const plain = cobra.ShellCompDirectiveNoFileComp
	_ = cmd.RegisterFlagCompletionFunc("ratio", cobra.FixedCompletions(f.ratio.valid, plain))
	_ = cmd.RegisterFlagCompletionFunc("synthetic", cobra.FixedCompletions([]string{"lognormal"}, plain))
	_ = cmd.RegisterFlagCompletionFunc("policy", func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, name := range append(overlap.Names(), lowerBound) {
			all = append(all, before+name)
		}
		return all, plain | cobra.ShellCompDirectiveNoSpace
	})
}
