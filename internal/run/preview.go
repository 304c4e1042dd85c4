package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// Preview is what would run.
type Preview struct {
	Schema string         `json:"schema"`
	Policy string         `json:"policy"`
	Slots  int            `json:"slots"`
	Stages []PreviewStage `json:"stages"`
	Launch []string       `json:"launch"` // the attempts that would be launched first
}

// PreviewStage is a stage of it.
type PreviewStage struct {
	Name   string `json:"name"`
	Tasks  int    `json:"tasks"`
	Launch int    `json:"launch"` // attempts of it that would be launched first
}

// Preview cuts the job into tasks and asks the policy what it would launch first. Nothing is touched.
func (e *Engine) Preview(ctx context.Context) (p *Preview, err error) {
	e.tellOdd()
	if e.cloud == nil {
		return e.preview(ctx)
	}
	_, err = e.connected(func() (*Result, error) {
		p, err = e.preview(ctx)
		return nil, err
	})
	return p, err
}

func (e *Engine) preview(ctx context.Context) (*Preview, error) {
	if err := e.cutOnly(ctx); err != nil {
		return nil, err
	}
	plan, err := e.plan(ctx)
	if err != nil {
		return nil, err
	}
	p, err := policy.NewPerClass(e.Policy, e.Seed, max(1, len(e.Classes)))
	if err != nil {
		return nil, err
	}
	core := sched.New(p, e.Limits)
	facts, err := e.seat(core)
	if err != nil {
		return nil, err
	}
	if _, err := core.Submit(&plan.Spec); err != nil {
		return nil, err
	}
	decisions, err := core.Advance(0, append(facts, sched.Event{Kind: sched.JobArrived}))
	if err != nil {
		return nil, err
	}
	r := &Preview{Schema: "tailcut.preview/v1", Policy: e.Policy, Slots: e.Slots, Launch: []string{}}
	for i, name := range plan.Stages {
		r.Stages = append(r.Stages, PreviewStage{Name: name, Tasks: plan.Spec.Stages[i].Tasks})
	}
	for i := range decisions {
		if d := &decisions[i]; d.Kind == sched.Launch {
			st := core.View().Stage(d.Stage)
			r.Stages[st.Index].Launch++
			r.Launch = append(r.Launch, fmt.Sprintf("%s attempt %d%s", nameTask(plan.Stages[st.Index], int(d.Task-st.First)), d.Number, e.sites.where(d.Machine)))
		}
	}
	return r, nil
}

// WriteText writes the preview for people.
func (p *Preview) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s on %s would run:\n", p.Policy, show.Count(p.Slots, "slot"))
	for _, st := range p.Stages {
		fmt.Fprintf(w, "  %-10s %s\n", show.OneLine(st.Name), show.Count(st.Tasks, "task"))
	}
	_, err := fmt.Fprintf(w, "and launch first: %s\n", strings.Join(p.Launch, ", "))
	return err
}

// WriteJSON writes the preview for programs.
func (p *Preview) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(p) }

// WriteCSV writes a line for each stage.
func (p *Preview) WriteCSV(w io.Writer) error {
	rows := [][]string{{"stage", "tasks", "launch"}}
	for _, st := range p.Stages {
		rows = append(rows, []string{st.Name, strconv.Itoa(st.Tasks), strconv.Itoa(st.Launch)})
	}
	return show.NewCSV(w).WriteAll(rows)
}

// WriteCommands writes what each task would run, a line each that a shell reads, in the order of stages and tasks. Jobs
// of operators and mappers have no commands.
func (e *Engine) WriteCommands(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	job := e.job()
	for i := range job.Array.Stages {
		st := &job.Array.Stages[i]
		t, err := st.Template()
		if err != nil {
			return err
		}
		for task := range st.Tasks {
			line = append(st.AppendLine(line[:0], t, task), '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}
