package main

import (
	"fmt"
	"unicode/utf8"
)

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
