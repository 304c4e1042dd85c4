package mapreduce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The jobs of this file run whole, in process, as the engine would run them, and are compared with naive twins.

// makeInput writes files (name to content) into a new folder and returns it.
func makeInput(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runJob plans and runs a job and returns its parts. Plan and specs go through JSON as they do in the engine.
func runJob(t testing.TB, job Request) []string {
	t.Helper()
	parts, err := tryJob(t, job)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func tryJob(t testing.TB, job Request) ([]string, error) {
	t.Helper()
	plan, err := NewPlan(t.Context(), job)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := DecodePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan, decoded); diff != "" {
		t.Fatalf("the plan changed on its trip through JSON:\n%s", diff)
	}
	work, err := os.MkdirTemp("", "mapreduce")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	committed := make([][]string, len(plan.Stages))
	for s, stage := range plan.Stages {
		for i := range stage.Tasks {
			earlier, first, end := plan.Reads(s, i)
			upstream := committed[earlier][first:end]
			dir := filepath.Join(work, fmt.Sprintf("%s-%d", stage.Name, i))
			if err := runTask(t, plan, s, i, upstream, dir); err != nil {
				return nil, err
			}
			committed[s] = append(committed[s], dir)
		}
	}
	out := filepath.Join(work, "out")
	if err := Publish(out, "job", filepath.Join(work, "draft"), partsOf(committed[len(committed)-1])); err != nil {
		return nil, err
	}
	var parts []string
	for i := range committed[len(committed)-1] {
		part, err := os.ReadFile(filepath.Join(out, PartName(i)))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(part))
	}
	return parts, nil
}

func runTask(t testing.TB, plan *Plan, stage, task int, upstream []string, dir string) error {
	t.Helper()
	spec, err := plan.Attempt(stage, task, upstream, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = DecodeSpec(text); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), spec)
	return err
}

// world draws small files full of what splits, words and lines stumble over.
func world(t *rapid.T) map[string]string {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("aab \t\n\n\r\v\x00\x7fé")), 0, 60, -1)
	raw := rapid.Custom(func(t *rapid.T) string {
		return strings.ReplaceAll(text.Draw(t, "text"), "\x7f", "\xff") // no valid UTF-8
	})
	files := make(map[string]string)
	for i := range rapid.IntRange(0, 6).Draw(t, "files") {
		name := []string{"f", "sub/f", "sub/deep/f"}[i%3] + strconv.Itoa(i)
		files[name] = raw.Draw(t, "content")
	}
	return files
}

// drawJob draws how a job is cut up, which must not show in its result.
func drawJob(t *rapid.T, op Operator, input string) Request {
	return Request{
		Operator:    op,
		Inputs:      []string{input},
		SplitSize:   rapid.Int64Range(1, 100).Draw(t, "split size"),
		Reducers:    rapid.IntRange(1, 4).Draw(t, "reducers"),
		Shuffle:     rapid.Bool().Draw(t, "shuffle"),
		MemoryLimit: rapid.SampledFrom([]int64{0, 1, 100, 1000}).Draw(t, "memory limit"),
	}
}

// naiveLines returns the lines of all files, each file by itself.
func naiveLines(files map[string]string) []string {
	var lines []string
	for _, text := range files {
		if text == "" {
			continue
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
	}
	return lines
}

func naiveWords(files map[string]string) []string {
	var words []string
	for _, text := range files {
		words = append(words, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) })...)
	}
	return words
}

func naiveCount(keys []string) map[string]int {
	counts := make(map[string]int)
	for _, k := range keys {
		counts[k]++
	}
	return counts
}

// partLines checks that every part is sorted by what precedes the first tab, and returns all lines sorted.
func partLines(t interface{ Fatalf(string, ...any) }, parts []string) []string {
	var all []string
	for i, part := range parts {
		lines := strings.SplitAfter(part, "\n")
		lines = lines[:len(lines)-1]
		byKey := func(a, b string) int {
			a, _, _ = strings.Cut(a, "\t")
			b, _, _ = strings.Cut(b, "\t")
			return strings.Compare(a, b)
		}
		if !slices.IsSortedFunc(lines, byKey) {
			t.Fatalf("part %d is not sorted by key: %q", i, part)
		}
		all = append(all, lines...)
	}
	slices.Sort(all)
	return all
}

func TestWordcountAgainstTwin(t *testing.T) {
	t.Parallel() // it waits for the disk
	rapid.Check(t, func(rt *rapid.T) {
		files := world(rt)
		parts := runJob(t, drawJob(rt, Operator{Name: "wordcount"}, makeInput(t, files)))
		var want []string
		for word, n := range naiveCount(naiveWords(files)) {
			want = append(want, fmt.Sprintf("%s\t%d\n", word, n))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, partLines(rt, parts)); diff != "" {
			rt.Fatalf("files %q: (-want +got)\n%s", files, diff)
		}
	})
}

func TestWordmeanAgainstTwin(t *testing.T) {
	t.Parallel() // it waits for the disk
	rapid.Check(t, func(rt *rapid.T) {
		files := world(rt)
		parts := runJob(t, drawJob(rt, Operator{Name: "wordmean"}, makeInput(t, files)))
		words := naiveWords(files)
		want := ""
		if n := len(words); n > 0 {
			length := len(strings.Join(words, ""))
			mean := strconv.FormatFloat(float64(length)/float64(n), 'f', -1, 64)
			want = fmt.Sprintf("count\t%d\nlength\t%d\nmean\t%s\n", n, length, mean)
		}
		if diff := cmp.Diff([]string{want}, parts); diff != "" {
			rt.Fatalf("files %q: (-want +got)\n%s", files, diff)
		}
	})
}

func TestSortAgainstTwin(t *testing.T) {
	t.Parallel() // it waits for the disk
	rapid.Check(t, func(rt *rapid.T) {
		files := world(rt)
		job := drawJob(rt, Operator{Name: "sort"}, makeInput(t, files))
		parts := runJob(t, job)
		if len(parts) != job.Reducers {
			rt.Fatalf("%d parts of %d reducers", len(parts), job.Reducers)
		}
		lines := naiveLines(files)
		slices.Sort(lines)
		want := ""
		for _, line := range lines {
			want += line + "\n"
		}
		// Parts in sequence are the whole, which says both: sorted within, and no line above the next part's.
		if diff := cmp.Diff(want, strings.Join(parts, "")); diff != "" {
			rt.Fatalf("files %q: (-want +got)\n%s", files, diff)
		}
	})
}

func TestGrepAgainstTwin(t *testing.T) {
	t.Parallel() // it waits for the disk
	rapid.Check(t, func(rt *rapid.T) {
		files := world(rt)
		pattern := rapid.SampledFrom([]string{"a", "a+b?", "^a", "a$", "a*", "[^a]+", "\r$", "é", "(?i)A|b", "x"}).Draw(rt, "pattern")
		parts := runJob(t, drawJob(rt, Operator{Name: "grep", Pattern: pattern}, makeInput(t, files)))
		re := regexp.MustCompile(pattern)
		var matches []string
		for _, line := range naiveLines(files) {
			matches = append(matches, re.FindAllString(line, -1)...)
		}
		counts := naiveCount(matches)
		keys := make([]string, 0, len(counts))
		for k := range counts {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int {
			if counts[a] != counts[b] {
				return counts[b] - counts[a]
			}
			return strings.Compare(a, b)
		})
		want := ""
		for _, k := range keys {
			want += fmt.Sprintf("%d\t%s\n", counts[k], k)
		}
		if diff := cmp.Diff([]string{want}, parts); diff != "" {
			rt.Fatalf("files %q: (-want +got)\n%s", files, diff)
		}
	})
}

// TestSortBalance: on even input no part is more than twice its share, for the sample sees all of the range.
func TestSortBalance(t *testing.T) {
	var text bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&text, "%016x\n", uint64(i)*0x9e3779b97f4a7c15) // a Weyl sequence: evenly spread
	}
	dir := makeInput(t, map[string]string{"f": text.String()})
	parts := runJob(t, Request{Operator: Operator{Name: "sort"}, Inputs: []string{dir}, SplitSize: 1 << 20, Reducers: 8})
	for i, part := range parts {
		if len(part) > 2*text.Len()/8 {
			t.Errorf("part %d has %d bytes of %d", i, len(part), text.Len())
		}
	}
}

// TestManyMaps merges more segments than are open at once.
func TestManyMaps(t *testing.T) {
	t.Parallel() // it waits for the disk
	var text bytes.Buffer
	for i := range 2*fanIn + 50 {
		fmt.Fprintf(&text, "w%03d\n", i%7)
	}
	dir := makeInput(t, map[string]string{"f": text.String()})
	parts := runJob(t, Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{dir}, SplitSize: 5, Reducers: 1})
	// 450 lines: 64 rounds of seven and two more.
	want := "w000\t65\nw001\t65\nw002\t64\nw003\t64\nw004\t64\nw005\t64\nw006\t64\n"
	if diff := cmp.Diff([]string{want}, parts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	lines := runJob(t, Request{Operator: Operator{Name: "streaming", Mapper: `awk '{print "k\t" NR $0}'`, Reducer: "cut -f2"},
		Inputs: []string{dir}, SplitSize: 5, Reducers: 1})
	want = ""
	for line := range strings.Lines(text.String()) {
		want += "1" + line
	}
	if diff := cmp.Diff([]string{want}, lines); diff != "" { // values of one key keep the order of the maps
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNoInput(t *testing.T) {
	dir := makeInput(t, map[string]string{"empty": ""})
	for _, op := range []Operator{
		{Name: "wordcount"},
		{Name: "sort"},
		{Name: "streaming", Mapper: "cat", Reducer: "cat"},
	} {
		parts := runJob(t, Request{Operator: op, Inputs: []string{dir}, Reducers: 3})
		if diff := cmp.Diff([]string{"", "", ""}, parts); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", op.Name, diff)
		}
	}
	for _, op := range []Operator{{Name: "wordmean"}, {Name: "grep", Pattern: "a"}} {
		parts := runJob(t, Request{Operator: op, Inputs: []string{dir}, Reducers: 3})
		if diff := cmp.Diff([]string{""}, parts); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", op.Name, diff)
		}
	}
	parts := runJob(t, Request{Operator: Operator{Name: "streaming", Mapper: "cat"}, Inputs: []string{dir}})
	if len(parts) != 0 {
		t.Errorf("%d parts of no split", len(parts))
	}
}
