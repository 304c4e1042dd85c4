package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// source reads a source as a command line has it: its separator, then values.
func source(words ...string) Source {
	g := Group{Separator: words[0]}
	s := Source{Name: words[0], Linked: g.Linked()}
	for _, w := range words[1:] {
		s.Values = append(s.Values, []byte(w))
	}
	return s
}

func unpack(r *Rows) (rows [][]string) {
	for i := range r.Count {
		row := []string{}
		for _, v := range r.Row(i) {
			row = append(row, string(v))
		}
		rows = append(rows, row)
	}
	return rows
}

func TestBuild(t *testing.T) {
	comma := regexp.MustCompile(",")
	for _, c := range []struct {
		name    string
		sources []Source
		o       Options
		want    string // rows with ; between them, values with |
	}{
		{"one", []Source{source(":::", "a", "", "b c")}, Options{}, "a;;b c"},
		{"every combination", []Source{source(":::", "a", "b"), source(":::", "1", "2")}, Options{}, "a|1;a|2;b|1;b|2"},
		{"linked", []Source{source(":::", "a", "b", "c"), source(":::+", "1", "2"), source(":::", "x", "y")}, Options{}, "a|1|x;a|1|y;b|2|x;b|2|y"},
		{"all linked", []Source{source(":::", "a", "b", "c"), source(":::", "1", "2")}, Options{Link: true}, "a|1;b|2;c|1"},
		{"several per task", []Source{source(":::", "a", "b", "c")}, Options{PerTask: 2}, "a|b;c"},
		{"combinations per task", []Source{source(":::", "a", "b", "c"), source(":::", "x", "y")}, Options{PerTask: 2}, "a|x|a|y;b|x|b|y;c|x|c|y"},
		{"none per task", []Source{source(":::", "a", "b")}, Options{PerTask: None}, ";"},
		{"columns", []Source{source(":::", " a , b", "c")}, Options{Colsep: comma}, "a|b;c"},
		{"columns of two", []Source{source(":::", "a,b"), source(":::", "c,d")}, Options{Colsep: comma}, "a|b|c|d"},
		{"columns untrimmed", []Source{source(":::", " a , b")}, Options{Colsep: comma, Trim: "n"}, " a | b"},
		{"trim", []Source{source(":::", " a ", "\t\n")}, Options{Trim: "l"}, "a ;"},
		{"blank", []Source{source(":::", "a", " ", "", "b")}, Options{SkipBlank: true}, "a;b"},
		{"header", []Source{source(":::", "f", "1"), source(":::", "g", "x", "y")}, Options{Header: true}, "1|x;1|y"},
		{"header of columns", []Source{source(":::", "a\tb", "1\t 2")}, Options{Header: true}, "1| 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Build(c.sources, c.o)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, row := range unpack(r) {
				rows = append(rows, strings.Join(row, "|"))
			}
			if got := strings.Join(rows, ";"); got != c.want {
				t.Errorf("got %s, expected %s", got, c.want)
			}
			if err := r.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []Source
		o       Options
		want    string
	}{
		{"nothing", nil, Options{}, "there is no input"},
		{"an empty source", []Source{source(":::", "a"), source(":::")}, Options{}, "there is no input"},
		{"an empty source, linked", []Source{source(":::", "a"), source(":::")}, Options{Link: true}, "there is no input"},
		{"no header", []Source{source(":::")}, Options{Header: true}, `:::: expected a first line with the names of columns`},
		{"ragged in front", []Source{source(":::", "a,b", "1"), source(":::", "c", "2")}, Options{Header: true, Colsep: regexp.MustCompile(",")}, `"1" has 1 columns, and its header has 2`},
		{"NUL", []Source{source(":::", "a\x00")}, Options{}, "NUL"},
		{"too many", []Source{source(":::", "a", "b"), source(":::", "c", "d")}, Options{Most: 3}, "more than 3 tasks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Build(c.sources, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, expected %s", err, c.want)
			}
		})
	}
}

// The manual: all combinations are made, the last source fastest; what is linked goes along with the source before, up
// to the shorter end.
func TestBuildAgainstManual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-c ]{0,3}`), 1, 4)
		n := rapid.IntRange(1, 4).Draw(t, "sources")
		var sources []Source
		var plain [][]string
		var linked []bool
		for i := range n {
			values := words.Draw(t, fmt.Sprint("values ", i))
			sep := ":::"
			if i > 0 && rapid.Bool().Draw(t, "linked") {
				sep = ":::+"
			}
			sources = append(sources, source(append([]string{sep}, values...)...))
			plain, linked = append(plain, values), append(linked, sep == ":::+")
		}
		per := rapid.IntRange(1, 3).Draw(t, "per task")
		got, err := Build(sources, Options{PerTask: per})
		if err != nil {
			t.Fatal(err)
		}
		want := naive(plain, linked)
		var grouped [][]string
		for chunk := range slices.Chunk(want, per) {
			grouped = append(grouped, slices.Concat(chunk...))
		}
		if diff := cmp.Diff(grouped, unpack(got)); diff != "" {
			t.Fatal(diff)
		}
		shuffled, err := Build(sources, Options{Shuffle: true, Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		rows := unpack(shuffled)
		for _, all := range [][][]string{rows, want} {
			slices.SortFunc(all, slices.Compare[[]string])
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Fatal("shuffled: ", diff)
		}
	})
}

func naive(sources [][]string, linked []bool) [][]string {
	if len(sources) == 0 {
		return [][]string{nil}
	}
	n := 1
	for n < len(sources) && linked[n] {
		n++
	}
	var all [][]string
	for i := 0; ; i++ {
		var head []string
		for _, s := range sources[:n] {
			if i >= len(s) {
				return all
			}
			head = append(head, s[i])
		}
		for _, tail := range naive(sources[n:], linked[n:]) {
			all = append(all, append(append([]string{}, head...), tail...))
		}
	}
}

func TestDelimiter(t *testing.T) {
	for text, want := range map[string]string{`\n`: "\n", `\0`: "\x00", ",": ",", `\t|`: "\t|", `\x2c`: ",", `\054x`: ",x", `\\`: `\`, `é`: "é"} {
		if got, err := Delimiter(text); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", `\`, `\q`, `\x`, `\999`, `\777`} {
		if got, err := Delimiter(text); err == nil {
			t.Errorf("%s: got %q, expected an error", text, got)
		}
	}
}

func TestRowsAsJSON(t *testing.T) {
	r := mustPack(t, []string{"a\xff\n", ""}, nil, []string{"x"})
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Rows
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(unpack(r), unpack(&back)); diff != "" || back.Check() != nil {
		t.Error(diff, back.Check())
	}
	if o := r.Outline(); o.Digest != r.Digest || o.Packed != nil || o.Row(0) != nil {
		t.Errorf("the outline is %v", o)
	}
}

// Damaged rows are refused, and whoever looks at them all the same gets none that are not there.
func FuzzRows(f *testing.F) {
	f.Add([]byte("\x01a\x00\x00"), 2, 1)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1, 1)
	f.Fuzz(func(t *testing.T, packed []byte, count, columns int) {
		r := &Rows{Packed: packed, Count: count, Columns: columns}
		err := r.Check()
		for _, i := range []int{-1, 0, count - 1, count} {
			if row := r.Row(i); len(row) > len(packed) {
				t.Errorf("row %d has %d values", i, len(row))
			}
		}
		if r.Row(count); err == nil && len(r.starts) != count {
			t.Errorf("%d rows, expected %d", len(r.starts), count)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("echo {} ::: a b :::+ 1 2 :::: f")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Fields(text)
		command, groups := Split(words)
		back := slices.Clone(command)
		for i := range groups {
			back = append(append(back, groups[i].Separator), groups[i].Words...)
			_, _ = groups[i].Files(), groups[i].Linked()
		}
		if !slices.Equal(back, words) {
			t.Errorf("%q became %q", words, back)
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("a\nb"), []byte("\n"))
	f.Fuzz(func(t *testing.T, data, delimiter []byte) {
		if len(delimiter) == 0 {
			delimiter = []byte("\n")
		}
		values := Cut(data, delimiter)
		var back []byte
		for _, v := range values {
			back = append(append(back, v...), delimiter...)
		}
		if s := string(back); s != string(data) && s != string(data)+string(delimiter) {
			t.Errorf("%q became %q", data, values)
		}
	})
}

func TestNothingIsTold(t *testing.T) {
	if _, err := Build([]Source{source(":::", " ")}, Options{SkipBlank: true}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}
