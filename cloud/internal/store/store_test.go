package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// shared returns the URL of a folder of the test.
func shared(t *testing.T) (url, dir string) {
	dir = t.TempDir()
	return "file://" + dir, dir
}

// opened returns the stores and an output of a test, with the URL and the folder that it is in.
func opened(t *testing.T) (b *Buckets, out *Output, url, dir string) {
	t.Helper()
	url, dir = shared(t)
	b = &Buckets{}
	t.Cleanup(func() { b.Close() })
	out, err := OpenOutput(b, url+"/out")
	if err != nil {
		t.Fatal(err)
	}
	return b, out, url, dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParsePlace(t *testing.T) {
	for _, c := range []struct{ text, bucket, key, err string }{
		{"s3://b/x/y", "s3://b", "x/y", ""},
		{"s3://b/x//y/?region=r&endpoint=http://h:1", "s3://b?region=r&endpoint=http://h:1", "x/y", ""},
		{"s3://b", "s3://b", "", ""},
		{"gs://b/x?anonymous=true", "gs://b?anonymous=true", "x", ""},
		{"file:///shared/a b", "file:///?metadata=skip&no_tmp_dir=true", "shared/a b", ""},
		{"file://shared/a", "", "", "expected a whole path"},
		{"file:///shared?x=1", "", "", "takes no parameters"},
		{"s3:///x", "", "", "expected a bucket, as in s3://"},
		{"gs:///x", "", "", "expected a bucket, as in gs://"},
		{"http://x/y", "", "", "expected s3://, gs:// or file://"},
		{"://x", "", "", "expected a URL"},
	} {
		p, err := parsePlace(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil || p.bucket() != c.bucket || p.key != c.key {
			t.Errorf("%s: bucket %s, key %s, error %v", c.text, p.bucket(), p.key, err)
		}
		if again, err := parsePlace(p.below("z").String()); err != nil || again.bucket() != c.bucket || again.key != strings.TrimPrefix(c.key+"/z", "/") {
			t.Errorf("%s: below it is %s, error %v", c.text, again, err)
		}
	}
}

// What is listed is what a walk through folders finds, in its order, without what an earlier run left beside its parts.
func TestFilesList(t *testing.T) {
	url, dir := shared(t)
	for _, name := range []string{"in/a.txt", "in/a/b", "in/a/c/d", "in/_SUCCESS", "in/_tailcut/run", "in/b", "inside"} {
		write(t, filepath.Join(dir, name), name)
	}
	var b Buckets
	defer b.Close()
	for _, c := range []struct{ path, want string }{
		{"/in", "in/a/b in/a/c/d in/a.txt in/b"},
		{"/in/a", "in/a/b in/a/c/d"},
		{"/in/b", "in/b"},
	} {
		files, err := Files{&b}.List(t.Context(), url+c.path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			name := strings.TrimPrefix(string(f.Path), url+"/")
			got = append(got, name)
			if f.Size != int64(len(name)) {
				t.Errorf("%s has %d bytes", name, f.Size)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, d)
		}
	}
	if _, err := (Files{&b}).List(t.Context(), url+"/none"); err == nil || !strings.Contains(err.Error(), "there is no such object") {
		t.Error(err)
	}
}

// Reads at random offsets return what is there, and an object that was written to again is told of.
func TestFilesRead(t *testing.T) {
	url, dir := shared(t)
	text := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	name := filepath.Join(dir, "x")
	write(t, name, string(text))
	var b Buckets
	defer b.Close()
	files, err := Files{&b}.List(t.Context(), url+"/x")
	if err != nil {
		t.Fatal(err)
	}
	in, err := Files{&b}.Open(t.Context(), files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	at := 0
	for range 200 {
		if random.IntN(3) == 0 {
			at = random.IntN(len(text))
		}
		buf := make([]byte, random.IntN(min(100_000, len(text)-at)+1))
		if n, err := in.ReadAt(buf, int64(at)); err != nil || !bytes.Equal(buf[:n], text[at:at+len(buf)]) {
			t.Fatalf("%d bytes at %d: %d, %v", len(buf), at, n, err)
		}
		at += len(buf)
	}
	write(t, name, "shorter")
	if _, err := in.ReadAt(make([]byte, 10), 5); err == nil || !strings.Contains(err.Error(), mapreduce.ErrInputChanged.Error()) {
		t.Error("after a change:", err)
	}
}

// job runs the attempts of a job in order, each task twice, and lets the second win.
func job(t *testing.T, out *Output, w *jobfile.Work, stages []int) *Results {
	t.Helper()
	r, err := NewResults(t.Context(), out, "run1", w)
	if err != nil {
		t.Fatal(err)
	}
	for s, tasks := range stages {
		for i := range tasks {
			for n := range 2 {
				a := live.Attempt{Stage: s, Index: i, Number: n}
				task, err := r.Prepare(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				again, err := ParseTask(task.Args())
				if d := cmp.Diff(task, again); d != "" || err != nil {
					t.Fatal(err, d)
				}
				x := &Worker{Assignment: task, Buckets: out.buckets, Output: out, Scratch: t.TempDir(), Stderr: os.Stderr}
				if err := x.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n == 1 {
					if err := r.Commit(a, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	return r
}

// A word count whose input and output are in a store is that of local files, and nothing of losers is left.
func TestWordCount(t *testing.T) {
	b, out, url, dir := opened(t)
	want := map[string]int{}
	random := rand.New(rand.NewPCG(2, 2))
	for f := range 3 {
		var text strings.Builder
		for range 2000 {
			word := fmt.Sprintf("w%d", random.IntN(300))
			want[word]++
			fmt.Fprint(&text, word, []string{" ", "\n"}[random.IntN(2)])
		}
		write(t, filepath.Join(dir, "in", fmt.Sprint(f)), text.String())
	}
	plan, err := mapreduce.NewPlan(t.Context(), mapreduce.Request{
		Operator: mapreduce.Operator{Name: "wordcount"}, Inputs: []string{url + "/in"}, Files: Files{b}, SplitSize: 4000, Reducers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	maps := plan.Stages[0].Tasks
	if maps < 5 {
		t.Fatalf("%d splits", maps)
	}
	r := job(t, out, &jobfile.Work{MapReduce: plan}, []int{maps, 2})
	if err := r.Clean(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "out/_tailcut/run1/attempts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if inside, _ := os.ReadDir(filepath.Join(dir, "out/_tailcut/run1/attempts", e.Name())); len(inside) > 0 && !strings.HasSuffix(e.Name(), ".1") {
			t.Errorf("%s of a loser is left", e.Name())
		}
	}
	for range 2 { // a publishing that is repeated after a crash does no harm
		if err := r.Publish(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Tidy(); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for i := range 2 {
		for line := range strings.Lines(read(t, filepath.Join(dir, "out", mapreduce.PartName(i)))) {
			var word string
			var n int
			if _, err := fmt.Sscan(line, &word, &n); err != nil {
				t.Fatal(err)
			}
			got[word] += n
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if s := read(t, filepath.Join(dir, "out/_SUCCESS")); !strings.Contains(s, `"part-00001"`) {
		t.Error(s)
	}
	// The result is the input of another job as it is.
	files, err := Files{b}.List(t.Context(), url+"/out")
	if err != nil || len(files) != 2 {
		t.Errorf("the result is listed as %v, %v", files, err)
	}
}

// An attempt that outlives its run leaves nothing: it works while the run's objects are removed, and writes afterwards.
func TestLateAttempt(t *testing.T) {
	b, out, _, dir := opened(t)
	started, over := filepath.Join(dir, "started"), filepath.Join(dir, "over")
	script := fmt.Sprintf("touch %s; until test -e %s; do sleep 0.01; done; echo late", started, over)
	w := &jobfile.Work{Dir: dir, Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "a", Tasks: 1, Command: []string{"sh", "-c", script}}}}}
	r, err := NewResults(t.Context(), out, "run1", w)
	if err != nil {
		t.Fatal(err)
	}
	task, err := r.Prepare(t.Context(), live.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	x := &Worker{Assignment: task, Buckets: b, Output: out, Scratch: t.TempDir(), Stderr: os.Stderr}
	ended := make(chan error, 1)
	go func() { ended <- x.Run(t.Context()) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	if err := r.Tidy(); err != nil {
		t.Fatal(err)
	}
	write(t, over, "")
	if err := <-ended; !errors.Is(err, errOver) {
		t.Errorf("the attempt ends with %v, want %v", err, errOver)
	}
	if err := filepath.WalkDir(filepath.Join(dir, "out/_tailcut"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "run" {
			t.Errorf("%s is left", name)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// Stages of commands find what those before have left, and the parts are where a local run has them.
func TestArray(t *testing.T) {
	b, out, _, dir := opened(t)
	w := &jobfile.Work{Dir: t.TempDir(), Array: &jobfile.Array{Stages: []jobfile.Stage{
		{Name: "first", Tasks: 2, Command: []string{"sh", "-c", "echo one {}; mkdir $TAILCUT_OUTPUT/d; echo file $TAILCUT_TASK $TAILCUT_ATTEMPT >$TAILCUT_OUTPUT/d/f"}},
		{Name: "each", Tasks: 2, Command: []string{"sh", "-c", "cat $TAILCUT_INPUT/files/d/f"}, AfterEach: []int{0}},
		{Name: "all", Tasks: 1, Command: []string{"sh", "-c", "cat $TAILCUT_INPUT/*/stdout"}, After: []int{0}},
	}}}
	r := job(t, out, w, []int{2, 2, 1})
	if err := r.Publish(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"first/part-00001": "one 1\n", "first/part-00001.files/d/f": "file 1 1\n", "each/part-00001": "file 1 1\n", "all/part-00000": "one 0\none 1\n",
	} {
		if got := read(t, filepath.Join(dir, "out", name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := out.Check(t.Context(), "", false); err == nil || !strings.Contains(err.Error(), "finished result") {
		t.Error("a result is there:", err)
	}
	write(t, filepath.Join(dir, "out/all/mine"), "mine")
	forced(t, b, out, "out/all/mine")
}

// forced clears an output as --force does, and expects that only one file is left, which is not of the result.
func forced(t *testing.T, b *Buckets, out *Output, mine string) {
	t.Helper()
	if _, err := out.Check(t.Context(), "", true); err != nil {
		t.Fatal(err)
	}
	left, err := b.list(t.Context(), out.place)
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0].Key, mine) {
		t.Errorf("--force leaves %v, %v", left, err)
	}
}

// An output belongs to one run, whoever else asks for it.
func TestClaim(t *testing.T) {
	b, out, url, dir := opened(t)
	w := &jobfile.Work{Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "tasks", Tasks: 1, Command: []string{"true"}}}}}
	expect := func(what string, err error, want string) {
		t.Helper()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", what, err, want)
		}
	}
	ctx := context.Background()
	check := func(what string, o *Output, run string, force, mine bool, want string) {
		t.Helper()
		s, err := o.Check(ctx, run, force)
		if expect(what, err, want); s.Claimed != mine {
			t.Errorf("%s: it is the run's: %v, want %v", what, s.Claimed, mine)
		}
	}
	check("an empty output", out, "", false, false, "")
	check("an empty output of a run that was there", out, "a", false, false, "")
	expect("the first to begin", out.Begin(ctx, "a", w), "")
	expect("begun again", out.Begin(ctx, "a", w), "")
	expect("a second run", out.Begin(ctx, "b", w), "has become another run's")
	check("looked at by its own", out, "a", false, true, "")
	check("looked at from elsewhere", out, "", false, false, "has its journal there")
	check("forced", out, "", true, false, "")
	expect("begun anew", out.Begin(ctx, "b", w), "")
	foreign, err := OpenOutput(b, url+"/foreign")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "foreign/x"), "x")
	check("somebody else's", foreign, "", false, false, "is not empty")
	check("somebody else's, forced", foreign, "", true, false, "is not empty")
	if _, err := OpenOutput(b, "s3://bucket"); err == nil {
		t.Error("a whole bucket can be an output")
	}
}

// The manifest says what the winners have put into the store, and --force removes what it lists, also of a result that
// was cut short, and nothing else.
func TestManifest(t *testing.T) {
	b, out, _, dir := opened(t)
	w := &jobfile.Work{Dir: t.TempDir(), Array: &jobfile.Array{Stages: []jobfile.Stage{
		{Name: "tasks", Tasks: 2, Command: []string{"sh", "-c", "echo {}; mkdir $TAILCUT_OUTPUT/d; echo file {} >$TAILCUT_OUTPUT/d/f"}},
	}}}
	r := job(t, out, w, []int{2})
	if err := r.Publish(); err != nil {
		t.Fatal(err)
	}
	want, err := mapreduce.ReadManifest(filepath.Join(dir, "out", mapreduce.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range want.Parts {
		paths = append(paths, fmt.Sprint(e.Path, " ", e.Stage, " ", e.Task, " ", e.Attempt, " ", e.Size))
	}
	if d := cmp.Diff([]string{
		"part-00000 tasks 0 1 2", "part-00000.files/d/f tasks 0 1 7", "part-00001 tasks 1 1 2", "part-00001.files/d/f tasks 1 1 7",
	}, paths); d != "" || want.Run != "run1" {
		t.Errorf("run %s, parts (-want +got):\n%s", want.Run, d)
	}
	verify := func(want ...mapreduce.Mistake) {
		t.Helper()
		var read int64
		_, wrong, err := out.Verify(t.Context(), func(done, total int64) { read = max(read, done) })
		if d := cmp.Diff(want, wrong); err != nil || d != "" || read == 0 {
			t.Errorf("%v, %d bytes read, mistakes (-want +got):\n%s", err, read, d)
		}
	}
	verify()
	if wrong, err := want.Verify(filepath.Join(dir, "out")); err != nil || len(wrong) > 0 {
		t.Errorf("as a folder: %v, %v", wrong, err)
	}
	write(t, filepath.Join(dir, "out/part-00001"), "2\n")
	write(t, filepath.Join(dir, "out/part-00001.files/x"), "")
	if err := os.Remove(filepath.Join(dir, "out", mapreduce.SuccessName)); err != nil {
		t.Fatal(err)
	}
	verify(mapreduce.Mistake{Path: "part-00001", Problem: "changed: other bytes"},
		mapreduce.Mistake{Path: "_SUCCESS", Problem: "missing: the result is not complete"},
		mapreduce.Mistake{Path: "part-00001.files/x", Problem: "extra: does not belong to this result"})
	if err := os.Remove(filepath.Join(dir, "out", mapreduce.ManifestName)); err != nil { // as if it were not there yet
		t.Fatal(err)
	}
	forced(t, b, out, "out/part-00001.files/x")
}

// What is not what the winner has put into the store is not published.
func TestPublishChanged(t *testing.T) {
	url, dir := shared(t)
	var b Buckets
	defer b.Close()
	w := &jobfile.Work{Dir: t.TempDir(), Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "tasks", Tasks: 1, Command: []string{"sh", "-c", "echo {}"}}}}}
	for name, c := range map[string]struct{ harm, want string }{
		"more":   {"echo >>stdout", "its attempt put something else there"},
		"gone":   {"rm stdout", "the result is gone"},
		"beside": {"mkdir files; echo >files/x", "its attempt put something else there"},
		"old":    {"rm -r ../../sums", ""}, // of a version that noted none
	} {
		out, err := OpenOutput(&b, url+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		r := job(t, out, w, []int{1})
		harm := exec.Command("sh", "-c", c.harm)
		harm.Dir = filepath.Join(dir, name, "_tailcut/run1/attempts/0-00000.1")
		if text, err := harm.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		switch err := r.Publish(); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		case c.want == "":
			if _, wrong, err := out.Verify(t.Context(), nil); err != nil || len(wrong) > 0 {
				t.Errorf("%s: %v, %v", name, wrong, err)
			}
		}
	}
}
