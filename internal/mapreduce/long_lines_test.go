package mapreduce

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Matches that are found one by one are those that are listed at once.
func TestEachMatch(t *testing.T) {
	line := bytes.Repeat([]byte("aab xyz 012 "), listedMost/12+1)
	for _, pattern := range []string{"a", "a*", "x?", "", "[a-z]+", "b x|z", "^a", "2 $", `\b`, "$"} {
		re := regexp.MustCompile(pattern)
		var want, got []string
		for _, m := range re.FindAllIndex(line, -1) {
			want = append(want, string(line[m[0]:m[1]]))
		}
		if err := eachMatch(re, line, func(m []byte) error { got = append(got, string(m)); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want, got) {
			t.Errorf("%q: %d matches, want %d", pattern, len(got), len(want))
		}
	}
}

// Segments with records that are large beside the attempt's memory are merged few at a time, into the same records.
func TestMergeLargeRecords(t *testing.T) {
	spec := &AttemptSpec{Dir: t.TempDir(), MemoryLimit: 1 << 20}
	a := &worker{ctx: t.Context(), spec: spec}
	var paths []string
	for i := range 21 {
		path := filepath.Join(t.TempDir(), "segment")
		w, err := newSegmentWriter(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Append(nil, "key ", i/2)
		for range 3 {
			if err := w.add(key, bytes.Repeat([]byte{byte('a' + i)}, 100_000*(1+i%2))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.finish(false); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	groups, err := a.groups(paths)
	if err != nil || len(groups) != 7 || len(groups[0]) != 3 { // of 2*(100,000+200,000+100,000) bytes
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	in, err := a.merge(paths, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := each(in, func(key, value []byte) error {
		got = append(got, fmt.Sprintf("%s %c %d", key, value[0], len(value)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 21 {
		for range 3 {
			want = append(want, fmt.Sprintf("key %d %c %d", i/2, 'a'+i, 100_000*(1+i%2)))
		}
	}
	slices.SortStableFunc(want, func(a, b string) int { return bytes.Compare([]byte(a[:6]), []byte(b[:6])) })
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
