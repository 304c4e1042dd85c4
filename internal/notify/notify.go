// Package notify tells commands and URLs what became of a run. It decides nothing: what happened, and when to say so,
// is its caller's business, and what goes wrong here is a warning.
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// Schema names the form of an event in JSON.
const Schema = "tailcut.event/v1"

// The kinds of events.
const (
	Done   = "done"
	Failed = "failed"
	AtRisk = "at_risk" // of missing its deadline
	GaveUp = "gave_up" // on tasks, while others go on
)

// Event is what happened to a run.
type Event struct {
	Schema  string    `json:"schema"`
	Event   string    `json:"event"`
	Text    string    `json:"text"` // one line for people
	Job     string    `json:"job"`
	Run     string    `json:"run"`    // unique name
	Output  string    `json:"output"` // folder or URL
	Host    string    `json:"host"`
	Time    time.Time `json:"time"`
	Seconds float64   `json:"seconds"` // since the run began
	Tasks   int       `json:"tasks"`
	Done    int       `json:"tasks_done"`
	GivenUp int       `json:"tasks_given_up"` // that failed for good, or cannot run because others have

	Deadline *float64 `json:"deadline_seconds,omitempty"` // after the beginning of the run
	Chance   *float64 `json:"chance,omitempty"`           // of meeting it, when the event happened
	Met      *bool    `json:"deadline_met,omitempty"`     // once it is known
}

// variables are what a command finds in its environment.
func (e *Event) variables() []string {
	return []string{
		"TAILCUT_EVENT=" + e.Event, "TAILCUT_TEXT=" + e.Text, "TAILCUT_JOB=" + e.Job, "TAILCUT_RUN_NAME=" + e.Run,
		"TAILCUT_OUTPUT=" + e.Output, fmt.Sprintf("TAILCUT_SECONDS=%.3f", e.Seconds), fmt.Sprintf("TAILCUT_TASKS=%d", e.Tasks),
		fmt.Sprintf("TAILCUT_TASKS_DONE=%d", e.Done), fmt.Sprintf("TAILCUT_TASKS_GIVEN_UP=%d", e.GivenUp),
	}
}

// How often and how long delivery is tried.
const (
	tries   = 3
	timeout = 10 * time.Second // of one try
	pause   = time.Second      // before the second try; twice as long before the third
)

// target is where events are delivered.
type target interface {
	// deliver tries once. again tells whether another try may do better.
	deliver(ctx context.Context, e *Event, body []byte) (again bool, err error)
	// String names the target in a warning, without what may be secret in it.
	String() string
}

// Notifier delivers events to all of its targets, to each in the order in which they happened.
type Notifier struct {
	warn    func(what string, err error)
	timeout time.Duration
	pause   time.Duration
	queues  []chan *Event
	going   sync.WaitGroup
	ctx     context.Context // ends when delivery is given up
	giveUp  context.CancelFunc
}

// Check returns what is wrong with a target as a user gives it.
func Check(text string) error {
	_, err := parse(text, "")
	return err
}

// parse tells commands from URLs.
func parse(text, dir string) (target, error) {
	scheme, _, found := strings.Cut(text, "://")
	switch {
	case strings.TrimSpace(text) == "":
		return nil, fmt.Errorf("expected a command or a URL, not nothing")
	case strings.ContainsRune(text, 0):
		return nil, fmt.Errorf("expected a command or a URL without NUL bytes")
	case !found || strings.ContainsAny(scheme, " \t\n'\"/|;&$"):
		return &command{script: text, dir: dir}, nil
	case scheme != "http" && scheme != "https":
		return nil, fmt.Errorf("expected a command, or a URL that begins with http:// or https://, not %s://", scheme)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("expected a URL such as https://example.com/hook, not %q", text)
	}
	return newHook(u), nil
}

// mostEvents is how many events of a run wait for a target that is slow.
const mostEvents = 16

// New returns a notifier of commands, which run in a folder, and URLs. Warn is told of what could not be delivered; it
// may be called from several goroutines at once.
func New(targets []string, dir string, warn func(what string, err error)) (*Notifier, error) {
	n := &Notifier{warn: warn, timeout: timeout, pause: pause}
	n.ctx, n.giveUp = context.WithCancel(context.Background())
	var all []target
	for _, text := range targets {
		t, err := parse(text, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	for range all {
		n.queues = append(n.queues, make(chan *Event, mostEvents))
	}
	n.start(all)
	return n, nil
}

func (n *Notifier) start(all []target) {
	for i, t := range all {
		n.going.Go(func() {
			for e := range n.queues[i] {
				n.deliver(t, e)
			}
		})
	}
}

// Send has an event delivered, and does not wait. What it does not say of itself is filled in.
func (n *Notifier) Send(e Event) {
	if n == nil {
		return
	}
	e.Schema, e.Time = Schema, time.Now()
	e.Host, _ = os.Hostname()
	for _, q := range n.queues {
		select {
		case q <- &e:
		default: // a target that takes nothing any more does not hold the run up
		}
	}
}

// Close waits until all that was sent has been delivered, or given up; when ctx is done all is given up. Nothing can be
// sent any more.
func (n *Notifier) Close(ctx context.Context) {
	if n == nil {
		return
	}
	defer n.giveUp()
	defer context.AfterFunc(ctx, n.giveUp)()
	for _, q := range n.queues {
		close(q)
	}
	n.going.Wait()
}

var errInterrupted = errors.New("interrupted")

// deliver tries to deliver an event, several times.
func (n *Notifier) deliver(t target, e *Event) {
	body, err := json.Marshal(e)
	for try := 1; err == nil; try++ {
		ctx, cancel := context.WithTimeout(n.ctx, n.timeout)
		again, failed := t.deliver(ctx, e, body)
		cancel()
		if failed == nil {
			return
		}
		if !again || try == tries {
			err = failed
			break
		}
		select {
		case <-time.After(n.pause << (try - 1)):
		case <-n.ctx.Done():
		}
		if n.ctx.Err() != nil {
			err = errInterrupted
		}
	}
	n.warn(fmt.Sprintf("%s was not notified that the job %s", t, happened(e.Event)), err)
}

func happened(event string) string {
	switch event {
	case Done:
		return "is done"
	case Failed:
		return "failed"
	case AtRisk:
		return "may miss its deadline"
	case GaveUp:
		return "gave tasks up"
	}
	return event
}
