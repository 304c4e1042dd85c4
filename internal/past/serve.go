package past

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// mostBeside is how many calls are answered beside each other.
const mostBeside = 16

// Serve answers calls until there are no more, several beside each other. unusable, if it is not nil, is the answer to
// all: there is no history.
func Serve(ctx context.Context, h History, unusable error, in io.Reader, out io.Writer) error {
	s := &server{history: h, unusable: unusable, out: out}
	from := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	room := make(chan struct{}, mostBeside)
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c := &call{}
		if err := from.Decode(c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("a call: %w", err)
		}
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			a := &answer{ID: c.ID}
			if err := s.do(ctx, c, a); err != nil {
				var useless Useless
				a.Error, a.Lost = err.Error(), errors.As(err, &useless)
			}
			s.say(a)
		})
	}
}

type server struct {
	history  History
	unusable error

	mu  sync.Mutex // of out
	out io.Writer
}

// say writes an answer. If nobody hears it any more, there will be no more calls either.
func (s *server) say(a *answer) {
	text, err := encode(a)
	if err != nil {
		text, _ = encode(&answer{ID: a.ID, Error: err.Error()})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(text)
}

func (s *server) do(ctx context.Context, c *call, a *answer) (err error) {
	if s.unusable != nil {
		return s.unusable
	}
	if c.Query != nil {
		if err := c.Query.Check(); err != nil {
			return err
		}
	}
	switch {
	case c.Do == "add" && c.Job != nil:
		return s.history.Add(ctx, c.Job)
	case c.Do == "past" && c.Query != nil:
		a.Past, err = s.history.Past(ctx, c.Query.Name, c.Query.Most)
	case c.Do == "jobs" && c.Query != nil:
		a.Jobs, err = s.history.Jobs(ctx, c.Query)
	case c.Do == "names":
		a.Names, err = s.history.Names(ctx)
	case c.Do == "kept" && c.Query != nil:
		a.Kept, err = s.history.Kept(ctx, c.Query)
	default:
		err = fmt.Errorf("unknown call %q", c.Do)
	}
	return err
}
