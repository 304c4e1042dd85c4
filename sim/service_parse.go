package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// ServiceUsage lists the specs that [ParseService] reads.
const ServiceUsage = "resample, recorded, law, sx[:slowdown=LAW], machine[:slowdown=LAW,keep=SPAN], " +
	"capacity:law=LAW[,slot=SPAN][,checkpoint=true], or a law such as pareto:alpha=1.5,xm=10"

// Dolly is the law of slowdowns "Dolly(1,12)" in thousandths: fitted by Gardner et al. (ToN 2017) to those of
// Facebook's Hadoop cluster in Ananthanarayanan et al. (NSDI 2013). Mean 4.691.
const Dolly = "empirical:values=(1x230 2x140 3x90 4x30 5x80 6x100 7x40 8x140 9x120 10x21 11x7 12x2)"

// Defaults of the model machine: one machine in ten runs at a fifth of its speed, for ten minutes on average.
const (
	defaultMachineSlowdown = "twopoint:lo=1,hi=5,p=0.1"
	defaultKeep            = 10 * time.Minute
)

// defaultSlot is that of the model capacity, and of the paper's evaluation.
const defaultSlot = 5 * time.Second

// ParseService returns the model that a spec names. Laws within a spec are put in parentheses; the slowdown "dolly" is
// [Dolly].
func ParseService(spec string) (Model, error) {
	name, rest, _ := strings.Cut(spec, ":")
	switch name {
	case "resample", "recorded", "law":
		if rest != "" {
			return nil, fmt.Errorf("%s has no parameters, got %q", name, rest)
		}
		if name == "law" {
			return StatedLaw, nil
		}
		return Resample, nil
	case "sx":
		law, _, err := slowdownParams(rest, Dolly, false)
		if err != nil {
			return nil, fmt.Errorf("sx: %w", err)
		}
		return SizeTimesSlowdown(law), nil
	case "machine":
		law, keep, err := slowdownParams(rest, defaultMachineSlowdown, true)
		if err != nil {
			return nil, fmt.Errorf("machine: %w", err)
		}
		return MachineSlowdown(law, keep), nil
	case "capacity":
		c, err := ParseCapacity(rest)
		if err != nil {
			return nil, fmt.Errorf("capacity: %w", err)
		}
		return c.Model, nil
	}
	known := laws.Names()
	if !slices.Contains(known, strings.TrimSpace(name)) {
		valid := append([]string{"resample", "recorded", "law", "sx", "machine", "capacity"}, known...)
		return nil, grammar.UnknownAmong("service", name, valid, "valid: "+ServiceUsage)
	}
	law, err := laws.Parse(spec)
	if err != nil {
		return nil, err
	}
	return OneLaw(law), nil
}

// ServiceTail returns the exponent of the heaviest tail among the laws by which attempts of the workload last under a
// service, see [laws.TailExponent]: +Inf where what they last is bounded, as recorded durations are, or if the spec is
// wrong.
func ServiceTail(spec string, w *trace.Workload) float64 {
	name, rest, _ := strings.Cut(spec, ":")
	var law laws.Law
	switch name {
	case "", "resample", "recorded", "capacity":
	case "law":
		return WorkloadTail(w)
	case "sx":
		law, _, _ = slowdownParams(rest, Dolly, false)
	case "machine":
		law, _, _ = slowdownParams(rest, defaultMachineSlowdown, true)
	default:
		law, _ = laws.Parse(spec)
	}
	if law == nil {
		return math.Inf(1)
	}
	return laws.TailExponent(law)
}

// WorkloadTail is the least exponent of the laws that a workload states.
func WorkloadTail(w *trace.Workload) float64 {
	least := math.Inf(1)
	for _, law := range w.Laws {
		least = min(least, laws.TailExponent(law))
	}
	return least
}

// slowdownParams reads slowdown=LAW and, where it is allowed, keep=SPAN.
func slowdownParams(rest, slowdown string, withKeep bool) (law laws.Law, keep sched.Time, err error) {
	keep = sched.Time(defaultKeep)
	before := ""
	for _, field := range grammar.Fields(rest) {
		key, value, _ := strings.Cut(field, "=")
		switch {
		case field == "": // no parameter
		case key == "slowdown":
			slowdown, before = strings.TrimSuffix(strings.TrimPrefix(value, "("), ")"), field
			if slowdown == "dolly" {
				slowdown = Dolly
			}
		case key == "keep" && withKeep:
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Millisecond {
				return nil, 0, fmt.Errorf("keep: expected a duration of at least 1ms, got %q", value)
			}
			keep = sched.Time(d)
		default:
			return nil, 0, unknownParameter(field, before)
		}
	}
	law, err = laws.Parse(slowdown)
	if err != nil {
		return nil, 0, fmt.Errorf("slowdown: expected dolly or a law in parentheses: %w", err)
	}
	return law, keep, nil
}

// unknownParameter is the error about a field that may belong to the law that was given before it, "" if none was.
func unknownParameter(field, law string) error {
	key, _, _ := strings.Cut(field, "=")
	if name, spec, _ := strings.Cut(law, "="); strings.Contains(spec, ":") && spec[0] != '(' {
		return fmt.Errorf("unknown parameter %q; put a law with commas in parentheses: %s=(%s,%s)", key, name, spec, field)
	}
	return fmt.Errorf("unknown parameter %q; valid: %s", key, ServiceUsage)
}

// ParseCapacity reads law=LAW[,slot=SPAN][,checkpoint=true].
func ParseCapacity(spec string) (c *Capacity, err error) {
	var law laws.Law
	slot, checkpoint, before := sched.Time(defaultSlot), false, ""
	for _, field := range grammar.Fields(spec) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "": // no parameter
		case "law":
			before = field
			if law, err = laws.Parse(strings.TrimSuffix(strings.TrimPrefix(value, "("), ")")); err != nil {
				return nil, fmt.Errorf("law: expected a law in parentheses: %w", err)
			}
		case "slot":
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Millisecond {
				return nil, fmt.Errorf("slot: expected a duration of at least 1ms, got %q", value)
			}
			slot = sched.Time(d)
		case "checkpoint":
			if checkpoint, err = strconv.ParseBool(value); err != nil {
				return nil, fmt.Errorf("checkpoint: expected true or false, got %q", value)
			}
		default:
			return nil, unknownParameter(field, before)
		}
	}
	if law == nil {
		return nil, errors.New("expected law=LAW, such as capacity:law=(uniform:lo=0,hi=2)")
	}
	return NewCapacity(law, slot, checkpoint)
}
