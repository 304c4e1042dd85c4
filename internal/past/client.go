package past

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/promise"
)

// Program is the name of the program that keeps the database.
const Program = "tailcut-history"

// DatabaseName is the name of the database in a folder of histories.
const DatabaseName = "history.db"

// Client is the program as others see it. It implements [History]. The program is started by the first call, and again
// by the first after it has died: what it has acknowledged is on the disk, and what it has not is asked again, once.
type Client struct {
	start func() (*exec.Cmd, error)

	mu     sync.Mutex
	line   *line // to the program that runs; nil if none does
	closed bool
	next   uint64
}

var _ History = (*Client)(nil)

// Open returns the program's history in a folder. What the program has to say besides goes to log. The error wraps
// ErrNoProgram and says how to install it, if it is not there.
func Open(folder string, log io.Writer) (*Client, error) {
	path, err := remote.Find(Program)
	if err != nil {
		return nil, absent{err}
	}
	return newClient(func() (*exec.Cmd, error) {
		cmd := exec.Command(path, "keep", folder)
		cmd.Stderr = log
		leadGroup(cmd)
		return cmd, nil
	}), nil
}

// absent is the error of a program that was looked for.
type absent struct{ error }

// Is implements the interface that package errors knows.
func (absent) Is(target error) bool { return target == ErrNoProgram }

func newClient(start func() (*exec.Cmd, error)) *Client { return &Client{start: start} }

// line is a program that runs. The calls that it has not answered are in waiting.
type line struct {
	in   io.WriteCloser
	end  func() error // waits for the program
	kill func() error

	write   sync.Mutex // one call at a time goes out
	mu      sync.Mutex
	waiting map[uint64]chan *answer
	gone    bool // there are no more answers
	hangs   bool // there was none in time
}

// connect returns the line to the program, which it starts if need be.
func (c *Client) connect() (*line, uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	switch {
	case c.closed:
		return nil, 0, errors.New("the history is closed")
	case c.line != nil && !c.line.over():
		return c.line, c.next, nil
	}
	cmd, err := c.start()
	if err != nil {
		return nil, 0, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	l := &line{in: in, kill: cmd.Process.Kill, waiting: map[uint64]chan *answer{}}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		l.listen(out)
	}()
	l.end = sync.OnceValue(func() error {
		<-heard // before Wait closes the pipe
		return cmd.Wait()
	})
	go func() { _ = l.end() }() // no process is left as a zombie when the program dies by itself
	c.line = l
	return l, c.next, nil
}

func (l *line) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// listen hands answers to those who wait for them until there are no more.
func (l *line) listen(out io.Reader) {
	from := json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
	for {
		a := &answer{}
		if err := from.Decode(a); err != nil {
			break
		}
		l.mu.Lock()
		to := l.waiting[a.ID]
		delete(l.waiting, a.ID)
		l.mu.Unlock()
		if to != nil {
			to <- a
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	for id, to := range l.waiting {
		delete(l.waiting, id)
		close(to)
	}
}

// errDied tells that the program has died before it answered.
var errDied = errors.New(Program + " exited")

// ask says something and waits for the answer.
func (l *line) ask(ctx context.Context, c *call) (*answer, error) {
	text, err := encode(c)
	if err != nil {
		return nil, err
	}
	to := make(chan *answer, 1)
	l.mu.Lock()
	if l.gone {
		l.mu.Unlock()
		return nil, errDied
	}
	l.waiting[c.ID] = to
	l.mu.Unlock()
	go func() { // a program that hangs reads nothing
		l.write.Lock()
		defer l.write.Unlock()
		if _, err := l.in.Write(text); err != nil { // the program is gone, which listen tells
			_ = l.in.Close()
		}
	}()
	select {
	case a, ok := <-to:
		if !ok {
			return nil, errDied
		}
		return a, nil
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, c.ID)
		l.hangs = l.hangs || errors.Is(context.Cause(ctx), context.DeadlineExceeded)
		l.mu.Unlock()
		return nil, ctx.Err()
	}
}

// call asks the program, and once more if it died meanwhile.
func (c *Client) call(ctx context.Context, q call) (*answer, error) {
	for again := true; ; again = false {
		l, id, err := c.connect()
		if err != nil {
			return nil, err
		}
		q.ID = id
		a, err := l.ask(ctx, &q)
		if errors.Is(err, errDied) && again {
			continue
		}
		if err != nil {
			return nil, err
		}
		return a, a.errorOf()
	}
}

// Add implements [History].
func (c *Client) Add(ctx context.Context, j *JobRecord) error {
	_, err := c.call(ctx, call{Do: "add", Job: j})
	return err
}

// Past implements [History].
func (c *Client) Past(ctx context.Context, name string, runs int) (*live.Past, error) {
	a, err := c.call(ctx, call{Do: "past", Query: &Query{Name: name, Most: runs}})
	if err == nil && a.Past == nil {
		err = errors.New(Program + " returned no past")
	}
	if err != nil {
		return nil, err
	}
	return a.Past, nil
}

// Jobs implements [History].
func (c *Client) Jobs(ctx context.Context, q *Query) ([]*JobRecord, error) {
	a, err := c.call(ctx, call{Do: "jobs", Query: q})
	if err != nil {
		return nil, err
	}
	return a.Jobs, nil
}

// Names implements [History].
func (c *Client) Names(ctx context.Context) ([]NameRecord, error) {
	a, err := c.call(ctx, call{Do: "names"})
	if err != nil {
		return nil, err
	}
	return a.Names, nil
}

// Kept implements [History].
func (c *Client) Kept(ctx context.Context, q *Query) ([]promise.Outcome, error) {
	a, err := c.call(ctx, call{Do: "kept", Query: q})
	if err != nil {
		return nil, err
	}
	return a.Kept, nil
}

// Close lets the program end and waits for it. What was asked before is answered. A program that hangs is killed.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.line == nil {
		return nil
	}
	_ = c.line.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- c.line.end() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(c.line.patience()):
		return errors.Join(errors.New(Program+" does not end and is killed"), c.line.kill())
	}
}

// patience is how long the program may take to end.
func (l *line) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hangs {
		return 0
	}
	return Late
}
