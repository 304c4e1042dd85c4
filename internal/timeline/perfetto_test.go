package timeline

import (
	"bytes"
	"encoding/binary"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// fields is a protocol buffer, read back: the values of each field in their order, bytes as strings.
type fields map[int][]any

func parse(t *testing.T, b []byte) fields {
	t.Helper()
	all := fields{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		b = b[n:]
		field := int(tag >> 3)
		switch tag & 7 {
		case wireVarint:
			v, n := binary.Uvarint(b)
			b = b[n:]
			all[field] = append(all[field], v)
		case wireFixed:
			all[field] = append(all[field], binary.LittleEndian.Uint64(b))
			b = b[8:]
		case wireBytes:
			length, n := binary.Uvarint(b)
			all[field] = append(all[field], string(b[n:n+int(length)]))
			b = b[n+int(length):]
		default:
			t.Fatalf("field %d is of kind %d", field, tag&7)
		}
	}
	return all
}

// Two slots, an original and its clone: tracks, slices in pairs, and one arrow from the original to the clone.
func TestPerfetto(t *testing.T) {
	w := empty()
	w.Name = "nightly"
	w.Jobs = append(w.Jobs, JobRow{Name: "sort"})
	w.Stages = append(w.Stages, StageRow{Name: "map"})
	w.Slots = append(w.Slots, SlotRow{Machine: "local"}, SlotRow{Machine: "local", Number: 1, Site: "east"})
	w.Attempts.Add(&Row{Task: 3, Launched: 10, Start: 12, Stop: 90, End: live.Lost, Reason: sched.Original, Why: sched.SiblingWon})
	w.Attempts.Add(&Row{Task: 3, Number: 1, Slot: 1, Launched: 50, Start: 50, Stop: 90, End: live.Won, Clone: true, From: 0.5, Reason: sched.Straggling})
	var b bytes.Buffer
	if err := w.WritePerfetto(&b); err != nil {
		t.Fatal(err)
	}
	var tracks, slices []string
	var times []uint64
	var flows, ends []any
	notes := map[string]any{}
	for _, text := range parse(t, b.Bytes())[tracePacket] {
		p := parse(t, []byte(text.(string)))
		if d := p[packetDescriptor]; d != nil {
			tracks = append(tracks, parse(t, []byte(d[0].(string)))[trackName][0].(string))
			continue
		}
		e := parse(t, []byte(p[packetEvent][0].(string)))
		times = append(times, p[packetTimestamp][0].(uint64))
		flows, ends = append(flows, e[eventFlow]...), append(ends, e[eventFlowEnd]...)
		if e[eventType][0] == uint64(sliceBegin) {
			slices = append(slices, e[eventCategories][0].(string)+" "+e[eventName][0].(string))
		}
		for _, n := range e[eventNote] {
			note := parse(t, []byte(n.(string)))
			for _, field := range []int{noteNumber, noteFloat, noteText} {
				if note[field] != nil {
					notes[note[noteName][0].(string)] = note[field][0]
				}
			}
		}
	}
	for _, c := range []struct{ got, want any }{
		{tracks, []string{"nightly", "local slot 1", "east local slot 2"}},
		{slices, []string{"original map 3", "clone map 3"}},
		{times, []uint64{10, 90, 50, 90}},
		{flows, []any{uint64(2)}}, {ends, []any{uint64(2)}},
		{notes["reason"], "straggling"}, {notes["ended by"], "sibling-won"}, {notes["end"], "won"}, {notes["job"], "sort"}, {notes["attempt"], uint64(1)},
		{notes["from"], uint64(0x3fe0000000000000)},
	} {
		if diff := gocmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}
