package serve

import (
	"fmt"
	"net/http"
	"strings"
)

// Problem is an answer that says what was wrong (RFC 9457). It is an error on both sides of the socket.
type Problem struct {
	Title    string    `json:"title"`
	Status   int       `json:"status"`
	Detail   string    `json:"detail,omitempty"`
	Mistakes []Mistake `json:"errors,omitempty" doc:"every mistake of the request"`
}

// Mistake is what is wrong with one field of a request.
type Mistake struct {
	Field  string `json:"field" doc:"path of the field in the body, or the name of a parameter"`
	Detail string `json:"detail"`
}

// Error returns the mistakes, else what went wrong, in one line.
func (p *Problem) Error() string {
	if len(p.Mistakes) == 0 {
		if p.Detail == "" {
			return p.Title
		}
		return p.Detail
	}
	return strings.Join(p.Lines(), "; ")
}

// Lines returns the mistakes, a line each.
func (p *Problem) Lines() (all []string) {
	for _, m := range p.Mistakes {
		if m.Field == "" {
			all = append(all, m.Detail)
			continue
		}
		all = append(all, m.Field+": "+m.Detail)
	}
	return all
}

// Usage tells whether the request was wrong, rather than that something did not work.
func (p *Problem) Usage() bool { return p.Status >= 400 && p.Status < 500 }

// problem makes the answer of a status.
func problem(status int, format string, args ...any) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// mistaken is the title of an answer that lists mistakes.
const mistaken = "The request has mistakes"

// wrong makes the answer to a body that has these mistakes.
func wrong(mistakes ...Mistake) *Problem {
	return &Problem{Title: mistaken, Status: http.StatusUnprocessableEntity, Mistakes: mistakes}
}
