package mapreduce

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// byLine is an attempt of a mapper that treats each line by itself, which saves as often as it can.
func byLine(t *testing.T, mapper, input string) *AttemptSpec {
	t.Helper()
	plan, err := NewPlan(t.Context(), Request{
		Operator: Operator{Name: "streaming", Mapper: mapper, ByLine: true}, Inputs: []string{makeInput(t, map[string]string{"a": input})},
	})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, filepath.Join(t.TempDir(), "attempt"))
	if err != nil {
		t.Fatal(err)
	}
	spec.SaveEvery = -1
	return spec
}

// mapByLine runs such an attempt, and returns its part and how often it saved.
func mapByLine(t *testing.T, mapper, input string) (part string, saves int, err error) {
	t.Helper()
	spec := byLine(t, mapper, input)
	spec.Saved = func(int64, float64) { saves++ }
	if _, err = Run(t.Context(), spec); err != nil {
		return "", saves, err
	}
	text, err := os.ReadFile(partPath(spec.Dir))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), saves, nil
}

// A mapper that treats each line by itself is run for each stride, and at least once.
func TestLineMapper(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 99)+"\n", 10_000) // several pieces
	for _, c := range []struct {
		name, mapper, input string
		saved               bool
		want                func(part string, saves int) bool
	}{
		{"short", "tr x y", "xx\nx\n", false, func(part string, _ int) bool { return part == "yy\ny\n" }},
		{"long", "tr x y", long, true, func(part string, _ int) bool { return part == strings.ReplaceAll(long, "x", "y") }},
		{"it reads one line", "head -n 1", long, true, func(part string, saves int) bool {
			return strings.Count(part, "\n") == saves+1 && strings.HasPrefix(long, part)
		}},
		{"it reads nothing", "echo run", long[:20_000], true, func(part string, _ int) bool { return strings.HasPrefix(part, "run\nrun\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, saves, err := mapByLine(t, c.mapper, c.input)
			if err != nil || saves > 0 != c.saved || !c.want(part, saves) {
				t.Errorf("%d bytes after %d saves, %v: %.100q", len(part), saves, err, part)
			}
		})
	}
}

// A mapper that fails fails the attempt at once, with its own reason, however much of the input is left.
func TestLineMapperFails(t *testing.T) {
	long := strings.Repeat("line\n", 1_000_000)
	began := time.Now()
	_, _, err := mapByLine(t, "read line; echo no such gene >&2; exit 3", long)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such gene") {
		t.Errorf("%v, want status 3 and what the mapper said", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// brokenFiles are files of this machine that cannot be read from some byte on.
type brokenFiles struct {
	LocalFiles
	from int64
}

type brokenInput struct {
	Input
	from int64
}

var errBroken = errors.New("the disk is broken")

func (b brokenFiles) Open(ctx context.Context, f File) (Input, error) {
	in, err := b.LocalFiles.Open(ctx, f)
	return brokenInput{in, b.from}, err
}

func (b brokenInput) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.from {
		return 0, errBroken
	}
	return b.Input.ReadAt(p, off)
}

// When the split cannot be read on, the mapper gets no end of its input, as if that were all: it is killed, and the
// attempt fails at once with the reason, whether its results are kept as they are or sorted, and whether the mapper
// runs or none has begun.
func TestLineMapperAbandoned(t *testing.T) {
	long := strings.Repeat("line\n", 100_000)
	for name, c := range map[string]struct {
		reducer string
		from    int64
	}{"as it is": {"", 5000}, "sorted": {"cat", 5000}, "at the first byte": {"", 0}} {
		t.Run(name, func(t *testing.T) {
			ended := filepath.Join(t.TempDir(), "ended")
			spec := byLine(t, "cat; touch "+ended+"; exec sleep 60", long)
			if spec.Files, spec.SaveEvery = (brokenFiles{from: c.from}), time.Hour; c.reducer != "" {
				spec.Operator.Reducer, spec.Segments = c.reducer, 1
			}
			began := time.Now()
			_, err := Run(t.Context(), spec)
			if !errors.Is(err, errBroken) {
				t.Errorf("the error is %v", err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			if _, err := os.Stat(ended); err == nil {
				t.Error("the mapper has seen the end of its input")
			}
		})
	}
}
