package mapreduce

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readSplit returns the lines of a split, each with its "\n".
func readSplit(t testing.TB, split Split) []string {
	t.Helper()
	r := newSplitReader(t.Context(), LocalFiles{}, split)
	defer r.close()
	var text []byte
	for {
		piece, err := r.next()
		if err == io.EOF {
			return slices.Collect(strings.Lines(string(text)))
		}
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, piece...)
	}
}

func cut(t testing.TB, files []File, size int64) []Split {
	t.Helper()
	splits, err := CutSplits(t.Context(), LocalFiles{}, files, size, nil)
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

func list(t testing.TB, paths ...string) []File {
	t.Helper()
	files, err := ListInputs(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAllCutPoints cuts small random files at every pair of points: each line must come once, in the range that
// holds its first byte, which three ranges in a row show for every position of a cut inside or between lines.
func TestAllCutPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		text := make([]byte, 1+rng.IntN(14))
		for i := range text {
			text[i] = "ab\r\n\n\x00"[rng.IntN(6)]
		}
		f := list(t, makeInput(t, map[string]string{"f": string(text)}))[0]
		for a := int64(0); a <= f.Size; a++ {
			for b := a; b <= f.Size; b++ {
				var got [][]string
				for _, cut := range [][2]int64{{0, a}, {a, b}, {b, f.Size}} {
					var split Split
					if cut[0] < cut[1] {
						split = Split{{File: f, Offset: cut[0], Length: cut[1] - cut[0]}}
					}
					got = append(got, readSplit(t, split))
				}
				if diff := cmp.Diff(linesByStart(string(text), a, b), got); diff != "" {
					t.Fatalf("round %d: %q cut at %d and %d: (-want +got)\n%s", round, text, a, b, diff)
				}
			}
		}
	}
}

// linesByStart deals lines to three ranges by their first byte.
func linesByStart(text string, a, b int64) [][]string {
	dealt := make([][]string, 3)
	var at int64
	for line := range strings.Lines(text) {
		i := 0
		if at >= a {
			i = 1
		}
		if at >= b {
			i = 2
		}
		dealt[i] = append(dealt[i], strings.TrimSuffix(line, "\n")+"\n")
		at += int64(len(line))
	}
	return dealt
}

// TestCutAroundReads puts line ends and cuts around the sizes of reads, where the reader's arithmetic changes hands.
func TestCutAroundReads(t *testing.T) {
	for _, lineLen := range []int{overread - 1, overread, overread + 1, chunkSize - 1, chunkSize, chunkSize + 1, 2*chunkSize + 3} {
		text := strings.Repeat(strings.Repeat("x", lineLen-1)+"\n", 3) + "end"
		files := list(t, makeInput(t, map[string]string{"f": text}))
		for _, size := range []int64{chunkSize - 1, chunkSize, chunkSize + 1, int64(lineLen), int64(lineLen) + 1, overread + 7} {
			var got []string
			for _, split := range cut(t, files, size) {
				got = append(got, readSplit(t, split)...)
			}
			if want := slices.Collect(strings.Lines(text + "\n")); !slices.Equal(want, got) {
				t.Errorf("lines of %d bytes in splits of %d: %d lines, want %d", lineLen, size, len(got), len(want))
			}
		}
	}
}

// Files that are apart share no split, also where empty files are between them.
func TestCutSplitsApart(t *testing.T) {
	var files []File
	for i, size := range []int64{3, 0, 4, 0, 5, 6} {
		files = append(files, File{Path: Path("aabbcc"[i : i+1]), Size: size})
	}
	splits, err := CutSplits(t.Context(), LocalFiles{}, files, 10, func(a, b File) bool { return a.Path != b.Path })
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, s := range splits {
		for _, r := range s {
			if r.Path != s[0].Path {
				t.Errorf("a split holds %s and %s", s[0].Path, r.Path)
			}
		}
		got = append(got, s.Bytes())
	}
	if want := []int64{3, 4, 10, 1}; !slices.Equal(got, want) {
		t.Errorf("splits have %v bytes, want %v", got, want)
	}
}

func TestCutSplits(t *testing.T) {
	file := func(name string, size int64) File { return File{Path: Path(name), Size: size} }
	tests := []struct {
		name  string
		files []File
		size  int64
		want  string
	}{
		{"nothing", nil, 10, ""},
		{"empty files", []File{file("a", 0), file("b", 0)}, 10, ""},
		{"small files share", []File{file("a", 3), file("b", 0), file("c", 4)}, 10, "a[0,3) c[0,4)"},
		{"exact", []File{file("a", 10), file("b", 10)}, 10, "a[0,10) | b[0,10)"},
		{"large is cut, its rest shares", []File{file("a", 25), file("b", 3)}, 10, "a[0,10) | a[10,20) | a[20,25) b[0,3)"},
		{"small across a cut", []File{file("a", 8), file("b", 4)}, 10, "a[0,8) b[0,2) | b[2,4)"},
		{"one byte each", []File{file("a", 3)}, 1, "a[0,1) | a[1,2) | a[2,3)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var splits []string
			for _, split := range cut(t, tt.files, tt.size) {
				var ranges []string
				for _, r := range split {
					ranges = append(ranges, fmt.Sprintf("%s[%d,%d)", r.Path, r.Offset, r.Offset+r.Length))
				}
				splits = append(splits, strings.Join(ranges, " "))
			}
			if got := strings.Join(splits, " | "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Hundreds of thousands of tiny files are work for many tasks, though they have few bytes, and none of them is lost.
func TestCutTinyFiles(t *testing.T) {
	var files []File
	for i := range 300_000 {
		files = append(files, File{Path: Path(fmt.Sprint(i)), Size: 1})
	}
	splits := cut(t, files, DefaultSplitSize)
	if len(splits) != 74 { // 300,000 / 4,096
		t.Errorf("%d splits", len(splits))
	}
	next := 0
	for _, s := range splits {
		for _, r := range s {
			if r.File != files[next] || r.Offset != 0 || r.Length != 1 {
				t.Fatalf("%+v where %+v is due", r, files[next])
			}
			next++
		}
	}
	if next != len(files) {
		t.Errorf("%d of %d files", next, len(files))
	}
}

func TestListInputs(t *testing.T) {
	dir := makeInput(t, map[string]string{"b": "b", "a/2": "", "a/10": "x", "a.x": "y", "c\xff": "z",
		"out/part-00000": "p", "out/_SUCCESS": "", "out/_tailcut/journal": "j"})
	for link, target := range map[string]string{"link-file": "b", "link-dir": "a", "a/dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	names := func(paths ...string) []string {
		var names []string
		for _, f := range list(t, paths...) {
			name, err := filepath.Rel(dir, string(f.Path))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return names
	}
	join := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name  string
		paths []string
		want  []string
	}{
		{"folder: links passed over", []string{dir}, []string{"a/10", "a/2", "a.x", "b", "c\xff", "out/part-00000"}},
		{"named link to a file", []string{join("link-file")}, []string{"link-file"}},
		{"named link to a folder", []string{join("link-dir")}, []string{"link-dir/10", "link-dir/2"}},
		{"the output of a run", []string{join("out")}, []string{"out/part-00000"}},
		{"named all the same", []string{join("out/_SUCCESS"), join("out/_tailcut")}, []string{"out/_SUCCESS", "out/_tailcut/journal"}},
		{"order of the arguments, twice is twice", []string{join("b"), join("a.x"), join("b")}, []string{"b", "a.x", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, names(tt.paths...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestListInputsErrors(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": "x"})
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"absent":        filepath.Join(dir, "absent"),
		"dangling link": dangling,
		"device":        os.DevNull,
	} {
		_, err := ListInputs(t.Context(), []string{dir, path})
		oneLine(t, name, err, path)
	}
}

// oneLine checks that an error is there, is one line and names what it must.
func oneLine(t testing.TB, name string, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
		return
	}
	for _, part := range append(want, "") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not contain %q", name, err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %q is more than one line", name, err)
	}
}

func TestPathJSON(t *testing.T) {
	for path, want := range map[Path]string{
		"/a b":     `"/a b"`,
		"/é":       `"/é"`,
		"/c\xff.x": `{"base64":"L2P/Lng="}`,
	} {
		got, err := json.Marshal(path)
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v; want %s", path, got, err, want)
		}
		var back Path
		if err := json.Unmarshal(got, &back); err != nil || back != path {
			t.Errorf("%s: %q, %v; want %q", got, back, err, path)
		}
	}
}

// TestInputChanged: an attempt meets a file that is not what was planned.
func TestInputChanged(t *testing.T) {
	tests := []struct {
		name   string
		change func(path string) error
	}{
		{"grown", func(p string) error { return os.WriteFile(p, []byte("one\ntwo\nthree\n"), 0o666) }},
		{"shrunk", func(p string) error { return os.Truncate(p, 3) }},
		{"emptied", func(p string) error { return os.Truncate(p, 0) }},
		{"touched", func(p string) error { return os.Chtimes(p, time.Time{}, time.Unix(1, 0)) }},
		{"gone", os.Remove},
		{"a folder now", func(p string) error { os.Remove(p); return os.Mkdir(p, 0o777) }},
	}
	for _, op := range []Operator{
		{Name: "wordcount"},
		{Name: "wordmean"},
		{Name: "sort"},
		{Name: "grep", Pattern: "o"},
		{Name: "streaming", Mapper: "cat"},
		{Name: "streaming", Mapper: "cat", Reducer: "cat"},
	} {
		for _, tt := range tests {
			t.Run(op.Name+"/"+tt.name, func(t *testing.T) {
				path := filepath.Join(makeInput(t, map[string]string{"f": "one\ntwo\n"}), "f")
				plan, err := NewPlan(t.Context(), Request{Operator: op, Inputs: []string{path}, Reducers: 1})
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.change(path); err != nil {
					t.Fatal(err)
				}
				err = runTask(t, plan, 0, 0, nil, filepath.Join(t.TempDir(), "attempt"))
				oneLine(t, tt.name, err, path)
				if !errors.Is(err, ErrInputChanged) || ExitStatus(err) != ExitStale {
					t.Errorf("%v: exit status %d", err, ExitStatus(err))
				}
			})
		}
	}
}

// TestChangeWhileRead: what is checked at the beginning of a range is checked again at its end.
func TestChangeWhileRead(t *testing.T) {
	for _, size := range []int64{0, 10, 3 * chunkSize, 5 * chunkSize} {
		path := filepath.Join(makeInput(t, map[string]string{"f": strings.Repeat("0123456\n", chunkSize/2)}), "f")
		r := newSplitReader(t.Context(), LocalFiles{}, cut(t, list(t, path), 1<<40)[0])
		defer r.close()
		if _, err := r.next(); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = r.next()
		}
		if !errors.Is(err, ErrInputChanged) {
			t.Errorf("truncated to %d: %v", size, err)
		}
	}
}

func TestSplitReaderStops(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": strings.Repeat("x", 2*chunkSize)})
	ctx, cancel := context.WithCancel(t.Context())
	r := newSplitReader(ctx, LocalFiles{}, cut(t, list(t, dir), 1<<40)[0])
	defer r.close()
	if _, err := r.next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.next(); !errors.Is(err, context.Canceled) {
		t.Errorf("after the cancellation: %v", err)
	}
}

// TestCutters feeds text to the cutters in pieces of every size, and beyond their limit.
func TestCutters(t *testing.T) {
	const text = "\nab  c\td\v\fe\r\n\x00\xff x\n\n longer\n"
	for size := 1; size <= len(text); size++ {
		var lines, words []string
		lineCut, wordCut := lineCutter{limit: 12}, wordCutter{limit: 12}
		for piece := range slices.Chunk([]byte(text), size) {
			if err := lineCut.cut(piece, func(b []byte) error { lines = append(lines, string(b)); return nil }); err != nil {
				t.Fatal(err)
			}
			if err := wordCut.cut(piece, func(b []byte) error { words = append(words, string(b)); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), lines); diff != "" {
			t.Errorf("lines in pieces of %d: (-want +got)\n%s", size, diff)
		}
		if diff := cmp.Diff([]string{"ab", "c", "d", "e", "\x00\xff", "x", "longer"}, words); diff != "" {
			t.Errorf("words in pieces of %d: (-want +got)\n%s", size, diff)
		}
	}
	long := bytes.Repeat([]byte("x"), 13)
	for size := 1; size <= 13; size++ {
		lineCut, wordCut := lineCutter{limit: 12}, wordCutter{limit: 12}
		var lineErr, wordErr error
		for piece := range slices.Chunk(long, size) {
			lineErr = errors.Join(lineErr, lineCut.cut(piece, nil))
			wordErr = errors.Join(wordErr, wordCut.cut(piece, nil))
		}
		if !errors.As(lineErr, new(*tooLong)) || !errors.As(wordErr, new(*tooLong)) {
			t.Errorf("too long, in pieces of %d: %v, %v", size, lineErr, wordErr)
		}
	}
}
