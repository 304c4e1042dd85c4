package policy

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// probesTwin is the rules at the top of sparrow.go, hawk.go and eagle.go written down in lists: a list of messages, of which
// the next is looked for, and a list at each machine. What is random is drawn as the policies draw it, by seed, job and probe.
type probesTwin struct {
	seed                  uint64
	probes, stealing      int
	trip, cutoff          sched.Time
	sampling              string
	cancel, hybrid, avoid bool
	sticky                bool
	short                 float64
	bypass                int32

	hosts   map[sched.MachineID]*twinHost
	owners  map[sched.JobID]*twinOwner
	mail    []twinMail
	sent    int
	touched []sched.MachineID
	ends    map[sched.AttemptID]sched.Time // expected, of long attempts
	lacking bool
}

type twinHost struct {
	up, idle        bool
	lost            int
	queue           []*twinSlip
	asking, looked  int
	until           sched.Time // expected end of all long tasks here when that was last thought about
	loaded, started bool
}

type twinOwner struct {
	slips       []*twinSlip
	seen, drawn int
	task        sched.Time
	long        bool
}

type twinSlip struct {
	job                      sched.JobID
	host                     sched.MachineID
	lost, turned             int
	passed                   int32
	asks, bound, long, ended bool
}

type twinMail struct {
	at    sched.Time
	seq   int
	slip  *twinSlip
	job   sched.JobID
	tasks int
}

func (p *probesTwin) host(m sched.MachineID) *twinHost {
	if p.hosts[m] == nil {
		p.hosts[m] = &twinHost{}
	}
	return p.hosts[m]
}

func (p *probesTwin) owner(v *sched.View, j sched.JobID) *twinOwner {
	if p.owners[j] != nil {
		return p.owners[j]
	}
	x := &twinOwner{}
	p.owners[j] = x
	job := v.Job(j)
	work, tasks := 0.0, 0.0
	for s := range sched.StageID(job.Stages) {
		if st := v.Stage(job.FirstStage + s); st.Mean > 0 {
			work, tasks = work+float64(st.Tasks)*st.Mean.Seconds(), tasks+float64(st.Tasks)
		}
	}
	if tasks > 0 {
		x.task = sched.FromSeconds(work / tasks)
	}
	x.long = p.hybrid && x.task > p.cutoff
	return x
}

// list returns the machines that are up and of which a question is answered with yes, in order.
func (p *probesTwin) list(of func(m sched.MachineID) bool) (all []sched.MachineID) {
	for m, h := range p.hosts {
		if h.up && of(m) {
			all = append(all, m)
		}
	}
	slices.Sort(all)
	return all
}

func (p *probesTwin) any(sched.MachineID) bool { return true }
func (p *probesTwin) general(m sched.MachineID) bool {
	return int(float64(m+1)*p.short) == int(float64(m)*p.short)
}
func (p *probesTwin) reserved(m sched.MachineID) bool { return !p.general(m) }

// longAt counts the long tasks of a machine that have not started, with their work, and the attempts that run.
func (p *probesTwin) longAt(v *sched.View, m sched.MachineID) (n int, work sched.Time, runs int, due sched.Time) {
	for _, o := range p.owners {
		for _, s := range o.slips {
			if s.long && s.host == m {
				n, work = n+1, work+o.task
			}
		}
	}
	for a, end := range p.ends {
		if v.Rows().Alive(a) && v.Attempt(a).Machine == m {
			runs, due = runs+1, due+end
		}
	}
	return n, work, runs, due
}

func (p *probesTwin) think(v *sched.View, m sched.MachineID) {
	h, row := p.host(m), v.Machine(m)
	n, work, runs, due := p.longAt(v, m)
	h.loaded = n+runs > 0
	h.started = h.up && row.Slots > 0
	if h.started {
		h.until = v.Now() + (work+max(0, due-sched.Time(runs)*v.Now()))/sched.Time(row.Slots)
	}
}

func (p *probesTwin) touch(m sched.MachineID) {
	if !slices.Contains(p.touched, m) {
		p.touched = append(p.touched, m)
	}
}

func (p *probesTwin) dice(j sched.JobID) (g rand.PCG) {
	x := p.owners[j]
	g.Seed(p.seed, uint64(j)<<32|uint64(x.drawn))
	x.drawn++
	return g
}

func (p *probesTwin) pick(list []sched.MachineID, j sched.JobID) sched.MachineID {
	g := p.dice(j)
	return list[g.Uint64()%uint64(len(list))]
}

func (p *probesTwin) sample(j sched.JobID, k int) (all []sched.MachineID) {
	list := p.list(p.any)
	for ; k >= len(list); k -= len(list) {
		all = append(all, list...)
	}
	set := map[sched.MachineID]bool{}
	for i := len(list) - k; i < len(list); i++ {
		g := p.dice(j)
		m := list[g.Uint64()%uint64(i+1)]
		if set[m] {
			m = list[i]
		}
		set[m] = true
		all = append(all, m)
	}
	return all
}

func (p *probesTwin) post(v *sched.View, trips int, m twinMail) {
	m.at, m.seq = v.Now()+p.trip/2, p.sent
	if trips == 2 {
		m.at = v.Now() + p.trip
	}
	p.sent++
	p.mail = append(p.mail, m)
}

func (p *probesTwin) reserve(v *sched.View, s *twinSlip) {
	s.lost = p.hosts[s.host].lost
	o := p.owners[s.job]
	o.slips = append(o.slips, s)
	if s.long {
		p.think(v, s.host)
	}
	p.post(v, 1, twinMail{slip: s})
}

// least returns the machine with the least long work.
func (p *probesTwin) least(j sched.JobID) sched.MachineID {
	list := p.list(func(m sched.MachineID) bool { return p.general(m) && p.hosts[m].started })
	if len(list) == 0 {
		return p.pick(p.list(p.any), j)
	}
	return slices.MinFunc(list, func(a, b sched.MachineID) int {
		x, y := p.hosts[a], p.hosts[b]
		if !x.loaded || !y.loaded {
			return cmp.Compare(b2i(x.loaded), b2i(y.loaded))
		}
		return cmp.Compare(x.until, y.until)
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *probesTwin) send(v *sched.View, j sched.JobID, tasks int) {
	o := p.owners[j]
	switch {
	case len(p.list(p.any)) == 0:
		p.lacking = true
	case o.long:
		for range min(tasks, o.seen-len(o.slips)) {
			p.reserve(v, &twinSlip{job: j, host: p.least(j), bound: true, long: true})
		}
	case p.sampling != "late":
		p.post(v, 2, twinMail{job: j, tasks: tasks})
	default:
		if n := min(tasks*p.probes, o.seen*p.probes-len(o.slips)); n > 0 {
			for _, m := range p.sample(j, n) {
				p.reserve(v, &twinSlip{job: j, host: m})
			}
		}
	}
}

func (p *probesTwin) drop(v *sched.View, s *twinSlip) {
	o := p.owners[s.job]
	o.slips = slices.DeleteFunc(o.slips, func(x *twinSlip) bool { return x == s })
	if s.long {
		p.think(v, s.host)
	}
}

func (p *probesTwin) takeBack(v *sched.View, o *twinOwner) {
	for len(o.slips) > 0 {
		s := o.slips[0]
		s.ended = true
		p.drop(v, s)
		h := p.hosts[s.host]
		h.queue = slices.DeleteFunc(h.queue, func(x *twinSlip) bool { return x == s })
	}
}

func (p *probesTwin) look(v *sched.View, j sched.JobID) {
	o, job := p.owner(v, j), v.Job(j)
	was := o.seen
	o.seen = int(job.Pending)
	if job.State != sched.JobActive {
		o.seen = 0
		p.takeBack(v, o)
	} else if o.seen == 0 && p.cancel {
		p.takeBack(v, o)
	} else if o.seen > was {
		p.send(v, j, o.seen-was)
	}
}

func (p *probesTwin) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined:
		h := p.host(ev.Machine)
		if h.up {
			return
		}
		h.up = true
		p.think(v, ev.Machine)
		p.touch(ev.Machine)
		if p.lacking {
			p.lacking = false
			for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
				if o := p.owner(v, j); len(o.slips) < o.seen {
					p.send(v, j, o.seen-len(o.slips))
				}
			}
		}
		return
	case sched.MachineLost:
		h := p.host(ev.Machine)
		if h.up {
			queue := h.queue
			h.up, h.idle, h.started, h.asking, h.queue = false, false, false, 0, nil
			h.lost++
			for _, s := range queue {
				p.resend(v, s)
			}
		}
		return
	case sched.TimerFired, sched.DataFetched, sched.AttemptProgress:
		return
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		if p.owner(v, ev.Job).long {
			delete(p.ends, ev.Attempt)
			p.think(v, ev.Machine)
		}
		p.host(ev.Machine).idle = true
		p.touch(ev.Machine)
	}
	p.look(v, ev.Job)
}

func (p *probesTwin) resend(v *sched.View, s *twinSlip) {
	if len(p.list(p.any)) == 0 {
		p.lacking = true
		p.drop(v, s)
		return
	}
	p.move(v, s, func() sched.MachineID {
		if s.long {
			return p.least(s.job)
		}
		return p.pick(p.list(p.any), s.job)
	})
	if s.long {
		p.think(v, s.host)
	}
	p.post(v, 1, twinMail{slip: s})
}

// move moves a reservation. Its old machine is thought about before the new one is chosen.
func (p *probesTwin) move(v *sched.View, s *twinSlip, to func() sched.MachineID) {
	if s.long {
		s.long = false
		p.think(v, s.host)
		s.long = true
	}
	s.host = to()
	s.lost, s.asks = p.hosts[s.host].lost, false
}

func (p *probesTwin) Decide(v *sched.View, act *sched.Actions) {
	for {
		for len(p.touched) > 0 {
			m := p.touched[0]
			p.touched = p.touched[1:]
			p.serve(v, act, m)
		}
		if len(p.mail) == 0 {
			return
		}
		i := 0
		for k := range p.mail {
			if cmp.Or(cmp.Compare(p.mail[k].at, p.mail[i].at), cmp.Compare(p.mail[k].seq, p.mail[i].seq)) < 0 {
				i = k
			}
		}
		m := p.mail[i]
		if m.at > v.Now() {
			act.WakeAt(m.at)
			return
		}
		p.mail = slices.Delete(p.mail, i, i+1)
		if m.slip == nil {
			p.assign(v, m.job, m.tasks)
		} else {
			p.arrive(v, act, m.slip)
		}
	}
}

func (p *probesTwin) assign(v *sched.View, j sched.JobID, tasks int) {
	o, list := p.owners[j], p.list(p.any)
	tasks = min(tasks, o.seen-len(o.slips))
	if tasks <= 0 {
		return
	}
	if len(list) == 0 {
		p.lacking = true
		return
	}
	length := func(m sched.MachineID) int {
		return len(p.hosts[m].queue) + p.hosts[m].asking + int(v.Machine(m).Used) - int(v.Machine(m).Slots)
	}
	var sampled []sched.MachineID
	var lengths []int
	for i := range tasks {
		if p.sampling == "task" || i == 0 {
			n := p.probes
			if p.sampling == "batch" {
				n *= tasks
			}
			sampled, lengths = p.sample(j, min(n, len(list))), nil
			for _, m := range sampled {
				lengths = append(lengths, length(m))
			}
		}
		k := slices.Index(lengths, slices.Min(lengths))
		lengths[k]++
		p.reserve(v, &twinSlip{job: j, host: sampled[k], bound: true})
	}
}

func (p *probesTwin) arrive(v *sched.View, act *sched.Actions, s *twinSlip) {
	h := p.hosts[s.host]
	there := h.up && h.lost == s.lost
	if s.asks && there {
		h.asking--
		p.touch(s.host)
	}
	n, _, runs, _ := p.longAt(v, s.host)
	switch {
	case s.ended:
		h.idle = h.idle || s.asks && there
	case !there:
		p.resend(v, s)
	case s.asks:
		t, ok := pendingOf(v, s.job)
		switch {
		case !ok:
			p.drop(v, s)
			h.idle = true
		case v.Machine(s.host).Used >= v.Machine(s.host).Slots:
			s.asks = false
			h.queue = slices.Insert(h.queue, 0, s)
		default:
			if p.sticky && v.Job(s.job).Pending > 1 {
				s.asks = false
				h.queue = slices.Insert(h.queue, 0, s)
			} else {
				p.drop(v, s)
			}
			p.start(v, act, s, t)
		}
	case p.avoid && !s.long && n+runs > 0 && s.turned < 2:
		s.turned++
		p.move(v, s, func() sched.MachineID { return p.clear(v, s) })
		p.post(v, 2, twinMail{slip: s})
	default:
		h.queue = append(h.queue, s)
		p.touch(s.host)
	}
}

func (p *probesTwin) clear(v *sched.View, s *twinSlip) sched.MachineID {
	short, all := p.list(p.reserved), p.list(p.any)
	if s.turned == 2 && len(short) > 0 {
		return p.pick(short, s.job)
	}
	g := p.dice(s.job)
	for range 32 {
		m := all[g.Uint64()%uint64(len(all))]
		if n, _, runs, _ := p.longAt(v, m); n+runs == 0 {
			return m
		}
	}
	if len(short) > 0 {
		all = short
	}
	return all[g.Uint64()%uint64(len(all))]
}

func (p *probesTwin) start(v *sched.View, act *sched.Actions, s *twinSlip, t sched.TaskID) {
	task := v.Task(t)
	why := sched.Original
	if task.Launched > 0 {
		why = sched.Retry
	}
	if task.Saved > 0 {
		why = sched.Resume
	}
	a, err := act.Launch(t, s.host, task.Saved, why)
	if err != nil {
		panic(err)
	}
	if o := p.owners[s.job]; o.long {
		p.ends[a] = v.Now() + o.task
		p.think(v, s.host)
	}
	p.look(v, s.job)
}

func (p *probesTwin) serve(v *sched.View, act *sched.Actions, m sched.MachineID) {
	h := p.hosts[m]
	for h.up && int(v.Machine(m).Used)+h.asking < int(v.Machine(m).Slots) {
		if len(h.queue) == 0 && h.idle {
			p.steal(v, m)
		}
		if len(h.queue) == 0 {
			h.idle = false
			return
		}
		i := p.choose(v, h.queue)
		s := h.queue[i]
		h.queue = slices.Delete(h.queue, i, i+1)
		if !s.bound {
			s.asks = true
			h.asking++
			p.post(v, 2, twinMail{slip: s})
			continue
		}
		p.drop(v, s)
		if t, ok := pendingOf(v, s.job); ok {
			p.start(v, act, s, t)
		}
	}
}

// choose returns the place of the reservation that is next.
func (p *probesTwin) choose(v *sched.View, queue []*twinSlip) int {
	if p.bypass < 0 {
		return 0
	}
	left := func(s *twinSlip) sched.Time {
		task := p.owners[s.job].task
		if task == 0 {
			task = sched.Second
		}
		return task * sched.Time(v.Job(s.job).Pending)
	}
	end := len(queue)
	if k := slices.IndexFunc(queue, func(s *twinSlip) bool { return s.passed >= p.bypass }); k >= 0 {
		end = k // who comes later may not overtake it
	}
	best := 0
	for k := 1; k < end; k++ {
		if left(queue[k]) < left(queue[best]) {
			best = k
		}
	}
	for _, s := range queue[:best] {
		s.passed++
	}
	queue[best].passed = 0
	return best
}

func (p *probesTwin) steal(v *sched.View, m sched.MachineID) {
	h, list := p.hosts[m], p.list(p.general)
	h.looked++
	if p.stealing == 0 || len(list) == 0 {
		return
	}
	var g rand.PCG
	g.Seed(^p.seed, uint64(m)<<32|uint64(h.looked))
	for range p.stealing {
		from := list[g.Uint64()%uint64(len(list))]
		f := p.hosts[from]
		if from == m {
			continue
		}
		n, _, runs, _ := p.longAt(v, from)
		first := 0
		if runs == 0 {
			if first = slices.IndexFunc(f.queue, func(s *twinSlip) bool { return s.long }); n == 0 || first < 0 {
				continue
			}
		}
		for first < len(f.queue) && f.queue[first].long {
			first++
		}
		last := first
		for last < len(f.queue) && !f.queue[last].long {
			last++
		}
		if first == last {
			continue
		}
		stolen := slices.Clone(f.queue[first:last])
		f.queue = slices.Delete(f.queue, first, last)
		for _, s := range stolen {
			s.host, s.lost = m, h.lost
			h.queue = append(h.queue, s)
			p.touch(m)
		}
		return
	}
}

func TestProbesTwin(t *testing.T) {
	checkTwinsOf(t, 0, func(t *rapid.T) (string, sched.Policy) {
		p := &probesTwin{seed: 1, hosts: map[sched.MachineID]*twinHost{}, owners: map[sched.JobID]*twinOwner{}, ends: map[sched.AttemptID]sched.Time{}, sampling: "late", bypass: -1}
		p.probes = rapid.IntRange(1, 3).Draw(t, "probes")
		p.trip = rapid.SampledFrom([]sched.Time{0, sched.Second, 3 * sched.Second}).Draw(t, "trip")
		p.cancel = rapid.Bool().Draw(t, "cancel")
		name := rapid.SampledFrom([]string{"sparrow", "hawk", "eagle"}).Draw(t, "policy")
		spec := fmt.Sprintf("%s:probes=%d,trip=%v,cancel=%v", name, p.probes, p.trip, p.cancel)
		if name == "sparrow" {
			p.sampling = rapid.SampledFrom([]string{"late", "batch", "task"}).Draw(t, "sampling")
			return spec + ",sampling=" + p.sampling, p
		}
		p.hybrid, p.cutoff, p.short = true, 2*sched.Second, rapid.SampledFrom([]float64{0, 0.3, 0.5, 1}).Draw(t, "short")
		spec += fmt.Sprintf(",cutoff=2s,short=%g", p.short)
		if name == "hawk" {
			p.stealing = rapid.IntRange(0, 4).Draw(t, "steal")
			return fmt.Sprintf("%s,steal=%d", spec, p.stealing), p
		}
		p.avoid, p.sticky, p.bypass = true, rapid.Bool().Draw(t, "sticky"), int32(rapid.IntRange(-1, 2).Draw(t, "bypass"))
		return fmt.Sprintf("%s,sticky=%v,bypass=%d", spec, p.sticky, p.bypass), p
	})
}
