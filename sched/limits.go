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

	// A policy that bounds itself, see Bounded, may have as many attempts of a task as it says, if that is more.
	OwnAttempts bool `json:",omitempty"`

	// The core gives a slot to a job that has tasks that wait, and of which for so long no attempt ran or ended. 0 for
	// no bound: the policy alone decides. See maxwait.go for what follows from it.
	MaxWait Time `json:",omitempty"`

	// Policies kill nothing that would be lost: only attempts that can be gone on from, and clones of what runs.
	Gentle bool `json:",omitempty"`
}

// CloneBudget allows max(Floor, TaskShare x unfinished tasks of active jobs, RunningShare x tasks running, SlotShare x
// slots) clones at once; a task with c attempts running accounts for c-1. A Floor of Unlimited lifts the budget.
type CloneBudget struct {
	Floor        int
	TaskShare    float64
	RunningShare float64
	SlotShare    float64 `json:",omitempty"` // of the slots of machines that are up
	Own          bool    `json:",omitempty"` // SlotShare is what a policy that bounds itself says, see Bounded
}

// Bounded is a policy that bounds its redundancy itself. Limits that nobody asked for follow it, so that they do not
// cut what the policy's own parameters allow.
type Bounded interface {
	Policy
	Bounds() Bounds // the answer does not change
}

// Bounds are the bounds that a policy keeps. 0 says that it keeps none of the kind.
type Bounds struct {
	Attempts int     // attempts of one task running at once; Unlimited if other bounds bound them
	Clones   float64 // clones running at once, as a fraction of the slots
	Running  float64 // likewise, as a fraction of the tasks that run; the larger of the two counts
}

// following returns the limits as they are for a policy.
func (l Limits) following(p Policy) Limits {
	q, ok := p.(Bounded)
	if !ok {
		return l
	}
	b := q.Bounds()
	if l.OwnAttempts && l.Attempts >= 0 && (b.Attempts < 0 || b.Attempts > l.Attempts) {
		l.Attempts = b.Attempts
	}
	if l.Clones.Own {
		l.Clones.SlotShare = max(l.Clones.SlotShare, b.Clones)
		l.Clones.RunningShare = max(l.Clones.RunningShare, b.Running)
	}
	return l
}

// DefaultLimits are four attempts per task, and the clone budget of Hadoop's DefaultSpeculator, counted over the whole
// cluster; and of a policy that bounds itself what it says, where that is more.
func DefaultLimits() Limits {
	return Limits{Attempts: 4, OwnAttempts: true, Clones: CloneBudget{Floor: 10, TaskShare: 0.01, RunningShare: 0.1, Own: true}}
}

// NoLimits lifts both.
func NoLimits() Limits { return Limits{Attempts: Unlimited, Clones: CloneBudget{Floor: Unlimited}} }

// allowed returns the number of clones that may run at once; ok is false where there is no bound.
func (b *CloneBudget) allowed(unfinished, running, slots int) (n int, ok bool) {
	if b.Floor < 0 {
		return 0, false
	}
	return max(b.Floor, int(b.TaskShare*float64(unfinished)), int(b.RunningShare*float64(running)), int(b.SlotShare*float64(slots))), true
}
