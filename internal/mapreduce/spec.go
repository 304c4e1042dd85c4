package mapreduce

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// DefaultMemoryLimit is what an attempt buffers, in bytes, when its spec does not say.
const DefaultMemoryLimit = 64 << 20

// DefaultMaxLine is the longest line, or word, that an attempt takes, in bytes, when its spec does not say. MaxLine is
// the most that it may say.
const (
	DefaultMaxLine = 64 << 20
	MaxLine        = maxRecord
)

// MaxTasks bounds the tasks of a stage, so that a slip of the pen does not fill the memory.
const MaxTasks = 10_000_000

// MaxReducers bounds the number of segments of an attempt, each of which is a file.
const MaxReducers = 100_000

// Kind says which work of its operator an attempt does.
type Kind string

// The kinds of attempts.
const (
	KindMap     Kind = "map"     // reads a split
	KindShuffle Kind = "shuffle" // merges what some neighbouring map tasks have written, in all partitions
	KindReduce  Kind = "reduce"  // reads one partition of the stage before
	KindSort    Kind = "sort"    // puts grep's counts in their final order
)

// AttemptSpec says all that an attempt needs to know. It is made by Plan.Attempt and travels as JSON to where the
// attempt runs.
type AttemptSpec struct {
	Operator    Operator `json:"operator"`
	Kind        Kind     `json:"kind"`
	Task        int      `json:"task"`                 // the task's index in its stage
	Split       Split    `json:"split,omitempty"`      // read by map attempts
	Upstream    []string `json:"upstream,omitempty"`   // folders committed by the stage before, in task order
	Partition   int      `json:"partition"`            // of the upstream folders, read by reduce and sort attempts
	Segments    int      `json:"segments"`             // how many to write; 0: write a part
	Boundaries  []Key    `json:"boundaries,omitempty"` // of partitions, for sort: see Plan
	Dir         string   `json:"dir"`                  // the attempt's own folder
	MemoryLimit int64    `json:"memory_limit_bytes,omitempty"`
	MaxLine     int64    `json:"max_line_bytes,omitempty"` // 0: DefaultMaxLine

	// a file to which map attempts append what they map: see ReadAccount
	Account string `json:"account,omitempty"`
	// at which map attempts read at most, for experiments; 0: as fast as they can
	Pace float64 `json:"pace_bytes_per_second,omitempty"`

	// Map attempts of operators that can resume: what to go on from, nil for nothing, and how long a stride should take
	// at least (longer where saving is dear); 0 saves nothing, a negative time saves as often as can be.
	Resume    *Resume       `json:"resume,omitempty"`
	SaveEvery time.Duration `json:"save_every_nanoseconds,omitempty"`

	Files Files `json:"-"` // where the split is; nil: LocalFiles

	// Progress, when set, hears which fraction of its input, in [0, 1] and never falling, the attempt has read:
	// about every MiB or 100 ms, whichever comes first, from one goroutine at a time, and 1 once all is done.
	Progress func(fraction float64) `json:"-"`
	// Saved, when set, hears at the end of each stride where in the split it ends, in (0, Split.Bytes()), and which
	// fraction of the split that is.
	Saved func(offset int64, fraction float64) `json:"-"`
	// Stderr, when set, receives what the commands of a streaming attempt write to standard error.
	Stderr io.Writer `json:"-"`
}

// Key is a key in a spec or a plan; in JSON it is base64, for keys need not be UTF-8.
type Key = []byte

// Counters is what an attempt did. All but Spilled are a function of the task and,
// for the input, of where it was taken up.
type Counters struct {
	InputBytes     int64 `json:"input_bytes"`     // of lines, or of keys and values
	InputRecords   int64 `json:"input_records"`   // lines, or records of the shuffle
	OutputBytes    int64 `json:"output_bytes"`    // of the part, or of the keys and values in the segments
	OutputRecords  int64 `json:"output_records"`  // lines of the part, or records of the segments
	SpilledRecords int64 `json:"spilled_records"` // written to temporary files for want of memory
}

// DecodeSpec reads an AttemptSpec from JSON and validates it.
func DecodeSpec(data []byte) (*AttemptSpec, error) {
	spec := new(AttemptSpec)
	if err := json.Unmarshal(data, spec); err != nil {
		return nil, fmt.Errorf("attempt spec: %w", err)
	}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return spec, nil
}

// Validate returns an error for a spec that Run could not follow without a doubt about what is meant.
func (s *AttemptSpec) Validate() error {
	if err := s.validate(); err != nil {
		return fmt.Errorf("attempt spec: %w", err)
	}
	return nil
}

func (s *AttemptSpec) validate() error {
	op, err := s.Operator.lookup()
	if err != nil {
		return err
	}
	stage, ok := op.shape(s.Operator, s.Kind)
	switch {
	case !ok:
		return fmt.Errorf("%s has no attempts of kind %q", s.Operator.Name, s.Kind)
	case s.Task < 0:
		return fmt.Errorf("task %d is negative", s.Task)
	case s.Segments < 0 || s.Segments > MaxReducers:
		return fmt.Errorf("segments: %d is not in 0..%d", s.Segments, MaxReducers)
	case s.Partition < 0 || s.Partition >= MaxReducers:
		return fmt.Errorf("partition: %d is not in 0..%d", s.Partition, MaxReducers-1)
	case s.Dir == "":
		return fmt.Errorf("dir: the attempt has no folder")
	case s.MemoryLimit < 0:
		return fmt.Errorf("memory_limit_bytes: %d is negative", s.MemoryLimit)
	case s.MaxLine < 0 || s.MaxLine > MaxLine:
		return fmt.Errorf("max_line_bytes: %d is not in 0..%d", s.MaxLine, MaxLine)
	case !(s.Pace >= 0):
		return fmt.Errorf("pace_bytes_per_second: %v is not at least 0", s.Pace)
	case (s.Segments > 0) != (stage.segments > 0):
		return fmt.Errorf("segments: %d are not for an attempt of %s %s", s.Segments, s.Operator.Name, s.Kind)
	}
	for i, dir := range s.Upstream {
		if dir == "" {
			return fmt.Errorf("upstream: folder %d has no name", i)
		}
	}
	if err := s.Split.validate(); err != nil {
		return fmt.Errorf("split: %w", err)
	}
	if err := s.validateResume(stage.resumes); err != nil {
		return err
	}
	return validateBoundaries(s.Boundaries, s.Segments)
}

func (s *AttemptSpec) validateResume(resumes bool) error {
	switch from := s.Resume; {
	case !resumes && (from != nil || s.SaveEvery != 0):
		return fmt.Errorf("resume: attempts of %s %s cannot", s.Operator.Name, s.Kind)
	case from == nil:
		return nil
	case from.Offset < 1 || from.Offset >= s.Split.Bytes():
		return fmt.Errorf("resume: offset %d is not inside a split of %d bytes", from.Offset, s.Split.Bytes())
	case len(from.Runs) == 0:
		return fmt.Errorf("resume: there are no runs of what was mapped before")
	}
	return nil
}

func validateBoundaries(boundaries []Key, partitions int) error {
	if len(boundaries) > 0 && len(boundaries) >= partitions {
		return fmt.Errorf("boundaries: %d are too many for %d partitions", len(boundaries), partitions)
	}
	for i := 1; i < len(boundaries); i++ {
		if bytes.Compare(boundaries[i-1], boundaries[i]) >= 0 {
			return fmt.Errorf("boundaries: number %d is not above the one before", i)
		}
	}
	return nil
}

func (s *AttemptSpec) memoryLimit() int64 {
	if s.MemoryLimit == 0 {
		return DefaultMemoryLimit
	}
	return s.MemoryLimit
}

func (s *AttemptSpec) maxLine() int {
	return int(cmp.Or(s.MaxLine, DefaultMaxLine))
}

// tempName is the folder of temporary files in an attempt's folder.
const tempName = "tmp"

func (s *AttemptSpec) tempDir() string { return filepath.Join(s.Dir, tempName) }
