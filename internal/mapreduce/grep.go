package mapreduce

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// grep counts the matches of a regular expression: each leftmost, non-overlapping match in a line (the empty match
// too, where the expression allows it) adds one to the count of its text. Like Hadoop's example it takes two
// jobs in one: the matches are counted, then a single task sorts them. The only part holds "count\tmatch"
// lines, the highest count first, equal counts in byte order of the matches.
//
// Between the last two stages a record is the complement of the count, in eight big-endian bytes, then the match:
// its byte order is the order wanted.
func grep() operator {
	return operator{
		check: func(op Operator) error {
			_, err := compilePattern(op)
			return err
		},
		stages: func(_ Operator, reducers int) []shape {
			return []shape{
				{kind: KindMap, tasks: perSplit, segments: reducers, resumes: true},
				{kind: KindReduce, tasks: reducers, segments: 1},
				{kind: KindSort, tasks: 1},
			}
		},
		sums: true,
		run: map[Kind]func(*worker) error{
			KindMap:    grepMap,
			KindReduce: grepReduce,
			KindSort:   grepSort,
		},
	}
}

func compilePattern(op Operator) (*regexp.Regexp, error) {
	if op.Pattern == "" {
		return nil, errors.New("grep: the pattern is empty")
	}
	re, err := regexp.Compile(op.Pattern)
	if err != nil {
		return nil, fmt.Errorf("grep: %w", err)
	}
	return re, nil
}

func grepMap(a *worker) error {
	re, err := compilePattern(a.spec.Operator)
	if err != nil {
		return err
	}
	matches := a.newTally()
	err = a.lines(matches, func(line []byte) error { return eachMatch(re, line, matches.count) })
	if err != nil {
		return err
	}
	return matches.writeSegments()
}

// listedMost is the longest line, in bytes, of which all matches are listed at once: a match takes 40 times as much
// memory as a byte.
const listedMost = 64 << 10

// eachMatch calls fn for each match of the expression in a line.
func eachMatch(re *regexp.Regexp, line []byte, fn func([]byte) error) error {
	if len(line) <= listedMost {
		for _, m := range re.FindAllIndex(line, -1) {
			if err := fn(line[m[0]:m[1]]); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	re.ReplaceAllFunc(line, func(match []byte) []byte { // finds the same, one by one
		if err == nil {
			err = fn(match)
		}
		return nil
	})
	return err
}

func grepReduce(a *worker) error {
	in, err := a.shuffled(true)
	if err != nil {
		return err
	}
	s := a.newSorter(a.spec.memoryLimit(), false)
	var ranked []byte
	err = each(in, func(match, value []byte) error {
		n, err := decodeCount(value)
		if err != nil {
			return err
		}
		ranked = append(binary.BigEndian.AppendUint64(ranked[:0], ^n), match...)
		return s.add(0, ranked, nil)
	})
	if err != nil {
		return err
	}
	return s.writeSegments()
}

func grepSort(a *worker) error {
	in, err := a.shuffled(false)
	if err != nil {
		return err
	}
	return a.part(func(w io.Writer) error {
		var line []byte
		return each(in, func(ranked, _ []byte) error {
			if len(ranked) < 8 {
				return fmt.Errorf("%w: a key of %d bytes holds no count", ErrCorrupt, len(ranked))
			}
			line = fmt.Appendf(line[:0], "%d\t%s\n", ^binary.BigEndian.Uint64(ranked), ranked[8:])
			_, err := w.Write(line)
			return err
		})
	})
}
