package mapreduce

import (
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
				if err := Publish(dirs, out); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(expect, folder(t, out)); diff != "" {
					t.Errorf("round %d: (-want +got)\n%s", round, diff)
				}
			}
		})
	}
}

func TestPublishNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	if err := Publish(nil, out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"_SUCCESS": ""}, folder(t, out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPublishErrors(t *testing.T) {
	work := makeInput(t, map[string]string{"t0/part": "zero\n", "t1/other": ""})
	t0, t1 := filepath.Join(work, "t0"), filepath.Join(work, "t1")

	out := makeInput(t, map[string]string{"part-00001": "", "_SUCCESS": ""})
	oneLine(t, "a part beyond the last", Publish([]string{t0}, out), filepath.Join(out, "part-00001"))

	out = makeInput(t, map[string]string{"part-0": ""})
	oneLine(t, "a part of another form", Publish([]string{t0}, out), filepath.Join(out, "part-0"))

	out = makeInput(t, map[string]string{"_SUCCESS": ""})
	oneLine(t, "a task without a part", Publish([]string{t0, t1}, out), filepath.Join(t1, "part"))
	if _, err := os.Stat(filepath.Join(out, SuccessName)); err == nil {
		t.Error("an incomplete folder says _SUCCESS")
	}

	file := filepath.Join(t0, "part")
	oneLine(t, "a file in the way", Publish([]string{t0}, file), file)
}

// TestCopyFile: the way that place takes between file systems.
func TestCopyFile(t *testing.T) {
	dir := makeInput(t, map[string]string{"from": "text"})
	to := filepath.Join(dir, "to")
	if err := copyFile(filepath.Join(dir, "from"), to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if err := copyFile(filepath.Join(dir, "from"), to); err == nil {
		t.Error("copied over an existing file")
	}
}
