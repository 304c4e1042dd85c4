package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStreaming(t *testing.T) {
	t.Parallel() // it waits for processes

	big := strings.Repeat("0123456789abcdef\n", 1<<16) // 1 MiB: more than pipes hold
	tests := []struct {
		name  string
		op    Operator
		input string
		want  string
	}{
		{"map only, untouched", Operator{Mapper: "cat"}, "b\tx\na\r\n\x00\xff", "b\tx\na\r\n\x00\xff\n"},
		{"map only, no final newline", Operator{Mapper: "printf x"}, "a\n", "x"},
		{"map only, no output", Operator{Mapper: "cat >/dev/null"}, "a\n", ""},
		{"sorted by the key's bytes", Operator{Mapper: "cat", Reducer: "cat"}, "b\t1\na\t2\nB\t3\na\t1\n", "B\t3\na\t2\na\t1\nb\t1\n"},
		{"no tab: an empty value", Operator{Mapper: "cat", Reducer: "cat"}, "b\n\na", "\t\na\t\nb\t\n"},
		{"first tab ends the key", Operator{Mapper: "cat", Reducer: "cat"}, "a\tb\tc\n\tx\n", "\tx\na\tb\tc\n"},
		{"CRLF kept", Operator{Mapper: "cat", Reducer: "cat"}, "a\r\nb\t1\r\n", "a\r\t\nb\t1\r\n"},
		{"last line without newline", Operator{Mapper: "printf 'b\\t1\\na\\t2'", Reducer: "cat"}, "x\n", "a\t2\nb\t1\n"},
		{"mapper reads nothing", Operator{Mapper: "echo k", Reducer: "cat"}, big, "k\t\n"},
		{"mapper reads a little", Operator{Mapper: "head -n 1", Reducer: "cat"}, big, "0123456789abcdef\t\n"},
		{"reducer reads a little", Operator{Mapper: "cat", Reducer: "head -n 1"}, big, "0123456789abcdef\t\n"},
		{"reducer reads nothing", Operator{Mapper: "cat", Reducer: "echo done"}, big, "done\n"},
		{"reads on without output", Operator{Mapper: "exec >&-; cat >/dev/null"}, big, ""},
		{"much both ways", Operator{Mapper: "cat"}, big, big},
		{"noisy", Operator{Mapper: "cat; head -c 300000 /dev/zero >&2"}, "a\n", "a\n"},
		{"a child is left with stdin", Operator{Mapper: "sleep 60 >/dev/null & echo x"}, big, "x\n"},
		{"combiner", Operator{Mapper: "tr ' ' '\\n'", Combiner: "uniq -c | awk '{print $2 \"\\t\" $1}'", Reducer: "cat"},
			"b a b\na a\n", "a\t3\nb\t2\n"},
		{"combiner with nothing to do", Operator{Mapper: "cat >/dev/null", Combiner: "echo x", Reducer: "cat"}, "a\n", ""},
		{"combiner reads nothing", Operator{Mapper: "cat", Combiner: "echo x", Reducer: "cat"}, big, "x\t\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.op.Name = "streaming"
			begin := time.Now()
			dir := makeInput(t, map[string]string{"f": tt.input})
			for _, limit := range []int64{0, 50_000} {
				parts := runJob(t, Request{Operator: tt.op, Inputs: []string{dir}, Reducers: 1, MemoryLimit: limit})
				if diff := cmp.Diff([]string{tt.want}, parts); diff != "" {
					t.Errorf("memory limit %d: (-want +got)\n%s", limit, diff)
				}
			}
			if took := time.Since(begin); took > 50*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestStreamingFailures(t *testing.T) {
	tests := []struct {
		name string
		op   Operator
		want []string
	}{
		{"mapper", Operator{Mapper: "cat; echo first >&2; echo bad luck >&2; exit 3"}, []string{"mapper", "exit status 3", "first | bad luck"}},
		{"silent", Operator{Mapper: "exit 1", Reducer: "cat"}, []string{"exit status 1", "ended with exit status 1 and wrote nothing to standard error"}},
		{"reducer", Operator{Mapper: "cat", Reducer: "cat; exit 4"}, []string{"reducer", "exit status 4"}},
		{"combiner", Operator{Mapper: "cat", Combiner: "exit 5", Reducer: "cat"}, []string{"combiner", "exit status 5"}},
		{"no such command", Operator{Mapper: "/no/such/command"}, []string{"exit status 127", "/no/such/command"}},
		{"killed", Operator{Mapper: "kill -9 $$"}, []string{"signal: killed"}},
		{"only the end of much noise", Operator{Mapper: "seq 100000 >&2; exit 1"}, []string{"| 100000"}},
		{"binary noise", Operator{Mapper: `printf 'a\377b' >&2; exit 1`}, []string{"a\uFFFDb"}},
	}
	dir := makeInput(t, map[string]string{"f": strings.Repeat("line\n", 1000)})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.op.Name = "streaming"
			_, err := tryJob(t, Request{Operator: tt.op, Inputs: []string{dir}, Reducers: 1})
			oneLine(t, tt.name, err, tt.want...)
			if err != nil && len(err.Error()) > 2*stderrTail {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

// TestStreamingWordcount does by commands what the built-in does, with and without a combiner.
func TestStreamingWordcount(t *testing.T) {
	t.Parallel() // it waits for processes
	const (
		mapper = `tr -s ' \t\n\v\f\r' '\n' | sed '/^$/d; s/$/\t1/'`
		sum    = `awk -F '\t' '{if (NR > 1 && $1 != key) {print key "\t" n; n = 0} key = $1; n += $2} END {if (NR) print key "\t" n}'`
	)
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
			files[fmt.Sprint(i)] = rapid.StringOfN(rapid.RuneFrom([]rune("abc \n\r")), 0, 200, -1).Draw(rt, "content")
		}
		op := Operator{Name: "streaming", Mapper: mapper, Reducer: sum}
		if rapid.Bool().Draw(rt, "combine") {
			op.Combiner = sum
		}
		job := drawJob(rt, op, makeInput(t, files))
		job.SplitSize += 100
		got := partLines(rt, runJob(t, job))
		job.Operator = Operator{Name: "wordcount"}
		if diff := cmp.Diff(partLines(rt, runJob(t, job)), got); diff != "" {
			rt.Fatalf("files %q: (-want +got)\n%s", files, diff)
		}
	})
}

// TestCancel: whatever an attempt is doing, it ends soon after its context, with the cause.
func TestCancel(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": strings.Repeat("a line of some words\n", 1<<20)})
	for _, op := range []Operator{
		{Name: "wordcount"},
		{Name: "sort"},
		{Name: "grep", Pattern: "w.*s"},
		{Name: "streaming", Mapper: "sleep 60"},
		{Name: "streaming", Mapper: "sleep 60; true"}, // sleep outlives the shell and holds its pipes
		{Name: "streaming", Mapper: "cat; sleep 60; true", Reducer: "cat"},
	} {
		t.Run(op.Name+" "+op.Mapper, func(t *testing.T) {
			plan, err := NewPlan(t.Context(), Request{Operator: op, Inputs: []string{dir}, Reducers: 2, SplitSize: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			spec, err := plan.Attempt(0, 0, nil, filepath.Join(t.TempDir(), "attempt"))
			if err != nil {
				t.Fatal(err)
			}
			lost := errors.New("another attempt won")
			ctx, cancel := context.WithCancelCause(t.Context())
			var at time.Time
			time.AfterFunc(20*time.Millisecond, func() {
				at = time.Now()
				cancel(lost)
			})
			if _, err := Run(ctx, spec); !errors.Is(err, lost) {
				t.Errorf("got %v", err)
			} else if took := time.Since(at); took > 3*time.Second {
				t.Errorf("stopped after %v", took)
			}
		})
	}
}

func TestStderrPassedOn(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": "a\n"})
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "streaming", Mapper: "echo hello >&2"}, Inputs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	spec.Stderr = &stderr
	if _, err := Run(t.Context(), spec); err != nil || stderr.String() != "hello\n" {
		t.Errorf("%q, %v", &stderr, err)
	}
}

// TestAttemptsAlike runs tasks twice, with the temporary files of little memory: folders must be equal to the byte.
func TestAttemptsAlike(t *testing.T) {
	t.Parallel() // it waits for processes
	var text bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&text, "w%d x%d\n", i*i%997, i%13)
	}
	dir := makeInput(t, map[string]string{"f": text.String()})
	for _, op := range []Operator{
		{Name: "wordcount"},
		{Name: "wordmean"},
		{Name: "grep", Pattern: `\w+`},
		{Name: "sort"},
		{Name: "streaming", Mapper: "tr ' ' '\\t'", Combiner: "tac", Reducer: "cat"},
	} {
		plan, err := NewPlan(t.Context(), Request{Operator: op, Inputs: []string{dir}, Reducers: 2, MemoryLimit: 2000, SplitSize: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		work := t.TempDir()
		var upstream []string
		for s, stage := range plan.Stages {
			var committed []string
			for i := range stage.Tasks {
				attempt := [2]string{filepath.Join(work, fmt.Sprint(s, i, 0)), filepath.Join(work, fmt.Sprint(s, i, 1))}
				for _, d := range attempt {
					if err := runTask(t, plan, s, i, upstream, d); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(folder(t, attempt[0]), folder(t, attempt[1])); diff != "" {
					t.Errorf("%s, %s task %d: attempts differ:\n%s", op.Name, stage.Name, i, diff)
				}
				committed = append(committed, attempt[1])
			}
			upstream = committed
		}
	}
}

// folder returns the files of a folder, which must have no folders in it, by name.
func folder(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// TestCommittedDamaged: what is wrong with a committed folder is found by whoever reads it.
func TestCommittedDamaged(t *testing.T) {
	dir := makeInput(t, map[string]string{"f": "a b c d e f\n"})
	for _, op := range []Operator{{Name: "wordcount"}, {Name: "sort"}, {Name: "streaming", Mapper: "cat", Reducer: "cat"}} {
		plan, err := NewPlan(t.Context(), Request{Operator: op, Inputs: []string{dir}, Reducers: 1})
		if err != nil {
			t.Fatal(err)
		}
		work := t.TempDir()
		mapped := filepath.Join(work, "map")
		if err := runTask(t, plan, 0, 0, nil, mapped); err != nil {
			t.Fatal(err)
		}
		path := segmentPath(mapped, 0)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range good {
			bad := slices.Clone(good)
			bad[i] ^= 0x10
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			err := runTask(t, plan, 1, 0, []string{mapped}, filepath.Join(work, fmt.Sprint("reduce", i)))
			oneLine(t, op.Name, err, path)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: byte %d flipped: %v", op.Name, i, err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		oneLine(t, op.Name, runTask(t, plan, 1, 0, []string{mapped}, filepath.Join(work, "gone")), path)
	}
}
