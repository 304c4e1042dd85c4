package main

import (
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

// check finds what is wrong with a request as far as can be told without looking at its input, so that a slip of the
// pen is told before the output folder is made, and before an earlier run in it is held against the request.
func (f *runFlags) check(e *engine) error {
	mr := e.Job.MapReduce
	reduces := mr != nil && (mr.Operator.Name != "streaming" || mr.Operator.Reducer != "")
	for _, flag := range []struct {
		name string
		used bool
		need string
	}{
		{"split-size", mr != nil, "is about the input of an operator or a mapper, and an array job has none"},
		{"max-line", mr != nil, "is about the input of an operator or a mapper, and an array job has none"},
		{"reducers", reduces, "is about operators and about a --reducer, and the job has neither"},
	} {
		if f.given(flag.name) && !flag.used {
			return fmt.Errorf("--%s %s", flag.name, flag.need)
		}
	}
	if reduces && (f.reducers < 1 || f.reducers > mapreduce.MaxReducers) {
		return f.wrong("reducers", fmt.Errorf("expected a number between 1 and %d, not %d", mapreduce.MaxReducers, f.reducers))
	}
	if err := e.Job.Check(); err != nil {
		return err
	}
	return e.checkText()
}

// checkJoblog finds out whether the file can be written to.
func (e *engine) checkJoblog() error {
	if e.joblog == "" {
		return nil
	}
	file, err := os.OpenFile(e.joblog, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("--joblog: %w", err)
	}
	return file.Close()
}

// checkText refuses what cannot be kept as it is: requests, work and attempts' specifications are JSON, whose strings
// are UTF-8, and a byte that is not would become another without a word. Files of the input may have any name.
func (e *engine) checkText() error {
	if e.Job.Array != nil {
		for i := range e.Job.Array.Stages {
			st := &e.Job.Array.Stages[i]
			for _, arg := range st.Command {
				if err := isText("the command of stage "+st.Name, arg); err != nil {
					return err
				}
			}
			for _, kv := range st.Env {
				if err := isText("the environment of stage "+st.Name, kv); err != nil {
					return err
				}
			}
		}
	}
	if err := isText("the working directory", e.Dir); err != nil {
		return err
	}
	return isText("--output", e.out)
}

func isText(what, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: expected valid UTF-8, got %q", what, text)
	}
	return nil
}
