package sched

// Class says what kind of slots a stage needs and a machine has, such as map slots and shuffle slots. Without classes
// all is of class 0.
type Class uint8

// Classes bounds the classes of a cluster: a class is below it.
const Classes = 4

// PerClass makes one policy of several: the one at index k is asked about the slots of class k and sees nothing else,
// as if they and the tasks that need them were all there is. So a policy that knows nothing of classes serves a cluster
// that has them. It is told what happens to jobs, and what happens to its own tasks and machines; rows of jobs and
// stages count as pending, running or live what is of its class. What is known of sizes (Unfinished, Done, Estimate)
// and the clone budget are of all classes. Each of the policies must be a value of its own.
func PerClass(policies ...Policy) Policy {
	p := &perClass{policies: policies, others: make([]Onlooker, len(policies))}
	for k, q := range policies {
		p.others[k], _ = q.(Onlooker)
	}
	return p
}

// Onlooker is a policy that, under PerClass, wants to know what happens to the tasks and machines of the other classes
// too.
type Onlooker interface {
	Policy
	Overhear(v *View, ev *Event)
}

type perClass struct {
	policies []Policy
	others   []Onlooker // by class; nil where the policy is none
}

// Bounds are the widest of any: the budget is that of all classes.
func (p *perClass) Bounds() (most Bounds) {
	for _, q := range p.policies {
		if q, ok := q.(Bounded); ok {
			b := q.Bounds()
			most.Clones, most.Running = max(most.Clones, b.Clones), max(most.Running, b.Running)
			if most.Attempts = max(most.Attempts, b.Attempts); b.Attempts < 0 {
				most.Attempts = maxLive
			}
		}
	}
	return most
}

func (p *perClass) Observe(v *View, ev *Event) {
	class, one := v.classOf(ev)
	for k, q := range p.policies {
		v.narrow(Class(k))
		if !one || class == Class(k) {
			q.Observe(v, ev)
		} else if o := p.others[k]; o != nil {
			o.Overhear(v, ev)
		}
	}
	v.widen()
}

func (p *perClass) Decide(v *View, act *Actions) {
	for k, q := range p.policies {
		v.narrow(Class(k))
		q.Decide(v, act)
	}
	v.widen()
}

// classOf returns the class that an event concerns; one is false if it concerns all.
func (v *View) classOf(ev *Event) (class Class, one bool) {
	switch ev.Kind {
	case MachineJoined, MachineLost, MachineResized, DataFetched:
		return v.machines[ev.Machine].Class, true
	case JobArrived, JobCancelled, JobPaused, JobContinued, JobChanged, JobDone, JobFailed, JobRetired, TimerFired:
		return 0, false
	default:
		return v.stage(ev.Stage).Class, true
	}
}

// know takes notice of a class in use.
func (v *View) know(class Class) {
	if class > 0 {
		v.mixed, v.whole = true, true
	}
}

func (v *View) narrow(class Class) { v.class, v.whole, v.part = class, false, v.mixed || class > 0 }
func (v *View) widen()             { v.class, v.whole, v.part = 0, v.mixed, false }

// sees tells whether the reader sees tasks of a class.
func (v *View) sees(class Class) bool { return v.whole || class == v.class }

// beside is what a job has of the classes but 0, by class. Jobs of class 0 alone have no row of it.
type beside [Classes]struct{ pending, live uint32 }

// besideOf counts what is of a stage's class, which is not 0.
func (v *View) besideOf(st *Stage) *struct{ pending, live uint32 } {
	return &v.beside.At(st.Job)[st.Class]
}

// narrowJob returns the row of a job with the tasks and attempts that the reader sees.
func (v *View) narrowJob(j JobID) Job {
	job, others := v.jobs.Get(j), v.beside.look(j)
	if v.class > 0 {
		job.Pending, job.Live = others[v.class].pending, others[v.class].live
		return job
	}
	for _, n := range others {
		job.Pending -= n.pending
		job.Live -= n.live
	}
	return job
}

// narrowStage returns the row of a stage whose tasks the reader does not see.
func narrowStage(row *Stage) Stage {
	st := *row
	st.Pending, st.Running, st.Live = 0, 0, 0
	return st
}

// sum returns the number of what the reader sees.
func (v *View) sum(n *[Classes]int) int {
	if v.whole {
		return total(n)
	}
	return n[v.class]
}

func total(n *[Classes]int) int {
	sum := 0
	for _, x := range n {
		sum += x
	}
	return sum
}

// next returns the smallest member, of at least i, of the sets that the reader sees, or -1.
func (v *View) next(sets *[Classes]idSet, i int) int {
	if !v.whole {
		return sets[v.class].next(i)
	}
	first := -1
	for k := range sets {
		if n := sets[k].next(i); n >= 0 && (first < 0 || n < first) {
			first = n
		}
	}
	return first
}
