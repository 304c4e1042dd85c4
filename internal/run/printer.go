package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/sched"
)

// Printing says what of the tasks' output a run prints while it goes.
type Printing struct {
	To      io.Writer // nil: nothing is printed
	InOrder bool      // in the order of tasks; else as they are done
	Lines   bool      // whole lines of tasks that run, too
	Tag     bool      // each line begins with what its task is given, and a tab
	Text    string    // with Tag: this instead, with places for what the task is given
	Stderr  io.Writer // where the standard error of tasks that are done goes; nil for nowhere
}

// ErrClosed ends a run whose output is printed and nobody reads any more.
var ErrClosed = errors.New("standard output was closed")

// Lines of running tasks are looked for this often, and read in pieces of this size.
const (
	lookForLines = 100 * time.Millisecond
	pieceOfLines = 64 << 10
)

// printer prints the output of tasks as they are committed. It stands between the loop and the executor: what is
// committed twice, after a restart, is printed in each of the two starts, so that a pipe gets everything. A reader that
// is slow holds up nothing: printing has its own goroutine and a list of what is to be printed, which is as long as
// the list of tasks at most.
type printer struct {
	live.Executor
	Printing
	folders proc.Folders
	work    *jobfile.Work
	first   []int // number of each stage's first task, over all stages; then the number of tasks
	peek    func(func(live.Attempt, io.ReaderAt, int64))
	aside   func(func() (midline bool)) // keeps the screen out of the way
	tags    *results.Tags
	warn    func(format string, args ...any)
	failed  func(error) // is called once if standard output fails

	mu     sync.Mutex
	queue  []printed
	ring   chan struct{} // there is something new
	enough chan struct{} // closed when no more comes
	over   chan struct{} // closed when all is printed
	quit   bool          // print no more

	known int // the loop's, in order: tasks before it are done, or will not be

	// the goroutine's
	err  error
	next int             // in order: number of the task that is to be printed next
	held map[int]printed // in order: committed, but not their turn
	live map[int]*lines  // of tasks of which lines were printed
	done []bool          // with Lines: tasks of which all is printed, or about to be
	buf  []byte
}

// printed is the committed output of a task.
type printed struct {
	number, stage, index, attempt int
	output                        []byte // nil: a file has it
	missing                       bool   // the task is given up: nothing is to be printed
}

// lines is what was printed of a task before it was done.
type lines struct {
	n   int64 // bytes
	sum hash.Hash
	tag *results.Tagged
}

func newPrinter(inner live.Executor, p Printing, folders proc.Folders, work *jobfile.Work, tasks []int) *printer {
	x := &printer{
		Executor: inner, Printing: p, folders: folders, work: work, first: []int{0}, ring: make(chan struct{}, 1),
		enough: make(chan struct{}), over: make(chan struct{}), held: map[int]printed{}, live: map[int]*lines{}, buf: make([]byte, pieceOfLines),
	}
	for _, n := range tasks {
		x.first = append(x.first, x.first[len(x.first)-1]+n)
	}
	if work.MapReduce != nil { // the stages before the last only feed it
		x.InOrder, x.Lines, x.next = true, false, x.first[len(tasks)-1]
	}
	if x.Lines {
		x.done = make([]bool, x.first[len(tasks)])
	}
	return x
}

// Commit implements live.Executor.
func (p *printer) Commit(a live.Attempt, output []byte) error {
	if err := p.Executor.Commit(a, output); err != nil {
		return err
	}
	if p.work.MapReduce != nil && a.Stage < len(p.first)-2 {
		return nil
	}
	p.enqueue(printed{number: p.first[a.Stage] + a.Index, stage: a.Stage, index: a.Index, attempt: a.Number, output: output})
	return nil
}

func (p *printer) enqueue(x printed) {
	p.mu.Lock()
	p.queue = append(p.queue, x)
	p.mu.Unlock()
	select {
	case p.ring <- struct{}{}:
	default:
	}
}

// tick looks for tasks that are given up: in order, those behind them need not wait.
func (p *printer) tick(v *sched.View) {
	if p == nil || !p.InOrder {
		return
	}
	for ; p.known < p.first[len(p.first)-1]; p.known++ {
		switch v.Task(sched.TaskID(p.known)).State {
		case sched.TaskBroken, sched.TaskStranded, sched.TaskSkipped:
			p.enqueue(printed{number: p.known, missing: true})
		case sched.TaskDone:
		default:
			return
		}
	}
}

// run prints until no more comes.
func (p *printer) run() {
	defer close(p.over)
	var tick <-chan time.Time
	if p.Lines && p.peek != nil {
		ticker := time.NewTicker(lookForLines)
		defer ticker.Stop()
		tick = ticker.C
	}
	for more := true; more; {
		select {
		case <-p.enough:
			more = false
		case <-p.ring:
		case <-tick:
			p.printLines()
		}
		p.printQueue()
	}
	rest := make([]int, 0, len(p.held)) // behind tasks that are not done
	for number := range p.held {
		rest = append(rest, number)
	}
	slices.Sort(rest)
	for _, number := range rest {
		p.print(p.held[number])
	}
}

// finish waits until all that is committed is printed, unless ctx is done. It returns what was wrong with standard
// output.
func (p *printer) finish(ctx context.Context) error {
	close(p.enough)
	select {
	case <-p.over:
	case <-ctx.Done():
		p.mu.Lock()
		p.quit = true
		p.mu.Unlock()
		select { // it may be waiting for a reader
		case <-p.over:
		case <-time.After(lookForLines):
			return nil
		}
	}
	if errors.Is(p.err, syscall.EPIPE) {
		return ErrClosed
	}
	return p.err
}

// printQueue prints what was committed since the last time, as far as it is its turn.
func (p *printer) printQueue() {
	p.mu.Lock()
	queue := p.queue
	p.queue = nil
	p.mu.Unlock()
	for _, x := range queue {
		if p.done != nil {
			p.done[x.number] = true
		}
		if !p.InOrder {
			p.print(x)
			continue
		}
		p.held[x.number] = x
	}
	for {
		x, ok := p.held[p.next]
		if !ok {
			return
		}
		delete(p.held, p.next)
		p.next++
		p.print(x)
	}
}

// stopped tells whether printing is of no use any more.
func (p *printer) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quit || p.err != nil
}

// print prints the output of a task that is committed, but for what was printed of it before.
func (p *printer) print(x printed) {
	if x.missing || p.stopped() {
		return
	}
	before := p.live[x.number]
	delete(p.live, x.number)
	out := p.tagged(x.number, before)
	err := p.copyRest(out, x, before)
	if err != nil {
		p.fail(err)
		return
	}
	if p.Stderr != nil {
		p.printStderr(x)
	}
}

// tagged returns where a task's output goes.
func (p *printer) tagged(number int, before *lines) io.Writer {
	switch {
	case before != nil:
		return before.tag
	case !p.Tag:
		return p.out()
	}
	return p.newTag(number)
}

func (p *printer) newTag(number int) *results.Tagged {
	t := &results.Tagged{W: p.out()}
	if p.Tag {
		stage := 0
		for number >= p.first[stage+1] {
			stage++
		}
		t.Tag = p.tags.Of(stage, number-p.first[stage])
	}
	return t
}

// copyRest prints a committed output behind what was printed of its task already. Where that was of another attempt
// whose output differs, a warning says so.
func (p *printer) copyRest(out io.Writer, x printed, before *lines) error {
	var in io.Reader = bytes.NewReader(x.output)
	if x.output == nil {
		f, err := os.Open(proc.OutputIn(p.work, p.folders.Done(x.stage, x.index)))
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if before != nil {
		sum := sha256.New()
		n, err := io.Copy(sum, io.LimitReader(in, before.n))
		if err != nil {
			return err
		}
		if n < before.n || !bytes.Equal(sum.Sum(nil), before.sum.Sum(nil)) {
			p.warn("warning: task %d printed lines of an attempt that did not win, and the result differs from them; the result is right: %s",
				x.index, proc.OutputIn(p.work, p.folders.Done(x.stage, x.index)))
		}
	}
	for {
		n, err := io.ReadFull(in, p.buf)
		if n > 0 {
			if _, err := out.Write(p.buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return err
		case p.stopped():
			return nil
		}
	}
}

// printStderr prints what a task that is done has written to standard error. Nothing depends on it.
func (p *printer) printStderr(x printed) {
	text, err := os.ReadFile(p.folders.StderrOf(live.Attempt{Stage: x.stage, Index: x.index, Number: x.attempt}))
	if err != nil || len(text) == 0 {
		return // it has written nothing
	}
	p.aside(func() bool {
		_, _ = p.Stderr.Write(text)
		return text[len(text)-1] != '\n'
	})
}

// printLines prints the whole lines that running tasks have written since the last time: of each task those of the
// attempt that has written most, behind what was printed before.
func (p *printer) printLines() {
	if p.stopped() {
		return
	}
	type most struct {
		size int64
		text []byte
	}
	found := map[int]most{}
	p.peek(func(a live.Attempt, out io.ReaderAt, size int64) {
		number := p.first[a.Stage] + a.Index
		if p.done[number] || p.InOrder && number != p.next || p.work.Array.Stages[a.Stage].Resumable {
			return // what a resumable task writes is the end of its result, not the beginning
		}
		begin := int64(0)
		if l := p.live[number]; l != nil {
			begin = l.n
		}
		if size <= max(begin, found[number].size) {
			return
		}
		n, err := out.ReadAt(p.buf[:min(size-begin, pieceOfLines)], begin)
		if err != nil && err != io.EOF {
			return
		}
		if end := bytes.LastIndexByte(p.buf[:n], '\n'); end >= 0 {
			found[number] = most{size, bytes.Clone(p.buf[:end+1])}
		}
	})
	for number, m := range found {
		l := p.live[number]
		if l == nil {
			l = &lines{sum: sha256.New(), tag: p.newTag(number)}
			p.live[number] = l
		}
		l.n += int64(len(m.text))
		_, _ = l.sum.Write(m.text)
		if _, err := l.tag.Write(m.text); err != nil {
			p.fail(err)
			return
		}
	}
}

// fail ends printing, and the run.
func (p *printer) fail(err error) {
	p.mu.Lock()
	first := p.err == nil
	if first {
		p.err = err
	}
	p.mu.Unlock()
	if first {
		p.failed(err)
	}
}

// out is standard output, beside the screen.
func (p *printer) out() io.Writer { return besideScreen{p} }

type besideScreen struct{ *printer }

func (b besideScreen) Write(text []byte) (n int, err error) {
	if len(text) == 0 {
		return 0, nil
	}
	b.aside(func() bool {
		n, err = b.To.Write(text)
		return text[len(text)-1] != '\n'
	})
	return n, err
}
