package jobfile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
)

// Job is what a user asks to have run. Exactly one of MapReduce and Array is set.
type Job struct {
	Name      string             `json:"name"`
	MapReduce *mapreduce.Request `json:"mapreduce,omitempty"`
	Array     *Array             `json:"array,omitempty"`
	Retries   int                `json:"retries"`        // failures of one task that are forgiven
	Loss      *Loss              `json:"loss,omitempty"` // of tasks; nil for none
}

// Plan is a job made ready to run: what the core has to know, and what the executor has to.
type Plan struct {
	Spec   sched.JobSpec
	Stages []string // names
	Work   *Work
	Waits  bool // attempts wait before they begin, and the executor reports that they do, see sched.Core.WaitToBegin
}

// Plan looks at the input and cuts the job into tasks. Errors are the user's. dir is the working directory of commands,
// and what relative paths start from.
func (j *Job) Plan(ctx context.Context, dir string) (*Plan, error) {
	p := &Plan{Spec: sched.JobSpec{Retries: j.Retries}, Work: &Work{Dir: dir}}
	if err := j.Check(); err != nil {
		return nil, err
	}
	if j.Array != nil {
		p.Work.Array = j.Array
		p.array(j.Array)
		return p, nil
	}
	mr, err := mapreduce.NewPlan(ctx, *j.MapReduce)
	if err != nil {
		return nil, err
	}
	p.Work.MapReduce = mr
	for i, s := range mr.Stages {
		p.Stages = append(p.Stages, s.Name)
		p.Spec.Stages = append(p.Spec.Stages, sched.StageSpec{Tasks: s.Tasks, Resumable: mr.Resumes(i)})
		if len(s.After) > 0 {
			p.Spec.Edges = append(p.Spec.Edges, edge(mr, i))
		}
	}
	return p, nil
}

// edge has the tasks of a stage wait for those that they read.
func edge(mr *mapreduce.Plan, stage int) sched.Edge {
	s := &mr.Stages[stage]
	e := sched.Edge{From: s.After[0], To: stage}
	if s.Group == 0 {
		return e
	}
	e.Kind = sched.PerTask
	for task := range s.Tasks {
		_, first, end := mr.Reads(stage, task)
		for from := first; from < end; from++ {
			e.Pairs = append(e.Pairs, [2]uint32{uint32(from), uint32(task)})
		}
	}
	return e
}

func (p *Plan) array(a *Array) {
	for i := range a.Stages {
		st := &a.Stages[i]
		p.Stages = append(p.Stages, st.Name)
		p.Spec.Stages = append(p.Spec.Stages, sched.StageSpec{Tasks: st.Tasks, Resumable: st.Resumable, Retries: st.Limits.Retries})
		for _, from := range st.After {
			p.Spec.Edges = append(p.Spec.Edges, sched.Edge{From: from, To: i})
		}
		for _, from := range st.AfterEach {
			p.Spec.Edges = append(p.Spec.Edges, sched.Edge{From: from, To: i, Kind: sched.Pointwise})
		}
	}
}

// Check returns what is wrong with the job as far as can be told without looking at its input.
func (j *Job) Check() error {
	switch {
	case (j.Array == nil) == (j.MapReduce == nil):
		return errors.New("expected a job of commands or of map/reduce work, one of them")
	case j.Array != nil:
		return j.Array.validate()
	}
	return j.MapReduce.Check()
}

// validate checks what the core's JobSpec does not.
func (w *Array) validate() error {
	if len(w.Stages) == 0 {
		return errors.New("stages: expected at least one")
	}
	names, total := map[string]bool{}, 0
	for i := range w.Stages {
		st := &w.Stages[i]
		switch {
		case !validStageName(st.Name):
			return fmt.Errorf("stages[%d].name: %q cannot name a folder of results", i, st.Name)
		case names[st.Name]:
			return fmt.Errorf("stages[%d].name: %q is taken", i, st.Name)
		case st.Class != "" && !ValidClass(st.Class):
			return fmt.Errorf("stages[%d].class: %q cannot name a class of slots", i, st.Class)
		case len(st.Command) == 0 || st.Command[0] == "":
			return fmt.Errorf("stages[%d].command: expected a program and its arguments", i)
		case st.Tasks < 1 && st.Pipe == nil:
			return fmt.Errorf("stages[%d].tasks: %d is not at least 1", i, st.Tasks)
		case st.Tasks > mapreduce.MaxTasks-total:
			return fmt.Errorf("stages[%d].tasks: %d are more than %d in all", i, st.Tasks, mapreduce.MaxTasks)
		}
		total += st.Tasks
		names[st.Name] = true
		if err := st.checkInputs(); err != nil {
			if len(w.Stages) == 1 {
				return err
			}
			return fmt.Errorf("stage %s: %w", st.Name, err)
		}
	}
	return nil
}

// ValidClass tells whether a class of slots can have a name: what --slots map=4,shuffle=2 can give.
func ValidClass(name string) bool {
	return name != "" && !strings.ContainsAny(name, "=, \t\r\n\x00") && len(name) <= 200
}

// validStageName tells whether a stage's name can name a folder of results.
func validStageName(name string) bool {
	return name != "" && !strings.ContainsAny(name, "/\x00\n") && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") && len(name) <= 200
}
