package jobfile

import (
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/inputs"
)

// Template returns the stage's command with places for values.
func (s *Stage) Template() (*inputs.Template, error) {
	return inputs.NewTemplate(s.Command, s.Line, s.Inputs)
}

// Args returns the program of a task and its arguments. A slot of 0 is not known, and {%} stays as it is.
func (s *Stage) Args(index, slot int) ([]string, error) {
	t, err := s.Template()
	if err != nil {
		return nil, err
	}
	return t.Fill(s.task(index, slot))
}

func (s *Stage) task(index, slot int) *inputs.Given {
	k := &inputs.Given{Index: index, Tasks: s.Tasks, Slot: slot}
	if s.Inputs != nil {
		k.Row = s.Inputs.Row(index)
	}
	return k
}

// AppendLine appends what a task runs as a line that a shell reads, for people and logs.
func (s *Stage) AppendLine(b []byte, t *inputs.Template, index int) []byte {
	args, err := t.Fill(s.task(index, 0))
	if err != nil {
		args = s.Command
	}
	if s.Line && len(args) > 0 {
		return append(b, args[len(args)-1]...)
	}
	for i, arg := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		b = inputs.AppendQuoted(b, []byte(arg))
	}
	return b
}

// Shell returns what a task runs as a line that a shell reads.
func (s *Stage) Shell(index int) string {
	t, err := s.Template()
	if err != nil {
		return err.Error()
	}
	return string(s.AppendLine(nil, t, index))
}

// Given returns the values of a task as one reads them, quoted for a shell and with spaces between them; "" for a task
// that has none.
func (s *Stage) Given(index int) string {
	if s.Inputs == nil {
		return ""
	}
	var b []byte
	for i, v := range s.Inputs.Row(index) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = inputs.AppendQuoted(b, v)
	}
	return string(b)
}

// checkInputs finds out whether every task's command can be made.
func (s *Stage) checkInputs() error {
	t, err := s.Template()
	if err != nil {
		return err
	}
	if s.Pipe != nil && s.Inputs != nil {
		return fmt.Errorf("a task reads a block, or is given values; both are too much")
	}
	if s.Inputs == nil {
		return nil
	}
	if err := s.Inputs.Check(); err != nil {
		return err
	}
	if s.Inputs.Count != s.Tasks {
		return fmt.Errorf("there are %d tasks, and inputs for %d", s.Tasks, s.Inputs.Count)
	}
	if !t.Picky() {
		return nil
	}
	for i := range s.Tasks {
		if _, err := t.Fill(s.task(i, 0)); err != nil {
			return err
		}
	}
	return nil
}

// block returns what a task reads from standard input, nil if that is nothing.
func (s *Stage) block(index int) (*Block, error) {
	b := s.Blocks
	if b == nil {
		return nil, nil
	}
	offset, size, err := b.Range(index)
	return &Block{File: b.File, Header: b.Header, Offset: offset, Size: size, Whole: b.Bytes, Changed: b.Changed}, err
}

// Piped returns how the tasks of a job come from a stream, nil if they do not.
func (j *Job) Piped() *inputs.Pipe {
	if j.Array == nil || len(j.Array.Stages) != 1 {
		return nil
	}
	return j.Array.Stages[0].Pipe
}

// WithBlocks returns the job with the blocks of its stream; nil for those that are not known yet.
func (j Job) WithBlocks(b *inputs.Blocks) Job {
	st := j.Array.Stages[0]
	if st.Blocks, st.Tasks = b, 0; b != nil {
		st.Tasks = b.Count
	}
	j.Array = &Array{Stages: []Stage{st}}
	return j
}

// Outline returns the job without the values of its tasks, which are known by their digest.
func (j Job) Outline() Job {
	if j.Array == nil {
		return j
	}
	a := &Array{Stages: append([]Stage(nil), j.Array.Stages...)}
	for i := range a.Stages {
		a.Stages[i].Inputs = a.Stages[i].Inputs.Outline()
	}
	j.Array = a
	return j
}

// CommandOf returns the command that a person has written as words. One word that only a shell can read is a line for
// sh; where there is none, each value is such a line.
func CommandOf(words []string) (command []string, line bool) {
	if len(words) == 0 {
		words = []string{"{}"}
	}
	if len(words) == 1 && (isLine(words[0]) || words[0] == "{}") {
		return []string{"sh", "-c", words[0]}, true
	}
	return words, false
}

// isLine tells whether a word is more than the name of a program. Braces stand for values.
func isLine(word string) bool {
	return strings.ContainsAny(word, " \t\n;&|<>()$`\\\"'*?[]")
}
