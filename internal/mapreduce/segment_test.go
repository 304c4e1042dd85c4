package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type record struct{ Key, Value string }

// writeSegmentFile writes a segment and returns its bytes.
func writeSegmentFile(t testing.TB, path string, records []record) []byte {
	t.Helper()
	w, err := newSegmentWriter(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.add([]byte(r.Key), []byte(r.Value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.finish(true); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readSegment(data []byte) ([]record, error) {
	r, err := newSegmentReader(context.Background(), bytes.NewReader(data), int64(len(data)), "segment")
	if err != nil {
		return nil, err
	}
	return drain(r)
}

func drain(in stream) ([]record, error) {
	var got []record
	err := each(in, func(key, value []byte) error {
		got = append(got, record{string(key), string(value)})
		return nil
	})
	return got, err
}

func byKey(a, b record) int { return strings.Compare(a.Key, b.Key) }

func TestSegmentRoundTrip(t *testing.T) {
	long := strings.Repeat("long", frameSize) // a record of several frames' size
	tests := map[string][]record{
		"empty":           nil,
		"one":             {{"k", "v"}},
		"empty key":       {{"", ""}, {"", "v"}},
		"binary":          {{"\x00", "\n"}, {"\x00\xff", "\t"}},
		"equal keys":      {{"a", "2"}, {"a", "1"}},
		"long":            {{"a", "x"}, {long, "y"}, {"m", long}, {"n", ""}},
		"several frames":  slices.Repeat([]record{{"a", strings.Repeat("v", 1000)}}, 300),
		"full last frame": {{"a", strings.Repeat("v", frameSize)}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readSegment(writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// damaged are the segments whose every byte the tests below damage: of one frame, of several, and of none.
func damaged(t *testing.T) map[string][]byte {
	several := []record{{"a", strings.Repeat("x", frameSize)}, {"b", strings.Repeat("y", frameSize)}, {"c", "z"}}
	return map[string][]byte{
		"none":    writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), nil),
		"one":     writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), []record{{"a", "1"}, {"b", "22"}, {"b", ""}}),
		"several": writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), several),
	}
}

// interesting says which bytes of a large segment are worth damaging: all headers, and some of the rest.
func interesting(i, n int) bool {
	return n < 1000 || i < 100 || i > n-100 || i%509 == 0 || i%frameSize < 80
}

func TestSegmentFlippedBit(t *testing.T) {
	for name, data := range damaged(t) {
		for i := range data {
			if !interesting(i, len(data)) {
				continue
			}
			for bit := range 8 {
				data[i] ^= 1 << bit
				if _, err := readSegment(data); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s: bit %d of byte %d flipped: %v", name, bit, i, err)
				}
				data[i] ^= 1 << bit
			}
		}
	}
}

func TestSegmentTruncated(t *testing.T) {
	for name, data := range damaged(t) {
		for n := range data {
			if !interesting(n, len(data)) {
				continue
			}
			if _, err := readSegment(data[:n]); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: cut at %d of %d: %v", name, n, len(data), err)
			}
		}
		if _, err := readSegment(append(data, 0)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: with a byte too many: %v", name, err)
		}
	}
}

// TestSegmentFrames loses, doubles and exchanges whole frames, each of which is sound by itself.
func TestSegmentFrames(t *testing.T) {
	value := strings.Repeat("x", frameSize) // one record a frame, all of one size
	data := writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), []record{{"a", value}, {"a", value + "y"}, {"a", value}})
	const (
		start = len(segmentMagic)
		a     = start + frameHeader + 1 + 3 + 1 + frameSize // key length, value length, key
		b     = a + frameHeader + 1 + 3 + 1 + frameSize + 1
		c     = b + frameHeader + 1 + 3 + 1 + frameSize
	)
	first, second, third, end := data[start:a], data[a:b], data[b:c], data[c:]
	if len(end) != frameHeader+endSize {
		t.Fatalf("the end has %d bytes", len(end))
	}
	for name, frames := range map[string][][]byte{
		"lost first":   {second, third, end},
		"lost last":    {first, second, end},
		"lost all":     {end},
		"doubled":      {first, first, second, third, end},
		"exchanged":    {second, first, third, end},
		"end too soon": {first, end, second, third},
		"end twice":    {first, second, third, end, end},
	} {
		bad := append(slices.Clone(data[:start]), slices.Concat(frames...)...)
		if _, err := readSegment(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSegmentOutOfOrder(t *testing.T) {
	for name, records := range map[string][]record{
		"within a frame": {{"b", ""}, {"a", ""}},
		"across frames":  {{"b", strings.Repeat("x", frameSize)}, {"a", ""}},
	} {
		data := writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), records)
		if _, err := readSegment(data); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzSegmentReader(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte(segmentMagic))
	f.Add(writeSegmentFile(f, filepath.Join(f.TempDir(), "seg"), nil))
	f.Add(writeSegmentFile(f, filepath.Join(f.TempDir(), "seg"), []record{{"a", "1"}, {"b", "2"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readSegment(data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !slices.IsSortedFunc(got, byKey) {
			t.Fatalf("accepted out of order: %q", got)
		}
		again, err := readSegment(writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), got))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestMergeAgainstTwin merges sorted segments; the twin is a stable sort of their concatenation.
func TestMergeAgainstTwin(t *testing.T) {
	t.Parallel() // it waits for the disk
	rapid.Check(t, func(rt *rapid.T) {
		a := &worker{ctx: t.Context(), spec: &AttemptSpec{Dir: t.TempDir()}}
		segments := rapid.SampledFrom([]int{0, 1, 2, 5, 9}).Draw(rt, "segments")
		if rapid.IntRange(0, 20).Draw(rt, "many") == 0 {
			segments = fanIn + 3
		}
		var paths []string
		var all []record
		for i := range segments {
			var records []record
			for j := range rapid.IntRange(0, 5).Draw(rt, "records") {
				key := rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00"}).Draw(rt, "key")
				records = append(records, record{key, fmt.Sprintf("%d.%d", i, j)})
			}
			slices.SortStableFunc(records, byKey)
			all = append(all, records...)
			paths = append(paths, filepath.Join(a.spec.Dir, fmt.Sprintf("in-%d", i)))
			writeSegmentFile(t, paths[i], records)
		}
		in, err := a.merge(paths, nil, false)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := drain(in)
		if err != nil {
			rt.Fatal(err)
		}
		slices.SortStableFunc(all, byKey)
		if diff := cmp.Diff(all, got); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
		for _, path := range paths { // the committed output of others is theirs
			if _, err := os.Stat(path); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// TestSorterAgainstTwin adds records under tiny limits; the twin is a stable sort by partition and key.
func TestSorterAgainstTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const partitions = 3
		a := &worker{ctx: t.Context(), spec: &AttemptSpec{Dir: t.TempDir(), Segments: partitions}}
		s := a.newSorter(rapid.SampledFrom([]int64{1, 50, 200, 1 << 20}).Draw(rt, "limit"), false)
		want := make([][]record, partitions)
		for i := range rapid.IntRange(0, 40).Draw(rt, "records") {
			p := rapid.IntRange(0, partitions-1).Draw(rt, "partition")
			r := record{rapid.StringOfN(rapid.RuneFrom([]rune("a\x00é")), 0, 12, -1).Draw(rt, "key"), fmt.Sprint(i)}
			want[p] = append(want[p], r)
			if err := s.add(p, []byte(r.Key), []byte(r.Value)); err != nil {
				rt.Fatal(err)
			}
		}
		if err := s.writeSegments(); err != nil {
			rt.Fatal(err)
		}
		for p := range partitions {
			r, err := openSegment(t.Context(), segmentPath(a.spec.Dir, p), nil)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := drain(r)
			if err != nil {
				rt.Fatal(err)
			}
			slices.SortStableFunc(want[p], byKey)
			if diff := cmp.Diff(want[p], got); diff != "" {
				rt.Fatalf("partition %d: (-want +got)\n%s", p, diff)
			}
		}
	})
}

// TestHashPartitionFrozen: map attempts of one job may run under different builds, which have to agree. The hash of
// "" is FNV's offset basis, finalised; the rest was recorded when the format was settled.
func TestHashPartitionFrozen(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want [3]int // of 2, 7 and 1000 partitions
	}{
		{"", [3]int{1, 6, 936}},
		{"a", [3]int{1, 3, 510}},
		{"b", [3]int{0, 3, 431}},
		{"the", [3]int{1, 5, 793}},
		{"func", [3]int{1, 4, 589}},
		{"\x00", [3]int{1, 5, 722}},
		{"\xff\xfe", [3]int{0, 3, 460}},
		{"a longer key, of several words", [3]int{0, 0, 40}},
	} {
		got := [3]int{hashPartition([]byte(tt.key), 2), hashPartition([]byte(tt.key), 7), hashPartition([]byte(tt.key), 1000)}
		if got != tt.want {
			t.Errorf("%q: %v, want %v", tt.key, got, tt.want)
		}
	}
}

// TestHashPartitionSpread: 10,000 short keys over 10 partitions, each within 5 standard deviations (30) of 1000.
func TestHashPartitionSpread(t *testing.T) {
	var counts [10]int
	for i := range 10_000 {
		counts[hashPartition(fmt.Append(nil, i), 10)]++
	}
	for p, n := range counts {
		if n < 850 || n > 1150 {
			t.Errorf("partition %d has %d of 10000 keys", p, n)
		}
	}
}

func TestRangePartition(t *testing.T) {
	boundaries := []Key{Key("b"), Key("d")}
	for key, want := range map[string]int{"": 0, "a": 0, "b": 1, "c": 1, "czz": 1, "d": 2, "z": 2} {
		if got := rangePartition([]byte(key), boundaries); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
	if got := rangePartition([]byte("x"), nil); got != 0 {
		t.Errorf("without boundaries: %d", got)
	}
}

// TestAdderRefusesNonsense: a value that is no count is an error, not a wrong sum.
func TestAdderRefusesNonsense(t *testing.T) {
	for _, value := range []string{"", "\x80", "\x01\x01"} {
		data := writeSegmentFile(t, filepath.Join(t.TempDir(), "seg"), []record{{"a", value}})
		r, err := newSegmentReader(t.Context(), bytes.NewReader(data), int64(len(data)), "segment")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := newAdder(r).next(); err == nil || err == io.EOF {
			t.Errorf("%q passed: %v", value, err)
		}
	}
}
