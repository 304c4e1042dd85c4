package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/sched"
)

// registry lists every policy; a new one is one line here.
var registry = []*Entry{
	&capacityEntry,
	&chronosCloneEntry,
	&chronosRestartEntry,
	&chronosResumeEntry,
	&dollyEntry,
	&eseEntry,
	&fairEntry,
	&fifoEntry,
	&flinkEntry,
	&flutterEntry,
	&forkEntry,
	&geocloneEntry,
	&grassEntry,
	&hadoopEntry,
	&hadoop2Entry,
	&hopperEntry,
	&intermediateEntry,
	&iridiumEntry,
	&lapsEntry,
	&lateEntry,
	&laxityEntry,
	&mantriEntry,
	&maxsrptEntry,
	&scaEntry,
	&sewEntry,
	&shedEntry,
	&sparkEntry,
	&splitsrptEntry,
	&srewEntry,
	&srptEntry,
	&wlapsEntry,
}

// presets are names for parameter settings of a policy.
var presets = []Preset{
	{"backup", "fork:p=0.05", "MapReduce's backup tasks (Dean and Ghemawat, OSDI 2004): one clone of whatever runs when 5 % are left"},
	{"dolly-shed", "dolly:budget=1,threshold=1,formula=shed", "Dolly as Shed compares with it: attempts by the chance of a straggler alone, give p"},
	{"flutter+dolly", "dolly:whole=stage,order=fair,sites=flutter", "Flutter's sites, and Dolly's clones inside them, as GeoClone compares with it"},
	{"flutter+mantri", "mantri:order=fair,sites=flutter", "Flutter's sites, and Mantri's duplicates inside them, as GeoClone compares with it"},
	{"late-short", "late:min_age=1s", "LATE for tasks that last seconds"},
	{"mantri-dup", "mantri:idle=delta,restart=false", "Mantri's duplicates alone, as in Xu et al., TPDS 2017"},
	{"spark-geo", "fair:sites=delay", "Spark between sites: fair shares and delay scheduling, no clones"},
	{"spark-geo+late", "late:order=fair,sites=delay", "the same with LATE's clones"},
	{"spark3", "spark:quantile=0.75,multiplier=1.5", "Spark before 4.0"},
}

// Entry describes a policy to the registry, to the battery of tests and to the user.
type Entry struct {
	Name           string // lower case
	Summary        string // one line for the user
	Source         string // paper and section, or the public code it follows
	Note           string // what users should know beyond that, a paragraph in Markdown; may be empty
	Params         []Param
	Progress       bool // decides by reported progress, so that a simulator has to report it; see UsesProgress
	WorkConserving bool // leaves no slot free while a task waits
	Needs          Needs
	New            func(Args) sched.Policy

	progressIf func(Args) bool // tells with which parameters it uses progress though Progress is false; may be nil
}

// Preset is another name for a policy with parameters.
type Preset struct {
	Name, Spec, Summary string
}

// Entries returns all policies in alphabetical order.
func Entries() []*Entry {
	all := slices.Clone(registry)
	slices.SortFunc(all, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Presets returns all presets in alphabetical order.
func Presets() []Preset {
	all := slices.Clone(presets)
	slices.SortFunc(all, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Names returns the names of all policies and presets in alphabetical order.
func Names() []string {
	var names []string
	for _, e := range registry {
		names = append(names, e.Name)
	}
	for _, p := range presets {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// New builds a policy from its specification, NAME or NAME:param=value,param=value. Random choices of the policy depend
// on seed alone. The error of a wrong specification is one line that says what is valid.
func New(spec string, seed uint64) (sched.Policy, error) {
	e, args, err := parse(spec)
	if err != nil {
		return nil, err
	}
	args.seed = seed
	return e.New(args), nil
}

// Find returns the entry that a specification names, or the error that New would return.
func Find(spec string) (*Entry, error) {
	e, _, err := parse(spec)
	return e, err
}

// Parse returns the entry that a specification names and its checked parameters, or the error that New would return.
func Parse(spec string) (*Entry, Args, error) { return parse(spec) }

// Canonical returns the specification with the parameters that differ from their defaults, in the order in which the
// policy declares them.
func Canonical(spec string) (string, error) {
	e, args, err := parse(spec)
	if err != nil {
		return "", err
	}
	var set []string
	for i := range e.Params {
		p := &e.Params[i]
		if v := args.text[p.Name]; v != p.Default {
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

// parse resolves presets, finds the entry and checks the parameters. Parameters given beside a preset override the
// preset's.
func parse(spec string) (*Entry, Args, error) {
	name, rest, hasParams := strings.Cut(spec, ":")
	for _, p := range presets {
		if p.Name == name {
			base, defaults, _ := strings.Cut(p.Spec, ":")
			name = base
			rest, hasParams = strings.Trim(defaults+","+rest, ","), true
			break
		}
	}
	i := slices.IndexFunc(registry, func(e *Entry) bool { return e.Name == name })
	if i < 0 {
		return nil, Args{}, grammar.UnknownAmong("policy", name, Names(), "'tailcut policies' lists all")
	}
	e := registry[i]
	args := Args{entry: e, text: map[string]string{}}
	for k := range e.Params {
		args.text[e.Params[k].Name] = e.Params[k].Default
	}
	if !hasParams || rest == "" {
		return e, args, nil
	}
	for _, kv := range grammar.Fields(rest) {
		key, value, ok := strings.Cut(kv, "=")
		p := e.param(key)
		switch {
		case p == nil:
			return nil, Args{}, fmt.Errorf("%s: %w", e.Name, e.unknown(key))
		case !ok:
			return nil, Args{}, fmt.Errorf("%s: expected %s=VALUE, got %q", e.Name, key, kv)
		}
		if err := p.check(value); err != nil {
			return nil, Args{}, fmt.Errorf("%s: %w", e.Name, err)
		}
		args.text[key] = value
	}
	return e, args, nil
}

func (e *Entry) param(name string) *Param {
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
