package tandem

import "github.com/tailcut/tailcut/sched"

// The estimator of Section 4.3 of Lin, Zhang, Wierman, Tan, IFIP Performance 2013: "the job size for the shuffle
// phase can be estimated by [...] running a few map tasks of the job, looking at the intermediate data size
// generated, and using linear prediction".
//
//	b      mean bytes that a finished map task has written, see sched.Sites.Foretold
//	y      b x map tasks / bandwidth of the station
//	y(t)   y x shuffle tasks left / shuffle tasks
//
// The paper takes the bandwidth, mu_c, as known and 1. Here it is what the parameter bandwidth says of one slot; else
// the bytes that finished shuffle tasks of all jobs have read over the seconds that they took, as judged when the job
// arrived. The bytes of a finished shuffle task are its share, by number, of what its stage reads, as far as that was
// known then. Without a finished map task of its own that wrote anything, or a bandwidth, a job is judged as with
// size=first, and so are map tasks always: the paper's way for them. A reduce stage on shuffle slots is judged by the
// bytes of the stage before it in the same way.

// volume is what shuffle tasks have read, and how long they took for it.
type volume struct{ bytes, seconds float64 }

// learn takes in that a task of a stage has taken so many seconds.
func (p *Stations) learn(v *sched.View, s sched.StageID, st *sched.Stage, seconds float64) {
	if p.rule != sizeBytes || station(st.Class) == 0 {
		return
	}
	if bytes := reads(v, st, s); bytes > 0 {
		p.read.bytes += bytes
		p.read.seconds += seconds
	}
}

// perByte returns the seconds that a shuffle slot takes for a byte, 0 while nobody knows.
func (p *Stations) perByte() float64 {
	switch {
	case p.bandwidth > 0:
		return 1 / p.bandwidth
	case p.read.bytes > 0:
		return p.read.seconds / p.read.bytes
	}
	return 0
}

// reading returns the duration of a shuffle task by what it reads; ok is false while that is not known, or not asked
// for.
func (p *Stations) reading(v *sched.View, st *sched.Stage, s sched.StageID) (seconds float64, ok bool) {
	if p.rule != sizeBytes || station(st.Class) == 0 {
		return 0, false
	}
	seconds = reads(v, st, s) * p.prior.Get(s).byte
	return seconds, seconds > 0
}

// reads returns the bytes that a task of a stage reads, 0 while nothing is known of them.
func reads(v *sched.View, st *sched.Stage, s sched.StageID) (bytes float64) {
	for from := v.Job(st.Job).FirstStage; from < s; from++ {
		all, _ := v.Sites().Foretold(from, s)
		bytes += all
	}
	return bytes / float64(max(1, st.Tasks))
}
