package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// Driver is the name of a class of which there is always a free slot: what applications do between their stages has it,
// so that these begin as late as they did.
const Driver = "driver"

// Driven returns the index of that class, -1 if there is none, how many tasks have it, and what they take together.
func (w *Workload) Driven() (class, tasks int, seconds float64) {
	if class = slices.Index(w.Classes, Driver); class < 0 {
		return class, 0, 0
	}
	for i := range w.Stages {
		st := &w.Stages[i]
		if int(st.Class) == class {
			tasks += int(st.Tasks)
			for _, d := range w.DurationsOf(st) {
				seconds += d.Seconds()
			}
		}
	}
	return class, tasks, seconds
}

// Slotted returns the number of tasks that are no driver's, and what they take together in seconds.
func (w *Workload) Slotted() (tasks int, seconds float64) {
	_, tasks, seconds = w.Driven()
	return w.Tasks() - tasks, w.WorkSeconds() - seconds
}

// class returns the index in Workload.Classes of a name, which may be "".
func (in *reader) class(name string) (sched.Class, error) {
	w := in.w
	if len(w.Classes) == 0 && name == "" {
		return 0, nil
	}
	if len(w.Classes) == 0 && len(w.Stages) > 0 {
		w.Classes = append(w.Classes, "") // of all stages so far
	}
	k := slices.Index(w.Classes, name)
	if k < 0 {
		if k = len(w.Classes); k == sched.Classes {
			return 0, fmt.Errorf("expected at most %d classes of slots, %q is one more", sched.Classes, name)
		}
		w.Classes = append(w.Classes, name)
	}
	return sched.Class(k), nil
}

// SetClasses numbers the classes of slots as a cluster does that has those named, in their order; none is a cluster
// that knows no classes. It fails if a stage needs a class that the cluster does not have.
func (w *Workload) SetClasses(names []string) error {
	if slices.Equal(names, w.Classes) {
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("expected slots of the classes that the stages need, such as %s=2", strings.Join(w.Classes, "=2,"))
	}
	if len(w.Classes) == 0 {
		return fmt.Errorf("expected a number: the stages of %s name no class of slots", w.Name)
	}
	to := make([]sched.Class, len(w.Classes))
	for k, name := range w.Classes {
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("expected %q among the classes, a stage needs its slots", name)
		}
		to[k] = sched.Class(i)
	}
	for i := range w.Stages {
		w.Stages[i].Class = to[w.Stages[i].Class]
	}
	w.Classes = names
	return nil
}
