package serve

import "time"

// Schemas of what programs read. A field may be added under the same name; nothing else changes.
const (
	JobSchema    = "tailcut.job/v1"
	JobsSchema   = "tailcut.jobs/v1"
	TasksSchema  = "tailcut.tasks/v1"
	ServerSchema = "tailcut.server/v1"
	PolicySchema = "tailcut.policy/v1"
)

// State tells how a job stands.
type State string

// The states of a job.
const (
	Queued    State = "queued" // nothing of it has been started yet
	Running   State = "running"
	Paused    State = "paused" // nothing more of it starts; what runs, runs on
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States lists all states, in the order of a job's life.
func States() []State { return []State{Queued, Running, Paused, Succeeded, Failed, Cancelled} }

// Over tells whether a job in this state has ended for good.
func (s State) Over() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Job is a job as the server knows it.
type Job struct {
	Schema string `json:"schema,omitempty" doc:"tailcut.job/v1; left out in lists"`
	ID     int64  `json:"id" doc:"never used for another job"`
	Name   string `json:"name"`
	State  State  `json:"state"`

	Submitted time.Time  `json:"submitted"`
	Started   *time.Time `json:"started" doc:"when its first attempt was started"`
	Ended     *time.Time `json:"ended"`
	Flow      float64    `json:"flow_seconds" doc:"from its submission to its end, or until now"`

	Tasks     int     `json:"tasks"`
	Done      int     `json:"done" doc:"tasks that have a result"`
	Broken    int     `json:"failed" doc:"tasks that have failed for good"`
	Busy      int     `json:"running" doc:"attempts that run now"`
	Attempts  int     `json:"attempts" doc:"that were started, clones among them"`
	Clones    int     `json:"clones"`
	Fruitful  float64 `json:"fruitful_seconds" doc:"machine time of attempts that won"`
	Fruitless float64 `json:"fruitless_seconds" doc:"machine time of all other attempts"`

	// Seconds after its submission at which the job is expected to end; the bounds hold in 80 of 100 cases. Nil where
	// nothing is known.
	Promised *float64    `json:"promised_seconds" doc:"seconds from submission to the expected end; null if nothing is known"`
	Between  *[2]float64 `json:"promised_between" doc:"the end is between these in 80 of 100 cases; null if nothing is known"`

	Output   string     `json:"output" doc:"folder of the results"`
	Priority int        `json:"priority" doc:"a higher one goes first, under policies that look at it"`
	Weight   float64    `json:"weight" doc:"share under policies that look at it"`
	Chance   *float64   `json:"pocd,omitempty" doc:"probability of meeting the deadline, as it was played last"`
	Value    float64    `json:"value,omitempty" doc:"what the job is worth by its deadline; left out without one"`
	Late     string     `json:"late,omitempty" doc:"what becomes of it after its deadline: hard, drop or soft:COST"`
	Deadline *time.Time `json:"deadline"`
	After    []int64    `json:"after" doc:"jobs that have to succeed before this one starts"`
	Why      string     `json:"why" doc:"why it failed or was cancelled, or what it waits for"`

	closed *time.Time // its end in the engine; its results may not be in their place yet
}

// Jobs answers a list of jobs, the latest first.
type Jobs struct {
	Schema string `json:"schema"`
	Jobs   []Job  `json:"jobs"`
	Next   *int64 `json:"next" doc:"there are more: ask again with before=NEXT; null at the end"`
}

// Task is a task of a job.
type Task struct {
	Stage    string `json:"stage"`
	Task     int    `json:"task" doc:"its index in the stage, from 0"`
	State    string `json:"state" doc:"blocked, waiting, running, done, failed or given-up"`
	Busy     int    `json:"running" doc:"attempts that run now"`
	Failures int    `json:"failures"`
}

// Tasks answers a list of a job's tasks, in the order of its stages and of their indexes.
type Tasks struct {
	Schema string `json:"schema"`
	Job    int64  `json:"job"`
	Tasks  []Task `json:"tasks"`
	Next   *int   `json:"next" doc:"there are more: ask again with after=NEXT; null at the end"`
}

// About says what the server is and how busy it is.
type About struct {
	Schema   string         `json:"schema"`
	Version  string         `json:"version"`
	Started  time.Time      `json:"started"`
	User     string         `json:"user" doc:"whose server it is: jobs run as this user"`
	Dir      string         `json:"dir" doc:"folder of its journal"`
	Process  int            `json:"process" doc:"its process id"`
	Policy   string         `json:"policy"`
	Slots    map[string]int `json:"slots" doc:"slots of each class; the class without a name is any"`
	Busy     int            `json:"running" doc:"attempts that run now"`
	Memory   int64          `json:"memory_bytes" doc:"what attempts may need together; 0 for no bound"`
	MaxWait  float64        `json:"max_wait_seconds" doc:"longest time that a job waits for a slot; 0 for no bound"`
	Draining bool           `json:"draining" doc:"nothing new starts; the server ends when nothing runs any more"`
	Jobs     map[State]int  `json:"jobs" doc:"jobs in each state"`
}

// Change is the body of a change of a job's place among the others. What is left out stays.
type Change struct {
	Priority *int     `json:"priority,omitempty" doc:"a higher one goes first, under policies that look at it"`
	Weight   *float64 `json:"weight,omitempty" doc:"share under policies that look at it; above 0"`
	Deadline *string  `json:"deadline,omitempty" doc:"a duration from now such as 10m, an instant as RFC 3339 has it, or none"`
}

// PolicyChange is the body of a change of the server's policy.
type PolicyChange struct {
	Policy string `json:"policy" doc:"a policy and its parameters, as --policy takes them"`
}

// PolicyNow answers which policy decides.
type PolicyNow struct {
	Schema string `json:"schema"`
	Policy string `json:"policy"`
}

// Event is something that has changed, as server-sent events tell of it.
type Event struct {
	Seq  uint64 `json:"seq" doc:"ascends by one; a gap says that the listener was too slow, and has to look anew"`
	Kind string `json:"kind" doc:"job: it has changed; slots: how many are busy; attempt: one was started or has ended; server"`
	Job  int64  `json:"job" doc:"the job it is about; -1 for none"`

	State   State   `json:"state,omitempty"`
	Stage   string  `json:"stage,omitempty"`
	Task    int     `json:"task,omitempty"`
	Attempt int     `json:"attempt,omitempty" doc:"its number among those of its task, from 0"`
	Clone   bool    `json:"clone,omitempty"`
	End     string  `json:"end,omitempty" doc:"how an attempt has ended; empty: it was started"`
	Reason  string  `json:"reason,omitempty" doc:"why the policy has started it"`
	Busy    int     `json:"running,omitempty" doc:"attempts that run now"`
	At      float64 `json:"at,omitempty" doc:"seconds since the server was first started"`
}
