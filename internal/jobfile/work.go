package jobfile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Work says what attempts do. It is kept in the journal, so that a run that is taken up does the same. Exactly one
// field is set.
type Work struct {
	Dir       string          `json:"dir"` // working directory of every attempt
	MapReduce *mapreduce.Plan `json:"mapreduce,omitempty"`
	Array     *Array          `json:"array,omitempty"`
}

// InputBytes returns the bytes of input of map/reduce work, 0 of other work.
func (w *Work) InputBytes() int64 {
	if w.MapReduce == nil {
		return 0
	}
	return w.MapReduce.InputBytes
}

// Command is a process to start.
type Command struct {
	Path  string // "" for the program that Args[0] names
	Dir   string // working directory; "" for that of the work
	Args  []string
	Env   []string // besides the engine's own environment
	Stdin []byte
	Block *Block // what it reads from standard input instead, nil for none
}

// Block is a part of a stream.
type Block struct {
	File         string // "" for what the run has kept of its standard input
	Header       []byte
	Offset, Size int64
	Whole        int64     // bytes of the file
	Changed      time.Time // the file, last; zero for what the run has kept
}

// Array is work whose tasks are runs of commands.
type Array struct {
	Stages []Stage `json:"stages"`
}

// Stage is one command, run once per task with the task's index.
type Stage struct {
	Name    string   `json:"name"`
	Tasks   int      `json:"tasks"`
	Command []string `json:"command"`       // {} is the index, or what the task is given
	Env     []string `json:"env,omitempty"` // NAME=value

	// Inputs is what each task is given, nil for its index alone. If Line is set the last word of the command is a line
	// for a shell, and values are quoted in it.
	Inputs *inputs.Rows `json:"inputs,omitempty"`
	Line   bool         `json:"line,omitempty"`

	// Pipe cuts a stream into as many blocks as there are tasks, which each task reads from its standard input: Blocks,
	// and Tasks, are known once the stream has been read.
	Pipe   *inputs.Pipe   `json:"pipe,omitempty"`
	Blocks *inputs.Blocks `json:"blocks,omitempty"`

	Dir    string `json:"workdir,omitempty"` // working directory; "" for that of the work
	Limits Own    `json:"limits,omitzero"`

	// The command follows the protocol by which another attempt can go on from what one has saved.
	Resumable bool `json:"resumable,omitempty"`

	// Class names the slots that the tasks need, where there are several kinds; "" for the first.
	Class string `json:"class,omitempty"`

	// Positions of the stages to wait for: for all their tasks, or task i for task i. The latter have as many tasks.
	After     []int `json:"after,omitempty"`
	AfterEach []int `json:"after_each,omitempty"`
}

// Seat is where an attempt works.
type Seat struct {
	Number int      // attempts of the task before this one
	Slot   int      // from 1, of no other attempt that runs; 0 where slots have no numbers
	Inputs []string // folders with results: of each stage in After, of one task of each in AfterEach
	Dir    string   // for files; becomes part of the result if the attempt wins
}

// Command returns the process of an attempt of a task: it puts the task's values into the command and tells the task
// about itself, where the results are that it reads, and where it may leave files:
//
//	TAILCUT_TASK, TAILCUT_TASKS, TAILCUT_STAGE  index, number of tasks, stage name
//	TAILCUT_SEQ, TAILCUT_SLOT                   index from 1, slot from 1
//	TAILCUT_ATTEMPT                             attempts of the task before this one
//	TAILCUT_OUTPUT                              the seat's Dir
//	TAILCUT_INPUT                               the seat's Inputs, with colons between them
//	TAILCUT_RESUME_OFFSET                       in a resumable stage: where to go on; the segments before are in TAILCUT_OUTPUT
//
// The last is not its business.
func (w *Array) Command(stage, index int, seat Seat) (*Command, error) {
	st := &w.Stages[stage]
	args, err := st.Args(index, seat.Slot)
	if err != nil {
		return nil, err
	}
	env := []string{
		"TAILCUT_TASK=" + strconv.Itoa(index),
		"TAILCUT_SEQ=" + strconv.Itoa(index+1),
		"TAILCUT_TASKS=" + strconv.Itoa(st.Tasks),
		"TAILCUT_STAGE=" + st.Name,
		"TAILCUT_ATTEMPT=" + strconv.Itoa(seat.Number),
		"TAILCUT_OUTPUT=" + seat.Dir,
		"TAILCUT_INPUT=" + strings.Join(seat.Inputs, ":"),
	}
	if seat.Slot > 0 {
		env = append(env, "TAILCUT_SLOT="+strconv.Itoa(seat.Slot))
	}
	block, err := st.block(index)
	return &Command{Dir: st.Dir, Args: args, Env: append(env, st.Env...), Block: block}, err
}

// SoleStage is the name of the stage of an array job that is given by a command alone.
const SoleStage = "tasks"

// Names in the folder of a task's result.
const (
	StdoutName = "stdout"
	FilesName  = "files" // a folder, of what the task left in TAILCUT_OUTPUT
)

// TaskName returns the name of a task's folder in that of its stage's results.
func TaskName(index int) string { return fmt.Sprintf("%05d", index) }
