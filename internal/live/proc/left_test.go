package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/strides"
)

// lineage writes strides of a task into a folder as an engine does: attempt 0 saves at 10, 20 and 30, and attempt 2,
// which went on from 20, at 25.
func lineage(t *testing.T) (f Folders, paths map[string]string) {
	t.Helper()
	f = Folders{Root: t.TempDir(), Run: "run"}
	paths = map[string]string{}
	var last, fork *strides.Stride
	save := func(number int, end int64, before *strides.Stride) *strides.Stride {
		text := fmt.Sprintf("by %d up to %d", number, end)
		file := filepath.Join(t.TempDir(), "stride")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		sum, err := strides.Sum(file)
		if err != nil {
			t.Fatal(err)
		}
		s := &strides.Stride{Before: before, Number: number, Begin: before.Offset(), End: end, Fraction: float64(end) / 40, Sum: sum}
		s.Path = filepath.Join(f.saved(1, 7), s.Name())
		all := saves{folders: f, tasks: map[[2]int]map[place]*strides.Stride{}}
		if !all.add(live.Attempt{Stage: 1, Index: 7, Number: number}, s, file) {
			t.Fatal("the stride was not saved")
		}
		paths[fmt.Sprintf("%d:%d", number, end)] = s.Path
		return s
	}
	for _, end := range []int64{10, 20, 30} {
		if last = save(0, end, last); end == 20 {
			fork = last
		}
	}
	save(2, 25, fork)
	return f, paths
}

// What an engine has saved is found by the next one, and what is damaged is not: then an attempt goes on from the last
// stride before the damage.
func TestLeftStrides(t *testing.T) {
	const (
		gone   = "gone"
		empty  = "empty"
		zeroes = "zeroes"
	)
	for _, c := range []struct {
		name    string
		damage  map[string]string // by attempt and end
		from    place
		offsets string
	}{
		{"whole", nil, place{0, 0.75}, "10 20 30"},
		{"a fork", nil, place{2, 25.0 / 40}, "10 20 25"},
		{"no such point", nil, place{1, 0.5}, ""},
		{"the last is empty", map[string]string{"0:30": empty}, place{0, 0.75}, "10 20"},
		{"one in the middle is of zeroes", map[string]string{"0:20": zeroes}, place{2, 25.0 / 40}, "10"},
		{"the first is gone", map[string]string{"0:10": gone}, place{0, 0.75}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, paths := lineage(t)
			for which, how := range c.damage {
				info, err := os.Stat(paths[which])
				if err != nil {
					t.Fatal(err)
				}
				switch how {
				case gone:
					err = os.Remove(paths[which])
				case empty:
					err = os.WriteFile(paths[which], nil, 0o666)
				case zeroes:
					err = os.WriteFile(paths[which], make([]byte, info.Size()), 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			all := saves{folders: f, left: true, tasks: map[[2]int]map[place]*strides.Stride{}}
			var offsets []string
			for _, s := range all.find(live.Attempt{Stage: 1, Index: 7, From: c.from.fraction, Source: c.from.source}).Chain() {
				text, err := os.ReadFile(s.Path)
				if want := fmt.Sprintf("by %d up to %d", s.Number, s.End); err != nil || string(text) != want {
					t.Errorf("%s says %q, %v; want %q", s.Path, text, err, want)
				}
				offsets = append(offsets, fmt.Sprint(s.End))
			}
			if got := strings.Join(offsets, " "); got != c.offsets {
				t.Errorf("the attempt goes on from strides that end at %q, want %q", got, c.offsets)
			}
		})
	}
}

// A task that is done has nothing left, whoever saved it.
func TestLeftStridesDropped(t *testing.T) {
	f, _ := lineage(t)
	all := saves{folders: f, left: true, tasks: map[[2]int]map[place]*strides.Stride{}}
	if !all.drop(1, 7) {
		t.Error("what an earlier engine has saved of the task is not to be removed")
	}
	if s := all.find(live.Attempt{Stage: 1, Index: 7, From: 0.75}); s != nil {
		t.Errorf("%v is there although the task is done", s)
	}
	if all.drop(1, 8) {
		t.Error("there is something of a task that has saved nothing")
	}
}
