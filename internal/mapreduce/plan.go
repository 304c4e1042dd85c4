package mapreduce

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// planSchema names the form of a plan in JSON.
const planSchema = "tailcut.plan/v1"

// Request is what a user asks for.
type Request struct {
	Operator    Operator
	Inputs      []string // files or folders: see ListInputs, or what Files can list
	Files       Files    `json:"-"` // nil: LocalFiles
	SplitSize   int64    // bytes; 0: DefaultSplitSize
	Reducers    int      // at least 1, save for a streaming job without a reducer; wordmean uses one always
	MemoryLimit int64    // bytes an attempt buffers; 0: DefaultMemoryLimit
	// Shuffle gives the job a stage that merges what maps write while others still run. No result depends on it.
	Shuffle bool `json:"-"`
	// Apart tells whether no map task may read both of two files that are neighbours in the input; nil: any may.
	Apart func(a, b File) bool `json:"-"`
}

// Plan is a job cut into stages and tasks. It is a function of the job and the files, and survives a trip through JSON
// unchanged, so that an engine that restarts from its journal works on the same splits. Treat it as read-only.
type Plan struct {
	Schema      string      `json:"schema"`
	Operator    Operator    `json:"operator"`
	Reducers    int         `json:"reducers"`
	Shuffle     bool        `json:"shuffle,omitempty"` // there is a stage of this kind, if there is anything to shuffle
	MemoryLimit int64       `json:"memory_limit_bytes"`
	MaxLine     int64       `json:"max_line_bytes,omitempty"` // that attempts take; 0: DefaultMaxLine
	InputFiles  int         `json:"input_files"`
	InputBytes  int64       `json:"input_bytes"`
	Boundaries  []Key       `json:"boundaries,omitempty"` // ascending; sort's partition i ends below the i-th
	Stages      []StagePlan `json:"stages"`               // in topological order; the last one's parts are the result
}

// StagePlan is a stage of a plan. A task can start when what it reads of the stages in After is committed: see
// Plan.Reads.
type StagePlan struct {
	Name     string  `json:"name"` // unique in the plan
	Kind     Kind    `json:"kind"`
	After    []int   `json:"after,omitempty"`  // indices in Plan.Stages: none, or one
	Group    int     `json:"group,omitempty"`  // neighbouring tasks that a task reads of the stage in After; 0: all
	Tasks    int     `json:"tasks"`            // may be 0: the stage is done at once
	Segments int     `json:"segments"`         // written by each task, one for each task of the next stage; 0: a part
	Splits   []Split `json:"splits,omitempty"` // one for each task, in a stage that reads the input
}

// NewPlan lists and splits the job's input and, for sort, samples it. Its errors are the user's: a path that cannot be
// read, an argument that makes no sense.
func NewPlan(ctx context.Context, job Request) (*Plan, error) {
	op, err := job.lookup()
	if err != nil {
		return nil, err
	}
	in := filesOr(job.Files)
	var files []File
	for _, path := range job.Inputs {
		listed, err := in.List(ctx, path)
		if err != nil {
			return nil, err
		}
		files = append(files, listed...)
	}
	if err := lookInto(ctx, in, files); err != nil {
		return nil, err
	}
	p := &Plan{
		Schema:      planSchema,
		Operator:    job.Operator,
		Reducers:    job.Reducers,
		Shuffle:     job.Shuffle,
		MemoryLimit: job.MemoryLimit,
		InputFiles:  len(files),
	}
	for _, f := range files {
		p.InputBytes += f.Size
	}
	if p.MemoryLimit == 0 {
		p.MemoryLimit = DefaultMemoryLimit
	}
	size := job.SplitSize
	if size == 0 {
		size = DefaultSplitSize
	}
	if (p.InputBytes-1)/size >= MaxTasks {
		return nil, fmt.Errorf("the %d bytes of the input in splits of %d make more than %d map tasks; choose larger splits (--split-size, split_size)",
			p.InputBytes, size, MaxTasks)
	}
	splits, err := CutSplits(ctx, in, files, size, job.Apart)
	if err != nil {
		return nil, err
	}
	p.Stages = stagePlans(op.shapes(job.Operator, job.Reducers, job.Shuffle), splits)
	if job.Operator.Name == "sort" {
		if p.Boundaries, err = sampleBoundaries(ctx, in, files, job.Reducers); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Check returns what is wrong with the job as far as can be told without looking at its input.
func (j Request) Check() error {
	_, err := j.lookup()
	return err
}

func (j Request) lookup() (operator, error) {
	op, err := j.Operator.lookup()
	switch {
	case err != nil:
		return op, err
	case len(j.Inputs) == 0:
		return op, fmt.Errorf("%s: there is no input", j.Operator.Name)
	case j.SplitSize < 0:
		return op, fmt.Errorf("split size: %d is negative", j.SplitSize)
	case j.MemoryLimit < 0:
		return op, fmt.Errorf("memory limit: %d is negative", j.MemoryLimit)
	}
	return op, checkReducers(op, j.Operator, j.Reducers)
}

// checkReducers bounds the number of reducers; a job without a reduce stage needs none.
func checkReducers(op operator, args Operator, n int) error {
	least := 1
	if _, ok := op.shape(args, KindReduce); !ok {
		least = 0
	}
	if n < least || n > MaxReducers {
		return fmt.Errorf("reducers: %d is not in %d..%d", n, least, MaxReducers)
	}
	return nil
}

// stagePlans chains the stages: each reads the one before, the first reads the splits.
func stagePlans(shapes []shape, splits []Split) []StagePlan {
	stages := make([]StagePlan, len(shapes))
	for i, s := range shapes {
		stages[i] = StagePlan{Name: string(s.kind), Kind: s.kind, Tasks: s.tasks, Segments: s.segments}
		switch s.tasks {
		case perSplit:
			stages[i].Tasks, stages[i].Splits = len(splits), splits
		case perGroup:
			stages[i].Group = groupOf(len(splits))
			stages[i].Tasks = (len(splits) + stages[i].Group - 1) / stages[i].Group
		}
		if i > 0 {
			stages[i].After = []int{i - 1}
		}
	}
	return stages
}

// DecodePlan reads a Plan from JSON and validates it.
func DecodePlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return p, nil
}

func (p *Plan) validate() error {
	if p.Schema != planSchema {
		return fmt.Errorf("schema: %q is not %q", p.Schema, planSchema)
	}
	op, err := p.Operator.lookup()
	if err != nil {
		return err
	}
	if err := checkReducers(op, p.Operator, p.Reducers); err != nil {
		return err
	}
	if p.MemoryLimit < 0 {
		return fmt.Errorf("memory_limit_bytes: %d is negative", p.MemoryLimit)
	}
	if len(p.Stages) == 0 {
		return fmt.Errorf("stages: there is none")
	}
	splits := p.Stages[0].Splits
	for i, split := range splits {
		if err := split.validate(); err != nil {
			return fmt.Errorf("split %d: %w", i, err)
		}
	}
	if !slices.EqualFunc(p.Stages, stagePlans(op.shapes(p.Operator, p.Reducers, p.Shuffle), splits), sameStage) {
		return fmt.Errorf("stages: they are not those of %s with %d reducers", p.Operator.Name, p.Reducers)
	}
	return validateBoundaries(p.Boundaries, p.Stages[0].Segments)
}

// sameStage compares all but the splits themselves.
func sameStage(a, b StagePlan) bool {
	return a.Name == b.Name && a.Kind == b.Kind && slices.Equal(a.After, b.After) && a.Group == b.Group && a.Tasks == b.Tasks &&
		a.Segments == b.Segments && len(a.Splits) == len(b.Splits)
}

// Resumes tells whether attempts of a stage can save what they have mapped and go on from what others have saved.
func (p *Plan) Resumes(stage int) bool {
	op, err := p.Operator.lookup()
	if err != nil {
		return false
	}
	s, ok := op.shape(p.Operator, p.Stages[stage].Kind)
	return ok && s.resumes
}

// Reads returns which tasks of an earlier stage a task reads: from first to the one before end. end is 0 for a task
// that reads none.
func (p *Plan) Reads(stage, task int) (earlier, first, end int) {
	s := &p.Stages[stage]
	if len(s.After) == 0 {
		return 0, 0, 0
	}
	earlier = s.After[0]
	if end = p.Stages[earlier].Tasks; s.Group > 0 {
		first = task * s.Group
		end = min(first+s.Group, end)
	}
	return earlier, first, end
}

// Attempt returns the spec of an attempt of a task. Upstream is the folders that the tasks that it Reads
// committed, in task order; dir is the attempt's own folder. Both are used where the attempt runs. All attempts of a
// task differ in dir only, unless the caller has one resume.
func (p *Plan) Attempt(stage, task int, upstream []string, dir string) (*AttemptSpec, error) {
	if stage < 0 || stage >= len(p.Stages) {
		return nil, fmt.Errorf("plan: stage %d is not in 0..%d", stage, len(p.Stages)-1)
	}
	s := &p.Stages[stage]
	if task < 0 || task >= s.Tasks {
		return nil, fmt.Errorf("plan: task %d of stage %s is not in 0..%d", task, s.Name, s.Tasks-1)
	}
	if _, first, end := p.Reads(stage, task); len(upstream) != end-first {
		return nil, fmt.Errorf("plan: stage %s reads %d committed folders, not %d", s.Name, end-first, len(upstream))
	}
	spec := &AttemptSpec{
		Operator:    p.Operator,
		Kind:        s.Kind,
		Task:        task,
		Upstream:    upstream,
		Segments:    s.Segments,
		Dir:         dir,
		MemoryLimit: p.MemoryLimit,
		MaxLine:     p.MaxLine,
	}
	switch {
	case s.Splits != nil:
		spec.Split = s.Splits[task]
		spec.Boundaries = p.Boundaries
	case s.Group == 0:
		spec.Partition = task
	}
	return spec, spec.Validate()
}
