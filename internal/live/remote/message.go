package remote

import (
	"encoding/json"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Request is what a user asks of a program, besides what the engine itself sees to.
type Request struct {
	Job    jobfile.Job `json:"job"`
	Dir    string      `json:"dir"` // working directory of commands
	On     string      `json:"on"`  // where attempts run: Local or Kubernetes
	Output string      `json:"output"`
	Pods   Pods        `json:"pods"`
}

// Places where attempts run.
const (
	Local      = "local"      // processes of this machine
	Kubernetes = "kubernetes" // pods
)

// Pods says how attempts become pods.
type Pods struct {
	Kubeconfig string `json:"kubeconfig,omitempty"` // "": as kubectl finds it
	Namespace  string `json:"namespace,omitempty"`  // "": that of the kubeconfig's context
	Image      string `json:"image,omitempty"`      // of the attempts' container
	Template   string `json:"template,omitempty"`   // file with a Pod, "" for none
}

// Check asks whether a run may have its output.
type Check struct {
	Run   string `json:"run"` // whose journal is here, "" for none
	Force bool   `json:"force"`
}

// Standing is how the output stands to the run of a Check.
type Standing struct {
	Claimed  bool `json:"claimed,omitempty"`  // it is the run's
	Finished bool `json:"finished,omitempty"` // and holds its whole result
	Tidied   bool `json:"tidied,omitempty"`   // and nothing that only the run needed
}

// Verified is what a check of a result has found.
type Verified struct {
	Run      string    `json:"run"`
	Parts    int       `json:"parts"` // tasks' results
	Bytes    int64     `json:"bytes"`
	Mistakes []Mistake `json:"mistakes,omitempty"`
}

// Mistake is a difference between a result and its manifest.
type Mistake struct {
	Path    string `json:"path"` // below the output
	Problem string `json:"problem"`
}

// seen is how far a call has come that takes long, in bytes.
type seen struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Open takes a run up.
type Open struct {
	Run    string           `json:"run"`
	Work   *jobfile.Work    `json:"work"`
	Limits []jobfile.Limits `json:"limits,omitempty"` // of attempts, by stage
}

// call is what the engine says. Do is the name of a method of Program or of live.Executor; at most one other field is
// set.
type call struct {
	Do      string           `json:"do"`
	Request *Request         `json:"request,omitempty"`
	Check   *Check           `json:"check,omitempty"`
	Open    *Open            `json:"open,omitempty"`
	Attempt *live.Attempt    `json:"attempt,omitempty"`
	Kill    *sched.AttemptID `json:"kill,omitempty"`
}

// answer is what the program says: the answer to the oldest call without one, or else a report or how far that is.
type answer struct {
	Report   *live.Report  `json:"report,omitempty"`
	Seen     *seen         `json:"seen,omitempty"`
	Plan     *jobfile.Plan `json:"plan,omitempty"`
	Standing *Standing     `json:"standing,omitempty"` // to check
	Verified *Verified     `json:"verified,omitempty"`
	Error    string        `json:"error,omitempty"`
	Failed   bool          `json:"failed,omitempty"` // the error is not the user's
}

// Failure is an error that is not the user's: something did not work.
type Failure struct{ error }

// Fail makes an error a Failure.
func Fail(err error) error {
	if err == nil {
		return nil
	}
	return Failure{err}
}

// Unwrap returns the error itself.
func (f Failure) Unwrap() error { return f.error }

// encode writes a value as one line.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(data, '\n'), err
}
