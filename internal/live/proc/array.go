package proc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Array is work whose tasks are runs of commands.
type Array struct {
	Stages []ArrayStage `json:"stages"`
}

// ArrayStage is one command, run once per task with the task's index.
type ArrayStage struct {
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

// Names in the folder of a result.
const (
	stdoutName = "stdout"
	filesName  = "files"
)

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

// command returns the process of an attempt of this run, which goes on behind the stride from.
func (w *Array) command(f Folders, a live.Attempt, dir string, from *stride) (*Command, error) {
	st := &w.Stages[a.Stage]
	var inputs []string
	for _, s := range st.After {
		inputs = append(inputs, f.DoneStage(s))
	}
	for _, s := range st.AfterEach {
		inputs = append(inputs, f.Done(s, a.Index))
	}
	cmd := w.Command(a.Stage, a.Index, a.Number, inputs, dir)
	if st.Resumable {
		cmd.Env = append([]string{"TAILCUT_RESUME_OFFSET=" + strconv.FormatInt(from.offset(), 10)}, cmd.Env...)
		if err := inherit(dir, from); err != nil {
			return nil, err
		}
	}
	return cmd, nil
}

// gather puts the segments in an attempt's folder, in the order of their offsets, in front of what it wrote to standard
// output.
func gather(dir, stdout string) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return errors.New("TAILCUT_OUTPUT is no folder any more: segments are looked for in the one that was given")
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names := segments(entries)
	if len(names) == 0 {
		return nil
	}
	whole := dir + ".stdout"
	out, err := os.OpenFile(whole, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		err = errors.Join(err, appendFile(out, path), os.Remove(path))
	}
	if err = errors.Join(err, appendFile(out, stdout), out.Close()); err != nil {
		return err
	}
	return os.Rename(whole, stdout)
}

func appendFile(out *os.File, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close())
}

// assemble makes the folder in which an attempt left files the folder of a result. Where there are none, as with most,
// no folder is made for them.
//
// What an attempt put in the folder's place, such as a link, is published as it is, and nothing is looked for where it
// leads.
func (w *Array) assemble(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) { // the attempt removed it
		return os.Mkdir(dir, 0o777)
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
			return err
		}
	}
	whole := dir + ".whole"
	if err := os.Mkdir(whole, 0o777); err != nil {
		return err
	}
	if err := mapreduce.Move(dir, filepath.Join(whole, filesName)); err != nil {
		return err
	}
	return os.Rename(whole, dir)
}

// results are standard outputs of tasks, by stage and index.
type results map[int]map[int][]byte

func (r results) add(stage, index int, output []byte) {
	if r[stage] == nil {
		r[stage] = map[int][]byte{}
	}
	r[stage][index] = output
}

// winners are the numbers of the attempts that won, by stage and index.
type winners map[[2]int]int

// parts lists every task's standard output, as a file or as the journal has kept it, and the files that it left, if it
// left any. With several stages each has a folder of its own.
func (w *Array) parts(f Folders, kept results, won winners) (all []mapreduce.Part) {
	for s := range w.Stages {
		st := &w.Stages[s]
		folder := ""
		if len(w.Stages) > 1 {
			folder = st.Name
		}
		for i := range st.Tasks {
			p := mapreduce.Part{Stage: st.Name, Folder: folder, Task: i, Attempt: won[[2]int{s, i}]}
			if output, ok := kept[s][i]; ok {
				p.Data = output
			} else {
				p.File, p.Files = filepath.Join(f.Done(s, i), stdoutName), filepath.Join(f.Done(s, i), filesName)
			}
			all = append(all, p)
		}
	}
	return all
}
