package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
)

// A server may have slots of several classes, such as map=4,shuffle=2. A stage takes those that it names. Stages of
// map/reduce work take the classes map and shuffle where there are these. Whatever else names none takes the first.

// The classes of map/reduce work.
const (
	mapClass     = "map"
	shuffleClass = "shuffle" // of all that reads what maps have written
)

// checkClasses refuses stages that ask for slots that there are not: nothing would ever run them.
func (e *Engine) checkClasses(classes []string) error {
	if e.Job.Array == nil {
		return nil
	}
	var found Mistakes
	for i := range e.Job.Array.Stages {
		class := e.Job.Array.Stages[i].Class
		if class == "" || slices.Contains(classes, class) {
			continue
		}
		err := fmt.Errorf("there are no slots of class %s; there are %s", class, strings.Join(classes, ", "))
		if len(classes) == 0 || classes[0] == "" {
			err = fmt.Errorf("the slots have no classes, so none is %s; 'tailcut serve --slots map=4,shuffle=2' has some", class)
		}
		found = append(found, &grammar.FieldError{Field: fmt.Sprintf("job.array.stages[%d].class", i), Problem: err})
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// oneClass refuses a stage that asks for a class of slots in a run of its own.
func (e *Engine) oneClass() error {
	if e.Job.Array == nil {
		return nil
	}
	for i := range e.Job.Array.Stages {
		if st := &e.Job.Array.Stages[i]; st.Class != "" {
			return fmt.Errorf("stage %s: class: a run alone has one class of slots; 'tailcut serve --slots map=4,shuffle=2' has several", st.Name)
		}
	}
	return nil
}

// classify says of each stage which slots it takes.
func (p *Prepared) classify(spec *sched.JobSpec, classes []string) {
	for i := range spec.Stages {
		spec.Stages[i].Class = sched.Class(max(0, slices.Index(classes, p.class(i))))
	}
}

// class names the slots that a stage asks for.
func (p *Prepared) class(stage int) string {
	w := p.work()
	switch {
	case w.Array != nil:
		return w.Array.Stages[stage].Class
	case w.MapReduce.Stages[stage].Kind == mapreduce.KindMap:
		return mapClass
	}
	return shuffleClass
}
