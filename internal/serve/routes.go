package serve

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/internal/whatif"
)

// route is something that can be asked of the server. Requests are checked by it, and the description for programs is
// made of it, so that neither can differ from what is done.
type route struct {
	method, path string
	does         string  // one sentence
	query        []param // that may be given
	body         any     // what a body is read into; nil for none
	answer       any     // what is answered; nil where that is no JSON
	kind         string  // media type of the answer where that is no JSON
	long         int     // the answer goes on for as long as somebody listens: how many may; 0 if it does not go on
	serve        func(s *Server, ctx context.Context, c *call) (any, error)
	stream       func(s *Server, w http.ResponseWriter, r *http.Request, c *call) error // instead, where long
}

// param is a parameter of a query. It is read by the kind that its sample has.
type param struct {
	name, does string
	kind       any // "", 0, 0.0, false, or a list of the words that are valid
	many       bool
}

// call is a request that has the right form.
type call struct {
	ref   string     // of the job that the path names
	query url.Values // without mistakes
	key   string     // of the client for a request that may be repeated
	raw   []byte     // the body
	body  any        // read into what the route says
}

func (c *call) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(c.query.Get(name)); err == nil {
		return n
	}
	return otherwise
}

func (c *call) seconds(name string) time.Duration {
	s, _ := strconv.ParseFloat(c.query.Get(name), 64)
	return time.Duration(s * float64(time.Second))
}

// Bounds of what one request gets or keeps the server at.
const (
	mostListed = 1000
	mostWait   = time.Minute
)

// routes lists all that can be asked, in the order of the description.
func routes() []route {
	limit := param{"limit", "how many at most, up to 1000", 0, false}
	return []route{
		{method: "GET", path: "/v1/server", does: "Tell what the server is and how busy it is.", answer: About{}, serve: (*Server).about},
		{method: "POST", path: "/v1/jobs", does: "Submit a job. The answer comes when the job is on the disk. " +
			"Repeated with the same Idempotency-Key it answers the job of the first time.", body: run.Submission{}, answer: Job{}, serve: (*Server).submit},
		{method: "GET", path: "/v1/jobs", does: "List jobs, the latest first.", answer: Jobs{}, serve: (*Server).list, query: []param{
			{"state", "only jobs in this state; may be repeated", States(), true},
			{"name", "only jobs of this name", "", false},
			{"before", "only jobs with a smaller id", 0, false}, limit}},
		{method: "GET", path: "/v1/jobs/{job}", does: "Tell of a job, now or when it is over.", answer: Job{}, serve: (*Server).show, query: []param{
			{"wait", "seconds to wait for the end of the job, up to 60", 0.0, false}}},
		{method: "POST", path: "/v1/jobs/{job}/cancel", does: "End a job. Tasks that are done keep their results.", answer: Job{}, serve: (*Server).cancel},
		{method: "POST", path: "/v1/jobs/{job}/pause", does: "Start nothing more of a job; what runs, runs on.", answer: Job{}, serve: (*Server).pause},
		{method: "POST", path: "/v1/jobs/{job}/resume", does: "Let a paused job go on.", answer: Job{}, serve: (*Server).resume},
		{method: "PUT", path: "/v1/jobs/{job}/priority", does: "Change a job's priority, weight or deadline.", body: Change{}, answer: Job{}, serve: (*Server).change},
		{method: "GET", path: "/v1/jobs/{job}/tasks", does: "List the tasks of a job.", answer: Tasks{}, serve: (*Server).tasks, query: []param{
			{"after", "only tasks behind this one, counted from 0 through all stages", 0, false}, limit}},
		{method: "GET", path: "/v1/jobs/{job}/watch", does: "Tell how a job stands until it is over, as server-sent events: standing, line for what a user should read, " +
			"result at the end, and over with the job.", kind: "text/event-stream", long: mostWatchers, stream: (*Server).watchJob},
		{method: "GET", path: "/v1/jobs/{job}/logs", does: "Tell what a task writes: as text, or to those who accept application/x-ndjson as lines of LogPiece.",
			kind: "text/plain", long: mostWatchers, stream: (*Server).logs, query: []param{
				{"task", "its index, or STAGE/INDEX", "", false}, {"follow", "go on until the task is done", false, false},
				{"lines", "last lines of what is there already, 10 unless said; -1 for all", 0, false}, {"attempt", "an attempt by its number; -1 for the one that counts", 0, false}}},
		{method: "GET", path: "/v1/jobs/{job}/timeline", does: "Tell what every attempt of a job did.", answer: timeline.Timeline{}, serve: (*Server).timelineOf},
		{method: "GET", path: "/v1/timeline", does: "Tell what attempts of all jobs did: all that is known, or what has changed since an answer.", answer: timeline.Timeline{},
			serve: (*Server).timeline, query: []param{{"since", "next of an earlier answer", 0, false}}},
		{method: "GET", path: "/v1/events", does: "Tell what changes, as server-sent events of tailcut.event/v1.", kind: "text/event-stream", long: mostListeners, stream: (*Server).events},
		{method: "GET", path: "/v1/calibration", does: "Tell how many promised ends came true.", answer: promise.Calibration{}, serve: (*Server).calibration},
		{method: "GET", path: "/v1/history", does: "Tell what is kept of past jobs, by name.", answer: PastNames{}, serve: (*Server).pastNames},
		{method: "GET", path: "/v1/history/jobs", does: "List past jobs, the latest first.", answer: PastJobs{}, serve: (*Server).pastJobs, query: []param{
			{"name", "only jobs of this name, or of names that fit a pattern such as nightly-*", "", false},
			{"last", "only jobs submitted within this span before now, such as 30d", "", false},
			{"run", "only the job of this run", "", false}, {"attempts", "with run: its attempts, too", false, false}, limit}},
		{method: "POST", path: "/v1/whatif", does: "Simulate past jobs as they came under other policies, on other slots, or with another deadline.",
			body: whatif.Question{}, answer: whatif.Answer{}, serve: (*Server).whatIf},
		{method: "PUT", path: "/v1/policy", does: "Change the policy while jobs run.", body: PolicyChange{}, answer: PolicyNow{}, serve: (*Server).setPolicy},
		{method: "POST", path: "/v1/drain", does: "Start nothing more, and end when nothing runs any more. Jobs that are not done wait for the next start.", answer: About{}, serve: (*Server).drain},
	}
}

// anything is a body that somebody else reads.
type anything struct{}
