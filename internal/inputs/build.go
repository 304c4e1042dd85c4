package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Source is a list of values.
type Source struct {
	Name   string // for errors
	Values [][]byte
	Linked bool // its values go with those of the source before, one by one, as far as both reach

	width int // columns of its header
}

// Options say how sources become rows. The zero value takes every value as it is.
type Options struct {
	Colsep    *regexp.Regexp // between the columns of a value; nil: a value is one column
	Header    bool           // the first value of each source names its columns
	Trim      string         // what white space goes: n for none, l, r, lr, rl; "" is n, but lr with Colsep
	SkipBlank bool           // drop values of nothing but white space
	Link      bool           // all sources are linked, and those that are shorter begin again
	Shuffle   bool
	Seed      uint64 // of the shuffle

	PerTask int // values per task; 0 is 1, and None: a task per value that is given none
	Most    int // rows at most; 0: no limit

	Replace string
	Plus    bool
}

// None as Options.PerTask has a task run for each value without being given it.
const None = -1

// ErrNothing is the error of sources that hold no value.
var ErrNothing = errors.New("there is no input")

// Trims are the values that Options.Trim can have.
var Trims = []string{"n", "l", "r", "lr", "rl"}

// Build makes rows of sources: every combination of their values, those of the last source changing fastest.
func Build(sources []Source, o Options) (*Rows, error) {
	b := &builder{o: o}
	for i := range sources {
		if err := b.prepare(&sources[i]); err != nil {
			return nil, err
		}
	}
	groups := b.groups(sources)
	total := 1
	for _, g := range groups {
		if g.length == 0 {
			return nil, ErrNothing
		}
		if o.Most > 0 && total > o.Most*max(1, o.PerTask)/g.length {
			return nil, fmt.Errorf("the inputs combine to more than %d tasks", o.Most)
		}
		total *= g.length
	}
	if total == 0 || len(groups) == 0 {
		return nil, ErrNothing
	}
	order := identity(total, o)
	for i := range total {
		if err := b.combine(groups, at(order, i)); err != nil {
			return nil, err
		}
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	rows := b.packer.rows()
	rows.Names, rows.Replace, rows.Plus = b.names, o.Replace, o.Plus
	return rows, nil
}

// identity returns the order of the combinations, nil for that in which they are made.
func identity(n int, o Options) []int {
	if !o.Shuffle {
		return nil
	}
	const shuffle = 0x7368756666 // "shuff": other draws of the same seed are none of these
	return rand.New(rand.NewPCG(o.Seed, shuffle)).Perm(n)
}

func at(order []int, i int) int {
	if order == nil {
		return i
	}
	return order[i]
}

// builder makes rows.
type builder struct {
	o      Options
	packer packer
	names  []string
	row    [][]byte // of the task that is being filled
	inRow  int      // combinations that are in it
}

// prepare takes the header off a source, and trims it.
func (b *builder) prepare(s *Source) error {
	if b.o.Header {
		if len(s.Values) == 0 {
			return fmt.Errorf("%s: expected a first line with the names of columns (--header)", s.Name)
		}
		names := b.columns(nil, s.Values[0])
		s.width = len(names)
		for _, name := range names {
			if !utf8.Valid(name) {
				return fmt.Errorf("%s: expected names of columns in UTF-8, not %.60q", s.Name, name)
			}
			b.names = append(b.names, string(name))
		}
		s.Values = s.Values[1:]
	}
	values := s.Values[:0]
	for _, v := range s.Values {
		if b.o.SkipBlank && len(bytes.TrimSpace(v)) == 0 {
			continue
		}
		if b.o.Colsep == nil && !b.o.Header {
			v = trim(v, b.o.Trim)
		}
		values = append(values, v)
	}
	s.Values = values
	return nil
}

var tab = regexp.MustCompile(`\t`)

// columns appends the columns of a value to a row.
func (b *builder) columns(row [][]byte, v []byte) [][]byte {
	sep, how := b.o.Colsep, b.o.Trim
	if sep == nil && !b.o.Header {
		return append(row, v)
	}
	if sep == nil {
		sep = tab
	} else if how == "" {
		how = "lr"
	}
	for rest := v; ; {
		m := sep.FindIndex(rest)
		if m == nil || m[1] == 0 {
			return append(row, trim(rest, how))
		}
		row, rest = append(row, trim(rest[:m[0]], how)), rest[m[1]:]
	}
}

// trim takes white space off a value.
func trim(v []byte, how string) []byte {
	const white = " \t\n\r\v\f"
	if how == "l" || how == "lr" || how == "rl" {
		v = bytes.TrimLeft(v, white)
	}
	if how == "r" || how == "lr" || how == "rl" {
		v = bytes.TrimRight(v, white)
	}
	return v
}

// group is one source, or several that are linked.
type group struct {
	sources []Source
	length  int
}

func (b *builder) groups(sources []Source) (all []group) {
	for _, s := range sources {
		last := len(all) - 1
		switch {
		case b.o.Link && last >= 0:
			all[last].sources = append(all[last].sources, s)
			all[last].length = max(all[last].length, len(s.Values))
		case s.Linked && last >= 0:
			all[last].sources = append(all[last].sources, s)
			all[last].length = min(all[last].length, len(s.Values))
		default:
			all = append(all, group{[]Source{s}, len(s.Values)})
		}
	}
	if b.o.Link && slices.ContainsFunc(sources, func(s Source) bool { return len(s.Values) == 0 }) {
		all[0].length = 0 // there is nothing to begin again with
	}
	return all
}

// combine adds a combination, counted with the last group fastest, to the row of a task, which ends when it is full.
func (b *builder) combine(groups []group, n int) error {
	var of [8]int
	digits := append(of[:0], make([]int, len(groups))...)
	for g := len(groups) - 1; g >= 0; g-- {
		digits[g] = n % groups[g].length
		n /= groups[g].length
	}
	for g := range groups {
		for i := range groups[g].sources {
			source := &groups[g].sources[i]
			if b.o.PerTask == None {
				continue
			}
			before, v := len(b.row), source.Values[digits[g]%len(source.Values)]
			b.row = b.columns(b.row, v)
			last := g == len(groups)-1 && i == len(groups[g].sources)-1
			if width := len(b.row) - before; b.o.Header && width != source.width && !last {
				return fmt.Errorf("%s: %.60q has %d columns, and its header has %d; only the last source may be ragged", source.Name, v, width, source.width)
			}
		}
	}
	if b.inRow++; b.inRow >= max(1, b.o.PerTask) {
		return b.flush()
	}
	return nil
}

// flush ends the row of a task.
func (b *builder) flush() error {
	if b.inRow == 0 {
		return nil
	}
	err := b.packer.add(b.row)
	b.row, b.inRow = b.row[:0], 0
	return err
}
