package sim

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Capacity is the machine model that the paper on SREW analyses (Xu et al., IEEE TPDS 2017, Section 2): time is
// slotted, and in slot t machine i does X_i(t) of the work that a machine of unit speed does in a slot. The X are
// independent, of one law, with mean 1 and a finite peak.
//
// The work p of a task is its recorded duration. An attempt ends with the slot in which the sum of its machine's X
// reaches p, (1). Its mean time is p plus about (1+sigma²)/2 slots, because (2) leaves out what the last slot does
// beyond p; its variance is about (p + 1/2) sigma², p in slots.
//
// Slots begin with the run. An attempt that starts inside of one gets what its machine does in the rest of it.
// Attempts side by side on one machine are equally fast.
type Capacity struct {
	law        laws.Law
	scale      float64 // of the law's values, to make their mean 1
	slot       sched.Time
	checkpoint bool
}

// NewCapacity returns the model with slots of a given length. The values of the law are divided by their mean; it is
// an error unless they are finite, at least 0 and not all 0.
//
// With checkpoint, attempts of a task that run together are all as far as the best of them at the end of each slot:
// the task advances by the maximum of their X, (6) and (7). Where stages are resumable it keeps that when its
// attempts are preempted.
func NewCapacity(law laws.Law, slot sched.Time, checkpoint bool) (*Capacity, error) {
	lo, hi, mean := law.Quantile(0), law.InvSurvival(0), law.Mean()
	switch {
	case !(lo >= 0) || math.IsInf(hi, 1) || !(mean > 0) || math.IsInf(1/mean, 1):
		return nil, fmt.Errorf("a capacity is at least 0, has a peak and a positive mean; %s is between %v and %v with mean %v",
			law, lo, hi, mean)
	case slot < 1:
		return nil, fmt.Errorf("expected a positive slot, got %v", slot)
	default:
		return &Capacity{law: law, scale: 1 / mean, slot: slot, checkpoint: checkpoint}, nil
	}
}

// Peak returns Delta, the most that a machine does in a slot.
func (c *Capacity) Peak() float64 { return c.law.InvSurvival(0) * c.scale }

// Variance returns sigma², that of what a machine does in a slot.
func (c *Capacity) Variance() float64 { return c.law.Variance() * c.scale * c.scale }

// Omega returns omega(d) of (26), the mean of the most that any of d machines does in a slot: how fast a task with d
// attempts advances under checkpointing. It is 0 for d = 0, 1 for d = 1, concave, and at most the peak.
func (c *Capacity) Omega(d int) float64 {
	if d < 1 {
		return 0
	}
	mean, _ := laws.OrderMean(c.law, d, d)
	return mean * c.scale
}

// Model makes the service of a run.
func (c *Capacity) Model(_ *trace.Workload, _ int, seed uint64) (Service, error) {
	return &machineCapacity{Capacity: c, seed: seed}, nil
}

// machineCapacity is the service of one run. Instants are counted from the run's begin, work in nanoseconds of a
// machine with unit speed.
type machineCapacity struct {
	*Capacity
	seed uint64
	one  [1]sched.MachineID // scratch
}

// done is the work that may be left undone: the rounding of durations.
const done = 0.5

// Duration is that of an attempt that nothing is shared with.
func (c *machineCapacity) Duration(a *Attempt) sched.Time {
	c.one[0] = a.Machine
	end := c.finish(c.one[:], a.At, float64(a.size())*a.Share)
	if end == sched.Never {
		return end
	}
	return end - a.At
}

// The slots of a run are known by their numbers: its spells say nothing.
func (c *machineCapacity) through(m sched.MachineID, begun, _ sched.Time, work float64) (sched.Time, spell) {
	c.one[0] = m
	return c.finish(c.one[:], begun, work), spell{}
}

func (c *machineCapacity) did(m sched.MachineID, _ *spell, from, to sched.Time) float64 {
	c.one[0] = m
	return c.work(c.one[:], from, to)
}

func (c *machineCapacity) pace(m sched.MachineID, _ *spell, now sched.Time) (float64, sched.Time) {
	c.one[0] = m
	slot := now / c.slot
	return c.speed(c.one[:], slot), (slot + 1) * c.slot
}

// speed returns the most that any of the machines does in a slot.
func (c *machineCapacity) speed(machines []sched.MachineID, slot sched.Time) float64 {
	most := 0.0
	for _, m := range machines {
		u := uniform(draw(c.seed, forCapacity, uint32(m), uint32(slot>>32), uint32(slot)))
		most = max(most, laws.Sample(c.law, u))
	}
	return most * c.scale
}

// finish returns when machines that work together from an instant on are through with some work.
func (c *machineCapacity) finish(machines []sched.MachineID, at sched.Time, work float64) sched.Time {
	for k := at / c.slot; work > done; k++ {
		if k >= math.MaxInt64/2/c.slot {
			return sched.Never
		}
		end := (k + 1) * c.slot
		work -= c.speed(machines, k) * float64(end-at)
		at = end
	}
	return at
}

// work returns what machines do together between two instants.
func (c *machineCapacity) work(machines []sched.MachineID, from, to sched.Time) (sum float64) {
	for from < to {
		k := from / c.slot
		end := min((k+1)*c.slot, to)
		sum += c.speed(machines, k) * float64(end-from)
		from = end
	}
	return sum
}
