package trace

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/tailcut/tailcut/sched"
)

// A batch on disk: now, number of facts, facts, number of decisions, decisions. Integers are unsigned varints; instants of facts are told as how long
// before now they are; fractions are 8 bytes, their bits. Every field of every fact and decision is written: a field
// that does not apply is a zero byte.

var errBatch = errors.New("the record does not decode")

func appendBatch(b []byte, now sched.Time, facts []sched.Event, decisions []sched.Decision) []byte {
	b = binary.AppendUvarint(b, uint64(now))
	b = binary.AppendUvarint(b, uint64(len(facts)))
	for i := range facts {
		f := &facts[i]
		b = append(b, byte(f.Kind))
		b = binary.AppendUvarint(b, uint64(now-f.At))
		for _, x := range [...]uint64{uint64(f.Job), uint64(f.Stage), uint64(f.Task), uint64(f.Machine), uint64(f.Attempt)} {
			b = binary.AppendUvarint(b, x)
		}
		b = appendFraction(appendFraction(b, f.Progress), f.Rate)
	}
	b = binary.AppendUvarint(b, uint64(len(decisions)))
	for i := range decisions {
		d := &decisions[i]
		b = append(b, byte(d.Kind), byte(d.Reason))
		for _, x := range [...]uint64{uint64(d.At), uint64(d.Job), uint64(d.Stage), uint64(d.Task), uint64(d.Machine), uint64(d.Number), uint64(d.Attempt)} {
			b = binary.AppendUvarint(b, x)
		}
		b = appendFraction(b, d.From)
	}
	return b
}

func appendFraction(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// decode reads a payload into the batch, reusing its slices.
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
		b.Decisions = append(b.Decisions, x)
	}
	if d.bad || len(d.p) > 0 {
		return errBatch
	}
	return nil
}

// decoder takes values off a payload; bad is set once one is missing or out of range, and everything after reads as zero.
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

func (d *decoder) fraction() float64 {
	if len(d.p) < 8 {
		d.bad, d.p = true, nil
		return 0
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(d.p))
	d.p = d.p[8:]
	return x
}
