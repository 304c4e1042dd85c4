package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/tailcut/tailcut/live"
	"github.com/tailcut/tailcut/mapreduce"
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
func (w *Array) assemble(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // the attempt removed it
		return os.Mkdir(dir, 0o777)
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	whole := dir + ".whole"
	if err := os.Mkdir(whole, 0o777); err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(whole, filesName)); err != nil {
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

// publish moves every task's standard output to OUT/part-NNNNN, or writes it there if the journal has kept it, and its
// files, if it left any, to OUT/part-NNNNN.files. With several stages each has a folder of its own in OUT. It is
// repeated after a crash.
func (w *Array) publish(f Folders, kept results, out string) error {
	for s := range w.Stages {
		dir := out
		if len(w.Stages) > 1 {
			dir = filepath.Join(out, w.Stages[s].Name)
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := sideBySide(w.Stages[s].Tasks, func(i int) error {
			part := filepath.Join(dir, mapreduce.PartName(i))
			if output, ok := kept[s][i]; ok {
				return os.WriteFile(part, output, 0o666)
			}
			return publishTask(f.Done(s, i), part)
		}); err != nil {
			return err
		}
		if err := syncKept(dir, kept[s]); err != nil {
			return err
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	success, err := os.Create(filepath.Join(out, mapreduce.SuccessName))
	if err != nil {
		return err
	}
	return errors.Join(success.Sync(), success.Close(), syncDir(out))
}

// syncKept makes durable what was written from the journal.
func syncKept(dir string, kept map[int][]byte) error {
	var names []string
	for i, output := range kept {
		if len(output) > 0 {
			names = append(names, mapreduce.PartName(i))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return syncAll(dir, names)
}

func publishTask(done, part string) error {
	if err := move(filepath.Join(done, stdoutName), part); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	files := filepath.Join(done, filesName)
	switch err := syscall.Rmdir(files); err {
	case nil, syscall.ENOENT: // it was empty, or moved before a crash
		return nil
	case syscall.ENOTEMPTY, syscall.EEXIST:
		return os.Rename(files, part+".files")
	default:
		return fmt.Errorf("publish: %s: %w", files, err)
	}
}

// move renames a file that may have been renamed already, before a crash.
func move(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Lstat(to); there == nil {
			return nil
		}
	}
	return err
}
