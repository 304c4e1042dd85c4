package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/timeline"
)

// Environment variables that clients look at.
const (
	ServerVariable = "TAILCUT_SERVER" // where the server listens: the path of a socket, or http://127.0.0.1:PORT
	TokenVariable  = "TAILCUT_TOKEN"  // what a server asks for that does not listen on a socket
)

// Client speaks to a server. It can be used by several goroutines.
type Client struct {
	Server string // where it listens
	base   string
	token  string
	http   *http.Client
}

// NewClient returns a client of the server at a place: the path of a socket, or http://127.0.0.1:PORT; "" is what
// $TAILCUT_SERVER says, else the socket of this user. It does not look whether there is one.
func NewClient(place string) (*Client, error) {
	if place == "" {
		place = os.Getenv(ServerVariable)
	}
	if place == "" {
		var err error
		if place, err = SocketPath(); err != nil {
			return nil, err
		}
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: 20 * time.Second}
	c := &Client{Server: place, base: "http://tailcut", http: &http.Client{Transport: transport}}
	switch scheme, _, found := strings.Cut(place, "://"); {
	case !found:
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", place)
		}
	case scheme == "http":
		c.base, c.token = strings.TrimSuffix(place, "/"), os.Getenv(TokenVariable)
	default:
		return nil, fmt.Errorf("--server: expected the path of a socket or http://127.0.0.1:PORT, not %q", place)
	}
	return c, nil
}

// NoServer is the error of a client that finds nobody.
type NoServer struct {
	Place string
	Cause error
}

// Error says what to do about it.
func (e *NoServer) Error() string {
	return fmt.Sprintf("no server answers on %s; start one with 'tailcut serve', or say where it is with --server", e.Place)
}

// Unwrap returns what the system said.
func (e *NoServer) Unwrap() error { return e.Cause }

// aboutWithin is how long a server may take to say that it is there.
const aboutWithin = 5 * time.Second

// Running tells whether there is a server. One that refuses to speak, or says nothing, is there: that is the error.
func (c *Client) Running(ctx context.Context) (bool, error) {
	limited, cancel := context.WithTimeout(ctx, aboutWithin)
	defer cancel()
	_, err := c.About(limited)
	switch {
	case errors.As(err, new(*NoServer)):
		return false, nil
	case limited.Err() != nil && ctx.Err() == nil:
		return true, fmt.Errorf("the server at %s has not answered within %v", c.Server, aboutWithin)
	}
	return true, err
}

// NewKey returns a key for one submission: whoever repeats it gets the job of the first time.
func NewKey() string { return rand.Text() }

// Submit hands in a job, as run.Submission describes it, and returns when it is on the server's disk. It repeats
// itself when the connection breaks, which the key makes safe.
func (c *Client) Submit(ctx context.Context, key string, submission any) (*Job, error) {
	body, err := json.Marshal(submission)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		job := &Job{}
		err := c.do(ctx, "POST", "/v1/jobs", http.Header{"Idempotency-Key": {key}}, body, job)
		var answered *Problem
		switch {
		case err == nil:
			return job, nil
		case errors.As(err, &answered), ctx.Err() != nil, try == 4, try == 0 && errors.As(err, new(*NoServer)):
			return nil, err
		}
		time.Sleep(time.Duration(100<<try) * time.Millisecond)
	}
}

// About returns what the server is.
func (c *Client) About(ctx context.Context) (*About, error) {
	a := &About{}
	return a, c.get(ctx, "/v1/server", a)
}

// Filter chooses jobs of a list. Its zero value chooses all.
type Filter struct {
	States []State
	Name   string
	Limit  int   // most that are listed, 0 for all
	Before int64 // only ids below, 0 for all
}

// Jobs lists jobs, the latest first.
func (c *Client) Jobs(ctx context.Context, f Filter) (*Jobs, error) {
	all := &Jobs{Schema: JobsSchema, Jobs: []Job{}}
	for {
		q := url.Values{}
		for _, s := range f.States {
			q.Add("state", string(s))
		}
		if f.Name != "" {
			q.Set("name", f.Name)
		}
		if f.Limit > 0 {
			q.Set("limit", strconv.Itoa(f.Limit-len(all.Jobs)))
		}
		if f.Before > 0 {
			q.Set("before", strconv.FormatInt(f.Before, 10))
		}
		page := &Jobs{}
		if err := c.get(ctx, "/v1/jobs?"+q.Encode(), page); err != nil {
			return nil, err
		}
		all.Jobs = append(all.Jobs, page.Jobs...)
		if page.Next == nil || f.Limit > 0 && len(all.Jobs) >= f.Limit {
			all.Next = page.Next
			return all, nil
		}
		f.Before = *page.Next
	}
}

// Job returns a job, which an id or a name stands for; a name means its latest job. If wait is not 0 the answer comes
// when the job is over, or after that time.
func (c *Client) Job(ctx context.Context, ref string, wait time.Duration) (*Job, error) {
	job := &Job{}
	path := jobPath(ref, "")
	if wait > 0 {
		path += "?wait=" + strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)
	}
	return job, c.get(ctx, path, job)
}

// patience is how long a client waits for a server that has gone away while it waited for a job: one that is started
// again goes on with its jobs.
const patience = time.Minute

// Wait returns the job when it is over. It goes on when the server is started again.
func (c *Client) Wait(ctx context.Context, ref string) (*Job, error) {
	var gone time.Time
	for {
		job, err := c.Job(ctx, ref, 30*time.Second)
		switch answered := (*Problem)(nil); {
		case err == nil && job.State.Over():
			return job, nil
		case err == nil:
			gone, ref = time.Time{}, strconv.FormatInt(job.ID, 10)
			continue
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &answered) && answered.Status < 500:
			return nil, err
		case gone.IsZero():
			gone = time.Now()
		case time.Since(gone) > patience:
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// Tasks lists the tasks of a job.
func (c *Client) Tasks(ctx context.Context, ref string) (*Tasks, error) {
	all, after := &Tasks{Schema: TasksSchema, Tasks: []Task{}}, -1
	for {
		page := &Tasks{}
		if err := c.get(ctx, jobPath(ref, "/tasks")+"?after="+strconv.Itoa(after), page); err != nil {
			return nil, err
		}
		all.Job, all.Tasks = page.Job, append(all.Tasks, page.Tasks...)
		if page.Next == nil {
			return all, nil
		}
		after = *page.Next
	}
}

// Timeline returns what every attempt of a job did.
func (c *Client) Timeline(ctx context.Context, ref string) (*timeline.Timeline, error) {
	t := &timeline.Timeline{}
	return t, c.get(ctx, jobPath(ref, "/timeline"), t)
}

// LogQuery says what of a task's logs is wanted.
type LogQuery struct {
	Task           string // an index, or STAGE/INDEX
	Attempt, Lines int    // below 0 for the one that counts, and for all lines
	Follow         bool
}

// Logs calls f with each piece of what a task writes.
func (c *Client) Logs(ctx context.Context, ref string, q LogQuery, f func(*LogPiece)) error {
	query := url.Values{"task": {q.Task}, "attempt": {strconv.Itoa(max(-1, q.Attempt))}, "lines": {strconv.Itoa(max(-1, q.Lines))}, "follow": {strconv.FormatBool(q.Follow)}}
	answer, err := c.ask(ctx, "GET", jobPath(ref, "/logs")+"?"+query.Encode(), http.Header{"Accept": {ndjson}}, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for in := json.NewDecoder(answer.Body); ; {
		p := &LogPiece{}
		switch err := in.Decode(p); {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("the server at %s broke off: %w", c.Server, err)
		}
		f(p)
	}
}

// Cancel ends a job. Tasks that are done keep their results.
func (c *Client) Cancel(ctx context.Context, ref string) (*Job, error) {
	return c.order(ctx, ref, "cancel")
}

// Pause lets nothing more of a job start.
func (c *Client) Pause(ctx context.Context, ref string) (*Job, error) {
	return c.order(ctx, ref, "pause")
}

// Resume lets a paused job go on.
func (c *Client) Resume(ctx context.Context, ref string) (*Job, error) {
	return c.order(ctx, ref, "resume")
}

func (c *Client) order(ctx context.Context, ref, what string) (*Job, error) {
	job := &Job{}
	return job, c.do(ctx, "POST", jobPath(ref, "/"+what), nil, nil, job)
}

// Change changes a job's place among the others.
func (c *Client) Change(ctx context.Context, ref string, change *Change) (*Job, error) {
	job := &Job{}
	return job, c.put(ctx, jobPath(ref, "/priority"), change, job)
}

// SetPolicy changes the policy of the server and returns it as the server understands it.
func (c *Client) SetPolicy(ctx context.Context, policy string) (string, error) {
	answer := &PolicyNow{}
	err := c.put(ctx, "/v1/policy", PolicyChange{policy}, answer)
	return answer.Policy, err
}

// Drain lets nothing new start; the server ends when nothing runs any more.
func (c *Client) Drain(ctx context.Context) (*About, error) {
	a := &About{}
	return a, c.do(ctx, "POST", "/v1/drain", nil, nil, a)
}

func jobPath(ref, below string) string { return "/v1/jobs/" + url.PathEscape(ref) + below }

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.do(ctx, "GET", path, nil, nil, into)
}

func (c *Client) put(ctx context.Context, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.do(ctx, "PUT", path, nil, text, into)
}

// do asks, and reads the answer. What the server refuses is a *Problem, a server that is not there *NoServer.
func (c *Client) do(ctx context.Context, method, path string, head http.Header, body []byte, into any) error {
	answer, err := c.ask(ctx, method, path, head, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("the server at %s broke off its answer: %w", c.Server, err)
	}
	return nil
}

// ask returns an answer that is no problem; who gets it closes its body.
func (c *Client) ask(ctx context.Context, method, path string, head http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range head {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(req)
	var dial *net.OpError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &dial) && dial.Op == "dial" && !errors.Is(err, syscall.EAGAIN): // as of one that is stopped
		return nil, &NoServer{c.Server, err}
	case err != nil:
		return nil, fmt.Errorf("the server at %s did not answer: %w", c.Server, err)
	case answer.StatusCode < 300:
		return answer, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	p := &Problem{}
	if err != nil || json.Unmarshal(text, p) != nil || p.Title == "" {
		p = problem(answer.StatusCode, "the server at %s answered %s: %.200s", c.Server, answer.Status, text)
	}
	return nil, p
}

// Watched is what a server tells of a job that somebody watches. One of the fields is set.
type Watched struct {
	Standing json.RawMessage // how it stands
	Line     string          // for the user
	Result   json.RawMessage // at its end, as 'tailcut run --format json' prints it
	Over     *Job            // the last
}

// Watch calls f with what a server tells of a job until it is over, and returns the job. Where the server goes away it
// waits for it to be started again.
func (c *Client) Watch(ctx context.Context, ref string, f func(*Watched)) (*Job, error) {
	var gone time.Time
	for {
		job, heard, err := c.watch(ctx, ref, f)
		var answered *Problem
		switch {
		case job != nil || ctx.Err() != nil:
			return job, ctx.Err()
		case errors.As(err, &answered) && answered.Status < 500:
			return nil, err
		case heard || gone.IsZero():
			gone = time.Now()
		case time.Since(gone) > patience:
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// watch listens once; heard tells whether anything came.
func (c *Client) watch(ctx context.Context, ref string, f func(*Watched)) (job *Job, heard bool, err error) {
	answer, err := c.ask(ctx, "GET", jobPath(ref, "/watch"), nil, nil)
	if err != nil {
		return nil, false, err
	}
	defer answer.Body.Close()
	if job, heard, err = hear(answer.Body, f); err != nil {
		err = fmt.Errorf("the server at %s broke off: %w", c.Server, err)
	}
	return job, heard, err
}

// hear calls f with the events of a stream up to the one that a job is over, and returns that job. Events that it does
// not know it leaves out.
func hear(stream io.Reader, f func(*Watched)) (job *Job, heard bool, err error) {
	in, kind := bufio.NewReader(stream), ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, heard, err
		}
		heard = true
		line = strings.TrimRight(line, "\r\n")
		if line == "" { // the end of an event
			kind = ""
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			kind = strings.TrimSpace(name)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		w, err := newWatched(kind, []byte(data))
		if err != nil {
			return nil, heard, fmt.Errorf("event %q: %w", kind, err)
		}
		if w == nil {
			continue
		}
		if f(w); w.Over != nil {
			return w.Over, true, nil
		}
	}
}

// newWatched reads an event; nil if it is of an unknown kind.
func newWatched(kind string, data []byte) (*Watched, error) {
	w := &Watched{}
	switch kind {
	case "standing":
		return w, json.Unmarshal(data, &w.Standing)
	case "line":
		return w, json.Unmarshal(data, &w.Line)
	case "result":
		return w, json.Unmarshal(data, &w.Result)
	case "over":
		w.Over = &Job{}
		if err := json.Unmarshal(data, w.Over); err != nil {
			return nil, err
		}
		if !w.Over.State.Over() {
			return nil, fmt.Errorf("the job is %q", w.Over.State)
		}
		return w, nil
	}
	return nil, nil
}
