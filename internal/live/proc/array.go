package proc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/strides"
)

// arrayCommand returns the process of an attempt in a slot, which goes on behind the stride from.
func (w work) arrayCommand(f Folders, a live.Attempt, slot int, dir string, from *strides.Stride) (*jobfile.Command, error) {
	st := &w.Array.Stages[a.Stage]
	seat := jobfile.Seat{Number: a.Number, Slot: slot, Dir: dir}
	for _, s := range st.After {
		seat.Inputs = append(seat.Inputs, f.DoneStage(s))
	}
	for _, s := range st.AfterEach {
		seat.Inputs = append(seat.Inputs, f.Done(s, a.Index))
	}
	cmd, err := w.Array.Command(a.Stage, a.Index, seat)
	if err != nil {
		return nil, err
	}
	if st.Resumable {
		cmd.Env = append([]string{"TAILCUT_RESUME_OFFSET=" + strconv.FormatInt(from.Offset(), 10)}, cmd.Env...)
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
		return errors.New("the task replaced the folder TAILCUT_OUTPUT; it must write its segments into the folder that it was given")
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
func assembleArray(dir string) error {
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
	if err := mapreduce.Move(dir, filepath.Join(whole, jobfile.FilesName)); err != nil {
		return err
	}
	return os.Rename(whole, dir)
}

// winners are the attempts that won, by stage and index of the task.
type winners [][]winner

// winner is what is known of the attempt that won a task, see live.Attempt: a few bytes, for there may be millions.
type winner struct {
	launched uint32 // attempts of the task up to this one, 0 if none has won
	work     uint32
	output   []byte // that the journal has; nil if it is in the task's folder
}

func (w winners) add(a live.Attempt, output []byte) {
	of := w[a.Stage]
	if more := a.Index + 1 - len(of); more > 0 {
		of = append(of, make([]winner, more)...)
	}
	of[a.Index] = winner{uint32(a.Number) + 1, uint32(a.Work), output}
	w[a.Stage] = of
}

// of returns the winner of a task, the zero value if there is none.
func (w winners) of(stage, index int) (x winner) {
	if uint(stage) < uint(len(w)) && uint(index) < uint(len(w[stage])) { // a name in a folder may be any
		x = w[stage][index]
	}
	return x
}

// number returns which attempt of its task it was, from 0; that of a task which nobody has won is 0.
func (w winner) number() int { return int(max(w.launched, 1) - 1) }

// size returns how many bytes of output there are.
func (w winners) size() (n int) {
	for _, stage := range w {
		for i := range stage {
			n += len(stage[i].output)
		}
	}
	return n
}

// commands returns for each of several works what a stage of it runs, as the manifest tells it; nil if all run the
// same.
func commands(works []*jobfile.Work, stage int) []string {
	if len(works) < 2 {
		return nil
	}
	all := make([]string, len(works))
	one := true
	for k, w := range works {
		st := &w.Array.Stages[stage]
		var words []string
		for _, word := range st.Command {
			words = append(words, show.ShellWord(word))
		}
		if all[k] = strings.Join(words, " "); st.Line {
			all[k] = st.Command[len(st.Command)-1]
		}
		if w.Dir != works[0].Dir {
			all[k] = "cd " + show.ShellWord(w.Dir) + " && " + all[k]
		}
		one = one && all[k] == all[0]
	}
	if one {
		return nil
	}
	return all
}

// parts lists every task's standard output, as a file or as the journal has kept it, and the files that it left, if it
// left any. With several stages each has a folder of its own.
func (w work) arrayParts(f Folders, won winners, works []*jobfile.Work) []mapreduce.Part {
	n := 0
	for s := range w.Array.Stages {
		n += w.Array.Stages[s].Tasks
	}
	all := make([]mapreduce.Part, 0, n)
	for s := range w.Array.Stages {
		st := &w.Array.Stages[s]
		folder := ""
		if len(w.Array.Stages) > 1 {
			folder = st.Name
		}
		ran := commands(works, s)
		for i := range st.Tasks {
			x := won.of(s, i)
			p := mapreduce.Part{Stage: st.Name, Folder: folder, Task: i, Attempt: x.number()}
			if ran != nil {
				p.Command = ran[x.work]
			}
			if x.output != nil {
				p.Data = x.output
			} else {
				p.File, p.Files = filepath.Join(f.Done(s, i), jobfile.StdoutName), filepath.Join(f.Done(s, i), jobfile.FilesName)
			}
			all = append(all, p)
		}
	}
	return all
}
