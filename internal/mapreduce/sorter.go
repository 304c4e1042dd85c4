package mapreduce

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

const (
	partitionSize = 4 // bytes of the partition's number in front of a sorter's keys, big-endian
	lengthsSize   = 8 // bytes of the lengths in front of a record in the arena
	refSize       = 16
)

// sorter collects records and returns them in the order of (partition, key), equal keys in the order in which they
// were added. It fills about limit bytes of memory (of which as much again may be idle, while buffers grow) and
// spills sorted runs beyond. Within, a key is the partition's number followed by the key, so that one byte order
// serves for both.
type sorter struct {
	a     *worker
	limit int
	sum   bool // values are counts, and equal keys are summed up when runs are merged
	shift int  // bits that a partition's number needs

	arena   []byte // records one after the other: key length and value length in four bytes each, key, value
	refs    []ref
	spilled []string // files of sorted runs
	saved   int      // how many of them hold the strides that were saved
}

// ref is a record in the arena. Most comparisons end at the prefix and touch no arena.
type ref struct {
	prefix uint64 // the partition's number in the uppermost bits, then the first bits of the key
	off    int    // ascending in order of addition, hence the last key of every sort
}

func (a *worker) newSorter(limit int64, sum bool) *sorter {
	return &sorter{a: a, limit: int(min(limit, 1<<40)), sum: sum, shift: bits.Len(uint(max(a.spec.Segments, 1) - 1))}
}

func (s *sorter) add(partition int, key, value []byte) error {
	size := lengthsSize + partitionSize + len(key) + len(value)
	if len(s.refs) > 0 && len(s.arena)+refSize*len(s.refs)+size >= s.limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	off := len(s.arena)
	s.arena = double(s.arena, size)
	s.arena = binary.LittleEndian.AppendUint32(s.arena, uint32(partitionSize+len(key)))
	s.arena = binary.LittleEndian.AppendUint32(s.arena, uint32(len(value)))
	s.arena = binary.BigEndian.AppendUint32(s.arena, uint32(partition))
	s.arena = append(s.arena, key...)
	s.arena = append(s.arena, value...)
	s.refs = append(double(s.refs, 1), ref{
		prefix: uint64(partition)<<(64-s.shift) | keyPrefix(key)>>s.shift,
		off:    off,
	})
	return nil
}

// double makes room for n more elements by at least doubling: append alone grows large slices by a quarter, and so
// copies them several times over.
func double[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, cap(s)))
}

// keyPrefix returns a number that orders keys as their first eight bytes do; a shorter key is filled up with zeros.
func keyPrefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// record returns what lies at an offset of the arena.
func (s *sorter) record(off int) (key, value []byte) {
	body := s.arena[off+lengthsSize:]
	keyLen := binary.LittleEndian.Uint32(s.arena[off:])
	valueLen := binary.LittleEndian.Uint32(s.arena[off+4:])
	return body[:keyLen], body[keyLen:][:valueLen]
}

func (s *sorter) sort() {
	slices.SortFunc(s.refs, func(a, b ref) int {
		if a.prefix < b.prefix {
			return -1
		}
		if a.prefix > b.prefix {
			return 1
		}
		x, _ := s.record(a.off)
		y, _ := s.record(b.off)
		if c := bytes.Compare(x, y); c != 0 {
			return c
		}
		return cmp.Compare(a.off, b.off)
	})
}

func (s *sorter) flush() error {
	s.sort()
	path, err := s.a.spill(s.memory())
	if err != nil {
		return err
	}
	s.spilled = append(s.spilled, path)
	s.arena, s.refs = s.arena[:0], s.refs[:0]
	return nil
}

// memory returns the sorted records in memory.
func (s *sorter) memory() stream {
	var in stream = &memoryStream{s: s}
	if s.sum {
		in = newAdder(in)
	}
	return in
}

// sorted ends the collection and returns its records, keys with the partition's number in front.
func (s *sorter) sorted() (stream, error) {
	if len(s.spilled) == 0 {
		s.sort()
		return s.memory(), nil
	}
	if err := s.flush(); err != nil {
		return nil, err
	}
	s.arena, s.refs = nil, nil
	return s.a.merge(s.spilled, nil, s.sum)
}

type memoryStream struct {
	s    *sorter
	done int
}

func (m *memoryStream) next() (key, value []byte, err error) {
	if m.done == len(m.s.refs) {
		return nil, nil, io.EOF
	}
	key, value = m.s.record(m.s.refs[m.done].off)
	m.done++
	return key, value, nil
}

func (m *memoryStream) close() error { return nil }

// writeSegments ends the collection and writes the attempt's segments, those of empty partitions too, so that a
// segment that is missing is an error.
func (s *sorter) writeSegments() error {
	in, err := s.sorted()
	if err != nil {
		return err
	}
	defer in.close()
	at := &cursor{stream: in}
	at.advance()
	for partition := range s.a.spec.Segments {
		if err := s.a.writeSegment(at, partition); err != nil {
			return err
		}
	}
	if at.err == nil {
		panic(fmt.Sprintf("mapreduce: partition %d of %d", binary.BigEndian.Uint32(at.key), s.a.spec.Segments))
	}
	return nil
}

// writeSegment writes the records of one partition, which in stands at.
func (a *worker) writeSegment(in *cursor, partition int) error {
	w, err := newSegmentWriter(a.ctx, segmentPath(a.spec.Dir, partition))
	if err != nil {
		return err
	}
	defer w.abandon()
	for in.err == nil && binary.BigEndian.Uint32(in.key) == uint32(partition) {
		key := in.key[partitionSize:]
		if err := w.add(key, in.value); err != nil {
			return err
		}
		a.counters.OutputBytes += int64(len(key) + len(in.value))
		in.advance()
	}
	if in.err != nil && in.err != io.EOF {
		return in.err
	}
	a.counters.OutputRecords += int64(w.records)
	return w.finish(true)
}

func (s *sorter) empty() bool { return len(s.refs) == 0 && len(s.spilled) == 0 }
