package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/results"
)

// silent is an executor that commits everything.
type silent struct{ live.Executor }

func (silent) Commit(live.Attempt, []byte) error { return nil }

// locked is a buffer that two goroutines use.
type locked struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(text)
}

func arrayPrinter(p Printing, tasks int) *printer {
	work := &jobfile.Work{Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: jobfile.SoleStage, Tasks: tasks}}}}
	x := newPrinter(silent{}, p, proc.Folders{}, work, []int{tasks})
	var err error
	if x.tags, err = results.NewTags(p.Text, work); err != nil {
		panic(err)
	}
	x.aside, x.failed, x.warn = func(write func() bool) { write() }, func(error) {}, func(string, ...any) {}
	return x
}

// Every committed output is printed once and whole, in order where that is asked for, also when lines of attempts that
// run were printed before, whichever of them wins.
func TestPrinterPrintsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const tasks = 6
		outputs := make([]string, tasks)
		for i := range outputs {
			for k := range rapid.IntRange(0, 4).Draw(t, "lines") {
				outputs[i] += fmt.Sprintf("%d %d\n", i, k)
			}
		}
		var out locked
		p := arrayPrinter(Printing{To: &out, InOrder: rapid.Bool().Draw(t, "in order"), Lines: true}, tasks)
		warnings := 0
		p.warn = func(string, ...any) { warnings++ }
		var run []live.Attempt // those of which something can be seen
		size := map[int]int{}
		p.peek = func(look func(live.Attempt, io.ReaderAt, int64)) {
			for _, a := range run {
				look(a, strings.NewReader(outputs[a.Index]), int64(min(size[a.Number], len(outputs[a.Index]))))
			}
		}
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "commits")
		missing := rapid.IntRange(0, 1).Draw(t, "tasks that fail") // the last to be done is not
		for _, i := range order[:tasks-missing] {
			run = nil
			for n := range rapid.IntRange(0, 5).Draw(t, "attempts") {
				run = append(run, live.Attempt{Index: rapid.IntRange(0, tasks-1).Draw(t, "task"), Number: n})
				size[n] = rapid.IntRange(0, 20).Draw(t, "written")
			}
			p.printLines()
			if err := p.Commit(live.Attempt{Index: i}, []byte(outputs[i])); err != nil {
				t.Fatal(err)
			}
			p.printQueue()
		}
		run = nil
		go p.run()
		if err := p.finish(context.Background()); err != nil || warnings > 0 {
			t.Fatal(err, warnings)
		}
		var got [tasks]string
		last := -1
		for line := range strings.Lines(out.String()) {
			i := int(line[0] - '0')
			if got[i] += line; i < last && p.InOrder {
				t.Errorf("task %d behind task %d:\n%s", i, last, out.String())
			}
			last = i
		}
		for _, i := range order[:tasks-missing] {
			if got[i] != outputs[i] {
				t.Errorf("task %d: printed %q, want %q", i, got[i], outputs[i])
			}
		}
	})
}

// Lines of an attempt that loses against one with another output cannot be taken back: what remains is told, and why.
func TestPrinterWarnsOfAnotherOutput(t *testing.T) {
	for name, c := range map[string]struct{ seen, committed, want string }{
		"same beginning":    {"a\nb", "a\nb\nc\n", "T0\ta\nT0\tb\nT0\tc\n"},
		"another beginning": {"x\n", "a\nb\n", "T0\tx\nT0\tb\n"},
		"shorter":           {"x\ny\n", "x\n", "T0\tx\nT0\ty\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out locked
			p := arrayPrinter(Printing{To: &out, Lines: true, Tag: true, Text: "T{}"}, 1)
			warned := 0
			p.warn = func(string, ...any) { warned++ }
			p.peek = func(look func(live.Attempt, io.ReaderAt, int64)) {
				look(live.Attempt{}, strings.NewReader(c.seen), int64(len(c.seen)))
			}
			p.printLines()
			_ = p.Commit(live.Attempt{}, []byte(c.committed))
			p.printQueue()
			p.printLines() // of a sibling that has not died yet
			if out.String() != c.want || (warned == 1) != (name != "same beginning") {
				t.Errorf("got %q and %d warnings, want %q", out.String(), warned, c.want)
			}
		})
	}
}

// closed is a pipe that nobody reads.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, fmt.Errorf("write: %w", syscall.EPIPE) }

func TestPrinterEndsWithItsReader(t *testing.T) {
	p := arrayPrinter(Printing{To: closed{}}, 2)
	ended := 0
	p.failed = func(error) { ended++ }
	go p.run()
	_ = p.Commit(live.Attempt{Index: 1}, []byte("a"))
	_ = p.Commit(live.Attempt{Index: 0}, []byte("a"))
	if err := p.finish(context.Background()); !errors.Is(err, ErrClosed) || ended != 1 {
		t.Errorf("%v, %d", err, ended)
	}
}
