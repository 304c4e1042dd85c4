package timeline

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// A Perfetto trace is a protocol buffer: a sequence of packets, each the description of a track, or the begin or the
// end of a slice on one. These are the numbers of the few fields that are used, from protos/perfetto/trace of
// https://github.com/google/perfetto.
const (
	tracePacket = 1

	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetDescriptor = 60

	trackUUID     = 1
	trackName     = 2
	trackParent   = 5
	trackOrdering = 11 // of its children
	trackRank     = 12 // among its siblings

	eventNote       = 4
	eventType       = 9
	eventTrack      = 11
	eventCategories = 22
	eventName       = 23
	eventFlow       = 47
	eventFlowEnd    = 48

	noteNumber = 3
	noteFloat  = 5
	noteText   = 6
	noteName   = 10

	explicitly = 3 // ordered by their ranks
	sliceBegin = 1
	sliceEnd   = 2
)

// WritePerfetto writes the timeline as a trace for https://ui.perfetto.dev: a track for each slot, a slice for each
// attempt, and an arrow from each original to its clones.
func (t *Timeline) WritePerfetto(w io.Writer) error {
	p := perfetto{w: bufio.NewWriter(w)}
	root := uint64(len(t.Slots)) + 1
	p.track(func(m *message) {
		m.number(trackUUID, root)
		m.text(trackName, cmp.Or(t.Name, "tailcut"))
		m.number(trackOrdering, explicitly)
	})
	for i, s := range t.Slots {
		p.track(func(m *message) {
			m.number(trackUUID, uint64(i)+1)
			m.number(trackParent, root)
			m.number(trackRank, uint64(i))
			m.text(trackName, s.name())
		})
	}
	originals := t.originals()
	arrows := map[int][]int{}
	for clone, of := range originals {
		arrows[of] = append(arrows[of], clone)
	}
	for i := range t.Attempts.Len() {
		r := t.Attempts.Row(i)
		p.event(r.Launched, func(m *message) { t.begin(m, &r, i, originals, arrows[i]) })
		p.event(max(r.Stop, r.Launched), func(m *message) {
			m.number(eventType, sliceEnd)
			m.number(eventTrack, uint64(r.Slot)+1)
		})
	}
	return cmp.Or(p.err, p.w.Flush())
}

// begin writes what is said of an attempt.
func (t *Timeline) begin(m *message, r *Row, i int, originals map[int]int, clones []int) {
	kind := "original"
	if r.Clone {
		kind = "clone"
	}
	m.number(eventType, sliceBegin)
	m.number(eventTrack, uint64(r.Slot)+1)
	m.text(eventCategories, kind)
	m.text(eventName, fmt.Sprintf("%s %d", t.Stages[r.Stage].Name, r.Task))
	m.note("job", func(n *message) { n.text(noteText, t.Jobs[r.Job].Name) })
	m.note("attempt", func(n *message) { n.number(noteNumber, uint64(r.Number)) })
	m.note("end", func(n *message) { n.text(noteText, string(r.End)) })
	m.note("reason", func(n *message) { n.text(noteText, r.Reason.String()) })
	if r.Why != sched.Unexplained {
		m.note("ended by", func(n *message) { n.text(noteText, r.Why.String()) })
	}
	if r.From > 0 {
		m.note("from", func(n *message) { n.float(noteFloat, r.From) })
	}
	if r.Start > r.Launched {
		m.note("waited seconds", func(n *message) { n.float(noteFloat, (r.Start - r.Launched).Seconds()) })
	}
	for _, c := range clones {
		m.fixed(eventFlow, uint64(c)+1)
	}
	if _, ok := originals[i]; ok {
		m.fixed(eventFlowEnd, uint64(i)+1)
	}
}

// name is how a reader knows the slot.
func (s *SlotRow) name() string {
	name := fmt.Sprintf("slot %d", s.Number+1)
	for _, of := range []string{s.Class, s.Machine, s.Site} {
		if of != "" {
			name = of + " " + name
		}
	}
	return name
}

// originals returns which attempt of its task ran when each clone was launched.
func (t *Timeline) originals() map[int]int {
	type family struct{ job, stage, task uint32 }
	clones, all := map[family]bool{}, map[family][]int{}
	c := &t.Attempts
	of := func(i int) family { return family{c.Job[i], c.Stage[i], c.Task[i]} }
	for i := range c.Len() {
		if c.Clone[i] {
			clones[of(i)] = true
		}
	}
	originals := map[int]int{}
	for i := range c.Len() {
		if !clones[of(i)] {
			continue
		}
		for _, o := range all[of(i)] {
			if c.Clone[i] && c.Launched[o] <= c.Launched[i] && (c.Stop[o] >= c.Launched[i] || c.End[o] == live.End(Running)) {
				originals[i] = o
				break
			}
		}
		all[of(i)] = append(all[of(i)], i)
	}
	return originals
}

// perfetto writes packets, all of one sequence.
type perfetto struct {
	w   *bufio.Writer
	out message
	err error
}

// track writes the description of a track.
func (p *perfetto) track(fill func(*message)) {
	p.packet(func(m *message) { m.inside(packetDescriptor, fill) })
}

// event writes what happened at an instant.
func (p *perfetto) event(at sched.Time, fill func(*message)) {
	p.packet(func(m *message) {
		m.number(packetTimestamp, uint64(max(0, at)))
		m.inside(packetEvent, fill)
	})
}

func (p *perfetto) packet(fill func(*message)) {
	p.out.b = p.out.b[:0]
	p.out.inside(tracePacket, func(m *message) {
		m.number(packetSequence, 1)
		fill(m)
	})
	if _, err := p.w.Write(p.out.b); err != nil && p.err == nil {
		p.err = err
	}
}

// message is a protocol buffer that is being written.
type message struct{ b []byte }

// Kinds of fields on the wire.
const (
	wireVarint = 0
	wireFixed  = 1
	wireBytes  = 2
)

func (m *message) tag(field, wire int) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|uint64(wire))
}

func (m *message) number(field int, v uint64) {
	m.tag(field, wireVarint)
	m.b = binary.AppendUvarint(m.b, v)
}

func (m *message) fixed(field int, v uint64) {
	m.tag(field, wireFixed)
	m.b = binary.LittleEndian.AppendUint64(m.b, v)
}

func (m *message) float(field int, v float64) { m.fixed(field, math.Float64bits(v)) }

func (m *message) text(field int, s string) {
	m.tag(field, wireBytes)
	m.b = append(binary.AppendUvarint(m.b, uint64(len(s))), s...)
}

// inside writes a message as a field of this one.
func (m *message) inside(field int, fill func(*message)) {
	var in message
	fill(&in)
	m.tag(field, wireBytes)
	m.b = append(binary.AppendUvarint(m.b, uint64(len(in.b))), in.b...)
}

// note writes a debug annotation.
func (m *message) note(name string, value func(*message)) {
	m.inside(eventNote, func(n *message) {
		n.text(noteName, name)
		value(n)
	})
}
