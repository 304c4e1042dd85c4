package jobfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Work says what attempts do. It is kept in the journal, so that a run that is taken up does the same. Exactly one
// field is set.
type Work struct {
	Dir       string          `json:"dir"` // working directory of every attempt
	MapReduce *mapreduce.Plan `json:"mapreduce,omitempty"`
	Array     *Array          `json:"array,omitempty"`
}

// Command is a process to start.
type Command struct {
	Path  string // "" for the program that Args[0] names
	Args  []string
	Env   []string // besides the engine's own environment
	Stdin []byte
}

// Array is work whose tasks are runs of commands.
type Array struct {
	Stages []Stage `json:"stages"`
}

// Stage is one command, run once per task with the task's index.
type Stage struct {
	Name    string   `json:"name"`
	Tasks   int      `json:"tasks"`
	Command []string `json:"command"`       // {} is the index
	Env     []string `json:"env,omitempty"` // NAME=value

	// The command follows the protocol by which another attempt can go on from what one has saved.
	Resumable bool `json:"resumable,omitempty"`

	// Positions of the stages to wait for: for all their tasks, or task i for task i. The latter have as many tasks.
	After     []int `json:"after,omitempty"`
	AfterEach []int `json:"after_each,omitempty"`
}

// Command returns the process of an attempt of a task: it replaces {} and tells the task about itself, where the
// results are that it reads, and where it may leave files:
//
//	TAILCUT_TASK, TAILCUT_TASKS, TAILCUT_STAGE  index, number of tasks, stage name
//	TAILCUT_ATTEMPT                             attempts of the task before this one
//	TAILCUT_OUTPUT                              folder for files; becomes part of the result if the attempt wins
//	TAILCUT_INPUT                               colon-separated folders with results: of each stage in After, of one task of each in AfterEach
//	TAILCUT_RESUME_OFFSET                       in a resumable stage: where to go on; the segments before are in TAILCUT_OUTPUT
//
// The last is not its business.
func (w *Array) Command(stage, index, number int, inputs []string, dir string) *Command {
	st := &w.Stages[stage]
	task := strconv.Itoa(index)
	args := make([]string, len(st.Command))
	for i, arg := range st.Command {
		args[i] = strings.ReplaceAll(arg, "{}", task)
	}
	env := []string{
		"TAILCUT_TASK=" + task,
		"TAILCUT_TASKS=" + strconv.Itoa(st.Tasks),
		"TAILCUT_STAGE=" + st.Name,
		"TAILCUT_ATTEMPT=" + strconv.Itoa(number),
		"TAILCUT_OUTPUT=" + dir,
		"TAILCUT_INPUT=" + strings.Join(inputs, ":"),
	}
	return &Command{Args: args, Env: append(env, st.Env...)}
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
