package promise

import "time"

// Outcome is a promise beside what became of it.
type Outcome struct {
	Name     string    `json:"name"`
	Promised Promise   `json:"promised"`
	First    bool      `json:"first,omitempty"` // made at the job's submission
	Ended    time.Time `json:"ended"`
}
