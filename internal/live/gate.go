package live

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/sched"
)

// Gate holds attempts back for the sake of the machine, and of those who share it. Like a shortage it makes the
// machines smaller (MachineResized), so the core and its policy see what can run, and the journal says so. The zero
// value holds none back.
type Gate struct {
	MemFree int64         // bytes; while less is free nothing starts, below half of it the youngest gives way
	Load    float64       // of the machine, at which nothing starts
	Delay   time.Duration // between two starts
	Memory  []int64       // set aside for an attempt, in bytes, by stage
	Budget  int64         // that all attempts together may set aside

	Read  func() (Reading, error) // of the machine; asked ten times a second where MemFree or Load is given
	Slots func() (int, error)     // attempts that may run at once, asked once a second; nil for the machines' slots
}

// Reading is what a machine says of itself.
type Reading struct {
	Total, Free int64   // bytes of memory: that there are, and that programs can have
	Load        float64 // processes that run, or wait for a disk
}

// gate is a Gate in use.
type gate struct {
	Gate
	read  bool // once, at least
	free  int64
	at    int       // attempts that ran when free was read
	extra []float64 // what the load was beyond the number of attempts, in the last readings
	slots int       // the last answer of Slots; 0 for none
	asked sched.Time
	last  sched.Time // the last start
	began bool       // there was one
	spent sched.Time // the last attempt that gave way did so then
	told  map[string]bool
}

const (
	readings  = 5                       // whose mean counts: a fifth of a second of a busy machine says little
	askEvery  = sched.Time(1e9)         // Slots
	giveEvery = sched.Time(time.Second) // memory is given back within
)

// Hold has the run, which is not yet looped, heed a gate.
func (r *Run) Hold(g Gate) { r.gate = &gate{Gate: g, told: map[string]bool{}} }

// moves tells whether the gate has to be looked at as time goes by.
func (g *gate) moves() bool { return g.MemFree > 0 || g.Load > 0 || g.Slots != nil }

// exact tells whether the room there is depends on each start and end: then the machines are closed while the core
// takes in what has happened, and opened afterwards for as many attempts as there is room for.
func (g *gate) exact() bool { return g.Delay > 0 || g.mixed() }

// mixed tells whether attempts of some stages need more memory than those of others.
func (g *gate) mixed() bool {
	return len(g.Memory) > 0 && slices.Min(g.Memory) < slices.Max(g.Memory)
}

// look reads the machine. What cannot be read is as it was.
func (g *gate) look(now sched.Time, running int) {
	if g.MemFree > 0 || g.Load > 0 {
		if x, err := g.Read(); err == nil {
			g.free, g.at, g.read = x.Free, running, true
			g.extra = append(g.extra, x.Load-float64(running))
			g.extra = g.extra[max(0, len(g.extra)-readings):]
		}
	}
	if g.Slots != nil && (g.slots == 0 || now-g.asked >= askEvery) {
		g.asked = now
		if n, err := g.Slots(); err == nil {
			g.slots = n
		}
	}
}

// most returns how many attempts may run at once as far as that is no matter of one start or end, and what bounds them
// to none, "" for nothing.
func (g *gate) most() (n int, why string) {
	n = math.MaxInt
	if g.slots > 0 {
		n = g.slots
	}
	if len(g.Memory) > 0 && !g.mixed() && g.Memory[0] > 0 {
		n = min(n, max(1, int(g.Budget/g.Memory[0])))
	}
	if !g.read {
		return n, ""
	}
	if g.MemFree > 0 {
		switch k := g.free / g.MemFree; {
		case k == 0:
			return 0, fmt.Sprintf("%s of memory are free, fewer than --memfree %s asks for", grammar.FormatSize(g.free>>20<<20), grammar.FormatSize(g.MemFree))
		case k < math.MaxInt32: // each that starts may take as much before the next reading
			n = min(n, g.at+int(k))
		}
	}
	if g.Load > 0 {
		sum := 0.0
		for _, x := range g.extra {
			sum += x
		}
		k := math.Ceil(g.Load - sum/float64(len(g.extra)))
		if k <= 0 {
			return 0, fmt.Sprintf("the load of the machine is %.1f, and --load %.4g lets nothing start", sum/float64(len(g.extra)), g.Load)
		}
		n = min(n, int(min(k, math.MaxInt32)))
	}
	return n, ""
}

// more returns how many attempts may start now beside those that run, as far as that is a matter of each.
func (g *gate) more(v *sched.View, now sched.Time) int {
	n := math.MaxInt
	if g.Delay > 0 {
		if n = 1; g.began && now < g.last+sched.Time(g.Delay) {
			return 0
		}
	}
	if !g.mixed() {
		return n
	}
	left, need, running := g.Budget, int64(0), 0
	for s := range g.Memory {
		st := v.Stage(sched.StageID(s))
		left -= int64(st.Live) * g.Memory[s]
		if running += int(st.Live); st.Pending+st.Running > 0 {
			need = max(need, g.Memory[s])
		}
	}
	switch {
	case need == 0:
		return n
	case running == 0: // one always may
		return min(n, max(1, int(left/need)))
	}
	return min(n, max(0, int(left/need)))
}

// youngest returns the attempt that gives way when less than half of the memory is free that is to be: not the only
// one, which would give way for ever.
func (g *gate) youngest(v *sched.View, live map[sched.AttemptID]spot, now sched.Time) (sched.AttemptID, bool) {
	if g.MemFree == 0 || !g.read || g.free >= g.MemFree/2 || len(live) < 2 || now-g.spent < giveEvery && g.spent > 0 {
		return 0, false
	}
	g.spent = now
	last, found := -1, sched.AttemptID(0)
	for id, x := range live {
		if x.launched > last && v.Rows().Alive(id) {
			last, found = x.launched, id
		}
	}
	return found, last >= 0
}

// watchGate looks at the machine and takes notice of what it lets run. Somebody who waits for a run to begin is told
// why it does not, once for each reason.
func (l *loop) watchGate(now sched.Time) {
	g := l.gate
	live := l.past.running
	g.look(now, len(live))
	if id, ok := g.youngest(l.core.View(), live, now); ok {
		l.kill(live[id].Job, id)
		l.batch.Facts = append(l.batch.Facts, sched.Event{At: now, Kind: sched.AttemptRefused, Attempt: id})
		l.tellHeld("youngest", fmt.Sprintf("less than half of --memfree %s is free: the youngest attempt was stopped, and will start again", grammar.FormatSize(g.MemFree)))
	}
	if _, why := g.most(); why != "" && len(live) == 0 {
		l.tellHeld("closed", "nothing starts: "+why)
	}
}

func (l *loop) tellHeld(reason, why string) {
	if !l.gate.told[reason] && l.watch.Held != nil {
		l.watch.Held(why)
	}
	l.gate.told[reason] = true
}

// admit opens the machines for as many attempts as the gate lets start, after the core has taken in all that has
// happened; again when those have started.
func (l *loop) admit() error {
	g := l.gate
	for g != nil && g.exact() && !l.over && !l.shut {
		now := l.now()
		k := g.more(l.core.View(), now)
		if k == 0 {
			if g.Delay > 0 {
				l.rooms.tryAt(now, min(l.rooms.next, g.last+sched.Time(g.Delay)))
			}
			return nil
		}
		most, _ := g.most()
		if n := l.live(); k < math.MaxInt-n {
			most = min(most, n+k)
		}
		if l.resize(now, most); len(l.batch.Facts) == 0 {
			return nil
		}
		if err := l.advance(now); err != nil {
			return err
		}
	}
	return nil
}

// started takes notice of a start.
func (l *loop) started(at sched.Time) {
	if l.gate != nil {
		l.gate.last, l.gate.began = at, true
	}
}

// live counts the attempts that run.
func (l *loop) live() (n int) {
	for _, m := range l.present {
		n += int(l.core.View().Machine(m).Used)
	}
	return n
}

// resize adds to the batch that the machines have room for so many attempts together, as far as each has slots.
func (l *loop) resize(now sched.Time, most int) {
	more := math.MaxInt
	if most < math.MaxInt {
		more = most - l.live()
	}
	for _, m := range l.wanted() {
		used := int(l.core.View().Machine(m).Used)
		room := l.rooms.most(m, l.full(m))
		switch {
		case more == math.MaxInt:
		case more >= 0:
			room = min(room, used+more)
			more -= max(0, room-used)
		default: // so many less, once they have ended
			room = min(room, max(0, used+more))
			more += max(0, used-room)
		}
		l.tellRoom(m, now, room)
	}
}

// wanted returns the machines that are there, first those of a class that tasks wait for: room that is short is no use
// to others.
func (l *loop) wanted() []sched.MachineID {
	if l.gate == nil || l.header.Classes() == 1 {
		return l.present
	}
	v := l.core.View()
	var waited [sched.Classes]bool
	for s := range v.Rows().Stages() {
		if st := v.Stage(sched.StageID(s)); st.Pending > 0 {
			waited[st.Class] = true
		}
	}
	var first, last []sched.MachineID
	for _, m := range l.present {
		if waited[v.Machine(m).Class] {
			first = append(first, m)
		} else {
			last = append(last, m)
		}
	}
	return append(first, last...)
}

// full returns how many slots a machine has as long as it lacks nothing.
func (l *loop) full(m sched.MachineID) int {
	if l.gate != nil && l.gate.slots > 0 && len(l.present) == 1 {
		return l.gate.slots
	}
	return l.slots[m]
}
