package run

import (
	"encoding/json"
	"fmt"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/show"
)

// recall gives a request of the journal the values of its tasks, which only the work has.
func (r *Request) recall(work []byte) {
	if r.Job.Array == nil {
		return
	}
	given := false
	for i := range r.Job.Array.Stages {
		given = given || r.Job.Array.Stages[i].Inputs != nil
	}
	var w jobfile.Work
	if !given || json.Unmarshal(work, &w) != nil || w.Array == nil || len(w.Array.Stages) != len(r.Job.Array.Stages) {
		return
	}
	for i := range w.Array.Stages {
		r.Job.Array.Stages[i].Inputs = w.Array.Stages[i].Inputs
	}
}

// inputsApart lists for each stage of two jobs how what its tasks are given differs.
func inputsApart(was, is *jobfile.Job) (all []difference) {
	if was.Array == nil || is.Array == nil || len(was.Array.Stages) != len(is.Array.Stages) {
		return nil
	}
	for i := range was.Array.Stages {
		s, t := &was.Array.Stages[i], &is.Array.Stages[i]
		a, b := s.Inputs, t.Inputs
		if a == nil && b == nil || a != nil && b != nil && a.Digest == b.Digest {
			continue
		}
		of := ""
		if len(was.Array.Stages) > 1 {
			of = " of stage " + pasteWord(s.Name)
		}
		if a == nil || b == nil {
			all = append(all, difference{what: "the input" + of, was: counted(a), is: counted(b)})
			continue
		}
		n := firstApart(a, b)
		all = append(all, difference{what: fmt.Sprintf("the input of task %d%s", n, of), was: given(s, n), is: given(t, n)})
	}
	return all
}

func counted(r *inputs.Rows) string {
	if r == nil {
		return "not given"
	}
	return "for " + show.Count(r.Count, "task")
}

// firstApart returns the first task whose values are not the same.
func firstApart(a, b *inputs.Rows) int {
	n := min(a.Count, b.Count)
	for i := range n {
		x, y := a.Row(i), b.Row(i)
		if len(x) != len(y) {
			return i
		}
		for j := range x {
			if string(x[j]) != string(y[j]) {
				return i
			}
		}
	}
	return n
}

// given is what a task is given, for a message.
func given(st *jobfile.Stage, task int) string {
	const most = 80
	if task >= st.Inputs.Count {
		return "none"
	}
	text := st.Given(task)
	if text == "" {
		return "nothing"
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return show.OneLine(text)
}

// slotted tells whether a command asks for the slot that its attempt is in.
func slotted(j *jobfile.Job) bool {
	if j.Array == nil {
		return false
	}
	for i := range j.Array.Stages {
		st := &j.Array.Stages[i]
		if t, err := st.Template(); err == nil && st.Inputs != nil && t.Slotted() {
			return true
		}
	}
	return false
}
