package past

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
)

// History is what is asked of the past. It is safe for concurrent use.
type History interface {
	// Add keeps a job that is over, once: a run that has succeeded stays as it is, another is replaced. When it returns
	// nil the job is on the disk.
	Add(context.Context, *JobRecord) error
	// Past returns what the last runs of a name that succeeded took: at most so many. There may be none.
	Past(ctx context.Context, name string, runs int) (*live.Past, error)
	// Jobs returns jobs, the latest first.
	Jobs(context.Context, *Query) ([]*JobRecord, error)
	// Names returns what is kept by name, in alphabetical order.
	Names(context.Context) ([]NameRecord, error)
	// Kept returns what was promised to jobs that have succeeded, and when they ended, the latest first.
	Kept(context.Context, *Query) ([]promise.Outcome, error)
	Close() error
}

// Query says which jobs are asked for.
type Query struct {
	Name     string    `json:"name,omitempty"`  // or a pattern such as nightly-*; "" is all
	Since    time.Time `json:"since,omitzero"`  // submitted then or later
	Until    time.Time `json:"until,omitzero"`  // submitted before
	State    string    `json:"state,omitempty"` // "" is any
	Run      string    `json:"run,omitempty"`   // "" is any
	Most     int       `json:"most,omitempty"`  // 0 is MostJobs
	Attempts bool      `json:"attempts,omitempty"`
}

// MostJobs is how many jobs an answer has at most, unless it is said.
const MostJobs = 10_000

// Check finds what is wrong with a query.
func (q *Query) Check() error {
	if q.Most < 0 {
		return fmt.Errorf("field most: expected a number of at least 0, not %d", q.Most)
	}
	return nil
}

// NameRecord is what is kept of all jobs of one name.
type NameRecord struct {
	Name      string    `json:"name"`
	Jobs      int       `json:"jobs"`
	Succeeded int       `json:"succeeded"`
	Last      time.Time `json:"last,omitzero"`     // submission of the latest
	MeanFlow  float64   `json:"mean_flow_seconds"` // of those that succeeded in one go; 0 if there are none
	Attempts  int       `json:"attempts"`
	Clones    int       `json:"clones"`
	Fruitful  float64   `json:"fruitful_seconds"`
	Fruitless float64   `json:"fruitless_seconds"`
}

// ErrNoProgram is wrapped by the errors of questions that only the program can answer, if it is not installed.
var ErrNoProgram = errors.New(Program + " is not installed; install it with 'go install github.com/tailcut/tailcut/history/cmd/" + Program + "@latest'")

// None is a history of which nothing is kept.
type None struct{}

var errNone = fmt.Errorf("%w, or it is switched off", ErrNoProgram)

// Add implements [History].
func (None) Add(context.Context, *JobRecord) error { return nil }

// Past implements [History].
func (None) Past(context.Context, string, int) (*live.Past, error) { return &live.Past{}, nil }

// Jobs implements [History].
func (None) Jobs(context.Context, *Query) ([]*JobRecord, error) { return nil, errNone }

// Names implements [History].
func (None) Names(context.Context) ([]NameRecord, error) { return nil, errNone }

// Kept implements [History].
func (None) Kept(context.Context, *Query) ([]promise.Outcome, error) { return nil, errNone }

// Close implements [History].
func (None) Close() error { return nil }
