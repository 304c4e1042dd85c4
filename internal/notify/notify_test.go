package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// deliverAll has one event delivered to targets and returns the warnings.
func deliverAll(t *testing.T, dir string, events []Event, targets ...string) []string {
	t.Helper()
	var mu sync.Mutex
	var warnings []string
	n, err := New(nil, dir, func(what string, err error) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, fmt.Sprintf("%s: %v", what, err))
	})
	if err != nil {
		t.Fatal(err)
	}
	n.timeout, n.pause = 500*time.Millisecond, time.Millisecond
	var all []target
	for _, text := range targets {
		one, err := parse(text, dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
		n.queues = append(n.queues, make(chan *Event, mostEvents))
	}
	n.start(all)
	for _, e := range events {
		n.Send(e)
	}
	n.Close(t.Context())
	return warnings
}

// TestHook: each answer of a server is tried again as often as may help, and what the server sees is the event.
func TestHook(t *testing.T) {
	for _, c := range []struct {
		path  string
		tries int
		warns string
	}{
		{"/ok", 1, ""},
		{"/created", 1, ""},
		{"/thrice", 3, ""},
		{"/down", 3, "--notify http://HOST/… was not notified that the job failed: the answer was 503 Service Unavailable"},
		{"/gone", 1, "--notify http://HOST/… was not notified that the job failed: the answer was 410 Gone"},
		{"/busy", 3, "the answer was 429 Too Many Requests"},
		{"/slow", 3, "no answer in time"},
		{"/moved", 1, "the answer was 302 Found"},
		{"/elsewhere", 2, ""},
	} {
		t.Run(c.path[1:], func(t *testing.T) {
			var mu sync.Mutex
			tries := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				tries++
				try := tries
				mu.Unlock()
				var e Event
				if err := json.Unmarshal(body, &e); err != nil || e.Schema != Schema || e.Event != Failed || e.Job != "nightly" || e.Host == "" || e.Time.IsZero() {
					t.Errorf("%v in %s", err, body)
				}
				if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s of %s", r.Method, r.Header.Get("Content-Type"))
				}
				switch r.URL.Path {
				case "/created":
					w.WriteHeader(http.StatusCreated)
				case "/thrice":
					if try < 3 {
						w.WriteHeader(http.StatusBadGateway)
					}
				case "/down":
					w.WriteHeader(http.StatusServiceUnavailable)
				case "/gone":
					w.WriteHeader(http.StatusGone)
				case "/busy":
					w.WriteHeader(http.StatusTooManyRequests)
				case "/slow":
					select {
					case <-r.Context().Done():
					case <-time.After(2 * time.Second):
					}
				case "/moved":
					http.Redirect(w, r, "/ok", http.StatusFound)
				case "/elsewhere":
					http.Redirect(w, r, "/ok", http.StatusTemporaryRedirect)
				}
			}))
			defer server.Close()
			warnings := strings.Join(deliverAll(t, "", []Event{{Event: Failed, Job: "nightly"}}, server.URL+c.path+"?token=secret"), "\n")
			server.Close() // waits for answers that nobody waits for any more
			want := strings.ReplaceAll(c.warns, "HOST", strings.TrimPrefix(server.URL, "http://"))
			mu.Lock()
			defer mu.Unlock()
			if tries != c.tries || !strings.Contains(warnings, want) || want == "" && warnings != "" || strings.Contains(warnings, "secret") {
				t.Errorf("%d tries, warned %q; want %d and %q", tries, warnings, c.tries, want)
			}
		})
	}
}

// A server that is not there is a warning that does not tell the secret part of its URL.
func TestNoServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	warnings := deliverAll(t, "", []Event{{Event: Done}}, server.URL+"/services/secret")
	if len(warnings) != 1 || strings.Contains(warnings[0], "secret") || !strings.Contains(warnings[0], "refused") {
		t.Errorf("warned %q", warnings)
	}
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ script, warns string }{
		{`echo "$TAILCUT_EVENT $TAILCUT_JOB $TAILCUT_OUTPUT $TAILCUT_SECONDS $TAILCUT_TASKS_DONE/$TAILCUT_TASKS" >said; cat >body`, ""},
		{"exit 3", `--notify "exit 3" was not notified that the job is done: ended with exit status 3`},
		{"echo one >&2; echo the reason >&2; exit 1", "exit status 1: the reason"},
		{"no-such-program-here", "exit status 127"},
		{"sleep 30", "took too long and was killed"},
		{"sleep 30 & exit 0", ""}, // what it leaves behind is not waited for
		{"echo x >>tried; test $(wc -l <tried) = 3", ""},
	} {
		began := time.Now()
		warnings := strings.Join(deliverAll(t, dir, []Event{{Event: Done, Job: "nightly", Output: "/out", Seconds: 1.5, Tasks: 3, Done: 2}}, c.script), "\n")
		if !strings.Contains(warnings, c.warns) || c.warns == "" && warnings != "" {
			t.Errorf("%s: warned %q, want %q", c.script, warnings, c.warns)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: took %v", c.script, took)
		}
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil || string(said) != "done nightly /out 1.500 2/3\n" {
		t.Errorf("the command saw %q, %v", said, err)
	}
	body, err := os.ReadFile(filepath.Join(dir, "body"))
	var e Event
	if err != nil || json.Unmarshal(body, &e) != nil || e.Event != Done || e.Seconds != 1.5 {
		t.Errorf("the command read %q, %v", body, err)
	}
}

// Events come in order to each target, and one that is slow does not hold up others, nor who sends.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	events := []Event{{Event: AtRisk}, {Event: Failed}, {Event: Done}}
	if warnings := deliverAll(t, dir, events, "echo $TAILCUT_EVENT >>a", "sleep 0.1; echo $TAILCUT_EVENT >>b"); len(warnings) > 0 {
		t.Error(warnings)
	}
	for _, name := range []string{"a", "b"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(text) != "at_risk\nfailed\ndone\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"mail -s done me", ""}, {"curl -d x https://example.com/hook", ""}, {"https://example.com/hook", ""}, {"http://[::1]:8080/", ""},
		{"", "expected a command or a URL"}, {" ", "expected a command or a URL"}, {"ftp://example.com", "not ftp://"},
		{"https://", "such as https://example.com/hook"}, {"http://a b/", "such as"}, {"a\x00b", "NUL"},
	} {
		err := Check(c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Who interrupts the wait for a target does not wait any longer.
func TestInterrupted(t *testing.T) {
	warned := make(chan error, 1)
	n, err := New([]string{"sleep 30"}, "", func(_ string, err error) { warned <- err })
	if err != nil {
		t.Fatal(err)
	}
	n.Send(Event{Event: Done})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	n.Close(ctx)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("took %v", took)
	}
	if err := <-warned; err == nil {
		t.Error("nothing was said")
	}
}
