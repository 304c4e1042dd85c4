package overlap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the family of a policy.
type Kind int

// The policies.
const (
	FCFS      Kind = iota // both stations in order of arrival
	MaxSRPT               // both stations by max(x(t), y(t)): Algorithm 1
	SplitSRPT             // map-heavy and shuffle-heavy jobs in parallel: Algorithm 2
	KLPS                  // the first K jobs share the map station equally, all share the shuffle station: Section 5.1
	WPS                   // all jobs share both stations by weight: Section 5.1
	FillSRPT              // MaxSRPT that keeps the shuffle station busy when it pays; not the paper's
)

var kindNames = [...]string{"fcfs", "maxsrpt", "splitsrpt", "klps", "wps", "fillsrpt"}

// String returns the name in policy specs.
func (k Kind) String() string { return kindNames[k] }

// Names lists the policies, as [Parse] knows them.
func Names() []string { return slices.Clone(kindNames[:]) }

// Discipline is a policy with its parameters.
type Discipline struct {
	Kind    Kind
	Literal bool // MaxSRPT, SplitSRPT: as in the paper's boxes, not work-conserving
	K       int  // KLPS: jobs at the map station at once, 1 or more
}

// Parse reads a spec: fcfs, maxsrpt, splitsrpt, klps, wps or fillsrpt, and after a colon conserving=true|false for
// maxsrpt and splitsrpt, and k=N for klps.
func Parse(spec string) (Discipline, error) {
	name, params, has := strings.Cut(spec, ":")
	p := Discipline{Kind: -1}
	for i, n := range kindNames {
		if n == name {
			p.Kind = Kind(i)
		}
	}
	if p.Kind < 0 {
		return p, fmt.Errorf("unknown policy %q; valid: %s", name, strings.Join(kindNames[:], ", "))
	}
	if p.Kind == KLPS {
		p.K = 100
	}
	if !has {
		return p, nil
	}
	for param := range strings.SplitSeq(params, ",") {
		key, value, _ := strings.Cut(param, "=")
		switch {
		case key == "conserving" && (p.Kind == MaxSRPT || p.Kind == SplitSRPT):
			conserving, err := strconv.ParseBool(value)
			if err != nil {
				return p, fmt.Errorf("policy %s: conserving: expected true or false, not %q", name, value)
			}
			p.Literal = !conserving
		case key == "k" && p.Kind == KLPS:
			k, err := strconv.Atoi(value)
			if err != nil || k < 1 {
				return p, fmt.Errorf("policy %s: k: expected an integer of 1 or more, not %q", name, value)
			}
			p.K = k
		default:
			return p, fmt.Errorf("policy %s has no parameter %q", name, key)
		}
	}
	return p, nil
}

// String returns the spec, with the parameters that are not the default's.
func (p Discipline) String() string {
	switch {
	case p.Literal:
		return p.Kind.String() + ":conserving=false"
	case p.Kind == KLPS:
		return fmt.Sprintf("%v:k=%d", p.Kind, p.K)
	}
	return p.Kind.String()
}

func (p Discipline) engine() engine {
	switch p.Kind {
	case FCFS:
		return newQueue(byArrival, false)
	case MaxSRPT:
		return newQueue(byMax, p.Literal)
	case SplitSRPT:
		return newSplit(p.Literal)
	case KLPS:
		return newSharing(max(1, p.K), false)
	case WPS:
		return newSharing(0, true)
	case FillSRPT:
		return newFill()
	}
	panic(fmt.Sprintf("overlap: policy of kind %d", int(p.Kind)))
}
