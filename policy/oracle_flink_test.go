package policy

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var flinkOracle = oracle{
	name: "flink",
	specs: []string{
		"flink:lower_bound=2s,block=0s", "flink:lower_bound=0s,multiplier=0.5,order=fair,block=3s", "flink:ratio=0,lower_bound=5s,block=10s,interval=3s,order=srpt",
		"flink:lower_bound=3s,ratio=0.3,clones=cluster,block=7s", "flink:ratio=0.5,multiplier=1,lower_bound=1s,interval=2s,block=60s",
		"flink:ratio=0.3,multiplier=1,lower_bound=0s,order=fair,clones=cluster,block=1s",
	},
	slow: func(a kit.Args) sched.Policy {
		return &slowFlink{
			slowly: newSlowly(a), ratio: a.Float("ratio"), multiplier: a.Float("multiplier"), lowerBound: a.Span("lower_bound"),
			interval: a.Span("interval"), block: a.Span("block"), blocked: map[sched.MachineID]sched.Time{}, asked: map[sched.TaskID]bool{},
		}
	},
}

// slowFlink decides as Flink 1.16 to 2.0 do, but for what is about input bytes.
type slowFlink struct {
	slowly
	ratio, multiplier           float64
	lowerBound, interval, block sched.Time
	up                          int
	blocked                     map[sched.MachineID]sched.Time // ends of the blocks
	requests                    []sched.TaskID                 // speculative executions that wait for a slot, in the order of their checks
	asked                       map[sched.TaskID]bool          // those in requests
}

func (p *slowFlink) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	switch ev.Kind {
	case sched.MachineJoined:
		p.up++
	case sched.MachineLost:
		p.up--
	}
}

func (p *slowFlink) Decide(v *sched.View, act *sched.Actions) {
	for again := true; again; {
		p.requests = slices.DeleteFunc(p.requests, func(t sched.TaskID) bool {
			gone := v.Task(t).State != sched.TaskRunning || v.Task(t).Live != 1
			if gone {
				delete(p.asked, t)
			}
			return gone
		})
		if v.Now()%p.interval == 0 {
			p.notifySlowTasks(v)
		}
		free := v.FreeSlots()
		p.serve(v, func(t sched.TaskID) bool { return p.deploy(v, act, t) }, func(j sched.JobID) bool { return p.speculate(v, act, j) })
		again = v.FreeSlots() < free // what starts now may be slow now
	}
	if v.Cluster().Unfinished() > 0 {
		act.WakeAt(nextCheck(v.Now(), p.interval))
	}
	for _, until := range p.blocked {
		if until > v.Now() {
			act.WakeAt(until)
		}
	}
}

// notifySlowTasks is ExecutionTimeBasedSlowTaskDetector.findSlowTasks, and what
// DefaultSpeculativeExecutionHandler.notifySlowTasks does about them.
func (p *slowFlink) notifySlowTasks(v *sched.View) {
	for s := range sched.StageID(v.Rows().Stages()) {
		baseline, ok := p.baseline(v, s)
		if st := v.Stage(s); !ok || st.State != sched.StageOpen || v.Job(st.Job).State != sched.JobActive {
			continue
		}
		slow := map[sched.TaskID]bool{}
		var oldest []sched.TaskID
		for _, t := range runningOf(v, inStage(v, s)) {
			for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
				row := v.Attempt(a)
				if age := v.Now() - row.Started; !v.Rows().Waiting(a) && age >= p.lowerBound && age >= baseline {
					slow[t] = true
					p.blocked[row.Machine] = max(p.blocked[row.Machine], v.Now()+p.block)
				}
			}
			if _, alone := only(v, t); slow[t] && alone && !p.asked[t] {
				oldest = append(oldest, t)
			}
		}
		slices.SortStableFunc(oldest, func(a, b sched.TaskID) int {
			x, _ := only(v, a)
			y, _ := only(v, b)
			return int(v.Attempt(x).Started - v.Attempt(y).Started)
		})
		for _, t := range oldest {
			p.asked[t] = true
			p.requests = append(p.requests, t)
		}
	}
}

// baseline is getBaseline of the detector; ok is false while too few tasks are finished.
func (p *slowFlink) baseline(v *sched.View, s sched.StageID) (sched.Time, bool) {
	st := v.Stage(s)
	n := int(st.Tasks - st.GivenUp)
	if n == 0 || float64(st.Done)/float64(n) < p.ratio {
		return 0, false
	}
	count := int(math.Floor(float64(n)*p.ratio + 0.5)) // Math.round
	if count == 0 {
		return 0, true
	}
	sorted := slices.Sorted(slices.Values(p.won[s]))
	if count/2 >= len(sorted) {
		return 0, false
	}
	return sched.Time(p.multiplier * float64(sorted[count/2])), true
}

// open tells whether a machine is on no list of blocked nodes.
func (p *slowFlink) open(v *sched.View, m sched.MachineID) bool {
	return p.block == 0 || p.up == 1 || v.Now() >= p.blocked[m]
}

func (p *slowFlink) deploy(v *sched.View, act *sched.Actions, t sched.TaskID) bool {
	for m, ok := v.FreeMachine(0); ok; m, ok = v.FreeMachine(m + 1) {
		if p.open(v, m) {
			kit.Start(v, act, t, m)
			return true
		}
	}
	return false
}

func (p *slowFlink) speculate(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	for i, t := range p.requests {
		if v.Rows().JobOf(t) != j || v.AttemptRoom(t) == 0 {
			continue
		}
		best, found := sched.MachineID(0), false
		for m, ok := v.FreeMachine(0); ok; m, ok = v.FreeMachine(m + 1) {
			if p.open(v, m) && (!found || kit.RunsOn(v, t, best) && !kit.RunsOn(v, t, m)) {
				best, found = m, true
			}
		}
		if !found {
			return false
		}
		p.requests = slices.Delete(p.requests, i, i+1)
		delete(p.asked, t)
		kit.Launch(act, t, best, 0, sched.Straggling)
		return true
	}
	return false
}
