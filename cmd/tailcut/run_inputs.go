package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
)

// inputFlags are the flags about the values that tasks are given.
type inputFlags struct {
	files                        []string
	null, skip, link, shuf, plus bool
	delimiter, colsep, header    string
	trim                         *choice
	each, replace                int
	stands                       string
	piped                        bool // values came from standard input

	pipe, pipePart   bool
	block            size
	recend, recstart string
}

// inputNames are the names of these flags: a job file has fields of its own for them.
var inputNames = []string{"arg-file", "null", "delimiter", "colsep", "header", "trim", "no-run-if-empty", "max-args", "max-replace-args", "link", "shuf", "replace", "plus", "pipe", "pipe-part", "block", "recend", "recstart"}

// addInputs adds the flags that say what each task is given.
func (f *runFlags) addInputs(cmd *cobra.Command) {
	in := &f.inputs
	group(cmd, "Inputs, of tailcut run -- CMD ARG... ::: VALUE...", func(fl *pflag.FlagSet) {
		fl.StringArrayVarP(&in.files, "arg-file", "a", nil, "run a task for each line of `file`; - is standard input; several combine")
		fl.BoolVarP(&in.null, "null", "0", false, "values end with NUL, as those of find -print0")
		fl.StringVarP(&in.delimiter, "delimiter", "d", "", `values end with these `+"`characters`"+`, such as , or \t`)
		fl.StringVarP(&in.colsep, "colsep", "C", "", "`regexp` between the columns of a value: {1}, {2} and so on")
		fl.StringVar(&in.header, "header", "", "with `:` the first value of each source names it or its columns: {name}")
		wholeVar(fl, &in.each, "max-args", 1, "`values` per task; 0 runs the command once per value, without it")
		fl.Lookup("max-args").Shorthand = "n"
		wholeVar(fl, &in.replace, "max-replace-args", 1, "the same as --max-args")
		fl.Lookup("max-replace-args").Shorthand = "N"
		fl.BoolVarP(&in.skip, "no-run-if-empty", "r", false, "skip blank values; no value at all is no error")
		fl.BoolVar(&in.link, "link", false, "take one value of each source per task, instead of all combinations")
		fl.BoolVar(&in.shuf, "shuf", false, "run the tasks in a random order, which --seed decides")
		in.trim = &choice{valid: inputs.Trims}
		fl.Var(in.trim, "trim", "white space to cut off values: none, left, right or both")
		fl.StringVarP(&in.stands, "replace", "I", "", "`text` that stands for the value in place of {}")
		fl.BoolVar(&in.plus, "plus", false, "replace {..} {...} {+/} {+.} {+..} {/..} as well, as parallel --plus does")
		fl.BoolVar(&in.pipe, "pipe", false, "cut standard input into blocks; each task reads one from its own")
		fl.BoolVar(&in.pipePart, "pipe-part", false, "the same with the file of -a, without a copy")
		in.block = 1 << 20
		fl.Var(&in.block, "block", "bytes of a block; it ends where a record does")
		fl.StringVar(&in.recend, "recend", `\n`, "`characters` that end a record")
		fl.StringVar(&in.recstart, "recstart", "", "`characters` that a record begins with")
		rare(fl, "pipe-part", "recend", "recstart", "max-replace-args", "link", "trim", "replace", "plus")
	})
	complete(cmd, "trim", inputs.Trims...)
	complete(cmd, "header", ":")
}

// commandJob makes a job of the words of a command and of what it is run for.
func (f *runFlags) commandJob(cmd *cobra.Command, words []string) (*jobfile.Job, error) {
	command, groups := inputs.Split(words)
	line, isLine := jobfile.CommandOf(command)
	st := jobfile.Stage{Name: jobfile.SoleStage, Tasks: f.tasks, Command: line, Resumable: f.resumable}
	job := &jobfile.Job{Name: "commands", Array: &jobfile.Array{Stages: []jobfile.Stage{st}}}
	if len(command) > 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(command[0]), " ")
		job.Name = filepath.Base(first)
	}
	if f.tasks > 0 {
		for _, name := range inputNames {
			if f.given(name) {
				return nil, fmt.Errorf("--tasks counts tasks that have no input, and --%s is about inputs; give one of them", name)
			}
		}
		if len(groups) > 0 {
			return nil, fmt.Errorf("--tasks counts tasks that have no input, and %s gives one to each; leave out --tasks", groups[0].Separator)
		}
		return job, nil
	}
	if f.inputs.pipe || f.inputs.pipePart {
		return job, f.pipeStage(cmd, &job.Array.Stages[0], command, groups)
	}
	for _, name := range []string{"block", "recend", "recstart"} {
		if f.given(name) {
			return nil, fmt.Errorf("--%s is about the blocks of --pipe and --pipe-part; give one of them", name)
		}
	}
	rows, err := f.rows(cmd, groups)
	if err != nil {
		return nil, err
	}
	f.tellUnused(cmd, command, isLine)
	sole := &job.Array.Stages[0]
	sole.Inputs, sole.Line, sole.Tasks = rows, isLine, rows.Count
	if _, err := sole.Template(); err != nil {
		return nil, err
	}
	return job, nil
}

// rows reads the values of all tasks.
func (f *runFlags) rows(cmd *cobra.Command, groups []inputs.Group) (*inputs.Rows, error) {
	in := &f.inputs
	o := inputs.Options{
		Header: in.header != "", Trim: in.trim.value, SkipBlank: in.skip, Link: in.link, Shuffle: in.shuf, Seed: f.seed,
		Replace: in.stands, Plus: in.plus, Most: mapreduce.MaxTasks,
	}
	if in.header != "" && in.header != ":" {
		return nil, wrongFlag("header", fmt.Errorf("expected : for a first line with names, not %q", in.header))
	}
	var err error
	if o.PerTask, err = f.perTask(); err != nil {
		return nil, err
	}
	if in.colsep != "" {
		if o.Colsep, err = regexp.Compile(in.colsep); err != nil {
			return nil, wrongFlag("colsep", fmt.Errorf("expected a regular expression, as Go and RE2 have them, not %q: %w", in.colsep, err))
		}
		if o.Colsep.MatchString("") {
			return nil, wrongFlag("colsep", fmt.Errorf(`%q matches nothing at all; for the character | write '\|'`, in.colsep))
		}
	}
	sources, err := f.sources(cmd, groups)
	if err != nil {
		return nil, err
	}
	rows, err := inputs.Build(sources, o)
	if errors.Is(err, inputs.ErrNothing) {
		names := []string{}
		for i := range sources {
			if len(sources[i].Values) == 0 {
				names = append(names, sources[i].Name)
			}
		}
		what := strings.Join(slices.Compact(names), ", ") + ": no values, so there is no task"
		if in.skip {
			notice(cmd.ErrOrStderr(), "%s", show.OneLine(what))
			return nil, errNoTasks
		}
		return nil, fmt.Errorf("%s; with --no-run-if-empty this is no error", what)
	}
	return rows, err
}

// errNoTasks ends a run that has nothing to do, and does not mind.
var errNoTasks = errors.New("no tasks")

// perTask is how many values a task takes.
func (f *runFlags) perTask() (int, error) {
	n, name := f.inputs.each, "max-args"
	if f.given("max-replace-args") {
		if f.given(name) {
			return 0, errors.New("--max-args and --max-replace-args are the same; give one of them")
		}
		n, name = f.inputs.replace, "max-replace-args"
	}
	if n < 0 || n > mapreduce.MaxTasks {
		return 0, wrongFlag(name, fmt.Errorf("expected a number between 0 and %d, not %d", mapreduce.MaxTasks, n))
	}
	if n == 0 {
		return inputs.None, nil
	}
	return n, nil
}

// sources reads files and words; without any, standard input.
func (f *runFlags) sources(cmd *cobra.Command, groups []inputs.Group) ([]inputs.Source, error) {
	delimiter := []byte("\n")
	switch {
	case f.inputs.null && f.given("delimiter"):
		return nil, errors.New("--null and --delimiter both say what values end with; give one of them")
	case f.inputs.null:
		delimiter = []byte{0}
	case f.given("delimiter"):
		var err error
		if delimiter, err = inputs.Delimiter(f.inputs.delimiter); err != nil {
			return nil, wrongFlag("delimiter", err)
		}
	}
	var files []inputs.Group
	for _, path := range f.inputs.files {
		files = append(files, inputs.Group{Separator: "::::", Words: []string{path}})
	}
	if groups = append(files, groups...); len(groups) == 0 {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, errors.New("the command has no input; give values behind :::, a file with -a, or a list on standard input, as in: tailcut run -- gzip {} ::: *.log; or run it --tasks N times")
		}
		groups = []inputs.Group{{Separator: "::::", Words: []string{"-"}}}
	}
	var all []inputs.Source
	stdin := false
	for i := range groups {
		g := &groups[i]
		if !g.Files() {
			s := inputs.Source{Name: g.Separator, Linked: g.Linked()}
			for _, w := range g.Words {
				s.Values = append(s.Values, []byte(w))
			}
			all = append(all, s)
			continue
		}
		for _, path := range g.Words {
			if path == "-" && stdin {
				return nil, errors.New("-: standard input can be read once only; write it to a file, and name that twice")
			}
			stdin = stdin || path == "-"
			f.inputs.piped = stdin
			values, err := inputs.ReadFile(path, delimiter)
			if err != nil {
				return nil, err
			}
			if len(values) > 0 && delimiter[0] == '\n' && !slices.ContainsFunc(values, func(v []byte) bool { return !strings.HasSuffix(string(v), "\r") }) {
				notice(cmd.ErrOrStderr(), `%s: every line ends with a carriage return, which is part of the value; to leave it out: --delimiter '\r\n'`, show.OneLine(path))
			}
			name := path
			if path == "-" {
				name = "standard input"
			}
			all = append(all, inputs.Source{Name: name, Linked: g.Linked(), Values: values})
		}
	}
	return all, nil
}

// tellUnused says of words that a shell would obey that no shell reads them.
func (f *runFlags) tellUnused(cmd *cobra.Command, command []string, line bool) {
	if line {
		return
	}
	for _, w := range command[1:] {
		if slices.Contains([]string{"|", "||", "&&", "<", ">", ">>", "2>", "2>&1"}, w) {
			notice(cmd.ErrOrStderr(), "%s is an argument of %s here, and no shell reads it; for a shell, write the command as one word: tailcut run -- '%s'",
				w, command[0], strings.ReplaceAll(strings.Join(command, " "), "'", `'\''`))
			return
		}
	}
}

// wordsOf is the annotation of a command that holds the words of the command line, with a NUL behind each.
const wordsOf = "tailcut_words"

// hearCommand prepares the verbs run and submit for words as GNU parallel takes them: where ::: follows and no --, the
// first word that is no flag begins the command, and what is behind it belongs to the command.
func hearCommand(root *cobra.Command, args []string) {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "run" && !isSubmit(cmd) {
		return
	}
	cmd.Annotations = map[string]string{wordsOf: strings.Join(rest, "\x00")}
	if !slices.Contains(before(rest, "--"), "--help") && slices.ContainsFunc(before(rest, "--"), isSeparator) {
		cmd.Flags().SetInterspersed(false)
	}
}

func isSeparator(word string) bool { return slices.Contains(inputs.Separators, word) }

// before returns the words in front of one.
func before(words []string, word string) []string {
	if i := slices.Index(words, word); i >= 0 {
		return words[:i]
	}
	return words
}

// asCommand tells how to write what may have been meant as a command: the words of the user with -- before the first
// that is no flag, "" if there is none.
func asCommand(cmd *cobra.Command) string {
	words := strings.Split(cmd.Annotations[wordsOf], "\x00")
	if slices.Contains(words, "--") {
		return ""
	}
	i := firstWord(cmd.Flags(), words)
	if i == len(words) || slices.Contains(mapreduce.Operators(), words[i]) {
		return ""
	}
	if _, err := exec.LookPath(words[i]); err != nil && grammar.Nearest(words[i], mapreduce.Operators()) != "" {
		return "" // a slip; but who writes gzip does not mean grep
	}
	paste := []string{"tailcut", cmd.Name()}
	for j, w := range words {
		if j == i {
			paste = append(paste, "--")
		}
		if !isSeparator(w) {
			w = string(inputs.AppendQuoted(nil, []byte(w)))
		}
		paste = append(paste, strings.ReplaceAll(w, "'{}'", "{}"))
	}
	if len(cmd.Flags().Lookup("arg-file").Value.String()) <= len("[]") && !cmd.Flags().Changed("tasks") && !slices.ContainsFunc(words, isSeparator) && term.IsTerminal(int(os.Stdin.Fd())) {
		paste = append(paste, ":::", "VALUE...")
	}
	return strings.Join(paste, " ")
}

// firstWord returns the position of the first word that is neither a flag nor its value.
func firstWord(fl *pflag.FlagSet, words []string) int {
	takes := func(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal == "" }
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, long := strings.CutPrefix(w, "--")
		switch {
		case len(w) < 2 || w[0] != '-':
			return i
		case long:
			if !strings.Contains(name, "=") && takes(fl.Lookup(name)) {
				i++
			}
		default:
			for j := 1; j < len(w); j++ {
				if takes(fl.ShorthandLookup(w[j : j+1])) {
					if j == len(w)-1 {
						i++
					}
					break
				}
			}
		}
	}
	return len(words)
}

// misplaced is the error of a flag about inputs where no command is given any.
func (f *runFlags) misplaced(cmd *cobra.Command, name string) error {
	if paste := asCommand(cmd); paste != "" {
		return fmt.Errorf("--%s needs a command after --, as in: %s", name, paste)
	}
	return fmt.Errorf("--%s needs a command and its values, as in: tailcut run -- gzip {} ::: *.log", name)
}

// asked tells whether flags say where the input of a command comes from.
func (in *inputFlags) asked() bool { return len(in.files) > 0 || in.pipe || in.pipePart }
