package kit

import (
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/sched"
)

// Entry describes a policy to the registry, to the battery of tests and to the user.
type Entry struct {
	Name           string // lower case
	Family         Family // what the policy is about; "" if it is none of these
	Clones         string // which tasks get clones, for people; "" if none do
	Cost           string // of an event, or of what it says, for people
	Summary        string // one line for the user
	Source         string // paper and section, or the public code it follows
	Code           []Code // where in a released program the rules stand; nil if they come from a paper
	Params         []Param
	Progress       bool // decides by reported progress, so that a simulator has to report it; see UsesProgress
	WorkConserving bool // leaves no slot free while a task waits
	Needs          Needs
	New            func(Args) sched.Policy

	ProgressIf func(Args) bool // tells with which parameters it uses progress though Progress is false; may be nil
}

// Code is where a rule of a policy stands in a released program.
type Code struct {
	Rule     string // what is read there
	Version  string // of the program: "Spark 4.0.1"
	File     string // in its sources
	Function string // or constants
}

// Family is what a policy is about, for people who choose one.
type Family string

// Families.
const (
	Orders     Family = "order of jobs"
	Stragglers Family = "clones of stragglers"
	Early      Family = "clones from the start"
	Deadlines  Family = "deadlines"
	Sites      Family = "several sites"
	Stations   Family = "map and shuffle slots"
	Probes     Family = "queues at machines"
)

// Needs is what a policy has to be given to decide anything, beyond tasks and slots.
type Needs struct {
	Jobs    bool   // several jobs at once
	Classes bool   // several classes of slots
	Sites   bool   // several sites
	Lacking string // what it does without, for people; "" if it cannot do its job
	Instead string // policies to use then
}

// Check tells what is wrong with an entry, nil if nothing is.
func (e *Entry) Check() error {
	switch {
	case e.Name == "" || e.Name != strings.ToLower(e.Name) || strings.ContainsAny(e.Name, ":,=/ "):
		return fmt.Errorf("policy %q: the name of a policy is in lower case, without any of \":,=/\" and spaces", e.Name)
	case e.Summary == "" || e.Source == "" || e.New == nil:
		return fmt.Errorf("policy %s: Summary, Source and New are needed", e.Name)
	}
	for i := range e.Params {
		p := &e.Params[i]
		if p.Name == "" || strings.ContainsAny(p.Name, ":,= ") || e.Param(p.Name) != p {
			return fmt.Errorf("policy %s: parameter %q: a name is unique and without any of \":,=\" and spaces", e.Name, p.Name)
		}
		if p.Help == "" || strings.Contains(p.Help, "\n") {
			return fmt.Errorf("policy %s: parameter %s: Help is one line", e.Name, p.Name)
		}
		if err := p.check(p.Default); err != nil {
			return fmt.Errorf("policy %s: the default of a parameter: %w", e.Name, err)
		}
	}
	return nil
}

// Parse reads parameters in the form param=value,param=value; one that is not given has its default. The error is one
// line that says what is valid.
func (e *Entry) Parse(text string) (Args, error) {
	args := Args{entry: e, text: map[string]string{}}
	for k := range e.Params {
		args.text[e.Params[k].Name] = e.Params[k].Default
	}
	if text == "" {
		return args, nil
	}
	for _, kv := range grammar.Fields(text) {
		key, value, ok := strings.Cut(kv, "=")
		p := e.Param(key)
		switch {
		case p == nil:
			return Args{}, fmt.Errorf("%s: %w", e.Name, e.unknown(key))
		case !ok:
			return Args{}, fmt.Errorf("%s: expected %s=VALUE, got %q", e.Name, key, kv)
		}
		if err := p.check(value); err != nil {
			return Args{}, fmt.Errorf("%s: %w", e.Name, err)
		}
		args.text[key] = value
	}
	return args, nil
}

// Param returns the parameter of a name, nil if there is none.
func (e *Entry) Param(name string) *Param {
	for i := range e.Params {
		if e.Params[i].Name == name {
			return &e.Params[i]
		}
	}
	return nil
}

// unknown is the error that there is no such parameter.
func (e *Entry) unknown(key string) error {
	if len(e.Params) == 0 {
		return fmt.Errorf("unknown parameter %q; there is none", key)
	}
	var names, all []string
	for i := range e.Params {
		names = append(names, e.Params[i].Name)
		all = append(all, e.Params[i].Name+"="+e.Params[i].Default)
	}
	return grammar.UnknownAmong("parameter", key, names, "valid: "+strings.Join(all, ", "))
}
