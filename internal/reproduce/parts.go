package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
)

// work is a part of an experiment that can be run without the others: its draws are its own.
type work interface {
	steps() []func(context.Context) error
	sections() []report.Section // once the steps are done
}

// chosen returns the parts that the user has asked for, all of them if none was named.
func chosen(o *Options, all []work, names []string) (parts []work) {
	for i, w := range all {
		if len(o.Only) == 0 || slices.Contains(o.Only, names[i]) {
			parts = append(parts, w)
		}
	}
	return parts
}

// runParts does the steps of parts one by one: each is a sim.Experiment, which uses all processors.
func (o *Options) runParts(ctx context.Context, parts []work) error {
	var steps []func(context.Context) error
	for _, p := range parts {
		steps = append(steps, p.steps()...)
	}
	o.Workers = 1
	return o.each(ctx, steps)
}

// settled returns the page with the sections of parts that have been run, and the reasons of its claims that fail as
// expected.
func (o *Options) settled(page *report.Page, parts []work) (*report.Page, error) {
	for _, p := range parts {
		page.Sections = append(page.Sections, p.sections()...)
	}
	if len(page.Sections) == 0 {
		return nil, fmt.Errorf("--only %s: a quick run has no such part; leave --quick out", strings.Join(o.Only, ","))
	}
	return page.Settle(), nil
}
