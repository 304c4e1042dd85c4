package sim

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// OverheadsUsage lists what [ParseOverheads] reads.
const OverheadsUsage = "interval=1s,heartbeat=3s,kill=500ms,warm-up=5s,pause=200ms/20s"

// Overheads are what a real cluster takes beside the work. All are spans, and the zero value is a cluster that takes
// nothing.
type Overheads struct {
	Interval  sched.Time // the policy decides each time that it has passed since the first arrival, and learns all then
	Heartbeat sched.Time // a machine starts, ends and reports attempts each time that it has passed, each with a phase
	Kill      sched.Time // that an attempt which is ended holds its slot still
	WarmUp    sched.Time // that the first attempt of a job on a machine takes longer
	// for which an attempt pauses each time that it has worked for PauseEvery, first after a random part of that
	Pause, PauseEvery sched.Time
}

// ParseOverheads reads pairs such as those of [OverheadsUsage]; "" and "none" are no overheads.
func ParseOverheads(spec string) (Overheads, error) {
	var o Overheads
	if spec == "" || spec == "none" {
		return o, nil
	}
	into := map[string]*sched.Time{"interval": &o.Interval, "heartbeat": &o.Heartbeat, "kill": &o.Kill, "warm-up": &o.WarmUp, "pause": &o.Pause}
	for _, pair := range strings.Split(spec, ",") {
		key, value, _ := strings.Cut(pair, "=")
		to := into[key]
		if to == nil {
			return o, fmt.Errorf("expected some of %s, each once, got %q", OverheadsUsage, pair)
		}
		delete(into, key)
		if key == "pause" {
			var every string
			value, every, _ = strings.Cut(value, "/")
			if err := parseOverhead("pause", "a pair of spans such as 200ms/20s, a pause and the work between two", every, &o.PauseEvery); err != nil {
				return o, err
			}
		}
		if err := parseOverhead(key, "a positive span such as 3s", value, to); err != nil {
			return o, err
		}
	}
	return o, nil
}

func parseOverhead(key, want, text string, to *sched.Time) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%s: expected %s, got %q", key, want, text)
	}
	*to = sched.Time(d)
	return nil
}

// canTake says why a run cannot have these overheads, nil if it can.
func (o *Options) canTake(paced bool, service Service, shared bool) error {
	x := &o.Overheads
	_, varies := service.(varying)
	switch {
	case *x == (Overheads{}):
		return nil
	case paced:
		return errors.New("a policy that sets the speed of the machines cannot run with overheads")
	case shared:
		return errors.New("under checkpointing there are no overheads")
	case o.Cluster != nil:
		return errors.New("where there are sites there are no overheads")
	case varies && x.Pause > 0:
		return errors.New("expected a service under which the pace of an attempt does not change, since attempts pause")
	case len(o.Present) > 0 && x.Interval > 0:
		return errors.New("where machines come and go, the policy decides at once: expected no interval")
	}
	return nil
}

// decides returns the first instant from t on at which the policy may decide.
func (s *Simulator) decides(t sched.Time) sched.Time {
	return beat(t, s.start, s.o.Overheads.Interval)
}

// speaks returns the first instant from t on at which a machine starts, ends and reports attempts.
func (s *Simulator) speaks(id sched.MachineID, t sched.Time) sched.Time {
	every := s.o.Overheads.Heartbeat
	if every == 0 {
		return t
	}
	first := s.start - sched.Time(uniform(draw(s.o.Seed, forBeat, uint32(s.machine(id)), 0, 0))*float64(every))
	return beat(t, first, every)
}

// beat returns the first instant from t on that is a multiple of a span after another instant; t if the span is 0.
func beat(t, first, every sched.Time) sched.Time {
	if every == 0 || t == sched.Never {
		return t
	}
	if over := (t - first) % every; over > 0 {
		return t + min(every-over, sched.Never-t)
	}
	return t
}

// held returns how long the slot of an attempt that is launched now is held still: by one that was killed, or because
// its job is new to the machine. Each slot that is held delays one launch.
func (s *Simulator) held(r *running) sched.Time {
	var span sched.Time
	x := &s.o.Overheads
	if x.Kill > 0 {
		dying := s.dying[r.machine]
		for len(dying) > 0 && dying[0] <= s.now {
			dying = dying[1:]
		}
		if m := s.core.View().Machine(r.machine); len(dying) > int(m.Slots)-int(m.Used) {
			span, dying = dying[0]-s.now, dying[1:]
		}
		if s.dying != nil {
			s.dying[r.machine] = dying
		}
	}
	if x.WarmUp > 0 {
		on := s.warm[r.job]
		if on == nil {
			if s.warm == nil {
				s.warm = map[uint32]map[sched.MachineID]bool{}
			}
			on = map[sched.MachineID]bool{}
			s.warm[r.job] = on
		}
		if m := s.machine(r.machine); !on[m] {
			on[m] = true
			span += x.WarmUp
		}
	}
	return span
}

// dies notes that an attempt is killed, whose slot is free for others a while later.
func (s *Simulator) dies(d *sched.Decision) {
	if kill := s.o.Overheads.Kill; kill > 0 {
		if s.dying == nil {
			s.dying = map[sched.MachineID][]sched.Time{}
		}
		s.dying[d.Machine] = append(s.dying[d.Machine], s.now+kill)
	}
}

// pauses returns how long an attempt of so much work pauses in all.
func (s *Simulator) pauses(r *running, work sched.Time) sched.Time {
	x := &s.o.Overheads
	if x.Pause == 0 || work == sched.Never {
		return 0
	}
	part := uniform(draw(s.o.Seed, forPause, r.job, r.task, r.number))
	n := math.Floor(float64(work)/float64(x.PauseEvery) + part)
	if sum := n * float64(x.Pause); sum < float64(sched.Never-work) {
		return sched.Time(sum)
	}
	return sched.Never - work
}
