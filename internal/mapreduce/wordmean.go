package mapreduce

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// wordmean counts words, adds up their lengths in bytes and divides. There is one part whatever the number of
// reducers, with the lines "count\tN", "length\tN" and "mean\tX", X being the shortest decimal that
// is the quotient as a float64. Without any word the part is empty, for there is no mean.
func wordmean() operator {
	return operator{
		stages: func(op Operator, _ int) []shape { return mapReduce(op, 1) },
		sums:   true,
		run: map[Kind]func(*worker) error{
			KindMap:    wordmeanMap,
			KindReduce: wordmeanReduce,
		},
	}
}

const (
	wordmeanCount  = "count"
	wordmeanLength = "length"
)

func wordmeanMap(a *worker) error {
	m := &means{sorter: a.newSorter(a.spec.memoryLimit(), true)}
	err := a.words(m, func(word []byte) error {
		m.count++
		m.length += uint64(len(word))
		return nil
	})
	if err != nil {
		return err
	}
	if err := m.drain(); err != nil {
		return err
	}
	return m.sorter.writeSegments()
}

// means counts words and their bytes.
type means struct {
	sorter        *sorter
	count, length uint64
}

func (m *means) ripen() error           { return nil }
func (m *means) inherit(runs []string)  { m.sorter.inherit(runs) }
func (m *means) save(path string) error { return m.sorter.save(path) }

func (m *means) drain() error {
	if m.count == 0 {
		return nil
	}
	if err := m.sorter.add(0, []byte(wordmeanCount), binary.AppendUvarint(nil, m.count)); err != nil {
		return err
	}
	if err := m.sorter.add(0, []byte(wordmeanLength), binary.AppendUvarint(nil, m.length)); err != nil {
		return err
	}
	m.count, m.length = 0, 0
	return nil
}

func wordmeanReduce(a *worker) error {
	in, err := a.shuffled(true)
	if err != nil {
		return err
	}
	var count, length uint64
	err = each(in, func(key, value []byte) error {
		n, err := decodeCount(value)
		if string(key) == wordmeanCount {
			count = n
		} else {
			length = n
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.part(func(w io.Writer) error {
		if count == 0 {
			return nil
		}
		mean := strconv.FormatFloat(float64(length)/float64(count), 'f', -1, 64)
		_, err := fmt.Fprintf(w, "count\t%d\nlength\t%d\nmean\t%s\n", count, length, mean)
		return err
	})
}
