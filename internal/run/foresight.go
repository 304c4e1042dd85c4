package run

import (
	"time"

	"github.com/tailcut/tailcut/internal/outlook"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

// foresight reckons how likely a job is to meet its deadline, every now and then.
type foresight struct {
	outlook *outlook.Outlook
	looked  time.Time
	chance  *float64 // as it was reckoned last; nil while it is not known
	first   *float64 // as it was first known
	warned  bool     // the deadline has been at risk
}

// lookEvery is between two reckonings of the chance to meet the deadline.
const lookEvery = time.Second

func newForesight(law string) (f foresight, err error) {
	f.outlook, err = outlook.New(law)
	return f, err
}

// look reckons the chance of a job. It tells, once, that the deadline is at risk.
func (f *foresight) look(v *sched.View, id sched.JobID) (atRisk bool) {
	row := v.Job(id)
	if row.Deadline == sched.Never || row.State != sched.JobActive || time.Since(f.looked) < lookEvery {
		return false
	}
	f.looked = time.Now()
	p, ok := f.outlook.PoCD(v, id)
	if !ok {
		return false
	}
	if f.chance = &p; f.first == nil {
		f.first = &p
	}
	if f.warned || p >= plan.AtRisk {
		return false
	}
	f.warned = true
	return true
}
