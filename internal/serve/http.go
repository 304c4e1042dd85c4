package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/tailcut/tailcut/internal/door"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/trace"
)

// What one client can take of the server, and all of them.
const (
	mostListeners = 64       // to all that changes
	mostWatchers  = 1024     // of jobs, and as many of tasks
	mostBody      = 64 << 20 // bytes of a body
	mostBodies    = 192 << 20
	smallBody     = 256 << 10        // bytes of one that waits for no other
	answerTime    = 30 * time.Second // to take the answer
)

// front is what stands between sockets and the server: bounds, and the form of requests and answers.
type front struct {
	s         *Server
	mux       *http.ServeMux
	bodies    *semaphore.Weighted
	listeners map[string]chan struct{} // by path
}

func newFront(s *Server, all []route, page http.Handler) *front {
	f := &front{s: s, mux: http.NewServeMux(), bodies: semaphore.NewWeighted(mostBodies), listeners: map[string]chan struct{}{}}
	methods := map[string][]string{}
	for _, r := range all {
		f.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { f.serve(&r, w, req) })
		methods[r.path] = append(methods[r.path], r.method)
		f.listeners[r.path] = make(chan struct{}, r.long)
	}
	for path, known := range methods {
		f.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", strings.Join(known, ", "))
			answerProblem(w, problem(http.StatusMethodNotAllowed, "expected %s", strings.Join(known, " or ")))
		})
	}
	text := description(all)
	f.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	f.mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		answerProblem(w, problem(http.StatusNotFound, "there is no %s; what there is, /openapi.json says", r.URL.Path))
	})
	if page != nil {
		f.mux.Handle("/", page) // "GET /" would be in the way of "/v1/"
	}
	return f
}

// serve answers one request of a route.
func (f *front) serve(r *route, w http.ResponseWriter, req *http.Request) {
	control := http.NewResponseController(w)
	c, release, err := f.read(r, w, req)
	defer release()
	if err == nil && r.long > 0 {
		select {
		case f.listeners[r.path] <- struct{}{}:
			defer func() { <-f.listeners[r.path] }()
		default:
			err = problem(http.StatusServiceUnavailable, "%d clients listen already, which is the most", r.long)
		}
	}
	if err == nil && r.stream != nil {
		_ = control.SetReadDeadline(time.Time{})
		if err = r.stream(f.s, w, req, c); err == nil {
			return
		}
	}
	var answer any
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
		answer, err = r.serve(f.s, req.Context(), c)
	}
	_ = control.SetWriteDeadline(time.Now().Add(answerTime))
	if err != nil {
		answerProblem(w, problemOf(err))
		return
	}
	door.Answer(w, http.StatusOK, "application/json", answer)
}

// read reads and checks a request. What is returned has to be called when the request is over.
func (f *front) read(r *route, w http.ResponseWriter, req *http.Request) (c *call, release func(), err error) {
	release = func() {}
	c = &call{ref: req.PathValue("job"), query: req.URL.Query(), key: req.Header.Get("Idempotency-Key")}
	mistakes := checkQuery(r.query, c.query)
	if len(c.key) > 200 {
		mistakes = append(mistakes, Mistake{"Idempotency-Key", "longer than 200 bytes"})
	}
	if r.body == nil {
		if len(mistakes) > 0 {
			return nil, release, &Problem{Title: mistaken, Status: http.StatusBadRequest, Mistakes: mistakes}
		}
		return c, release, nil
	}
	if kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, release, problem(http.StatusUnsupportedMediaType, "expected Content-Type: application/json, not %q", kind)
	}
	size := req.ContentLength
	if size < 0 || size > mostBody {
		if size > mostBody {
			return nil, release, tooLarge()
		}
		size = mostBody
	}
	if size > smallBody {
		wait, cancel := context.WithTimeout(req.Context(), door.BodyTime)
		defer cancel()
		if err := f.bodies.Acquire(wait, size+1); err != nil {
			return nil, release, problem(http.StatusServiceUnavailable, "too many large requests at once; try again")
		}
		release = func() { f.bodies.Release(size + 1) }
	}
	if c.raw, err = io.ReadAll(http.MaxBytesReader(w, req.Body, mostBody)); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return nil, release, tooLarge()
		}
		return nil, release, problem(http.StatusBadRequest, "the body broke off: %v", err)
	}
	if _, others := r.body.(anything); !others {
		into := reflect.New(reflect.TypeOf(r.body))
		mistakes = append(mistakes, decode(c.raw, into.Interface())...)
		c.body = into.Interface()
	}
	if len(mistakes) > 0 {
		return nil, release, wrong(mistakes...)
	}
	return c, release, nil
}

func tooLarge() *Problem {
	return problem(http.StatusRequestEntityTooLarge, "a body has at most %d MiB; name long lists of values in a file", mostBody>>20)
}

// checkQuery finds every mistake of a query.
func checkQuery(known []param, query url.Values) (all []Mistake) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		i := slices.IndexFunc(known, func(p param) bool { return p.name == name })
		switch values := query[name]; {
		case i < 0:
			all = append(all, Mistake{name, "there is no such parameter"})
		case len(values) > 1 && !known[i].many:
			all = append(all, Mistake{name, "given more than once"})
		default:
			for _, text := range values {
				if what := known[i].check(text); what != "" {
					all = append(all, Mistake{name, fmt.Sprintf("expected %s, not %.100q", what, text)})
				}
			}
		}
	}
	return all
}

// check returns what was expected of a value, "" if it is one.
func (p *param) check(text string) string {
	var err error
	switch kind := p.kind.(type) {
	case int:
		var n int
		if n, err = strconv.Atoi(text); err != nil || n < -1 {
			return "a whole number"
		}
	case float64:
		var x float64
		if x, err = strconv.ParseFloat(text, 64); err != nil || !(x >= 0 && x < 1e9) {
			return "a number of seconds"
		}
	case bool:
		if text != "true" && text != "false" {
			return "true or false"
		}
	case []State:
		if !slices.Contains(kind, State(text)) {
			return fmt.Sprintf("one of %v", kind)
		}
	}
	return ""
}

// problemOf makes an answer of whatever went wrong.
func problemOf(err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, live.ErrNoJob):
		return problem(http.StatusNotFound, "%v", err)
	case errors.Is(err, live.ErrDraining):
		return problem(http.StatusServiceUnavailable, "%s", drains)
	case errors.Is(err, trace.ErrNoRoom):
		return problem(http.StatusInsufficientStorage, "%v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, live.ErrStopped):
		return problem(http.StatusServiceUnavailable, "the server ends")
	}
	return problem(http.StatusInternalServerError, "%v", err)
}

func answerProblem(w http.ResponseWriter, p *Problem) {
	door.Answer(w, p.Status, door.ProblemType, p)
}
