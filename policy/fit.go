package policy

import "fmt"

// Needs is what a policy has to be given to decide anything, beyond tasks and slots.
type Needs struct {
	Jobs    bool   // several jobs at once
	Classes bool   // several classes of slots
	Sites   bool   // several sites
	Lacking string // what it does without, for people; "" if it cannot do its job
	Instead string // policies to use then
}

// Place is where a policy is to decide.
type Place struct {
	Name                 string // for people: "a run"
	Jobs, Classes, Sites bool   // there are several
}

// Fit tells whether a policy can do what it is for in a place. The notice, if there is one, says that it is reduced to
// something simpler; the error says that it is not to be used there, and what to use instead.
func Fit(spec string, at Place) (notice string, err error) {
	e, err := Find(spec)
	if err != nil {
		return "", err
	}
	lacks := ""
	switch n := e.Needs; {
	case n.Classes && !at.Classes:
		lacks = "class of slots"
	case n.Jobs && !at.Jobs:
		lacks = "job"
	case n.Sites && !at.Sites:
		lacks = "site"
	default:
		return "", nil
	}
	if e.Needs.Lacking != "" && at.Sites {
		return "", nil // whose task comes first, where, and what waits for a site: it has that to decide
	}
	if e.Needs.Lacking == "" {
		return "", fmt.Errorf("%s has nothing to decide in %s, which has one %s; use %s, or 'tailcut simulate' to see what it does",
			e.Name, at.Name, lacks, e.Needs.Instead)
	}
	return fmt.Sprintf("%s: %s has one %s: %s", e.Name, at.Name, lacks, e.Needs.Lacking), nil
}

// fifoAlone is what becomes of policies that only order jobs.
const fifoAlone = "tasks run in order and there are no clones, as with fifo"
