package mapreduce

import (
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/internal/unpack"
)

// packWith compresses a text with cuts between units where the name says so.
func packWith(t testing.TB, name string, text []byte, unit int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	write := func(w io.WriteCloser, p []byte) {
		_, e := w.Write(p)
		err = errors.Join(err, e, w.Close())
	}
	zw := func() io.WriteCloser {
		z, e := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<16))
		err = errors.Join(err, e)
		return z
	}
	switch name {
	case "gzip":
		write(gzip.NewWriter(&b), text)
	case "bgzip":
		for p := range slices.Chunk(text, unit) {
			// The size of a member stands in its header, so it is made twice.
			var size bytes.Buffer
			for _, into := range []io.Writer{&size, &b} {
				z := gzip.NewWriter(into)
				z.Extra = []byte{'B', 'C', 2, 0, byte((size.Len() - 1) & 0xff), byte((size.Len() - 1) >> 8)}
				write(z, p)
			}
		}
	case "zstd":
		write(zw(), text)
	case "frames":
		z, e := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<16))
		err = errors.Join(err, e)
		for p := range slices.Chunk(text, unit) {
			b.Write(z.EncodeAll(p, nil))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readAll returns what the splits of a plan hold, and how often a line came.
func readAll(t testing.TB, splits []Split) string {
	t.Helper()
	var all strings.Builder
	for _, split := range splits {
		for _, line := range readSplit(t, split) {
			all.WriteString(line)
		}
	}
	return all.String()
}

// Compressed files, cut anywhere, among others, hold the lines of the plain ones, each once and in order.
func TestPackedSplits(t *testing.T) {
	t.Parallel() // it waits for the disk
	root := t.TempDir()
	n, cuts := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(rt, "files") {
			name := rapid.SampledFrom([]string{"plain", "gzip", "bgzip", "zstd", "frames"}).Draw(rt, "format")
			var text []byte
			for range rapid.IntRange(0, 40).Draw(rt, "lines") {
				text = append(text, strings.Repeat(string(rune('a'+len(text)%26)), rapid.IntRange(0, 90).Draw(rt, "line"))+"\n"...)
			}
			if rapid.Bool().Draw(rt, "no newline") {
				text = append(text, "end"...)
			}
			packed := text
			if name != "plain" {
				packed = packWith(t, name, text, rapid.IntRange(1, 300).Draw(rt, "unit"))
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), packed, 0o666); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				want.WriteString(strings.TrimSuffix(line, "\n") + "\n")
			}
		}
		splits := cut(t, list(t, dir), rapid.Int64Range(1, 2000).Draw(rt, "split size"))
		for _, s := range splits {
			for _, r := range s {
				if r.Offset > 0 {
					cuts[string(r.Packed)]++
				}
			}
		}
		if got := readAll(t, splits); got != want.String() {
			rt.Fatalf("%s", cmp.Diff(want.String(), got))
		}
	})
	if cuts[""] == 0 || cuts["gzip"] == 0 || cuts["zstd"] == 0 {
		t.Errorf("files were cut so often: %v", cuts)
	}
}

// wordsFile copies unpack's bzip2 file, and returns what it unpacks to.
func wordsFile(t testing.TB, path string) string {
	t.Helper()
	packed, err := os.ReadFile("../unpack/testdata/words.bz2")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed, 0o666); err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestBzip2Splits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	want := wordsFile(t, path)
	for _, size := range []int64{1000, 7919, 20_000, 1 << 20} {
		splits := cut(t, list(t, path), size)
		if got := readAll(t, splits); got != want {
			t.Errorf("splits of %d: %d bytes, want %d", size, len(got), len(want))
		}
		if want := (74750 + size - 1) / size; int64(len(splits)) != want {
			t.Errorf("%d splits of %d, want %d", len(splits), size, want)
		}
	}
}

// A job gives the same bytes over compressed files as over plain ones, also when its attempts die and go on.
func TestPackedJobs(t *testing.T) {
	t.Parallel() // it waits for the disk
	plain, packed := t.TempDir(), t.TempDir()
	text := wordsFile(t, filepath.Join(packed, "a"))
	for name, data := range map[string][]byte{
		filepath.Join(plain, "a"): []byte(text), filepath.Join(plain, "b"): []byte(text[:50_000]), filepath.Join(packed, "b"): packWith(t, "gzip", []byte(text[:50_000]), 0),
		filepath.Join(plain, "c"): []byte(text[:90_000]), filepath.Join(packed, "c"): packWith(t, "frames", []byte(text[:90_000]), 5000),
		filepath.Join(plain, "d"): []byte("the last\n"), filepath.Join(packed, "d"): []byte("the last\n"),
	} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range []Operator{
		{Name: "wordcount"}, {Name: "sort"}, {Name: "grep", Pattern: "s[a-z]+"},
		{Name: "streaming", Mapper: "cat", Reducer: "cut -f1 | uniq -c"},
	} {
		var results [2][]string
		for i, dir := range []string{plain, packed} {
			for _, size := range []int64{20_000, 1 << 30} {
				out := strings.Join(runJob(t, Request{Operator: op, Inputs: []string{dir}, Reducers: 1, SplitSize: size}), "")
				results[i] = append(results[i], out)
			}
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" {
			t.Errorf("%s: %s", op.Name, diff[:min(len(diff), 1000)])
		}
	}
}

// In the middle of a compressed file nothing is saved; at its end it is.
func TestPackedStrides(t *testing.T) {
	dir := t.TempDir()
	text := wordsFile(t, filepath.Join(dir, "a"))
	zipped := packWith(t, "gzip", []byte(text), 0)
	if err := os.WriteFile(filepath.Join(dir, "b"), zipped, 0o666); err != nil {
		t.Fatal(err)
	}
	files := list(t, dir)
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{dir}, Reducers: 1, SplitSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var saved []int64
	spec.SaveEvery = -1
	spec.Saved = func(offset int64, _ float64) { saved = append(saved, offset) }
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if want := []int64{files[0].Size}; !slices.Equal(saved, want) {
		t.Errorf("saved at %d, want %d", saved, want)
	}
	var last float64
	spec.SaveEvery, spec.Dir = 0, t.TempDir()
	spec.Progress = func(f float64) {
		if f < last || f > 1 {
			t.Errorf("progress %v after %v", f, last)
		}
		last = f
	}
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
}

func TestPackedMistakes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "logs")
	zipped := packWith(t, "gzip", bytes.Repeat([]byte("a line\n"), 1000), 0)
	for _, c := range []struct {
		file []byte
		want string
	}{
		{zipped[:len(zipped)-9], "logs: the gzip data is cut short at byte"},
		{append(slices.Clone(zipped), "x\n"...), fmt.Sprintf("logs: the gzip data is followed by something else at byte %d", len(zipped))},
		{packWith(t, "gzip", bytes.Repeat([]byte{'x'}, 1000), 0), "logs: the word at byte 0 of what unpacks from byte 0 on has 1000 bytes, more than 100"},
	} {
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		spec := &AttemptSpec{Operator: Operator{Name: "wordcount"}, Kind: KindMap, Split: cut(t, list(t, path), 1<<30)[0], Segments: 1, Dir: t.TempDir(), MaxLine: 100}
		_, err := Run(t.Context(), spec)
		if err == nil || !strings.Contains(err.Error(), c.want) || ExitStatus(err) != ExitDoomed {
			t.Errorf("%v: status %d, want %q", err, ExitStatus(err), c.want)
		}
	}
	if err := os.WriteFile(path, []byte("\xfd7zXZ\x00..."), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ListInputs(t.Context(), []string{dir}); err == nil || !strings.Contains(err.Error(), "unpack it first: xz -dk "+path) {
		t.Error(err)
	}
}

// A file that is large when it is unpacked takes no more memory than another.
func TestBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb")
	line := bytes.Repeat([]byte{'z'}, 1<<10-1)
	text := bytes.Repeat(append(line, '\n'), 64<<10)
	if err := os.WriteFile(path, packWith(t, "gzip", text, 0), 0o666); err != nil {
		t.Fatal(err)
	}
	r := newSplitReader(t.Context(), LocalFiles{}, cut(t, list(t, path), 1<<30)[0])
	defer r.close()
	total := 0
	for {
		piece, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(piece) > chunkSize+1 {
			t.Fatalf("a piece of %d bytes", len(piece))
		}
		total += len(piece)
	}
	if total != len(text) {
		t.Errorf("%d bytes, want %d", total, len(text))
	}
}

// remote is a store: what it lists has not been looked into, and each read costs a request.
type remote struct {
	LocalFiles
	reads *atomic.Int64
}

func (r remote) List(ctx context.Context, path string) ([]File, error) {
	files, err := r.LocalFiles.List(ctx, path)
	for i := range files {
		files[i].Local, files[i].Packed = false, unpack.Plain
	}
	return files, err
}

func (r remote) Open(ctx context.Context, f File) (Input, error) {
	in, err := r.LocalFiles.Open(ctx, f)
	return counting{in, r.reads}, err
}

type counting struct {
	Input
	reads *atomic.Int64
}

func (c counting) ReadAt(p []byte, at int64) (int, error) {
	c.reads.Add(1)
	return c.Input.ReadAt(p, at)
}

// The planner asks a store for the first bytes of each object, and does not go through the headers of any.
func TestPackedInStore(t *testing.T) {
	dir := t.TempDir()
	text := []byte(wordsFile(t, filepath.Join(dir, "a")))
	for name, data := range map[string][]byte{"b": packWith(t, "bgzip", text, 1000), "c": packWith(t, "frames", text, 1000), "d": text} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in := remote{reads: new(atomic.Int64)}
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{dir}, Files: in, Reducers: 1, SplitSize: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if n := in.reads.Load(); n > 6 { // four heads, and perhaps a table of frames
		t.Errorf("the planner read %d times", n)
	}
	pieces := map[string]int{}
	for _, split := range plan.Stages[0].Splits {
		for _, r := range split {
			pieces[filepath.Base(string(r.Path))]++
		}
	}
	if pieces["a"] < 3 || pieces["b"] != 1 || pieces["c"] != 1 || pieces["d"] < 20 {
		t.Errorf("pieces: %v", pieces)
	}
	if got := readAll(t, plan.Stages[0].Splits); got != strings.Repeat(string(text), 4) {
		t.Errorf("%d bytes, want four times %d", len(got), len(text))
	}
}
