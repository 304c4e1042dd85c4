package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// news brings what changes to those who listen. The loop of the engine tells it and never waits: a listener that does
// not keep up is dropped, and looks anew when it comes back.
type news struct {
	mu        sync.Mutex
	seq       uint64
	listeners map[*listener]bool
}

type listener struct{ events chan Event }

const (
	mostBehind = 4096             // events that a listener may be behind
	quietTime  = 15 * time.Second // after which a listener hears a word, so that a dead one is noticed
	takeTime   = 10 * time.Second // that a listener may take for a word
)

func newNews() *news { return &news{listeners: map[*listener]bool{}} }

// tell tells everybody.
func (n *news) tell(e Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seq++
	e.Seq = n.seq
	for l := range n.listeners {
		select {
		case l.events <- e:
		default:
			n.drop(l)
		}
	}
}

// listen begins to listen, after what seq says was told last.
func (n *news) listen() (l *listener, seq uint64) {
	l = &listener{make(chan Event, mostBehind)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[l] = true
	return l, n.seq
}

func (n *news) leave(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(l)
}

// drop ends what a listener hears. n.mu is held.
func (n *news) drop(l *listener) {
	if n.listeners[l] {
		delete(n.listeners, l)
		close(l.events)
	}
}

// eventStream writes server-sent events.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newEventStream(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return &eventStream{w, http.NewResponseController(w)}
}

// send sends an event. Its data are JSON, which has no line ends.
func (s *eventStream) send(kind string, id uint64, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, kind, text))
}

// breathe sends nothing, which a listener that is gone cannot take.
func (s *eventStream) breathe() error { return s.write(":\n\n") }

func (s *eventStream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(takeTime))
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// events tells a client what changes until it goes, falls behind, or the server ends.
func (s *Server) events(w http.ResponseWriter, r *http.Request, _ *call) error {
	l, seq := s.news.listen()
	defer s.news.leave(l)
	out := newEventStream(w)
	if out.send("hello", seq, Event{Seq: seq, Kind: "hello", Job: -1}) != nil {
		return nil
	}
	follow(r.Context(), out, l.events)
	return nil
}

// follow sends events until one of the two ends is gone.
func follow(ctx context.Context, out *eventStream, events <-chan Event) {
	quiet := time.NewTicker(quietTime)
	defer quiet.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-quiet.C:
			err = out.breathe()
		case e, on := <-events:
			if !on {
				return
			}
			err = out.send(e.Kind, e.Seq, e)
		}
		if err != nil {
			return
		}
	}
}
