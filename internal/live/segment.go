package live

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// The journal of an Engine never ends, and what is over is of no use to it. It is a chain of segments, see
// trace.JournalSegment. A new one is begun when the last is long, when another policy is to decide, when an engine
// takes the journal up, and when it stops. It begins with what there is, a snapshot of the core and the lives of the
// jobs that are not retired. The engine goes on with a core that is restored from that, so that whoever replays the
// segment has the same core. See docs/decisions/0032-a-journal-in-segments.md.

// openJournal begins a journal, or takes up the one that is there.
func (e *Engine) openJournal() error {
	cfg := &e.cfg
	if err := os.MkdirAll(cfg.Folder, 0o700); err != nil {
		return err
	}
	numbers, err := trace.Segments(cfg.Folder)
	if err == nil {
		err = trace.SweepSegments(cfg.Folder)
	}
	if err != nil {
		return err
	}
	beat := filepath.Join(cfg.Folder, pulseName)
	if len(numbers) == 0 {
		if _, err := os.Lstat(beat); err == nil {
			return fmt.Errorf("%s: an engine has worked here and was killed, and its journal is gone: %w", cfg.Folder, trace.ErrCorrupt)
		}
		return e.firstSegment()
	}
	path := trace.SegmentPath(cfg.Folder, slices.Max(numbers))
	reader, err := trace.OpenJournalReader(path)
	if err != nil {
		return asDamage(err)
	}
	h := &reader.Header
	past, err := pastOf(reader)
	if err != nil {
		return asDamage(err)
	}
	core, err := follow(reader, func(c *sched.Core, b *trace.Batch) { past.add(c.View(), b, nil) })
	if err != nil {
		return fmt.Errorf("%s: cannot take up the jobs: %w", path, asDamage(err))
	}
	if cfg.Fit != nil {
		if err := cfg.Fit(cfg, h, classesNeeded(core.View(), past)); err != nil {
			return err
		}
	}
	e.loop = newLoop(h, core, past, pulse{path: beat, run: h.Run})
	e.policies = cfg.Policies
	if e.journal, err = trace.ResumeJournal(path, reader); err != nil {
		return err
	}
	err = e.rotate(func(h *trace.JournalHeader) {
		h.Policy, h.Seed, h.Limits, h.ClassNames = cfg.Policy, cfg.Seed, cfg.Limits, cfg.ClassNames
		e.seat(h)
	})
	if err != nil {
		return errors.Join(err, e.journal.Close())
	}
	return nil
}

// pulseName is the file beside the segments that says until when an engine was alive.
const pulseName = "pulse"

// asDamage makes the error of a segment that cannot be read wrap [trace.ErrCorrupt], unless it is of the system's, or
// another version wrote it.
func asDamage(err error) error {
	var system *fs.PathError
	var version *trace.VersionError
	if errors.Is(err, trace.ErrCorrupt) || errors.As(err, &system) || errors.As(err, &version) {
		return err
	}
	return fmt.Errorf("%w: %w", err, trace.ErrCorrupt)
}

func (e *Engine) firstSegment() error {
	cfg := &e.cfg
	var name [8]byte
	_, _ = rand.Read(name[:]) // never fails
	h := &trace.JournalHeader{
		Version: cfg.Version, Run: hex.EncodeToString(name[:]), Started: time.Now(), Rules: trace.JournalRules, Policy: cfg.Policy, Seed: cfg.Seed,
		Limits: cfg.Limits, Waits: cfg.Waits, Machines: slices.Clone(cfg.Machines), ClassNames: cfg.ClassNames, Segment: &trace.JournalSegment{Number: 1},
	}
	core, err := firstCore(h, nil, cfg.Policies)
	if err != nil {
		return err
	}
	journal, err := trace.CreateJournal(trace.SegmentPath(cfg.Folder, 1), h)
	if err != nil {
		return err
	}
	e.loop = newLoop(h, core, newHistory(), pulse{path: filepath.Join(cfg.Folder, pulseName), run: h.Run})
	e.journal, e.born = journal, journal.Size()
	return nil
}

// classesNeeded returns a number above the classes of the stages of all jobs that are not over.
func classesNeeded(v *sched.View, past *history) (n int) {
	for id := range past.jobs {
		if job := v.Job(id); job.State <= sched.JobActive {
			for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
				n = max(n, int(v.Stage(s).Class)+1)
			}
		}
	}
	return n
}

// seat finds the machines that are there among those that the journal knows, and adds the others to its header.
func (e *Engine) seat(h *trace.JournalHeader) {
	h.Machines = slices.Clone(h.Machines)
	e.present = nil
	for _, m := range e.cfg.Machines {
		at := slices.IndexFunc(h.Machines, func(x trace.JournalMachine) bool { return x.Name == m.Name && x.Class == m.Class && x.Site == m.Site })
		if at < 0 {
			at, h.Machines, e.slots = len(h.Machines), append(h.Machines, m), append(e.slots, m.Slots)
		}
		e.slots[at] = m.Slots
		e.present = append(e.present, sched.MachineID(at))
	}
}

// rotate begins a new segment, of another header if there is a change, and removes the old one.
func (e *Engine) rotate(change func(*trace.JournalHeader)) error {
	if err := e.journal.Sync(); err != nil {
		return err
	}
	state, err := stateOf(e.core, e.past, e.keep)
	if err != nil {
		return err
	}
	h := *e.header
	if change != nil {
		change(&h)
	}
	h.Version, h.Rules = e.cfg.Version, trace.JournalRules
	h.Segment = &trace.JournalSegment{Number: e.header.Segment.Number + 1, State: len(state), Keeps: e.keep}
	core, err := firstCore(&h, state, e.cfg.Policies)
	if err != nil {
		return err
	}
	path := trace.SegmentPath(e.cfg.Folder, h.Segment.Number)
	next, err := trace.CreateJournal(path, &h, state...)
	if err != nil {
		return err
	}
	err = e.journal.Close()
	e.crowded.size = 0
	e.core, e.journal, e.born = core, next, next.Size()
	*e.header = h
	e.past.wake = 0 // the policy's that is gone
	return errors.Join(err, e.dropBefore(h.Segment.Number))
}

// dropBefore removes the segments before one, or moves them to the archive.
func (e *Engine) dropBefore(number int) error {
	all, err := trace.Segments(e.cfg.Folder)
	if err != nil {
		return err
	}
	for _, n := range all {
		path := trace.SegmentPath(e.cfg.Folder, n)
		switch {
		case n >= number:
		case e.cfg.Archive == "":
			err = errors.Join(err, os.Remove(path))
		default:
			err = errors.Join(err, os.MkdirAll(e.cfg.Archive, 0o700), os.Rename(path, trace.SegmentPath(e.cfg.Archive, n)))
		}
	}
	return err
}

// jobState is what a segment says of a job beside what the core does.
type jobState struct {
	Job       *trace.JournalJob `json:"job"`
	First     sched.TaskID      `json:"first"`
	Told      bool              `json:"told,omitempty"`
	Retries   int               `json:"retries,omitempty"`
	Crashed   int               `json:"crashed,omitempty"`
	Failed    []sched.TaskID    `json:"failed,omitempty"`
	StageDone []sched.Time      `json:"stage_done,omitempty"`
	Points    []savedPoint      `json:"points,omitempty"`
	Attempts  attemptColumns    `json:"attempts"`
	// Outputs are those of winners that the journal had, by the place of the attempt.
	Outputs map[int][]byte `json:"outputs,omitempty"`
}

// savedPoint is a point of a task.
type savedPoint struct {
	Task     sched.TaskID    `json:"task"`
	Progress float64         `json:"progress"`
	Number   int             `json:"number"`
	Machine  sched.MachineID `json:"machine"`
}

// attemptColumns are records, a field each: of a job with many attempts they are most of a segment's beginning.
type attemptColumns struct {
	ID       []sched.AttemptID `json:"id,omitempty"`
	Task     []sched.TaskID    `json:"task,omitempty"` // counted from the job's first
	Number   []int             `json:"number,omitempty"`
	Machine  []sched.MachineID `json:"machine,omitempty"`
	From     []float64         `json:"from,omitempty"`
	Source   []int             `json:"source,omitempty"`
	Launched []sched.Time      `json:"launched,omitempty"`
	Waited   []sched.Time      `json:"waited,omitempty"` // until it began
	Ran      []sched.Time      `json:"ran,omitempty"`
	Bytes    []int64           `json:"bytes,omitempty"` // none if 0 of all
	// a byte each
	Clone  []byte `json:"clone,omitempty"`
	End    []byte `json:"end,omitempty"` // place in ends
	Reason []byte `json:"reason,omitempty"`
	Why    []byte `json:"why,omitempty"`
}

// ends are numbered in journals: a new one comes last.
var ends = []End{Running, Won, Lost, Failed, Killed, Refused, Crashed}

// stateOf returns the records with which a segment begins: a snapshot of the core, and each job. keeps is that of
// [trace.JournalSegment].
func stateOf(core *sched.Core, past *history, keeps bool) (state [][]byte, err error) {
	add := func(x any) {
		text, e := json.Marshal(x)
		state, err = append(state, text), errors.Join(err, e)
	}
	now := core.Snapshot()
	if keeps {
		now.Keep()
	}
	add(now)
	v := core.View()
	for _, id := range slices.Sorted(maps.Keys(past.jobs)) {
		j := past.jobs[id]
		add(j.state(v.Stage(v.Job(id).FirstStage).First))
	}
	return state, err
}

func (j *Job) state(first sched.TaskID) *jobState {
	s := &jobState{
		Job: j.JournalJob, First: first, Told: j.told, Retries: j.retries, Crashed: j.crashed, Failed: slices.Sorted(maps.Keys(j.failed)), StageDone: j.stageDone,
	}
	for _, t := range slices.Sorted(maps.Keys(j.points)) {
		for _, p := range j.points[t] {
			s.Points = append(s.Points, savedPoint{Task: t, Progress: p.progress, Number: p.number, Machine: p.machine})
		}
	}
	s.Attempts = columnsOf(j.records, first)
	s.Outputs = j.lived().Outputs
	return s
}

// columnsOf returns records as columns, with tasks counted from the first.
func columnsOf(records []Record, first sched.TaskID) (c attemptColumns) {
	n := len(records)
	if slices.ContainsFunc(records, func(r Record) bool { return r.Bytes > 0 }) {
		c.Bytes = make([]int64, n)
	}
	c.ID, c.Task, c.Number, c.Machine = slices.Grow(c.ID, n), slices.Grow(c.Task, n), slices.Grow(c.Number, n), slices.Grow(c.Machine, n)
	c.From, c.Source = slices.Grow(c.From, n), slices.Grow(c.Source, n)
	c.Launched, c.Waited, c.Ran = slices.Grow(c.Launched, n), slices.Grow(c.Waited, n), slices.Grow(c.Ran, n)
	c.Clone, c.End, c.Reason, c.Why = slices.Grow(c.Clone, n), slices.Grow(c.End, n), slices.Grow(c.Reason, n), slices.Grow(c.Why, n)
	for i := range records {
		r := &records[i]
		clone := byte(0)
		if r.Clone {
			clone = 1
		}
		c.ID, c.Task, c.Number, c.Machine = append(c.ID, r.ID), append(c.Task, r.Task-first), append(c.Number, r.Number), append(c.Machine, r.Machine)
		c.From, c.Source = append(c.From, r.From), append(c.Source, r.Source)
		c.Launched, c.Waited, c.Ran = append(c.Launched, r.Launched), append(c.Waited, r.Start-r.Launched), append(c.Ran, r.Stop-r.Start)
		c.Clone, c.End = append(c.Clone, clone), append(c.End, byte(slices.Index(ends, r.End)))
		c.Reason, c.Why = append(c.Reason, byte(r.Reason)), append(c.Why, byte(r.Why))
		if c.Bytes != nil {
			c.Bytes[i] = r.Bytes
		}
	}
	return c
}

// pastOf returns what was before a journal's first batch: the one job of a run, or what a segment begins with.
func pastOf(r *trace.JournalReader) (*history, error) {
	if r.Header.Segment == nil {
		return pastOfRun(&r.Header), nil
	}
	past := newHistory()
	for i := 1; i < len(r.State); i++ {
		var s jobState
		if err := json.Unmarshal(r.State[i], &s); err != nil {
			return nil, fmt.Errorf("record %d of the segment: %w: %w", i+1, err, trace.ErrCorrupt)
		}
		if err := past.restore(&s); err != nil {
			return nil, fmt.Errorf("record %d of the segment: %w: %w", i+1, err, trace.ErrCorrupt)
		}
	}
	return past, nil
}

var errState = errors.New("what it says of a job does not fit together")

func (h *history) restore(s *jobState) error {
	c := &s.Attempts
	n := len(c.ID)
	for _, m := range [...]int{
		len(c.Task), len(c.Number), len(c.Machine), len(c.From), len(c.Source), len(c.Launched), len(c.Waited), len(c.Ran),
		len(c.Clone), len(c.End), len(c.Reason), len(c.Why),
	} {
		if m != n {
			return errState
		}
	}
	if len(c.Bytes) > 0 && len(c.Bytes) != n {
		return errState
	}
	if s.Job == nil || len(s.Job.Stages) != len(s.Job.Spec.Stages) || len(s.StageDone) > len(s.Job.Stages) {
		return errState
	}
	j := &Job{JournalJob: s.Job, told: s.Told}
	j.first = s.First
	j.retries, j.crashed, j.stageDone = s.Retries, s.Crashed, s.StageDone
	for _, t := range s.Failed {
		put(&j.failed, t, true)
	}
	for _, p := range s.Points {
		put(&j.points, p.Task, append(j.points[p.Task], point{progress: p.Progress, number: p.Number, machine: p.Machine}))
	}
	for i := range n {
		stage, index := stageOf(&s.Job.Spec, c.Task[i])
		if stage < 0 || int(c.End[i]) >= len(ends) {
			return errState
		}
		r := Record{
			Attempt: Attempt{
				ID: c.ID[i], Stage: stage, Index: index, Number: c.Number[i], Machine: c.Machine[i], Clone: c.Clone[i] > 0, From: c.From[i], Source: c.Source[i],
			},
			Task: s.First + c.Task[i], Launched: c.Launched[i], Start: c.Launched[i] + c.Waited[i], Stop: c.Launched[i] + c.Waited[i] + c.Ran[i],
			End: ends[c.End[i]], Reason: sched.Reason(c.Reason[i]), Why: sched.Reason(c.Why[i]),
		}
		if len(c.Bytes) > 0 {
			r.Bytes = c.Bytes[i]
		}
		switch j.records = append(j.records, r); r.End {
		case Won:
			j.win(r.Task, i)
		case Running:
			h.running[r.ID] = spot{Job: j, at: i, launched: h.launches}
			h.launches++
		}
		if out, ok := s.Outputs[i]; ok {
			j.keep(i, out)
		}
	}
	h.jobs[j.ID] = j
	return nil
}

// stageOf returns the place of a task in its stage, by its place in the job; a stage of -1 if there is none.
func stageOf(spec *sched.JobSpec, task sched.TaskID) (stage, index int) {
	index = int(task)
	for i := range spec.Stages {
		if index < spec.Stages[i].Tasks {
			return i, index
		}
		index -= spec.Stages[i].Tasks
	}
	return -1, 0
}

// Chain replays segments that follow each other, as Replay does, and compares what there is at the end of each with
// what the next begins with. visit, if not nil, sees every batch after the core has. torn tells whether bytes of an
// unfinished record follow the last whole one.
func Chain(paths []string, policies Policies, visit func(*sched.Core, *trace.Batch)) (torn bool, err error) {
	var end func(keeps bool) ([][]byte, error)
	for i, path := range paths {
		r, err := trace.OpenJournalReader(path)
		if err != nil {
			return false, err
		}
		if r.Header.Segment == nil {
			return false, fmt.Errorf("%s: it is of a run, not of a server with many jobs", path)
		}
		if i > 0 {
			state, err := end(r.Header.Segment.Keeps)
			if err != nil {
				return false, fmt.Errorf("%s: %w", paths[i-1], err)
			}
			if !slices.EqualFunc(state, r.State, bytes.Equal) {
				return false, fmt.Errorf("%s: it begins otherwise than %s ends", path, paths[i-1])
			}
		}
		past, err := pastOf(r)
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		core, err := Replay(r, policies, func(c *sched.Core, b *trace.Batch) {
			past.add(c.View(), b, nil)
			if visit != nil {
				visit(c, b)
			}
		})
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		if torn = r.Torn(); torn && i < len(paths)-1 {
			return false, fmt.Errorf("%s: it ends with an unfinished record: %w", path, trace.ErrCorrupt)
		}
		end = func(keeps bool) ([][]byte, error) { return stateOf(core, past, keeps) }
	}
	return torn, nil
}
