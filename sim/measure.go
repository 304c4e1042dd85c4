package sim

import "github.com/tailcut/tailcut/trace"

// Measure says which jobs of a run its figures are of, and divides them into classes. All jobs run, measured or not.
type Measure struct {
	Classes int // 0 if no class has figures of its own

	// Of sets the class of each job of a workload, by its index: from 0, or [Unmeasured]. The classes are all 0 before.
	// It is called once for each run, by several goroutines at once.
	Of func(w *trace.Workload, class []int16)
}

// Unmeasured is the class of jobs that run and are in no figure.
const Unmeasured = -1

// ClassCell is what a run has shown of the jobs of a class. Flow times are not numbers if it had none of them.
type ClassCell struct {
	Stats
	Paired Paired
}

// apply notes the class of each job, and what the classes have shown.
func (m *Measure) apply(w *trace.Workload, res *Result, c *Cell) {
	if m == nil {
		return
	}
	class := make([]int16, len(res.Jobs))
	m.Of(w, class)
	for j := range res.Jobs {
		res.Jobs[j].Class = class[j]
	}
	c.Classes = make([]ClassCell, m.Classes)
	for k := range c.Classes {
		c.Classes[k].Stats = res.classStats(int16(k))
	}
}

// Class is the comparison of the jobs of one class, over the runs that had any.
func (x *Comparison) Class(class int) *Comparison {
	of := &Comparison{Tail: x.Tail}
	for i := range x.Cells {
		c := x.Cells[i]
		k := &c.Classes[class]
		if k.Succeeded+k.Failed == 0 {
			continue
		}
		c.Stats, c.Paired, c.Classes = k.Stats, k.Paired, nil
		if of.Cells = append(of.Cells, c); c.Policy == 0 {
			of.Runs++
		}
	}
	return of
}
