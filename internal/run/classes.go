package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Slots may be of several classes, such as map=4,shuffle=2. A stage of commands takes those that it names; one that
// names none takes the first. Stages of map/reduce work take the classes of their kinds where there are these. Where
// there is a class shuffle they have a stage that shuffles while maps run, see mapreduce.Request.

// ClassSlots are the slots of a class.
type ClassSlots struct {
	Name  string `json:"name"`
	Slots int    `json:"slots"`
}

// ParseClasses reads how many slots there are of each class, in their order: map=4,shuffle=2.
func ParseClasses(text string) (all []ClassSlots, err error) {
	for _, part := range strings.Split(text, ",") {
		name, number, named := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || n < 1 || n > MostSlots || !named || !jobfile.ValidClass(name):
			return nil, fmt.Errorf("expected a number from 1 to %d, or one for each class such as map=4,shuffle=2, not %q", MostSlots, text)
		case len(all) == sched.Classes:
			return nil, fmt.Errorf("expected at most %d classes of slots", sched.Classes)
		case slices.ContainsFunc(all, func(c ClassSlots) bool { return c.Name == name }):
			return nil, fmt.Errorf("class %s stands there twice", name)
		}
		all = append(all, ClassSlots{name, n})
	}
	return all, nil
}

// slotsText is what --slots takes.
func slotsText(n int, classes []ClassSlots) string {
	if len(classes) == 0 {
		return strconv.Itoa(n)
	}
	var all []string
	for _, c := range classes {
		all = append(all, fmt.Sprintf("%s=%d", c.Name, c.Slots))
	}
	return strings.Join(all, ",")
}

// classMachines are the slots of each class, which the core knows as machines.
func classMachines(classes []ClassSlots) (all []trace.JournalMachine) {
	for i, c := range classes {
		all = append(all, trace.JournalMachine{Name: c.Name, Class: sched.Class(i), Slots: c.Slots})
	}
	return all
}

// classes are the names of the classes of slots, by sched.Class; nil if all slots are alike.
func (e *Engine) classes() (names []string) {
	if e.server != nil {
		return e.server.Classes
	}
	for _, c := range e.Classes {
		names = append(names, c.Name)
	}
	return names
}

// checkClasses refuses stages that ask for slots that there are not: nothing would ever run them.
func (e *Engine) checkClasses() error {
	if e.Job.Array == nil {
		return nil
	}
	classes := e.classes()
	var found Mistakes
	for i := range e.Job.Array.Stages {
		class := e.Job.Array.Stages[i].Class
		if class == "" || slices.Contains(classes, class) {
			continue
		}
		err := fmt.Errorf("there are no slots of class %s; there are %s", class, strings.Join(classes, ", "))
		if len(classes) == 0 || classes[0] == "" {
			err = fmt.Errorf("the slots have no classes, so none is %s; --slots map=4,shuffle=2 has some ('tailcut serve', 'tailcut run')", class)
		}
		found = append(found, &grammar.FieldError{Field: fmt.Sprintf("job.array.stages[%d].class", i), Problem: err})
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// shuffles tells whether map/reduce work has a shuffle of its own.
func (e *Engine) shuffles() bool { return slices.Contains(e.classes(), string(mapreduce.KindShuffle)) }

// classify says of each stage which slots it takes.
func classify(spec *sched.JobSpec, work *jobfile.Work, classes []string) {
	for i := range spec.Stages {
		spec.Stages[i].Class = classOf(work, i, classes)
	}
}

// classOf returns the class of the slots that a stage takes. What reads the output of maps is shuffle work unless there
// are slots of its kind.
func classOf(w *jobfile.Work, stage int, classes []string) sched.Class {
	var names []string
	if w.Array != nil {
		names = []string{w.Array.Stages[stage].Class}
	} else if kind := w.MapReduce.Stages[stage].Kind; kind == mapreduce.KindMap {
		names = []string{string(kind)}
	} else {
		names = []string{string(kind), string(mapreduce.KindShuffle)}
	}
	for _, name := range names {
		if at := slices.Index(classes, name); at >= 0 {
			return sched.Class(at)
		}
	}
	return 0
}

// keepOrder puts the classes, and the policies of each, into the order that a run has them in, if it has the same
// classes: in its journal they are numbers.
func (e *Engine) keepOrder(was *Request) {
	if len(was.Classes) != len(e.Classes) {
		return
	}
	var from []int // by the class in the journal
	for _, c := range was.Classes {
		at := slices.IndexFunc(e.Classes, func(x ClassSlots) bool { return x.Name == c.Name })
		if at < 0 {
			return
		}
		from = append(from, at)
	}
	classes := slices.Clone(e.Classes)
	for i, at := range from {
		e.Classes[i] = classes[at]
	}
	e.Policy = policy.Reorder(e.Policy, from)
}

// sameClasses tells whether two requests name the same classes of slots.
func sameClasses(was, is *Request) bool {
	return slices.EqualFunc(was.Classes, is.Classes, func(a, b ClassSlots) bool { return a.Name == b.Name })
}
