package history

import (
	"bytes"

	"github.com/tailcut/tailcut/sched"
)

// Metrics say where the time of an attempt went, as far as its log tells. What it does not tell is 0.
type Metrics struct {
	Deserialize sched.Time // of the task, before it runs: classes are loaded here
	GC          sched.Time // in which its process collected garbage
	FetchWait   sched.Time // in which it waited for the output of earlier stages
	Delay       sched.Time // from its launch to its end, what its executor and the fetch of its result did not take
	Spilled     int64      // bytes, to disk
	Locality    Locality
	Lost        bool // it failed because its executor was lost, or the output that it read
}

// Locality is how near an attempt ran to its data.
type Locality uint8

// The localities, the best first. Anywhere counts as far, Unstated as neither.
const (
	Unstated Locality = iota
	SameProcess
	SameHost
	SameRack
	Anywhere
)

var sparkLocalities = map[string]Locality{
	"PROCESS_LOCAL": SameProcess, "NODE_LOCAL": SameHost, "RACK_LOCAL": SameRack, "ANY": Anywhere,
}

// sparkTimes are the milliseconds of which Spark's scheduler delay is what is left.
type sparkTimes struct{ deserialize, run, serialize, gc, fetchWait, gettingResult, spilled int64 }

// metrics puts together what the end of an attempt that took so long tells. Of one without an executor's run time, as
// of one that failed early, it does not know the delay.
func (e *sparkEnd) metrics(took sched.Time) Metrics {
	t := &e.times
	m := Metrics{
		Deserialize: boundedMillis(t.deserialize), GC: boundedMillis(t.gc), FetchWait: boundedMillis(t.fetchWait), Spilled: max(0, t.spilled),
		Locality: sparkLocalities[string(e.locality)], Lost: bytes.Equal(e.reason, []byte("ExecutorLostFailure")) || bytes.Equal(e.reason, []byte("FetchFailed")),
	}
	if t.run > 0 {
		m.Delay = max(0, took-boundedMillis(t.deserialize)-boundedMillis(t.run)-boundedMillis(t.serialize))
		if t.gettingResult > 0 && t.gettingResult < e.finished {
			m.Delay = max(0, m.Delay-boundedMillis(e.finished-t.gettingResult))
		}
	}
	return m
}

// boundedMillis takes a span of milliseconds, 0 for one that cannot be.
func boundedMillis(ms int64) sched.Time {
	t, ok := millis(ms)
	if !ok {
		return 0
	}
	return t
}
