package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/door"
)

// echo is a route that answers what it was given, and one that never ends.
var echo = []route{
	{method: "POST", path: "/v1/echo", body: Change{}, answer: Change{}, query: []param{{"n", "", 0, false}, {"state", "", States(), true}},
		serve: func(_ *Server, _ context.Context, c *call) (any, error) { return c.body, nil }},
	{method: "POST", path: "/v1/raw", body: anything{}, serve: func(_ *Server, _ context.Context, c *call) (any, error) { return len(c.raw), nil }},
	{method: "GET", path: "/v1/fails", serve: func(*Server, context.Context, *call) (any, error) { return nil, errors.New("the disk is full") }},
	{method: "GET", path: "/v1/events", long: mostListeners, stream: (*Server).events},
}

// frontOn serves the routes on a socket and returns a client, and the way to talk to the socket itself.
func frontOn(t *testing.T, s *Server, all []route) (*http.Client, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- door.Serve(ctx, l, newFront(s, all, nil).mux) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return clientOf(path), path
}

// clientOf returns a client of what listens on a socket.
func clientOf(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
}

func TestRequestsAreChecked(t *testing.T) {
	client, _ := frontOn(t, nil, echo)
	for _, c := range []struct {
		name, method, path, kind, body string
		status                         int
		want                           string // in the answer
	}{
		{"good", "POST", "/v1/echo?n=3&state=queued&state=failed", "application/json; charset=utf-8", `{"priority":3}`, 200, `"priority":3`},
		{"mistakes everywhere", "POST", "/v1/echo?n=x&state=odd&m=1&n=2", "application/json", `{"priority":"x","weigth":1}`, 422,
			`"errors":[{"field":"m","detail":"there is no such parameter"},{"field":"n","detail":"given more than once"},` +
				`{"field":"state","detail":"expected one of [queued running paused succeeded failed cancelled], not \"odd\""},` +
				`{"field":"priority","detail":"expected a whole number, not \"x\""},` +
				`{"field":"weigth","detail":"there is no such field; did you mean weight?"}]`},
		{"no JSON", "POST", "/v1/echo", "application/json", `{"priority":`, 422, "expected JSON"},
		{"nothing", "POST", "/v1/echo", "application/json", ``, 422, "expected JSON"},
		{"a form, as a page of others can send it", "POST", "/v1/echo", "application/x-www-form-urlencoded", `a=b`, 415, "application/json"},
		{"another verb", "DELETE", "/v1/echo", "application/json", ``, 405, "expected POST"},
		{"no such thing", "GET", "/v1/else", "", ``, 404, "openapi.json"},
		{"not even that", "GET", "/", "", ``, 404, ""},
		{"what goes wrong inside", "GET", "/v1/fails", "", ``, 500, "the disk is full"},
		{"a query where none belongs", "GET", "/v1/fails?x=1", "", ``, 400, "no such parameter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequest(c.method, "http://tailcut"+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", c.kind)
			answer, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != c.status || !strings.Contains(string(text), c.want) {
				t.Errorf("%d %s, not %d with %s", answer.StatusCode, text, c.status, c.want)
			}
			if kind := answer.Header.Get("Content-Type"); c.status >= 400 && c.path != "/" && kind != "application/problem+json" {
				t.Errorf("a problem is %s", kind)
			}
		})
	}
}

// Bodies and headers beyond the bounds are refused, whether their length is told or not.
func TestRequestsAreBounded(t *testing.T) {
	client, path := frontOn(t, nil, echo)
	for name, body := range map[string]io.Reader{
		"told":     strings.NewReader(strings.Repeat(" ", mostBody+1)),
		"not told": io.LimitReader(spaces{}, mostBody+1),
	} {
		answer, err := client.Post("http://tailcut/v1/raw", "application/json", body)
		if err != nil {
			// The server has answered and closed before all was sent.
			t.Logf("%s: %v", name, err)
			continue
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}
	answer, err := client.Post("http://tailcut/v1/raw", "application/json", io.LimitReader(spaces{}, 5<<20))
	if err != nil || answer.StatusCode != 200 {
		t.Fatal("a body of five megabytes:", err, answer)
	}
	answer.Body.Close()

	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go fmt.Fprintf(conn, "GET /v1/fails HTTP/1.1\r\nHost: x\r\nA: %s\r\n\r\n", strings.Repeat("a", 320<<10))
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "431") {
		t.Errorf("a header of %d bytes: %q", 320<<10, line)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Clients that say nothing, or stop in the middle, keep nobody out.
func TestSilentClientsHoldNobodyUp(t *testing.T) {
	client, path := frontOn(t, nil, echo)
	parts := []string{"", "POST /v1/ra", "POST /v1/raw HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"}
	for i := range 100 {
		silent, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		fmt.Fprint(silent, parts[i%len(parts)])
	}
	began := time.Now()
	answer, err := client.Post("http://tailcut/v1/raw", "application/json", strings.NewReader("{}"))
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(err, answer)
	}
	answer.Body.Close()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A listener that takes nothing is dropped. Others hear everything, in order.
func TestSlowListenersAreDropped(t *testing.T) {
	s := &Server{news: newNews()}
	client, path := frontOn(t, s, echo)
	slow, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")

	answer, err := client.Get("http://tailcut/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	next := func() (e Event) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatal(err)
				}
				return e
			}
		}
		t.Fatal("the stream has ended:", lines.Err())
		return e
	}
	if hello := next(); hello.Kind != "hello" || hello.Seq != 0 {
		t.Fatalf("first comes %+v", hello)
	}
	for s.news.count() < 2 {
		time.Sleep(time.Millisecond)
	}
	for i := range 5 * mostBehind { // always a few ahead of the one who listens
		s.news.tell(Event{Kind: "job", Job: int64(i), Reason: strings.Repeat("x", 300)})
		if i < 100 {
			continue
		}
		if e := next(); e.Seq != uint64(i-99) || e.Job != int64(i-100) {
			t.Fatalf("event %d is %+v", i-99, e)
		}
	}
	if n := s.news.count(); n != 1 {
		t.Errorf("%d listen, not one", n)
	}
}

func (n *news) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.listeners)
}

// The streams of some clients do not take the connections of others.
func TestStreamsAreBounded(t *testing.T) {
	s := &Server{news: newNews()}
	client, _ := frontOn(t, s, echo)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	statuses := make(chan int)
	for range mostListeners + 5 {
		all.Go(func() {
			req, _ := http.NewRequestWithContext(ctx, "GET", "http://tailcut/v1/events", nil)
			answer, err := client.Do(req)
			if err != nil {
				statuses <- 0
				return
			}
			defer answer.Body.Close()
			statuses <- answer.StatusCode
			<-ctx.Done()
		})
	}
	count := map[int]int{}
	for range mostListeners + 5 {
		count[<-statuses]++
	}
	if count[200] != mostListeners || count[503] != 5 {
		t.Errorf("answers: %v", count)
	}
}
