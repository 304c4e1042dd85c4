package past

import (
	"encoding/json"
	"errors"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
)

// call is a line to the program. Do is the name of a method of History; at most one other field besides ID is set.
type call struct {
	ID    uint64     `json:"id"` // of the answer, which may come behind those to later calls
	Do    string     `json:"do"`
	Job   *JobRecord `json:"job,omitempty"`
	Query *Query     `json:"query,omitempty"`
}

// answer is a line from the program.
type answer struct {
	ID    uint64            `json:"id"`
	Past  *live.Past        `json:"past,omitempty"`
	Jobs  []*JobRecord      `json:"jobs,omitempty"`
	Names []NameRecord      `json:"names,omitempty"`
	Kept  []promise.Outcome `json:"kept,omitempty"`
	Error string            `json:"error,omitempty"`
	Lost  bool              `json:"lost,omitempty"` // the database is of no use: the program ends
}

// Useless is an error of a database that cannot be used as it is: it is damaged, not Tailcut's, or of a later version.
// Asking again does not help.
type Useless struct{ error }

// Unwrap returns the error itself.
func (u Useless) Unwrap() error { return u.error }

// MakeUseless makes an error one of a database that cannot be used.
func MakeUseless(err error) error { return Useless{err} }

// errorOf returns the error that an answer tells.
func (a *answer) errorOf() error {
	switch {
	case a.Lost:
		return Useless{errors.New(a.Error)}
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(data, '\n'), err
}
