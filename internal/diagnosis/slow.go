package diagnosis

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/show"
)

// sprint writes seconds into a text.
func sprint(format string, seconds ...float64) string {
	var texts []any
	for _, s := range seconds {
		texts = append(texts, show.Seconds(s))
	}
	return fmt.Sprintf(format, texts...)
}

// failures takes the time of a task's attempts before its last.
func (e *excess) failures() {
	seconds, lost := 0.0, 0
	for i, t := range e.tasks {
		before := (t.Held - t.Last.Duration - t.Beyond).Seconds()
		if t.Last.Speculative || before <= 0 {
			continue
		}
		e.take(Failure, i, before)
		seconds += before
	}
	for i := range e.record.Attempts {
		if a := &e.record.Attempts[i]; a.Outcome == history.Failed && a.Lost {
			lost++
		}
	}
	if seconds > 0 {
		e.said[Failure] = fmt.Sprintf("%s failed, %d of them with an executor or its output, after %s in all",
			show.Count(e.record.Failed, "attempt"), lost, show.Seconds(seconds))
	}
}

// skew takes what a task read more than the typical one, by the slope of the straight line through bytes and durations.
func (e *excess) skew(t *Thresholds) {
	k, ok := e.record.Skew()
	if !ok || !t.skewed(k) {
		return
	}
	for i := range e.tasks {
		e.take(Skew, i, k.Slope*(float64(e.tasks[i].Last.Bytes)-k.Median))
	}
	e.said[Skew] = fmt.Sprintf("bytes read explain %.0f %% of the variance, and the largest task read %.1f times the median", 100*k.R2, k.Spread)
	if k.Median == 0 {
		e.said[Skew] = fmt.Sprintf("bytes read explain %.0f %% of the variance, and at least half of the tasks read nothing", 100*k.R2)
	}
}

// coldFactor bounds what is warm-up of a task by what its deserialisation took longer: classes and generated code that
// the run needs first, against those that reading the task needs. In the logs of docs/explain/replay.md the run is 1 to
// 7 times as much.
const coldFactor = 11

// warmUp takes what is slow about the first tasks of the stage on an executor, if the log shows that it was cold: it
// took more than twice the typical time to deserialise the task. Where a log has no times of deserialisation, slow
// tasks are taken for cold if all of them started before any task had ended, and chance would not have it so.
func (e *excess) warmUp(t *Thresholds) {
	first := e.first()
	deserialize := make([]float64, len(e.tasks))
	var warm []float64
	for i := range e.tasks {
		deserialize[i] = e.tasks[i].Last.Deserialize.Seconds()
		if !first[i] {
			warm = append(warm, deserialize[i])
		}
	}
	typical, known := lowerMedian(deserialize), false
	if len(warm) >= leastFar { // most of the tasks may be cold
		typical = min(typical, lowerMedian(warm))
	}
	more := make([]float64, len(e.tasks)) // of cold tasks, what they took longer to deserialise
	for i, d := range deserialize {
		known = known || d > 0
		if first[i] && d > 2*typical {
			more[i] = d - typical
		}
	}
	most, cold, took, longest := e.mostCold(more), 0, 0.0, 0.0
	for i, m := range more {
		if m > 0 && e.left[i] > 0 {
			e.take(WarmUp, i, m*most)
			cold++
			took += e.held[i]
			longest = max(longest, deserialize[i])
		}
	}
	switch {
	case cold > 0:
		e.said[WarmUp] = fmt.Sprintf("%s started on a cold executor and took %s on average, the median is %s; deserialisation alone took up to %s",
			show.Count(cold, "task"), show.Seconds(took/float64(cold)), show.Seconds(e.typical), show.Seconds(longest))
	case !known:
		e.firstWave(t, first)
	}
}

// mostCold is how many times what its deserialisation took longer is warm-up of a cold task at most: twice what cold
// tasks of the stage have in excess at the median. Where most of them are hardly slower than others, what makes a few
// of them much slower is no warm-up.
func (e *excess) mostCold(more []float64) float64 {
	var times []float64
	for i, m := range more {
		if m > 0 {
			times = append(times, e.left[i]/m)
		}
	}
	return min(coldFactor, max(1, 2*lowerMedian(times)))
}

// byChance is how likely chance has to be to have put all slow tasks into the first wave, for it to be held innocent.
const byChance = 0.01

func (e *excess) firstWave(t *Thresholds, first []bool) {
	likely, slow, waves := 1.0, 0, 0
	for _, f := range first {
		if f {
			waves++
		}
	}
	for i := range e.tasks {
		if e.held[i] <= t.Slow*e.typical {
			continue
		}
		if !first[i] {
			return
		}
		likely *= float64(waves-slow) / float64(len(e.tasks)-slow)
		slow++
	}
	if slow == 0 || likely > byChance {
		return
	}
	for i := range e.tasks {
		if first[i] {
			e.take(WarmUp, i, math.Inf(1))
		}
	}
	e.said[WarmUp] = fmt.Sprintf("all %d slow tasks were among the first %d; chance has it so once in %.0f stages", slow, waves, 1/likely)
}

// first tells which tasks started before any task of the stage had ended on the same executor, or at all if the log
// names no executors.
func (e *excess) first() []bool {
	ended := map[int32]history.TaskAttempt{} // that ended first, by executor
	for i := range e.record.Attempts {
		a := e.record.Attempts[i]
		if b, known := ended[a.Executor]; a.Duration > 0 && (!known || a.Start+a.Duration < b.Start+b.Duration) {
			ended[a.Executor] = a
		}
	}
	first := make([]bool, len(e.tasks))
	for i := range e.tasks {
		a := &e.tasks[i].Last
		b := ended[a.Executor]
		first[i] = a.Start < b.Start+b.Duration
	}
	return first
}

// host takes what is slow on one machine that ran most of what is still slow.
func (e *excess) host(t *Thresholds, names []string) {
	still := history.StageRecord{}
	for i := range e.tasks {
		still.Succeeded = append(still.Succeeded, history.Observation{Seconds: e.typical + e.left[i], Host: e.tasks[i].Last.Host})
	}
	h, slow := still.SlowHost(t.Slow * e.typical)
	if !slow || !t.slowHost(h) {
		return
	}
	for i := range e.tasks {
		if e.tasks[i].Last.Host == h.Host {
			e.take(Host, i, math.Inf(1))
		}
	}
	e.slow = h.Host
	e.said[Host] = fmt.Sprintf("%d of %d slow tasks ran on %s", h.Slow, h.Of, names[h.Host])
}

// leastFar is of how many tasks each kind has to be, for their medians to be compared.
const leastFar = 3

// locality takes by how much the median of the tasks that ran away from their data is above that of those beside it.
func (e *excess) locality() {
	var near, far []float64
	distant := func(i int) bool { return e.tasks[i].Last.Locality >= history.SameRack }
	for i := range e.tasks {
		switch rest := min(e.held[i], e.typical+e.left[i]); { // without what other causes took
		case distant(i):
			far = append(far, rest)
		case e.tasks[i].Last.Locality != history.Unstated:
			near = append(near, rest)
		}
	}
	more := lowerMedian(far) - lowerMedian(near)
	if len(near) < leastFar || len(far) < leastFar || more <= 0 {
		return
	}
	for i := range e.tasks {
		if distant(i) {
			e.take(Locality, i, more)
		}
	}
	if e.parts[Locality] != nil {
		e.said[Locality] = fmt.Sprintf("%s ran on another host than their data, and took %s at the median instead of %s",
			show.Count(len(far), "task"), show.Seconds(lowerMedian(far)), show.Seconds(lowerMedian(near)))
	}
}

// spill takes what is left of tasks that spilled more than the typical one.
func (e *excess) spill() {
	spilled := make([]float64, len(e.tasks))
	for i := range e.tasks {
		spilled[i] = float64(e.tasks[i].Last.Spilled)
	}
	typical, most, n := lowerMedian(spilled), 0.0, 0
	for i, s := range spilled {
		if s > typical && e.left[i] > 0 {
			e.take(Spill, i, math.Inf(1))
			most = max(most, s)
			n++
		}
	}
	if n > 0 {
		e.said[Spill] = fmt.Sprintf("%s spilled up to %s to disk, typically %s", show.Count(n, "slow task"), show.Bytes(int64(most)), show.Bytes(int64(typical)))
	}
}

// stragglers take all that is left.
func (e *excess) stragglers() {
	longest, n := 0.0, 0
	for i := range e.tasks {
		if e.left[i] > e.typical {
			n++
		}
		longest = max(longest, e.left[i])
		e.take(Straggler, i, math.Inf(1))
	}
	if longest > 0 {
		e.said[Straggler] = fmt.Sprintf("the log has no reason for up to %s of a task (median %s)", show.Seconds(longest), show.Seconds(e.typical))
		if n > 0 {
			e.said[Straggler] += fmt.Sprintf("; %d of %s took twice that for no reason", n, show.Count(len(e.tasks), "task"))
		}
	}
}
