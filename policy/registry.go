package policy

import (
	"slices"
	"strings"

	"github.com/tailcut/tailcut/policy/kit"
)

// Entry describes a policy: its name, its parameters and how it is made.
type Entry = kit.Entry

// registry lists every policy; a new one is one line here.
var registry = []*kit.Entry{
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

// Preset is another name for a policy with parameters.
type Preset struct {
	Name, Spec, Summary string
}

// Entries returns all policies in alphabetical order.
func Entries() []*kit.Entry {
	all := slices.Clone(registry)
	slices.SortFunc(all, func(a, b *kit.Entry) int { return strings.Compare(a.Name, b.Name) })
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

// Find returns the entry that a specification names, or the error that New would return.
func Find(spec string) (*kit.Entry, error) {
	e, _, err := Parse(spec)
	return e, err
}
