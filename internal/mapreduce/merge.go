package mapreduce

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// fanIn is how many segments are read at once at most; more are merged in several passes. It bounds open files and
// memory: a reader holds a frame and a key. Where records are so long that this is more than the attempt may buffer,
// fewer are read at once.
const fanIn = 200

// stream is a sequence of records in byte order of their keys.
type stream interface {
	// next returns slices that are valid until the next call, and io.EOF after the last record.
	next() (key, value []byte, err error)
	close() error
}

// cursor stands at a record of a stream.
type cursor struct {
	stream
	key, value []byte
	err        error // of the last advance: io.EOF behind the last record
}

func (c *cursor) advance() { c.key, c.value, c.err = c.next() }

// merger merges streams. Of equal keys the one from the earlier stream comes first.
type merger struct {
	sources []cursor
	heap    []int // sources that stand at a record, the least on top
	started bool
}

func newMerger(streams []stream) *merger {
	m := &merger{sources: make([]cursor, len(streams))}
	for i, s := range streams {
		m.sources[i].stream = s
	}
	return m
}

func (m *merger) next() (key, value []byte, err error) {
	switch {
	case !m.started:
		if err := m.start(); err != nil {
			return nil, nil, err
		}
	case len(m.heap) > 0: // what the last call returned is no longer needed
		top := &m.sources[m.heap[0]]
		top.advance()
		if top.err == io.EOF {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		} else if top.err != nil {
			return nil, nil, top.err
		}
		m.sift(0)
	}
	if len(m.heap) == 0 {
		return nil, nil, io.EOF
	}
	top := &m.sources[m.heap[0]]
	return top.key, top.value, nil
}

func (m *merger) start() error {
	m.started = true
	for i := range m.sources {
		s := &m.sources[i]
		s.advance()
		if s.err == io.EOF {
			continue
		}
		if s.err != nil {
			return s.err
		}
		m.heap = append(m.heap, i)
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	return nil
}

func (m *merger) less(i, j int) bool {
	a, b := m.heap[i], m.heap[j]
	if c := bytes.Compare(m.sources[a].key, m.sources[b].key); c != 0 {
		return c < 0
	}
	return a < b
}

func (m *merger) sift(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if child+1 < len(m.heap) && m.less(child+1, child) {
			child++
		}
		if !m.less(child, i) {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}

func (m *merger) close() error {
	var first error
	for i := range m.sources {
		first = cmp.Or(first, m.sources[i].close())
	}
	return first
}

// adder replaces records of equal keys by one whose value, a uvarint, is the sum of theirs.
type adder struct {
	in      cursor // at the first record of the next group
	started bool
	key     []byte // of the group that was returned last
	value   []byte
}

func newAdder(in stream) *adder { return &adder{in: cursor{stream: in}} }

func (s *adder) next() (key, value []byte, err error) {
	if !s.started {
		s.started = true
		s.in.advance()
	}
	if s.in.err != nil {
		return nil, nil, s.in.err
	}
	s.key = append(s.key[:0], s.in.key...)
	total := uint64(0)
	for s.in.err == nil && bytes.Equal(s.in.key, s.key) {
		n, err := decodeCount(s.in.value)
		if err != nil {
			return nil, nil, err
		}
		total += n
		s.in.advance()
	}
	s.value = binary.AppendUvarint(s.value[:0], total)
	return s.key, s.value, nil
}

func (s *adder) close() error { return s.in.close() }

func decodeCount(value []byte) (uint64, error) {
	n, size := binary.Uvarint(value)
	if size <= 0 || size != len(value) {
		return 0, fmt.Errorf("%w: a value of %d bytes is no count", ErrCorrupt, len(value))
	}
	return n, nil
}

// merge returns the records of the segments in order. With sum set equal keys are summed up.
func (a *worker) merge(paths []string, m *meter, sum bool) (stream, error) {
	paths, err := a.narrow(paths, m, sum)
	if err != nil {
		return nil, err
	}
	return a.openMerged(paths, m, sum)
}

// narrow returns so few segments with the records of all that they can be read at once. Where there are more,
// neighbours are merged into temporary segments, which keeps equal keys in the order of paths.
func (a *worker) narrow(paths []string, m *meter, sum bool) ([]string, error) {
	for {
		groups, err := a.groups(paths)
		if err != nil || len(groups) <= 1 {
			return paths, err
		}
		var merged []string
		for _, group := range groups {
			path := group[0]
			if len(group) > 1 {
				if path, err = a.mergeOnce(group, m, sum); err != nil {
					return nil, err
				}
			}
			merged = append(merged, path)
		}
		paths = merged
	}
}

// groups cuts a list of segments into stretches that can be read at once. Two always can.
func (a *worker) groups(paths []string) (all [][]string, err error) {
	from, used := 0, int64(0)
	for i, path := range paths {
		frame, err := largestFrame(path)
		if err != nil {
			return nil, err
		}
		used += 2 * frame // one, and a key as long
		if n := i - from; n == fanIn || n >= 2 && used > a.spec.memoryLimit() {
			all = append(all, paths[from:i])
			from, used = i, 2*frame
		}
	}
	if from < len(paths) {
		all = append(all, paths[from:])
	}
	return all, nil
}

func (a *worker) mergeOnce(group []string, m *meter, sum bool) (string, error) {
	in, err := a.openMerged(group, m, sum)
	if err != nil {
		return "", err
	}
	defer in.close()
	path, err := a.spill(in)
	if err != nil {
		return "", err
	}
	for _, p := range group {
		if a.isTemp(p) {
			if err := os.Remove(p); err != nil {
				return "", fmt.Errorf("merge: %w", err)
			}
		}
	}
	return path, nil
}

func (a *worker) openMerged(paths []string, m *meter, sum bool) (stream, error) {
	streams := make([]stream, 0, len(paths))
	for _, path := range paths {
		s, err := openSegment(a.ctx, path, m)
		if err != nil {
			newMerger(streams).close()
			return nil, err
		}
		streams = append(streams, s)
	}
	var merged stream = newMerger(streams)
	if sum {
		merged = newAdder(merged)
	}
	return merged, nil
}

// spill writes a stream into a new temporary segment.
func (a *worker) spill(in stream) (string, error) {
	path, err := a.temp()
	if err != nil {
		return "", err
	}
	w, err := newSegmentWriter(a.ctx, path)
	if err != nil {
		return "", err
	}
	defer w.abandon()
	for {
		key, value, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		if err := w.add(key, value); err != nil {
			return "", err
		}
	}
	a.counters.SpilledRecords += int64(w.records)
	return path, w.finish(false)
}
