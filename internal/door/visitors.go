package door

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// visitors is a listener with so many connections at once. When they are all there, one more takes the place of the
// oldest that has asked for nothing yet, or for nothing more: a client that connects and says nothing holds nobody up.
type visitors struct {
	net.Listener
	most   int
	grace  time.Duration
	closed chan struct{}
	left   chan struct{} // holds a value if somebody has left
	once   sync.Once

	mu  sync.Mutex
	all map[*visitor]bool
}

// visitor is a connection.
type visitor struct {
	net.Conn
	of    *visitors
	quiet time.Time // since when nothing is asked; zero while something is. of.mu is held
}

// grace is how long a connection may say nothing although others wait for its place.
const grace = time.Second

func newVisitors(l net.Listener, most int) *visitors {
	return &visitors{Listener: l, most: most, grace: grace, closed: make(chan struct{}), left: make(chan struct{}, 1), all: map[*visitor]bool{}}
}

// Accept waits for a connection, and before that for its place.
func (v *visitors) Accept() (net.Conn, error) {
	for v.full() {
		select {
		case <-v.closed:
			return nil, net.ErrClosed
		case <-v.left:
		case <-time.After(v.grace / 10):
		}
	}
	conn, err := v.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &visitor{Conn: conn, of: v, quiet: time.Now()}
	v.mu.Lock()
	v.all[c] = true
	v.mu.Unlock()
	return c, nil
}

// full tells whether there is no place, and shows somebody out who has been quiet for long.
func (v *visitors) full() bool {
	v.mu.Lock()
	if len(v.all) < v.most {
		v.mu.Unlock()
		return false
	}
	var oldest *visitor
	for c := range v.all {
		if !c.quiet.IsZero() && time.Since(c.quiet) > v.grace && (oldest == nil || c.quiet.Before(oldest.quiet)) {
			oldest = c
		}
	}
	v.mu.Unlock()
	if oldest == nil {
		return true
	}
	oldest.Close()
	return false
}

// notes takes notice of what a connection does, as an [http.Server] tells it.
func (v *visitors) notes(conn net.Conn, state http.ConnState) {
	c, ours := conn.(*visitor)
	if !ours {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch state {
	case http.StateActive:
		c.quiet = time.Time{}
	case http.StateIdle:
		c.quiet = time.Now()
	}
}

// Close accepts nobody any more.
func (v *visitors) Close() error {
	v.once.Do(func() { close(v.closed) })
	return v.Listener.Close()
}

// Close ends a connection.
func (c *visitor) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c)
	c.of.mu.Unlock()
	select {
	case c.of.left <- struct{}{}:
	default:
	}
	return c.Conn.Close()
}
