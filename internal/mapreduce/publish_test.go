package mapreduce

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPublish(t *testing.T) {
	work := makeInput(t, map[string]string{"t0/part": "zero\n", "t1/part": "one\n", "t2/part": ""})
	dirs := []string{filepath.Join(work, "t0"), filepath.Join(work, "t1"), filepath.Join(work, "t2")}
	want := map[string]string{"part-00000": "zero\n", "part-00001": "one\n", "part-00002": "", "_SUCCESS": ""}
	fresh := func() string { return filepath.Join(t.TempDir(), "deep", "out") }
	tests := []struct {
		name   string
		before map[string]string // what an earlier Publish or somebody else left
		extra  map[string]string // of it, what has to be there afterwards
	}{
		{"new folder", nil, nil},
		{"complete already", want, nil},
		{"cut short", map[string]string{"part-00000": "zero\n", ".part-00001.tmp": "on"}, nil},
		{"of another run", map[string]string{"part-00001": "other\n", "_SUCCESS": ""}, nil},
		{"other files stay", map[string]string{"notes": "mine", "partition": "x"}, map[string]string{"notes": "mine", "partition": "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := fresh()
			if tt.before != nil {
				out = makeInput(t, tt.before)
			}
			expect := map[string]string{}
			for _, files := range []map[string]string{want, tt.extra} {
				for name, text := range files {
					expect[name] = text
				}
			}
			for round := range 2 {
				if err := publishDirs(t, dirs, out); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(expect, resultIn(t, out)); diff != "" {
					t.Errorf("round %d: (-want +got)\n%s", round, diff)
				}
			}
		})
	}
}

func TestPublishNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	if err := publishDirs(t, nil, out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"_SUCCESS": ""}, resultIn(t, out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPublishErrors(t *testing.T) {
	work := makeInput(t, map[string]string{"t0/part": "zero\n", "t1/other": ""})
	t0, t1 := filepath.Join(work, "t0"), filepath.Join(work, "t1")

	out := makeInput(t, map[string]string{"part-00001": "", "_SUCCESS": ""})
	oneLine(t, "a part beyond the last", publishDirs(t, []string{t0}, out), filepath.Join(out, "part-00001"))

	out = makeInput(t, map[string]string{"part-0": ""})
	oneLine(t, "a part of another form", publishDirs(t, []string{t0}, out), filepath.Join(out, "part-0"))

	out = makeInput(t, map[string]string{"_SUCCESS": ""})
	oneLine(t, "a task without a part", publishDirs(t, []string{t0, t1}, out), filepath.Join(t1, "part"))
	if _, err := os.Stat(filepath.Join(out, SuccessName)); err == nil {
		t.Error("an incomplete folder says _SUCCESS")
	}

	file := filepath.Join(t0, "part")
	oneLine(t, "a file in the way", publishDirs(t, []string{t0}, file), file)
}

// partsOf lists folders of results as what is to be published.
func partsOf(dirs []string) (all []Part) {
	for i, dir := range dirs {
		all = append(all, Part{Stage: "reduce", Task: i, Attempt: 1, File: ResultPath(dir)})
	}
	return all
}

func publishDirs(t *testing.T, dirs []string, out string) error {
	t.Helper()
	return Publish(out, "run", filepath.Join(t.TempDir(), "draft"), partsOf(dirs))
}

// resultIn returns what is in an output folder but for the manifest, which has to agree with it.
func resultIn(t *testing.T, out string) map[string]string {
	t.Helper()
	m, err := ReadManifest(filepath.Join(out, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	if wrong, err := m.Verify(out); err != nil || len(wrong) > 0 {
		t.Errorf("the manifest finds %v, %v", wrong, err)
	}
	files := filesIn(t, out)
	delete(files, ManifestName)
	return files
}

// filesIn returns the content of all files below a folder.
func filesIn(t *testing.T, root string) map[string]string {
	t.Helper()
	all, err := describeTree(root, Entry{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range all {
		if e.Kind == "" {
			text, err := os.ReadFile(filepath.Join(root, string(e.Path)))
			if err != nil {
				t.Fatal(err)
			}
			files[string(e.Path[1:])] = string(text)
		}
	}
	return files
}

// Nothing outside is written to, though somebody has put links where the result belongs.
func TestPublishFollowsNoLink(t *testing.T) {
	work := makeInput(t, map[string]string{"t0/part": "zero\n", "outside": "mine", "t0/files/a": "a"})
	outside, out := filepath.Join(work, "outside"), filepath.Join(work, "out")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"part-00000", ".part-00000.tmp", "part-00001", SuccessName, ManifestName, "._MANIFEST.json.tmp"} {
		if err := os.Symlink(outside, filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	parts := append(partsOf([]string{filepath.Join(work, "t0")}), Part{Stage: "reduce", Task: 1, Data: []byte("one\n")})
	parts[0].Files = filepath.Join(work, "t0", "files")
	if err := Publish(out, "run", filepath.Join(work, "draft"), parts); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "mine" {
		t.Errorf("outside is %q, %v", got, err)
	}
	want := map[string]string{"part-00000": "zero\n", "part-00001": "one\n", "part-00000.files/a": "a", SuccessName: ""}
	if diff := cmp.Diff(want, resultIn(t, out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The way that Move takes where a folder cannot be renamed.
func TestCopyMove(t *testing.T) {
	dir := makeInput(t, map[string]string{"from/a/b": "text", "from/c": "", "from/d/e": "x"})
	if err := os.Symlink("nowhere", filepath.Join(dir, "from", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "from", "d"), 0o555); err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	want, err := describeTree(from, Entry{Path: "x"})
	if err != nil || len(want) != 7 {
		t.Fatalf("%v, %v", want, err)
	}
	if err := copyMove(from, to); err != nil {
		t.Fatal(err)
	}
	got, err := describeTree(to, Entry{Path: "x"})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if info, err := os.Stat(filepath.Join(to, "d")); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("mode: %v, %v", info, err)
	}
	if _, err := os.Lstat(from); err == nil {
		t.Error("it is still under its old name")
	}
}

func TestVerify(t *testing.T) {
	fresh := func() (string, *Manifest) {
		work := makeInput(t, map[string]string{"t0/part": "zero\n", "t1/part": "one\n", "t1/files/a/b": "b"})
		out := filepath.Join(work, "out")
		parts := partsOf([]string{filepath.Join(work, "t0"), filepath.Join(work, "t1")})
		parts[1].Files = filepath.Join(work, "t1", "files")
		if err := Publish(out, "run", filepath.Join(work, "draft"), parts); err != nil {
			t.Fatal(err)
		}
		if err := RemoveAll(filepath.Join(work, "t1")); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(filepath.Join(out, ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		return out, m
	}
	write := func(name, text string) func(string) error {
		return func(out string) error { return os.WriteFile(filepath.Join(out, name), []byte(text), 0o666) }
	}
	for _, tt := range []struct {
		name string
		do   func(out string) error
		want []Mistake
	}{
		{"nothing", func(string) error { return nil }, nil},
		{"a byte", write("part-00000", "zerO\n"), []Mistake{{"part-00000", "changed: other bytes"}}},
		{"the length", write("part-00000", "zero"), []Mistake{{"part-00000", "changed: 4 bytes, and had 5"}}},
		{"mixed", write("part-00000", "one\n"), []Mistake{{"part-00000", "changed: has the content of part-00001"}}},
		{"missing", func(out string) error { return os.Remove(filepath.Join(out, "part-00001")) }, []Mistake{{"part-00001", "missing"}}},
		{"another kind", func(out string) error {
			return errors.Join(os.Remove(filepath.Join(out, "part-00000")), os.Symlink("part-00001", filepath.Join(out, "part-00000")))
		}, []Mistake{{"part-00000", "changed: a link, and was a file"}}},
		{"no success", func(out string) error { return os.Remove(filepath.Join(out, SuccessName)) },
			[]Mistake{{SuccessName, "missing: the result is not complete"}}},
		{"extra", func(out string) error {
			return errors.Join(write("part-00002", "")(out), write("part-00001.files/a/c", "")(out), write("notes", "mine")(out))
		}, []Mistake{{"part-00001.files/a/c", "extra: does not belong to this result"}, {"part-00002", "extra: does not belong to this result"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, m := fresh()
			if err := tt.do(out); err != nil {
				t.Fatal(err)
			}
			got, err := m.Verify(out)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
	t.Run("removal", func(t *testing.T) {
		out, m := fresh()
		if err := errors.Join(write("part-mine", "x")(out), write("part-00001.files/mine", "y")(out), m.Remove(out)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"part-mine": "x", "part-00001.files/mine": "y"}, filesIn(t, out)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
