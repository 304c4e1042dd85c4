package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/policy"
)

// addWhat adds the flags that say what to run.
func (f *runFlags) addWhat(cmd *cobra.Command) {
	group(cmd, "What to run", func(fl *pflag.FlagSet) {
		wholeVar(fl, &f.tasks, "tasks", 0, "run the command after -- `N` times")
		fl.StringVarP(&f.file, "file", "f", "", "job `file` in YAML")
		fl.StringVar(&f.mapper, "mapper", "", "shell `command` that maps lines to key<TAB>value lines")
		fl.StringVar(&f.reducer, "reducer", "", "shell `command` that reduces sorted key<TAB>value lines")
		fl.StringVar(&f.combiner, "combiner", "", "shell `command` that reduces a map attempt's output before the reducers read it")
		wholeVar(fl, &f.reducers, "reducers", 1, "number of reduce tasks, one part of the result each")
		fl.Var(&f.splitSize, "split-size", "bytes of input per map task (of compressed files: compressed bytes)")
		f.maxLine = mapreduce.DefaultMaxLine
		fl.Var(&f.maxLine, "max-line", "longest line or word of an operator's input; at most 1GiB")
		fl.BoolVar(&f.resumable, "resumable", false, "let attempts resume others' work: the command after -- reads TAILCUT_RESUME_OFFSET; the mapper treats each line by itself")
		rare(fl, "combiner", "split-size", "max-line", "resumable")
	})
}

// fromFile reads the job file and sets the flags that it gives, save those given on the command line. It returns the
// job and its working directory.
func (f *runFlags) fromFile(fl *pflag.FlagSet, args []string) (*jobfile.Job, string, error) {
	for _, name := range append([]string{"mapper", "reducer", "combiner", "tasks", "resumable"}, inputNames...) {
		if f.given(name) {
			return nil, "", fmt.Errorf("--file: the job file says what to run; remove --%s", name)
		}
	}
	if len(args) > 0 {
		return nil, "", fmt.Errorf("--file: the job file says what to run; remove %q", args[0])
	}
	file, err := jobfile.Read(f.file, func(s jobfile.Setting) error {
		if f.given(s.Flag) || f.overruled(s.Flag) {
			return nil
		}
		flag := fl.Lookup(s.Flag)
		if flag == nil {
			f.unused = append(f.unused, s.Field)
			return nil
		}
		err := flag.Value.Set(s.Text)
		if errors.Is(err, strconv.ErrRange) {
			err = fmt.Errorf("expected a smaller number than %s", s.Text)
		}
		if err == nil && s.Flag == "policy" {
			for part := range strings.SplitSeq(s.Text, "/") { // one for each class of slots
				if err == nil {
					_, err = policy.New(part, 0)
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	f.inFile, f.placed = file, map[string]placed{}
	for _, s := range file.Settings {
		if !f.given(s.Flag) && !f.overruled(s.Flag) {
			f.placed[s.Flag] = placed{file, s}
		}
	}
	return &file.Job, file.Dir, nil
}

// shape tells a map/reduce job how to cut its input and its output.
func (f *runFlags) shape(mr *mapreduce.Request) {
	mr.SplitSize, mr.Reducers = int64(f.splitSize), f.reducers
	if mr.Operator.Name == "streaming" && mr.Operator.Reducer == "" {
		mr.Reducers = 0
	}
}

// job makes a job of flags and arguments.
func (f *runFlags) job(cmd *cobra.Command, args []string) (*jobfile.Job, error) {
	streaming := f.mapper != "" || f.reducer != "" || f.combiner != ""
	switch {
	case f.tasks != 0 && streaming:
		return nil, fmt.Errorf("--tasks and --mapper: give one of them")
	case f.resumable && f.tasks == 0 && f.mapper == "" && f.dash < 0 && !slices.ContainsFunc(args, isSeparator):
		return nil, fmt.Errorf("--resumable is about a command after --, or a --mapper; built-in operators resume anyway")
	case f.given("tasks") && (f.tasks < 1 || f.tasks > mapreduce.MaxTasks):
		return nil, fmt.Errorf("--tasks: expected a number between 1 and %d, not %d", mapreduce.MaxTasks, f.tasks)
	case f.tasks > 0 && (f.dash < 0 && !slices.ContainsFunc(args, isSeparator) || len(args) == f.dash):
		return nil, fmt.Errorf("--tasks needs a command after --, as in: tailcut run --tasks 10 -- ./task.sh {}")
	case f.dash > 0 && (f.tasks > 0 || !streaming && !slices.Contains(mapreduce.Operators(), args[0])):
		return nil, fmt.Errorf("the command stands after --, and %q before it", args[0])
	case slices.ContainsFunc(before(args, "--"), isSeparator) && f.dash < 0 && slices.Contains(mapreduce.Operators(), args[0]):
		return nil, fmt.Errorf("%s is an operator here, and its input needs no :::; for the program of this name write: tailcut run -- %s", args[0], strings.Join(args, " "))
	case streaming && (f.dash == 0 || f.dash < 0 && slices.ContainsFunc(args, isSeparator)):
		return nil, fmt.Errorf("--mapper reads files, and a command after -- is given values; give one of them")
	case f.dash == 0, f.dash < 0 && slices.ContainsFunc(args, isSeparator), f.dash < 0 && len(args) == 0 && f.inputs.asked() && !streaming:
		return f.commandJob(cmd, slices.Clone(args))
	}
	for _, name := range inputNames {
		if f.given(name) {
			return nil, f.misplaced(cmd, name)
		}
	}
	op := mapreduce.Operator{Name: "streaming", Mapper: f.mapper, Reducer: f.reducer, Combiner: f.combiner, ByLine: streaming && f.resumable}
	if streaming {
		if f.mapper == "" {
			return nil, fmt.Errorf("--reducer and --combiner need a --mapper; use --mapper cat to pass lines through")
		}
		if err := neitherOperator(args); err != nil {
			return nil, err
		}
	} else {
		if len(args) == 0 {
			return nil, fmt.Errorf("nothing to run; give an operator and its input, --mapper, --tasks or -f (see '%s --help')", cmd.CommandPath())
		}
		if valid := mapreduce.Operators(); !slices.Contains(valid, args[0]) {
			err := grammar.Unknown("operator", args[0], valid)
			if paste := asCommand(cmd); paste != "" {
				err = fmt.Errorf("unknown operator %q; for a command write: %s", args[0], paste)
			}
			return nil, err
		}
		op = mapreduce.Operator{Name: args[0]}
		args = args[1:]
		if op.Name == "grep" && len(args) > 0 {
			op.Pattern, args = args[0], args[1:]
		}
	}
	return &jobfile.Job{Name: op.Name, MapReduce: &mapreduce.Request{Operator: op, Inputs: slices.Clone(args)}}, nil
}

// neitherOperator refuses an operator beside a mapper, unless it is the name of a file.
func neitherOperator(args []string) error {
	if len(args) == 0 || !slices.Contains(mapreduce.Operators(), args[0]) {
		return nil
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("give an operator (%s) or --mapper, not both", args[0])
}

// checkShape finds flags that are of no use to a job of this kind.
func (f *runFlags) checkShape(job *jobfile.Job) error {
	mr := job.MapReduce
	reduces := mr != nil && (mr.Operator.Name != "streaming" || mr.Operator.Reducer != "")
	for _, flag := range []struct {
		name string
		used bool
		need string
	}{
		{"split-size", mr != nil, "needs the input of an operator or a mapper; an array job has none"},
		{"max-line", mr != nil, "needs the input of an operator or a mapper; an array job has none"},
		{"reducers", reduces, "needs an operator or a --reducer"},
	} {
		if f.given(flag.name) && !flag.used {
			return fmt.Errorf("--%s %s", flag.name, flag.need)
		}
	}
	if reduces && (f.reducers < 1 || f.reducers > mapreduce.MaxReducers) {
		return f.wrong("reducers", fmt.Errorf("expected a number between 1 and %d, not %d", mapreduce.MaxReducers, f.reducers))
	}
	return nil
}
