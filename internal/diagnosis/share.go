package diagnosis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/show"
)

// The excess of a stage is what it took longer than its typical task, the median; where it had more slots than tasks,
// longer than the typical tasks' time spread over all of them. So it is what the stage would not take if it had a slot
// for each task, or a task for each slot, and none were slow. docs/howto/past-jobs.md says so to people.
//
// Its parts are found by packing the tasks, in the order in which they were launched, onto as many slots as the stage
// held at once:
//
//	few-tasks   from the time of typical tasks spread over all slots to a typical task
//	few-slots   from a typical task to the packed tasks, with none longer than typical
//	slow tasks  from there to the packed tasks as they were
//	waiting     from there to what the log says: scheduler where other stages held the slots, few-slots where they were
//	            not there yet, otherwise locality where tasks prefer hosts, otherwise scheduler
//
// The part of slow tasks is divided in proportion to what the packed stage would gain without each cause alone, or by
// slot time where no cause alone makes a difference.

// shares returns the excess of a stage and its causes, the largest share first.
func (e *excess) shares(wall float64, w waiting) (total float64, causes []Cause) {
	n, own := float64(len(e.tasks)), w.held
	floor := e.typical * min(1, n/float64(max(1, w.slots)))
	even := max(e.typical, packed(e.shorter(nil), own))
	as := max(even, packed(e.held, own))
	wall = max(wall, as)
	total = wall - floor
	if !(total > 0) {
		return 0, []Cause{}
	}
	seconds := map[Kind]float64{FewParts: e.typical - floor, FewSlots: even - e.typical}
	e.divide(seconds, as-even, own)
	absent, shared, idled := (wall-as)*(1-w.idle-w.others), (wall-as)*w.others, (wall-as)*w.idle
	seconds[FewSlots] += absent
	seconds[Scheduler] += shared
	seconds[w.cause(e)] += idled
	w.late = absent > even-e.typical
	w.shared = seconds[Scheduler] < 2*shared
	w.idled = !w.shared && seconds[w.cause(e)] < 2*idled
	for _, k := range append(slices.Clone(ofTasks), FewSlots, FewParts) {
		if share := seconds[k] / total; share >= leastShare {
			c := Cause{k, &share, e.evidence(k, w), remedies[k]}
			if k == Scheduler && w.shared {
				c.Remedy = "run fewer jobs at once, or this one first"
			}
			causes = append(causes, c)
		}
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(*b.Share, *a.Share) })
	return total, causes
}

// leastShare is the least share of the excess that is reported.
const leastShare = 0.005

// divide adds the part of slow tasks to their causes.
func (e *excess) divide(seconds map[Kind]float64, slow float64, slots int) {
	gain, sum := map[Kind]float64{}, 0.0
	as := packed(e.held, slots)
	for _, k := range ofTasks {
		if e.parts[k] != nil {
			gain[k] = max(0, as-packed(e.shorter(e.parts[k]), slots))
			sum += gain[k]
		}
	}
	if sum == 0 {
		for k, part := range e.parts {
			for _, x := range part {
				gain[k] += x
			}
		}
		for _, k := range ofTasks {
			sum += gain[k]
		}
	}
	for k, g := range gain {
		seconds[k] += slow * g / sum
	}
}

// shorter returns how long the tasks would hold their slots without a part of their excess, or without any of it.
func (e *excess) shorter(part []float64) []float64 {
	all := make([]float64, len(e.held))
	for i, h := range e.held {
		if part == nil {
			all[i] = min(h, e.typical)
		} else {
			all[i] = h - part[i]
		}
	}
	return all
}

// packed returns when the last of tasks ends that take the first slot to be free, one after the other.
func packed(durations []float64, slots int) (last float64) {
	free := make([]float64, max(1, min(slots, len(durations)))) // a heap: the slot that is free first is at 0
	for _, d := range durations {
		free[0] += d
		last = max(last, free[0])
		for i := 0; ; {
			least := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(free); child++ {
				if free[child] < free[least] {
					least = child
				}
			}
			if least == i {
				break
			}
			free[i], free[least] = free[least], free[i]
			i = least
		}
	}
	return last
}

// waiting is about the slots of a stage while it had tasks to launch.
type waiting struct {
	slots  int     // that there were
	held   int     // the most that the stage held at once
	idle   float64 // share of what it did not hold
	others float64 // likewise, that other stages held; the rest was not there yet

	late, shared, idled bool // most of its cause is that slots came late, that others held them, or that they were idle
}

// cause is why tasks waited while slots were idle.
func (w waiting) cause(e *excess) Kind {
	for i := range e.tasks {
		if e.tasks[i].Last.Locality != e.tasks[0].Last.Locality {
			return Locality
		}
	}
	return Scheduler
}

// evidence is the sentence about a cause.
func (e *excess) evidence(k Kind, w waiting) string {
	if k == Scheduler && w.shared {
		return "other stages held the slots while its tasks waited"
	}
	if said := e.said[k]; said != "" && !(w.idled && k == w.cause(e)) {
		return said
	}
	switch n := len(e.tasks); k {
	case FewParts:
		return fmt.Sprintf("%s for %s", show.Count(n, "task"), show.Count(w.slots, "slot"))
	case FewSlots:
		if w.late {
			return fmt.Sprintf("%s on at most %s at once; the rest was not there yet", show.Count(n, "task"), show.Count(w.held, "slot"))
		}
		return fmt.Sprintf("%s on %s need %s", show.Count(n, "task"), show.Count(w.held, "slot"), show.Count(int(math.Ceil(float64(n)/float64(w.held))), "wave"))
	case Locality:
		return "slots were idle while tasks waited for the hosts that hold their data"
	}
	return "slots were idle while tasks waited to be launched"
}
