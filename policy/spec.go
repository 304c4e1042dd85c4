package policy

import (
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// New builds a policy from its specification, NAME or NAME:param=value,param=value. Random choices of the policy depend
// on seed alone. The error of a wrong specification is one line that says what is valid.
func New(spec string, seed uint64) (sched.Policy, error) {
	e, args, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	return e.New(args.WithSeed(seed)), nil
}

// Canonical returns the specification with the parameters that differ from their defaults, in the order in which the
// policy declares them.
func Canonical(spec string) (string, error) {
	e, args, err := Parse(spec)
	if err != nil {
		return "", err
	}
	var set []string
	for i := range e.Params {
		p := &e.Params[i]
		if v := args.Get(p.Name); v != p.Default {
			set = append(set, p.Name+"="+v)
		}
	}
	if len(set) == 0 {
		return e.Name, nil
	}
	return e.Name + ":" + strings.Join(set, ","), nil
}

// SplitList splits a comma-separated list of specifications. A part with "=" and no ":" before it goes on with the
// parameters of the specification before it: "fifo,srew:beta=0.7,lambda=1,late" has three.
func SplitList(list string) []string {
	var specs []string
	for _, part := range grammar.Fields(list) {
		name, _, hasParam := strings.Cut(part, "=")
		if hasParam && !strings.Contains(name, ":") && len(specs) > 0 {
			specs[len(specs)-1] += "," + part
			continue
		}
		specs = append(specs, part)
	}
	return specs
}

// Parse resolves presets, finds the entry that a specification names and checks the parameters. Parameters given beside
// a preset override the preset's. The error is the one that New would return.
func Parse(spec string) (*kit.Entry, kit.Args, error) {
	name, rest, _ := strings.Cut(spec, ":")
	for _, p := range presets {
		if p.Name == name {
			base, defaults, _ := strings.Cut(p.Spec, ":")
			name = base
			rest = strings.Trim(defaults+","+rest, ",")
			break
		}
	}
	added.RLock()
	e := named(name)
	added.RUnlock()
	if e == nil {
		return nil, kit.Args{}, grammar.UnknownAmong("policy", name, Names(), "'tailcut policies' lists all")
	}
	args, err := e.Parse(rest)
	if err != nil {
		return nil, kit.Args{}, err
	}
	return e, args, nil
}

// NewPerClass builds a policy for a cluster with so many classes of slots: from one specification, of which each class
// gets a policy of its own, or from one for each class, in their order, with "/" between them, such as fifo/fair.
// Without classes (0 or 1) it is New. A policy that sets the speed of the machines, which is one for all classes, is an
// error then.
func NewPerClass(spec string, seed uint64, classes int) (sched.Policy, error) {
	specs, err := splitClasses(spec, max(1, classes))
	if err != nil {
		return nil, err
	}
	all := make([]sched.Policy, len(specs))
	for k, s := range specs {
		if all[k], err = New(s, seed); err != nil {
			return nil, err
		}
		if len(specs) > 1 && sched.Paces(all[k]) {
			return nil, fmt.Errorf("%s sets the speed of all machines and cannot serve one of several classes of slots", s)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return sched.PerClass(all...), nil
}

// ProgressPerClass tells whether one of the policies that NewPerClass would build uses progress, see UsesProgress, or
// returns its error.
func ProgressPerClass(spec string, classes int) (bool, error) {
	specs, err := splitClasses(spec, max(1, classes))
	progress := false
	for _, s := range specs {
		uses, err := UsesProgress(s)
		if err != nil {
			return false, err
		}
		progress = progress || uses
	}
	return progress, err
}

// Reorder returns the specification of the policies of classes in another order: from says for each class where its
// policy stands in the specification. One policy for all classes stays.
func Reorder(spec string, from []int) string {
	specs := strings.Split(spec, "/")
	if len(specs) != len(from) {
		return spec
	}
	all := make([]string, len(from))
	for i, at := range from {
		all[i] = specs[at]
	}
	return strings.Join(all, "/")
}

func splitClasses(spec string, classes int) ([]string, error) {
	specs := strings.Split(spec, "/")
	if len(specs) == 1 {
		for len(specs) < classes {
			specs = append(specs, spec)
		}
	}
	if len(specs) != classes {
		return nil, fmt.Errorf("%q: expected one policy, or one for each of %d classes of slots, got %d", spec, classes, len(specs))
	}
	return specs, nil
}

// WithDefault returns the specification with one more parameter, if the policy has a parameter of that name and neither
// the specification nor the preset that it names sets it. A driver uses it where the published default is of another
// scale than its tasks.
func WithDefault(spec, param, value string) (string, error) {
	e, err := Find(spec)
	if err != nil || e.Param(param) == nil {
		return spec, err
	}
	name, rest, hasParams := strings.Cut(spec, ":")
	for _, p := range presets {
		if p.Name == name {
			_, set, _ := strings.Cut(p.Spec, ":")
			rest += "," + set
		}
	}
	for _, kv := range grammar.Fields(rest) {
		if key, _, _ := strings.Cut(kv, "="); key == param {
			return spec, nil
		}
	}
	if hasParams {
		return spec + "," + param + "=" + value, nil
	}
	return spec + ":" + param + "=" + value, nil
}

// Live returns the specification as programs use it that run real tasks, which last seconds rather than minutes:
// policies whose source has slots of time (see kit.SlotOf) look at every event, clones begin at the age of a second,
// and those that plan for deadlines do so every two seconds. What the specification itself says stands.
func Live(spec string) (string, error) {
	spec, err := AtEvents(spec)
	if err == nil {
		spec, err = WithDefault(spec, "min_age", "1s")
	}
	if err != nil {
		return "", err
	}
	return ForDeadlines(spec, "2s")
}

// AtEvents lets a policy whose source has slots of time decide at every event, unless the specification names a slot:
// where real tasks run, nothing waits for a boundary.
func AtEvents(spec string) (string, error) { return WithDefault(spec, "slot", "0s") }

// ForDeadlines fits the specification of a policy that plans for deadlines to tasks that are processes: it plans anew
// at reports of progress, every so often, not only when a job arrives, as a run's only job never does again; an
// interval of "" leaves that as it is. Jobs have no master beside their tasks. What the specification itself says
// stands.
func ForDeadlines(spec, interval string) (string, error) {
	e, err := Find(spec)
	if err != nil || e.Param("late") == nil {
		return spec, err
	}
	params := [][2]string{{"master_slots", "0"}}
	if interval != "" {
		params = append(params, [2]string{"when", "reports"}, [2]string{"interval", interval})
	}
	for _, p := range params {
		if spec, err = WithDefault(spec, p[0], p[1]); err != nil {
			return "", err
		}
	}
	return spec, nil
}

// WithLaw tells a policy that reckons with a law of durations which, unless its specification says so; "" changes
// nothing. The error says what is wrong with the law.
func WithLaw(spec, law string) (string, error) {
	if law == "" {
		return spec, nil
	}
	l, err := laws.Parse(law)
	if err != nil {
		return "", err
	}
	return WithDefault(spec, "law", "("+l.String()+")")
}

// UsesProgress tells whether reported progress matters to the policy that a specification names, so that a simulator
// has to report it, or returns the error that New would return. It matters to those that decide by it, and to those
// that preempt: stages that can resume go on from there.
func UsesProgress(spec string) (bool, error) {
	e, args, err := Parse(spec)
	if err != nil {
		return false, err
	}
	return e.Progress || e.ProgressIf != nil && e.ProgressIf(args), nil
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

// Unconfined is what is wrong with a policy that does not choose sites, see [sched.Confines], for work whose data may
// not be everywhere.
func Unconfined(spec, work string) error {
	return fmt.Errorf("%s does not choose sites, and data of %s may not be everywhere; expected a policy that does, such as geoclone, flutter, iridium, spark-geo or fair:sites=delay", spec, work)
}

// fifoAlone is what becomes of policies that only order jobs.
const fifoAlone = "tasks run in order and there are no clones, as with fifo"
