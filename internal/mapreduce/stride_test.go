package mapreduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// saved is what a chain of attempts has left: runs of the strides up to an offset.
type saved struct {
	offset int64
	runs   []string
}

// cutShort runs an attempt that goes on from what was saved and is ended at its so-manieth save, 0 for never. It returns what is
// saved then, linked out of the attempt's folder, as an engine does.
func cutShort(t *rapid.T, spec AttemptSpec, from saved, saves int, dir string) (saved, Counters, bool) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("enough")
	spec.Dir, spec.SaveEvery = dir, -1
	if from.offset > 0 {
		spec.Resume = &Resume{Offset: from.offset, Runs: from.runs}
	}
	left := saves
	kept := saved{offset: from.offset, runs: append([]string(nil), from.runs...)}
	spec.Saved = func(offset int64, fraction float64) {
		if offset <= kept.offset || !(fraction > 0 && fraction < 1) {
			t.Errorf("saved %d, %v after %d", offset, fraction, kept.offset)
		}
		link := fmt.Sprintf("%s.saved-%d", dir, len(kept.runs))
		if err := os.Link(SavedPath(dir, kept.offset), link); err != nil {
			t.Fatal(err)
		}
		kept.offset, kept.runs = offset, append(kept.runs, link)
		if left--; left == 0 {
			cancel(enough)
		}
	}
	counters, err := Run(ctx, &spec)
	if err != nil && !errors.Is(err, enough) {
		t.Fatal(err)
	}
	return kept, counters, err == nil
}

// files returns what is in a folder.
func files(t *rapid.T, dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// A chain of attempts, each of which dies at a save and hands over to the next, leaves the same bytes as one that lives, and every byte of the
// input is mapped once, but for what an attempt read behind its last save.
func TestResume(t *testing.T) {
	root := t.TempDir()
	runs := 0
	operators := []Operator{{Name: "wordcount"}, {Name: "wordmean"}, {Name: "sort"}, {Name: "grep", Pattern: "[a-c]+"},
		{Name: "streaming", Mapper: "tr a b", ByLine: true}, {Name: "streaming", Mapper: "tr a b", Reducer: "cat", ByLine: true},
		{Name: "streaming", Mapper: "tr a b", Combiner: "uniq -c", Reducer: "cat", ByLine: true},
	}
	rapid.Check(t, func(t *rapid.T) {
		runs++
		work := filepath.Join(root, fmt.Sprint(runs))
		input := filepath.Join(work, "in")
		if err := os.MkdirAll(input, 0o777); err != nil {
			t.Fatal(err)
		}
		op, reducers := rapid.SampledFrom(operators).Draw(t, "operator"), 3
		large := 1500
		if op.ByLine {
			large = 50
		}
		repeat := rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, large}).Draw(t, "repeat") // some files are several pieces long
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("aabcd \n\n\té")), 0, 300, -1).Draw(t, "text")
			text = strings.Repeat(text, repeat)
			if err := os.WriteFile(filepath.Join(input, fmt.Sprint(i)), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if op.Name == "streaming" && op.Reducer == "" {
			reducers = 0
		}
		plan, err := NewPlan(t.Context(), Request{
			Operator: op, Inputs: []string{input}, Reducers: reducers,
			SplitSize: rapid.SampledFrom([]int64{50, 1000, 700_000}).Draw(t, "split"), MemoryLimit: rapid.SampledFrom([]int64{500, 1 << 20}).Draw(t, "memory") * int64(repeat),
		})
		if err != nil {
			t.Fatal(err)
		}
		for task := range min(3, plan.Stages[0].Tasks) {
			checkChain(t, plan, task, filepath.Join(work, fmt.Sprint(task)))
		}
	})
}

func checkChain(t *rapid.T, plan *Plan, task int, dir string) {
	if !plan.Resumes(0) || len(plan.Stages) > 1 && plan.Resumes(1) {
		t.Fatal("map attempts resume and reduce attempts do not")
	}
	spec, err := plan.Attempt(0, task, nil, dir+".whole")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var have saved
	total := int64(0)
	book := *spec
	book.Account = dir + ".account"
	spec = &book
	for number := 0; ; number++ {
		own := fmt.Sprintf("%s.%d", dir, number)
		next, counters, done := cutShort(t, *spec, have, rapid.IntRange(0, 3).Draw(t, "saves"), own)
		total += counters.InputBytes
		if done {
			if d := cmp.Diff(files(t, dir+".whole"), files(t, own)); d != "" {
				t.Fatalf("task %d after %d attempts: %s", task, number+1, d)
			}
			break
		}
		have = next
	}
	account, err := ReadAccount(spec.Account)
	if err != nil {
		t.Fatal(err)
	}
	accounted := int64(0)
	for _, m := range account {
		accounted += m.Bytes
	}
	if accounted != total {
		t.Errorf("the account has %d bytes, the attempts counted %d", accounted, total)
	}
	// An attempt that ends at a save has read nothing behind it, so here nothing is mapped twice.
	if total != whole.InputBytes {
		t.Errorf("%d bytes mapped, %d in all", total, whole.InputBytes)
	}
}

// Where a stride may not be taken up, the spec says so.
func TestResumeOfWhatCannot(t *testing.T) {
	dir := makeInput(t, map[string]string{"a": "one two\nthree\n"})
	for _, c := range []struct {
		name   string
		op     Operator
		resume Resume
		want   string
	}{
		{"streaming", Operator{Name: "streaming", Mapper: "cat", Reducer: "cat"}, Resume{1, []string{"x"}}, "cannot"},
		{"at the end", Operator{Name: "sort"}, Resume{14, []string{"x"}}, "not inside"},
		{"at the start", Operator{Name: "sort"}, Resume{0, []string{"x"}}, "not inside"},
		{"nothing mapped", Operator{Name: "sort"}, Resume{5, nil}, "no runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := NewPlan(t.Context(), Request{Operator: c.op, Inputs: []string{dir}, Reducers: 1})
			if err != nil {
				t.Fatal(err)
			}
			spec, err := plan.Attempt(0, 0, nil, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			spec.Resume = &c.resume
			if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A run that was damaged where it was kept is found.
func TestResumeFromDamage(t *testing.T) {
	dir := makeInput(t, map[string]string{"a": "one two\nthree\n"})
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{dir}, Reducers: 1})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(run, []byte(segmentMagic+"rest"), 0o666); err != nil {
		t.Fatal(err)
	}
	spec.Resume = &Resume{Offset: 8, Runs: []string{run}}
	if _, err := Run(t.Context(), spec); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, want %v", err, ErrCorrupt)
	}
}
