package policy

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

var maxsrptOracle = oracle{
	name:  "maxsrpt",
	specs: []string{"maxsrpt", "maxsrpt:size=first", "maxsrpt:size=history", "maxsrpt:size=bytes", "maxsrpt:size=bytes,bandwidth=1e5"},
	slow: func(a kit.Args) sched.Policy {
		return &slowMaxSRPT{newSlowTandem(a)}
	},
	fate: soon, plain: true, two: true,
}

// soon has stages end before other jobs arrive, so that these are judged by them.
func soon(f *policytest.Fate) { f.Lasts /= 8 }

var splitsrptOracle = oracle{
	name:  "splitsrpt",
	specs: []string{"splitsrpt", "splitsrpt:size=first", "splitsrpt:size=history", "splitsrpt:size=bytes", "splitsrpt:size=bytes,bandwidth=1e5"},
	slow: func(a kit.Args) sched.Policy {
		return &slowSplitSRPT{newSlowTandem(a)}
	},
	fate: soon, plain: true, two: true,
}

// slowTandem reckons the sizes of jobs at the map station (0) and the shuffle station (1) anew from the rows. The paper
// takes sizes as known, or (Section 4.3) estimates them from first tasks, or from other jobs by regression.
type slowTandem struct {
	size   string
	class  sched.Class
	lasted [2][]float64              // seconds of finished tasks
	stages [2][][2]int64             // tasks and work in nanoseconds of finished stages
	prior  map[sched.StageID]float64 // seconds a task, as judged at the arrival

	told    float64                   // bandwidth, 0 if nobody says it
	wrote   map[sched.StageID][]int64 // what finished tasks said that each reader reads
	read    [2]float64                // bytes and seconds of shuffle tasks that are done
	perByte map[sched.StageID]float64 // as judged at the arrival
}

func newSlowTandem(a kit.Args) slowTandem {
	return slowTandem{
		size: a.Choice("size"), prior: map[sched.StageID]float64{}, told: a.Float("bandwidth"), wrote: map[sched.StageID][]int64{},
		perByte: map[sched.StageID]float64{},
	}
}

// reads is what a task of a stage reads, as Section 4.3 predicts it: of each stage before it the mean result so far,
// times the number of its tasks and of the readers of each, by the edges of the job.
func (p *slowTandem) reads(v *sched.View, s sched.StageID) (bytes float64) {
	st := v.Stage(s)
	job := v.Job(st.Job)
	for _, stage := range slices.Sorted(maps.Keys(p.wrote)) {
		sum := int64(0)
		for _, b := range p.wrote[stage] {
			sum += b
		}
		if stage < job.FirstStage || stage >= s {
			continue
		}
		times := 0.0
		for _, e := range v.SaveJob(st.Job).Spec.Edges {
			switch {
			case e.From != int(stage-job.FirstStage) || e.To != int(s-job.FirstStage):
			case e.Kind == sched.Barrier:
				times += float64(v.Stage(stage).Tasks) * float64(st.Tasks)
			case e.Kind == sched.Pointwise:
				times += float64(st.Tasks)
			default:
				times += float64(len(e.Pairs))
			}
		}
		bytes += times * float64(sum) / float64(len(p.wrote[stage]))
	}
	return bytes / float64(max(1, st.Tasks))
}

func (p *slowTandem) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.MachineJoined {
		p.class = v.Machine(ev.Machine).Class
	}
	p.Overhear(v, ev)
}

func (p *slowTandem) Overhear(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		for s := range sched.StageID(v.Rows().Stages()) {
			if st := v.Stage(s); st.Job == ev.Job {
				p.prior[s] = p.judge(int(st.Class), int64(st.Tasks))
				if p.read[0] > 0 {
					p.perByte[s] = p.read[1] / p.read[0]
				}
				if p.told > 0 {
					p.perByte[s] = 1 / p.told
				}
			}
		}
	case sched.AttemptDone:
		p.wrote[ev.Stage] = append(p.wrote[ev.Stage], ev.Bytes)
		if a := v.Attempt(ev.Attempt); a.From <= 1-1./64 {
			k, lasted := v.Stage(ev.Stage).Class, (v.Now()-a.Started).Seconds()/(1-a.From)
			p.lasted[k] = append(p.lasted[k], lasted)
			if bytes := p.reads(v, ev.Stage); k == 1 && bytes > 0 {
				p.read[0] += bytes
				p.read[1] += lasted
			}
		}
	case sched.StageDone:
		st := v.Stage(ev.Stage)
		if mean, _, ok := st.Measured(); ok {
			p.stages[st.Class] = append(p.stages[st.Class], [2]int64{int64(st.Tasks), int64(math.Round(mean * float64(st.Tasks) * 1e9))})
		}
	}
}

// judge returns the seconds that a task of a new stage with so many will take.
func (p *slowTandem) judge(station int, tasks int64) float64 {
	if x, ok := p.regress(station, tasks); ok && p.size == "history" && x > 0 {
		return x / float64(tasks)
	}
	sum := 0.0
	for _, x := range p.lasted[station] {
		sum += x
	}
	if sum == 0 {
		return 1
	}
	return sum / float64(len(p.lasted[station]))
}

// regress returns the seconds of work on the least-squares line through the finished stages, by the normal equations.
func (p *slowTandem) regress(station int, tasks int64) (float64, bool) {
	var n, x, y, xx, xy big.Int
	for _, q := range p.stages[station] {
		a, b := big.NewInt(q[0]), big.NewInt(q[1])
		n.Add(&n, big.NewInt(1))
		x.Add(&x, a)
		y.Add(&y, b)
		xx.Add(&xx, new(big.Int).Mul(a, a))
		xy.Add(&xy, new(big.Int).Mul(a, b))
	}
	minus := func(a, b, c, d *big.Int) *big.Int {
		return new(big.Int).Sub(new(big.Int).Mul(a, b), new(big.Int).Mul(c, d))
	}
	under := minus(&n, &xx, &x, &x)
	if under.Sign() == 0 {
		return 0, false
	}
	slope := new(big.Rat).SetFrac(minus(&n, &xy, &x, &y), under)
	// mean of y + slope (tasks - mean of x)
	at := new(big.Rat).Sub(big.NewRat(tasks, 1), new(big.Rat).SetFrac(&x, &n))
	at.Mul(at, slope).Add(at, new(big.Rat).SetFrac(&y, &n))
	seconds, _ := at.Float64()
	return seconds / 1e9, true
}

// sizes returns what is left of a job at the stations, and what there was, in seconds of the whole station.
func (p *slowTandem) sizes(v *sched.View, j sched.JobID) (left, all [2]float64) {
	var slots [2]float64
	for m := range sched.MachineID(v.Rows().Machines()) {
		if x := v.Machine(m); x.Up {
			slots[x.Class] += float64(x.Slots)
		}
	}
	for s := range sched.StageID(v.Rows().Stages()) {
		st := v.Stage(s)
		if st.Job != j {
			continue
		}
		mean, _, measured := st.Measured()
		switch {
		case p.size == "known" && st.Mean > 0:
			mean = st.Mean.Seconds()
		case p.size == "bytes" && st.Class == 1 && p.reads(v, s)*p.perByte[s] > 0:
			mean = p.reads(v, s) * p.perByte[s]
		case p.size == "history" || !measured:
			mean = p.prior[s]
		}
		left[st.Class] += float64(st.Unfinished()) * mean
		all[st.Class] += float64(st.Need) * mean
	}
	for k := range slots {
		if slots[k] > 0 {
			left[k] /= slots[k]
			all[k] /= slots[k]
		}
	}
	return left, all
}

// tandemJob is a job with its sizes: what it goes by at a station, the smaller first.
type tandemJob struct {
	id      sched.JobID
	by      [2]float64
	arrived sched.Time
}

func (p *slowTandem) first(jobs []tandemJob) tandemJob {
	return slices.MinFunc(jobs, func(a, b tandemJob) int {
		return cmp.Or(cmp.Compare(a.by[0], b.by[0]), cmp.Compare(a.by[1], b.by[1]), cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.id, b.id))
	})
}

func startOf(v *sched.View, act *sched.Actions, j sched.JobID) {
	t, _ := pendingOf(v, j)
	m, _ := v.FreeMachine(0)
	kit.Start(v, act, t, m)
}

// slowMaxSRPT is Algorithm 1: key L = max(x(t), y(t)), and each station walks the jobs by increasing L.
type slowMaxSRPT struct{ slowTandem }

func (p *slowMaxSRPT) Decide(v *sched.View, act *sched.Actions) {
	for v.FreeSlots() > 0 {
		var jobs []tandemJob
		for j := range sched.JobID(v.Rows().Jobs()) {
			if _, waits := pendingOf(v, j); waits && v.Job(j).State == sched.JobActive {
				left, _ := p.sizes(v, j)
				jobs = append(jobs, tandemJob{id: j, by: [2]float64{max(left[0], left[1])}, arrived: v.Job(j).Arrived})
			}
		}
		if len(jobs) == 0 {
			return
		}
		startOf(v, act, p.first(jobs).id)
	}
}

// slowSplitSRPT is Algorithm 2: two classes by original sizes, S1 by (x(t), y(t)) and S2 by (y(t), x(t)), each with its
// share of either station, and what a class cannot use is the other's.
type slowSplitSRPT struct{ slowTandem }

func (p *slowSplitSRPT) Decide(v *sched.View, act *sched.Actions) {
	for v.FreeSlots() > 0 {
		b := math.Inf(1)
		var waiting [2][]tandemJob
		var live [2]int
		for j := range sched.JobID(v.Rows().Jobs()) {
			job := v.Job(j)
			if job.State != sched.JobActive {
				continue
			}
			left, all := p.sizes(v, j)
			x, kind := tandemJob{id: j, by: left, arrived: job.Arrived}, 0
			if all[0] < all[1] {
				x.by, kind = [2]float64{left[1], left[0]}, 1
			}
			if all[0] == all[1] {
				b = 1
			} else {
				b = min(b, max(all[0]/all[1], all[1]/all[0]))
			}
			live[kind] += int(job.Live)
			if _, waits := pendingOf(v, j); waits {
				waiting[kind] = append(waiting[kind], x)
			}
		}
		if len(waiting[0])+len(waiting[1]) == 0 {
			return
		}
		share := 1 / (1 + b) // of S1 in the slots: mu1 at the shuffle station
		if p.class == 0 {
			share = 1 - share
		}
		most := int(math.Round(share * float64(v.Slots())))
		kind := 0
		if live[0] >= most && live[1] < v.Slots()-most {
			kind = 1
		}
		if len(waiting[kind]) == 0 {
			kind = 1 - kind
		}
		startOf(v, act, p.first(waiting[kind]).id)
	}
}

var fillsrptOracle = oracle{
	name:  "fillsrpt",
	specs: []string{"fillsrpt", "fillsrpt:size=first", "fillsrpt:size=history", "fillsrpt:size=bytes", "fillsrpt:size=bytes,bandwidth=1e5"},
	slow: func(a kit.Args) sched.Policy {
		return &slowFillSRPT{slowTandem: newSlowTandem(a)}
	},
	fate: soon, plain: true, two: true,
}

// slowFillSRPT is docs/explain/fillsrpt.md with tasks: MaxSRPT, but a map slot goes to g, the first job with y > x, while
// the shuffle station is short of work and fewer than its share of slots map for such jobs.
type slowFillSRPT struct {
	slowTandem
	brought [2]float64
}

func (p *slowFillSRPT) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.MachineJoined {
		p.class = v.Machine(ev.Machine).Class
	}
	p.Overhear(v, ev)
}

func (p *slowFillSRPT) Overhear(v *sched.View, ev *sched.Event) {
	p.slowTandem.Overhear(v, ev)
	if ev.Kind != sched.JobArrived {
		return
	}
	alone := true
	for j := range sched.JobID(v.Rows().Jobs()) {
		alone = alone && (j == ev.Job || v.Job(j).State != sched.JobActive)
	}
	if alone {
		p.brought = [2]float64{}
	}
	_, all := p.sizes(v, ev.Job)
	p.brought[0] += all[0]
	p.brought[1] += all[1]
}

// slowFillJob is a job that is present.
type slowFillJob struct {
	tandemJob
	all   [2]float64
	heavy bool
}

func (p *slowFillSRPT) Decide(v *sched.View, act *sched.Actions) {
	for v.FreeSlots() > 0 {
		var light, heavy, both []slowFillJob
		live, ready := 0, sched.Time(0)
		for j := range sched.JobID(v.Rows().Jobs()) {
			job := v.Job(j)
			left, all := p.sizes(v, j)
			x := slowFillJob{tandemJob{id: j, arrived: job.Arrived, by: [2]float64{max(left[0], left[1]), 1}}, all, all[0] < all[1]}
			if job.State != sched.JobActive {
				continue
			}
			if !job.Paused {
				ready += p.readyOf(v, j, all[1])
			}
			if x.heavy {
				x.by[1] = 0
				live += int(job.Live)
			}
			if _, waits := pendingOf(v, j); waits {
				both = append(both, x)
				if x.heavy {
					heavy = append(heavy, x)
				} else {
					light = append(light, x)
				}
			}
		}
		if len(both) == 0 {
			return
		}
		next := p.firstOf(both)
		if p.class == 0 && !next.heavy && len(heavy) > 0 && ready < p.takes(v, next, 0)+p.takes(v, p.firstOf(heavy), 1) && live < p.share(v, next, p.firstOf(heavy), light, len(heavy)) {
			next = p.firstOf(heavy)
		}
		startOf(v, act, next.id)
	}
}

func (p *slowFillSRPT) firstOf(jobs []slowFillJob) slowFillJob {
	var plain []tandemJob
	for _, j := range jobs {
		plain = append(plain, j.tandemJob)
	}
	id := p.first(plain).id
	return jobs[slices.IndexFunc(jobs, func(j slowFillJob) bool { return j.id == id })]
}

// share is q of the slots, half of it, or none.
func (p *slowFillSRPT) share(v *sched.View, h, g slowFillJob, light []slowFillJob, n2 int) int {
	if h.all[0] <= h.all[1] || g.all[0] == 0 {
		return 0
	}
	n1, part := 0, 0.0
	for _, j := range light {
		if j.by[0] < g.by[0] {
			n1++
		}
	}
	switch {
	case float64(n2)*(g.all[1]-g.all[0]/2) > float64(n1)*g.all[0]:
		part = 1
	case p.brought[1] >= p.brought[0]:
		part = 0.5
	}
	rh, rg := h.all[1]/h.all[0], g.all[1]/g.all[0]
	return int(math.Round(part * (1 - rh) / (rg - rh) * float64(v.Slots())))
}

// takes is how long a task of a job at a station takes.
func (p *slowFillSRPT) takes(v *sched.View, j slowFillJob, class sched.Class) sched.Time {
	slots, tasks := 0.0, 0.0
	for m := range sched.MachineID(v.Rows().Machines()) {
		if x := v.Machine(m); x.Up && x.Class == class {
			slots += float64(x.Slots)
		}
	}
	for s := range sched.StageID(v.Rows().Stages()) {
		if st := v.Stage(s); st.Job == j.id && st.Class == class {
			tasks += float64(st.Need)
		}
	}
	return sched.FromSeconds(j.all[class] * slots / max(1, tasks))
}

// readyOf is the part of a job's shuffle work y that is left, without that of maps that are: as much of all as there are maps left of all maps.
func (p *slowFillSRPT) readyOf(v *sched.View, j sched.JobID, y float64) sched.Time {
	var maps, left, shuffles, ready float64
	for s := range sched.StageID(v.Rows().Stages()) {
		if st := v.Stage(s); st.Job == j && st.Class == 0 {
			maps, left = maps+float64(st.Need), left+float64(st.Unfinished())
		} else if st.Job == j {
			shuffles, ready = shuffles+float64(st.Need), ready+float64(st.Unfinished())
		}
	}
	if shuffles == 0 {
		return 0
	}
	if maps > 0 {
		ready -= math.Ceil(left * shuffles / maps)
	}
	return sched.FromSeconds(max(0, ready) * y / shuffles)
}
