package sched

// Unlimited lifts a limit.
const Unlimited = -1

// Limits bounds the redundancy that any policy may create, and how long it may let a job wait. The core enforces it;
// policies ask View.AttemptRoom and View.CloneRoom first.
//
// The zero value allows no attempts at all; begin with DefaultLimits or NoLimits.
type Limits struct {
	Attempts int         // attempts of one task running at once; Unlimited for no bound
	Clones   CloneBudget // clones running at once in the whole cluster

	// The core gives a slot to a job that has tasks that wait, and of which for so long no attempt ran or ended. 0 for
	// no bound: the policy alone decides. See maxwait.go for what follows from it.
	MaxWait Time `json:",omitempty"`
}

// CloneBudget allows max(Floor, TaskShare x unfinished tasks of active jobs, RunningShare x tasks running) clones at
// once; a task with c attempts running accounts for c-1. A Floor of Unlimited lifts the budget.
type CloneBudget struct {
	Floor        int
	TaskShare    float64
	RunningShare float64
}

// DefaultLimits are four attempts per task, and the clone budget of Hadoop's DefaultSpeculator, counted over the whole
// cluster.
func DefaultLimits() Limits {
	return Limits{Attempts: 4, Clones: CloneBudget{Floor: 10, TaskShare: 0.01, RunningShare: 0.1}}
}

// NoLimits lifts both.
func NoLimits() Limits { return Limits{Attempts: Unlimited, Clones: CloneBudget{Floor: Unlimited}} }

// allowed returns the number of clones that may run at once; ok is false where there is no bound.
func (b *CloneBudget) allowed(unfinished, running int) (n int, ok bool) {
	if b.Floor < 0 {
		return 0, false
	}
	return max(b.Floor, int(b.TaskShare*float64(unfinished)), int(b.RunningShare*float64(running))), true
}
