package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// fake answers as a server does that has three jobs. What it says can be changed, and it can go away and come back.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	gone    bool
	ordered []string
	jobs    []map[string]any
	book    *timeline.Book
	began   time.Time
	streams map[chan string]bool
}

const evil = `<img src=x onerror="throw Error('run by a name')">`

func newFake(t *testing.T) *fake {
	f := &fake{streams: map[chan string]bool{}}
	f.begin(time.Now().Add(-time.Minute))
	for id, name := range []string{"nightly", evil, "sort"} {
		f.jobs = append(f.jobs, map[string]any{
			"id": id, "name": name, "state": "running", "submitted": f.began.Format(time.RFC3339Nano), "started": nil, "ended": nil, "flow_seconds": 40.0,
			"tasks": 10, "done": 3, "failed": 0, "running": 2, "attempts": 5, "clones": 1, "fruitful_seconds": 30.0, "fruitless_seconds": 10.0,
			"promised_seconds": 90.0, "promised_between": []float64{70, 200}, "output": "/data/out", "priority": 0, "weight": 1.0, "deadline": nil,
			"after": []int{}, "why": "",
		})
	}
	f.jobs[1]["state"], f.jobs[1]["why"] = "queued", "waits for job 0"
	f.jobs[2]["state"], f.jobs[2]["ended"] = "succeeded", time.Now().Format(time.RFC3339Nano)
	f.jobs[2]["promised_between"] = []float64{50, 60}
	mux := http.NewServeMux()
	mux.Handle("GET /", Handler())
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /v1/server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"version": "v0", "started": f.began, "user": "ann", "dir": "/state", "policy": "srpt", "slots": map[string]int{"": 4}, "running": 2,
			"draining": false, "jobs": map[string]int{"running": 1, "queued": 1, "succeeded": 1},
		})
	})
	mux.HandleFunc("GET /v1/jobs", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		all := []any{}
		for _, j := range f.jobs {
			for _, s := range r.URL.Query()["state"] {
				if s == j["state"] {
					all = append(all, j)
				}
			}
		}
		answer(w, map[string]any{"jobs": all, "next": nil})
	})
	mux.HandleFunc("GET /v1/jobs/{job}", func(w http.ResponseWriter, _ *http.Request) { answer(w, f.jobs[0]) })
	mux.HandleFunc("GET /v1/jobs/{job}/tasks", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"job": 0, "next": nil, "tasks": []any{map[string]any{"stage": "map", "task": 0, "state": "running", "running": 2, "failures": 0}}})
	})
	mux.HandleFunc("POST /v1/jobs/{job}/{what}", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ordered = append(f.ordered, r.PathValue("job")+" "+r.PathValue("what"))
		f.jobs[0]["state"] = "paused"
		answer(w, f.jobs[0])
	})
	mux.HandleFunc("GET /v1/timeline", func(w http.ResponseWriter, r *http.Request) {
		since := uint64(0)
		_, _ = fmt.Sscan(r.URL.Query().Get("since"), &since)
		answer(w, f.book.Since(since, f.now()))
	})
	mux.HandleFunc("GET /v1/calibration", func(w http.ResponseWriter, _ *http.Request) {
		points := []any{}
		for i := range 9 {
			level := float64(i+1) / 10
			points = append(points, map[string]any{"level": level, "share": level * level, "ci95": []float64{level*level - 0.05, level*level + 0.05}})
		}
		answer(w, map[string]any{"at_submission": map[string]any{"promises": 120, "held_80_ratio": 0.775, "held_80_ci95": []float64{0.69, 0.84}, "points": points}})
	})
	mux.HandleFunc("GET /v1/history", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"names": []any{map[string]any{
			"name": "nightly", "jobs": 30, "succeeded": 29, "last": f.began, "mean_flow_seconds": 61.5, "attempts": 900, "clones": 12,
			"fruitful_seconds": 5000, "fruitless_seconds": 100,
		}}})
	})
	mux.HandleFunc("POST /v1/whatif", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(400)
		_, _ = w.Write([]byte(`{"title":"mistakes","status":400,"errors":[{"field":"policies[0]","detail":"unknown policy"}]}`))
	})
	mux.HandleFunc("GET /v1/events", f.events)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		gone := f.gone
		f.mu.Unlock()
		if gone {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { f.leave(); f.Server.Close() })
	return f
}

// begin is what a server knows that has just been started: one attempt runs, and a clone of it.
func (f *fake) begin(at time.Time) {
	f.began = at
	f.book = timeline.NewBook("tailcut serve", "srpt", at, []timeline.SlotRow{{Machine: "local"}})
	f.book.Job(timeline.JobRow{ID: 0, Name: "nightly", State: "running", Tasks: 10}, []timeline.StageRow{{Name: "map", Tasks: 10}})
	first := live.Record{Launched: sched.Second, Start: sched.Second, Reason: sched.Original}
	first.ID = 1
	f.book.Launched(0, &first)
	clone := live.Record{Launched: 20 * sched.Second, Start: 20 * sched.Second, Reason: sched.Straggling}
	clone.ID, clone.Number, clone.Clone = 2, 1, true
	f.book.Launched(0, &clone)
}

func (f *fake) now() sched.Time { return sched.Time(time.Since(f.began)) }

func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, "event: hello\ndata: {}\n\n")
	_ = http.NewResponseController(w).Flush()
	told := make(chan string, 10)
	f.mu.Lock()
	f.streams[told] = true
	f.mu.Unlock()
	for {
		select {
		case <-r.Context().Done():
			return
		case kind, on := <-told:
			if !on {
				panic(http.ErrAbortHandler)
			}
			_, _ = fmt.Fprintf(w, "event: %s\ndata: {}\n\n", kind)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func (f *fake) tell(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		s <- kind
	}
}

// leave is what a killed server does.
func (f *fake) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	for s := range f.streams {
		close(s)
	}
	f.streams = map[chan string]bool{}
}

func (f *fake) back() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = false
}

// The page of a server: what it shows, what it orders, what comes while it looks, and that it comes back by itself.
func TestServer(t *testing.T) {
	f := newFake(t)
	b := openBrowser(t)
	p := b.open(f.URL, 1280, 1000, false)
	p.until("document.querySelector('#link').textContent === 'connected' && window.view && view.stats.firstDraw")
	p.until("document.querySelector('#running table')")
	p.shoot("wide")
	p.value("document.querySelector('#promises').scrollIntoView()")
	p.shoot("promises")
	p.value("scrollTo(0, 0)")
	for _, c := range []struct{ selector, want string }{
		{"#about", "Policy srpt. Jobs run as ann."}, {"#now", "nightly"}, {"#now", evil}, {"#now", "waits for job 0"},
		{"#now", "in "}, {"#running", "the task was slow or late"}, {"#ended", "sort"}, {"#promises", "78 % of 120 jobs ended within the interval of 80 %"}, {"#history", "61.5 s"},
		{"#whatif", "What if"},
	} {
		got := p.text(c.selector)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s does not show %q but %.400q", c.selector, c.want, got)
		}
	}
	if p.value("document.querySelectorAll('#now img').length") != 0. {
		t.Error("a job's name is taken for HTML")
	}

	// An attempt ends while somebody looks; the other one grows.
	won := live.Record{Launched: 20 * sched.Second, Start: 20 * sched.Second, Stop: f.now(), End: live.Won, Reason: sched.Straggling}
	won.ID, won.Number, won.Clone = 2, 1, true
	f.book.Ended(0, &won)
	f.tell("attempt")
	p.until("view.store.running.size === 1 && view.store.n === 2")

	// An order, given by keyboard.
	p.value(`document.querySelector('[aria-label="Pause nightly"]').focus()`)
	p.press("Enter")
	p.until(`document.querySelector('[aria-label="Resume nightly"]')`)
	f.mu.Lock()
	if got := strings.Join(f.ordered, ", "); got != "0 pause" {
		t.Errorf("ordered %q", got)
	}
	f.mu.Unlock()

	// One job, by its address.
	p.value("location.hash = '#job/0'")
	p.until("document.querySelector('#job').innerText.includes('Results in /data/out')")
	p.shoot("job")

	// Mistakes in a question are said.
	p.value("document.querySelector('#whatif form').requestSubmit()")
	p.until("document.querySelector('#whatif').innerText.includes('policies[0]: unknown policy')")

	// The server is killed, and another one is started.
	f.leave()
	p.until("document.querySelector('#link').textContent === 'lost' && !document.querySelector('#problem').hidden")
	p.shoot("lost")
	f.begin(time.Now().Add(-90 * time.Second))
	f.mu.Lock()
	f.jobs[0]["name"] = "another"
	f.mu.Unlock()
	f.back()
	p.until("document.querySelector('#link').textContent === 'connected' && document.querySelector('#now').innerText.includes('another')")
	p.until("view.store.running.size === 2 && document.querySelector('#problem').hidden")
	p.only(f.URL)
}

// Files have their types and a policy that lets nothing else in; what is not there is not found.
func TestHandler(t *testing.T) {
	for path, want := range map[string]struct {
		status int
		kind   string
	}{
		"/": {200, "text/html; charset=utf-8"}, "/assets/live.js": {200, "text/javascript; charset=utf-8"}, "/assets/style.css": {200, "text/css; charset=utf-8"},
		"/assets/report.html": {404, ""}, "/assets/": {404, ""}, "/assets/../page.go": {404, ""}, "/x": {404, ""},
	} {
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want.status || want.kind != "" && w.Header().Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
		if w.Code == 200 && !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'") {
			t.Errorf("%s: policy %q", path, w.Header().Get("Content-Security-Policy"))
		}
		tag := w.Header().Get("ETag")
		again := httptest.NewRequest("GET", path, nil)
		again.Header.Set("If-None-Match", tag)
		w = httptest.NewRecorder()
		if Handler().ServeHTTP(w, again); tag != "" && (w.Code != 304 || w.Body.Len() > 0) {
			t.Errorf("%s: %d to a reader who has it", path, w.Code)
		}
	}
}

func TestHandlerOnlyReads(t *testing.T) {
	w := httptest.NewRecorder()
	if Handler().ServeHTTP(w, httptest.NewRequest("POST", "/", nil)); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", w.Code)
	}
}
