package sim

import (
	"errors"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// An attempt may wait before it begins: for a node, for an image, to warm up. It holds its slot meanwhile, but takes no
// machine time, and the policy is told when it begins (sched.Core.WaitToBegin). That differs from Options.LaunchDelay,
// of which nobody is told and which counts as running.

// canWait says why attempts cannot wait in a run, nil if they can.
func (o *Options) canWait(shared bool) error {
	switch {
	case o.Wait == nil:
		return nil
	case o.LaunchDelay > 0:
		return errors.New("expected a launch delay of one kind, a fixed one or a law")
	case o.Cluster != nil:
		return errors.New("where there are sites the launch delay is fixed, no law")
	case shared:
		return errors.New("under checkpointing there is no launch delay")
	}
	return nil
}

// wait draws how long an attempt waits before it begins; sched.Never if it does not.
func (s *Simulator) wait(r *running) sched.Time {
	d := sched.FromSeconds(laws.Sample(s.o.Wait, uniform(draw(s.o.Seed, forWait, r.job, r.task, r.number))))
	return max(0, d)
}

// tellBegun has the core told, once, that an attempt has begun that waited.
func (s *Simulator) tellBegun(r *running, to []sched.Event) []sched.Event {
	if s.o.Wait == nil || r.toldBegun || s.now < r.begun {
		return to
	}
	r.toldBegun = true
	return append(to, sched.Event{At: s.now, Kind: sched.AttemptBegan, Attempt: r.id})
}
