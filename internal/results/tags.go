package results

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
)

// Tags are what stands before the lines of tasks.
type Tags struct {
	work      *jobfile.Work
	templates []*inputs.Template // by stage; nil for the values of the task, or its name where it has none
}

// NewTags returns the tags of the tasks of some work: its values with spaces between them, or what a template with
// places for them says, if that is not "". The error is the template's.
func NewTags(template string, w *jobfile.Work) (*Tags, error) {
	t := &Tags{work: w}
	if template == "" {
		return t, nil
	}
	stages := 1
	if w.Array != nil {
		stages = len(w.Array.Stages)
	}
	for i := range stages {
		var rows *inputs.Rows
		if w.Array != nil {
			rows = w.Array.Stages[i].Inputs
		}
		one, err := inputs.NewTemplate([]string{template}, false, rows)
		if err != nil {
			return nil, err
		}
		t.templates = append(t.templates, one)
	}
	return t, nil
}

// Of returns the tag of a task, with the tab behind it.
func (t *Tags) Of(stage, index int) []byte {
	var row [][]byte
	name, tasks := strconv.Itoa(index), 0
	if t.work.Array != nil {
		st := &t.work.Array.Stages[stage]
		if tasks = st.Tasks; st.Inputs != nil {
			row = st.Inputs.Row(index)
			name = string(bytes.Join(row, []byte(" ")))
		}
		if len(t.work.Array.Stages) > 1 {
			name = st.Name + "/" + name
		}
	} else {
		stage = 0
	}
	if t.templates != nil {
		args, err := t.templates[stage].Fill(&inputs.Given{Index: index, Tasks: tasks, Row: row})
		if err == nil && t.templates[stage].Plain() { // the values would come behind it
			args = args[:1]
		}
		if err == nil {
			name = strings.Join(args, " ")
		}
	}
	return []byte(name + "\t")
}
