package door

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// besiege connects so many clients that stay: they say one after the other what is said, or nothing.
func besiege(t *testing.T, path string, clients int, said ...string) {
	t.Helper()
	for i := range clients {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, said[i%len(said)]); err != nil {
			t.Logf("client %d: %v", i, err) // the server need not hear it
		}
	}
}

// Clients that connect and ask for nothing, or for a part of something, keep nobody out, however many they are. Nor does
// one that has been answered and is still there.
func TestHalfOpenConnections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	inner, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitors(inner, 4)
	v.grace = 20 * time.Millisecond
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") }), ConnState: v.notes}
	done := make(chan error, 1)
	go func() { done <- server.Serve(v) }()
	besiege(t, path, 30, "", "POST /v1/ra", "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	answer, err := client.Get("http://tailcut/") // the test's own time is the bound
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Error(answer.Status)
	}
	server.Close()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// A connection that is at work keeps its place; one more waits for it.
func TestBusyConnections(t *testing.T) {
	inner, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitors(inner, 2)
	in := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := v.Accept()
			if err != nil {
				close(in)
				return
			}
			v.notes(conn, http.StateActive)
			in <- conn
		}
	}()
	besiege(t, inner.Addr().String(), 3, "")
	first := <-in
	<-in
	select {
	case <-in:
		t.Fatal("three connections at once, of two")
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	first.Close() // gives back one place, not two
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) && err != io.EOF {
		t.Error(err)
	}
	<-in
	v.mu.Lock()
	if len(v.all) != 2 {
		t.Errorf("%d places are taken, not 2", len(v.all))
	}
	v.mu.Unlock()
	v.Close()
	if _, open := <-in; open {
		t.Error("a connection came in after the end")
	}
}
