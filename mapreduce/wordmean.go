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
		run: map[Kind]func(*attempt) error{
			KindMap:    wordmeanMap,
			KindReduce: wordmeanReduce,
		},
	}
}

const (
	wordmeanCount  = "count"
	wordmeanLength = "length"
)

func wordmeanMap(a *attempt) error {
	var count, length uint64
	err := a.words(func(word []byte) error {
		count++
		length += uint64(len(word))
		return nil
	})
	if err != nil {
		return err
	}
	s := a.newSorter(a.spec.memoryLimit(), true)
	if count > 0 {
		if err := s.add(0, []byte(wordmeanCount), binary.AppendUvarint(nil, count)); err != nil {
			return err
		}
		if err := s.add(0, []byte(wordmeanLength), binary.AppendUvarint(nil, length)); err != nil {
			return err
		}
	}
	return s.writeSegments()
}

func wordmeanReduce(a *attempt) error {
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
