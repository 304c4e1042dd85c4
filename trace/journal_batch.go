package trace

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/tailcut/tailcut/sched"
)

// A batch on disk: now, number of facts, facts, number of decisions, decisions, number of outputs, outputs, settings if
// there are any, and then, in a journal of many jobs, what concerns their owner, if there is anything. Integers are
// unsigned varints; instants of facts are told as how long before now they are; fractions are 8 bytes, their bits;
// an output is its attempt, its length and its bytes. Every field of every fact and decision is written: a field that
// does not apply is a zero byte. The speed is there for a Pace only; bytes are there for an AttemptDone and a
// DataFetched only, site and span for the latter; an AttemptDone has its span, 8 bytes, in place of the rate, so that
// journals in which it had none say 0; slots are there for a MachineResized only, and priority, weight and deadline for
// a JobChanged only.

var errBatch = errors.New("the record does not decode")

func appendBatch(b []byte, x *Batch) []byte {
	b = binary.AppendUvarint(b, uint64(x.Now))
	b = binary.AppendUvarint(b, uint64(len(x.Facts)))
	for i := range x.Facts {
		f := &x.Facts[i]
		b = append(b, byte(f.Kind))
		b = binary.AppendUvarint(b, uint64(x.Now-f.At))
		for _, n := range [...]uint64{uint64(f.Job), uint64(f.Stage), uint64(f.Task), uint64(f.Machine), uint64(f.Attempt)} {
			b = binary.AppendUvarint(b, n)
		}
		b = appendFraction(b, f.Progress)
		if f.Kind == sched.AttemptDone {
			b = binary.LittleEndian.AppendUint64(b, uint64(f.Span))
		} else {
			b = appendFraction(b, f.Rate)
		}
		if f.Kind == sched.DataFetched {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(f.Site)), uint64(f.Span))
		}
		if f.Kind == sched.DataFetched || f.Kind == sched.AttemptDone {
			b = binary.AppendUvarint(b, uint64(f.Bytes))
		}
		if f.Kind == sched.MachineResized {
			b = binary.AppendUvarint(b, uint64(f.Slots))
		}
		if f.Kind == sched.JobChanged {
			b = appendFraction(binary.AppendUvarint(b, uint64(uint32(f.Priority))), f.Weight)
			b = binary.AppendUvarint(b, uint64(f.Deadline))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(x.Decisions)))
	for i := range x.Decisions {
		d := &x.Decisions[i]
		b = append(b, byte(d.Kind), byte(d.Reason))
		for _, n := range [...]uint64{uint64(d.At), uint64(d.Job), uint64(d.Stage), uint64(d.Task), uint64(d.Machine), uint64(d.Number), uint64(d.Attempt)} {
			b = binary.AppendUvarint(b, n)
		}
		b = appendFraction(b, d.From)
		if d.Kind == sched.Pace {
			b = appendFraction(b, d.Speed)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(x.Outputs)))
	for i := range x.Outputs {
		o := &x.Outputs[i]
		b = binary.AppendUvarint(b, uint64(o.Attempt))
		b = binary.AppendUvarint(b, uint64(len(o.Data)))
		b = append(b, o.Data...)
	}
	return appendOwn(appendSettings(b, x), x)
}

func appendFraction(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// decode reads a payload into the batch, reusing its slices. The data of outputs are parts of the payload.
func (b *Batch) decode(p []byte) error {
	d := decoder{p: p}
	b.Now = sched.Time(d.uint(math.MaxInt64))
	b.Facts = b.Facts[:0]
	for n := d.uint(uint64(len(p))); n > 0 && !d.bad; n-- {
		f := sched.Event{Kind: sched.EventKind(d.byte())}
		f.At = b.Now - sched.Time(d.uint(math.MaxInt64))
		f.Job, f.Stage = sched.JobID(d.uint(math.MaxUint32)), sched.StageID(d.uint(math.MaxUint32))
		f.Task, f.Machine = sched.TaskID(d.uint(math.MaxUint32)), sched.MachineID(d.uint(math.MaxUint32))
		f.Attempt = sched.AttemptID(d.uint(math.MaxUint64))
		f.Progress, f.Rate = d.fraction(), d.fraction()
		if f.Kind == sched.AttemptDone {
			f.Span, f.Rate = sched.Time(math.Float64bits(f.Rate)), 0
		}
		if f.Kind == sched.DataFetched {
			f.Site, f.Span = sched.SiteID(d.uint(math.MaxUint32)), sched.Time(d.uint(math.MaxInt64))
		}
		if f.Kind == sched.DataFetched || f.Kind == sched.AttemptDone {
			f.Bytes = int64(d.uint(math.MaxInt64))
		}
		if f.Kind == sched.MachineResized {
			f.Slots = uint32(d.uint(math.MaxUint32))
		}
		if f.Kind == sched.JobChanged {
			f.Priority, f.Weight = int32(uint32(d.uint(math.MaxUint32))), d.fraction()
			f.Deadline = sched.Time(d.uint(math.MaxInt64))
		}
		b.Facts = append(b.Facts, f)
	}
	b.Decisions = b.Decisions[:0]
	for n := d.uint(uint64(len(p))); n > 0 && !d.bad; n-- {
		x := sched.Decision{Kind: sched.DecisionKind(d.byte()), Reason: sched.Reason(d.byte())}
		x.At, x.Job = sched.Time(d.uint(math.MaxInt64)), sched.JobID(d.uint(math.MaxUint32))
		x.Stage, x.Task = sched.StageID(d.uint(math.MaxUint32)), sched.TaskID(d.uint(math.MaxUint32))
		x.Machine, x.Number = sched.MachineID(d.uint(math.MaxUint32)), uint32(d.uint(math.MaxUint32))
		x.Attempt = sched.AttemptID(d.uint(math.MaxUint64))
		x.From = d.fraction()
		if x.Kind == sched.Pace {
			x.Speed = d.fraction()
		}
		b.Decisions = append(b.Decisions, x)
	}
	b.Outputs = b.Outputs[:0]
	for n := d.uint(uint64(len(p))); n > 0 && !d.bad; n-- {
		id := sched.AttemptID(d.uint(math.MaxUint64))
		b.Outputs = append(b.Outputs, Output{Attempt: id, Data: d.bytes(d.uint(uint64(len(p))))})
	}
	b.Settings = d.settings()
	d.own(b)
	if d.bad || len(d.p) > 0 {
		return errBatch
	}
	return nil
}

// decoder takes values off a payload; bad is set once one is missing or out of range, and everything after reads as
// zero.
type decoder struct {
	p   []byte
	bad bool
}

func (d *decoder) byte() byte {
	if len(d.p) == 0 {
		d.bad = true
		return 0
	}
	x := d.p[0]
	d.p = d.p[1:]
	return x
}

func (d *decoder) uint(most uint64) uint64 {
	x, n := binary.Uvarint(d.p)
	if n <= 0 || x > most {
		d.bad, d.p = true, nil
		return 0
	}
	d.p = d.p[n:]
	return x
}

// bytes takes n bytes; they are never nil.
func (d *decoder) bytes(n uint64) []byte {
	if uint64(len(d.p)) < n {
		d.bad, d.p = true, nil
		return []byte{}
	}
	x := d.p[:n:n]
	d.p = d.p[n:]
	if x == nil {
		x = []byte{}
	}
	return x
}

func (d *decoder) fraction() float64 {
	if len(d.p) < 8 {
		d.bad, d.p = true, nil
		return 0
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(d.p))
	d.p = d.p[8:]
	return x
}
