// Package strides names what attempts of a task have saved for others to go on from.
package strides

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
)

// Stride is a stretch of a task's work that an attempt has done and saved. A nil one is the beginning of the task.
type Stride struct {
	Before     *Stride // nil for the first
	Number     int     // of the attempt
	Begin, End int64   // offsets, in whatever the attempt counts
	Fraction   float64 // of the work, up to the end, in (0, 1)
	Sum        uint32  // of the bytes, see Sum
	Path       string  // where they are
	Left       bool    // by an earlier engine, and to be checked
}

// Offset returns where the work goes on behind a stride.
func (s *Stride) Offset() int64 {
	if s == nil {
		return 0
	}
	return s.End
}

// Progress returns the fraction of the work that is done at the end of a stride.
func (s *Stride) Progress() float64 {
	if s == nil {
		return 0
	}
	return s.Fraction
}

// Chain returns a stride and all before it, the first one first.
func (s *Stride) Chain() (all []*Stride) {
	for ; s != nil; s = s.Before {
		all = append(all, s)
	}
	slices.Reverse(all)
	return all
}

// A name says all there is to know of a stride, so that whoever comes later finds it: where it begins and ends, which
// attempt made it, which made the one before, the fraction of the work, and the sum.
const nameFormat = "%d-%d.%d.%d.%016x.%08x"

// Name returns the name of a stride's file.
func (s *Stride) Name() string {
	before := s.Number
	if s.Before != nil {
		before = s.Before.Number
	}
	return fmt.Sprintf(nameFormat, s.Begin, s.End, s.Number, before, math.Float64bits(s.Fraction), s.Sum)
}

// Parse reads a name. Of the stride before it knows the attempt's number alone.
func Parse(name string) (s *Stride, before int, ok bool) {
	s = &Stride{Left: true}
	var bits uint64
	n, err := fmt.Sscanf(name, nameFormat, &s.Begin, &s.End, &s.Number, &before, &bits, &s.Sum)
	s.Fraction = math.Float64frombits(bits)
	ok = n == 6 && err == nil && 0 <= s.Begin && s.Begin < s.End && s.Number >= 0 && before >= 0 && s.Fraction > 0 && s.Fraction < 1
	return s, before, ok
}

// Link reads names and returns the strides behind which work can go on, by ascending Begin. One whose predecessor is
// gone is of no use, and neither is a name that is none of a stride.
func Link(names []string) (all []*Stride) {
	type end struct {
		number int
		at     int64
	}
	type orphan struct {
		*Stride
		before int
	}
	var found []orphan
	for _, name := range names {
		if s, before, ok := Parse(name); ok {
			found = append(found, orphan{s, before})
		}
	}
	slices.SortStableFunc(found, func(a, b orphan) int { return cmp.Compare(a.Begin, b.Begin) })
	ends := map[end]*Stride{}
	for _, s := range found {
		if s.Begin > 0 {
			if s.Stride.Before = ends[end{s.before, s.Begin}]; s.Stride.Before == nil {
				continue
			}
		}
		ends[end{s.Number, s.End}] = s.Stride
		all = append(all, s.Stride)
	}
	return all
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the CRC-32C of a regular file. A link is none: what it points to is not what is kept.
func Sum(path string) (uint32, error) {
	if info, err := os.Lstat(path); err != nil {
		return 0, err
	} else if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: expected a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	_, err = io.Copy(sum, f)
	return sum.Sum32(), err
}

// Intact tells whether the bytes of a stride are those that were saved.
func (s *Stride) Intact() bool {
	sum, err := Sum(s.Path)
	return err == nil && sum == s.Sum
}
