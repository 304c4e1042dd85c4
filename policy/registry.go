package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/tailcut/tailcut/policy/kit"
)

// Entry describes a policy: its name, its parameters and how it is made.
type Entry = kit.Entry

// builtin lists every policy of this package; a new one is one line here.
var builtin = []*kit.Entry{
	&autoEntry,
	&capacityEntry,
	&chronosCloneEntry,
	&chronosRestartEntry,
	&chronosResumeEntry,
	&dollyEntry,
	&eagleEntry,
	&edfEntry,
	&eseEntry,
	&fairEntry,
	&fifoEntry,
	&fillsrptEntry,
	&flinkEntry,
	&flutterEntry,
	&forkEntry,
	&geocloneEntry,
	&grassEntry,
	&hadoopEntry,
	&hadoop2Entry,
	&hawkEntry,
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
	&sparrowEntry,
	&splitsrptEntry,
	&srewEntry,
	&srptEntry,
	&wlapsEntry,
}

// presets are names for parameter settings of a policy.
var presets = []Preset{
	{"backup", "fork:p=0.05", "MapReduce's backup tasks (Dean and Ghemawat, OSDI 2004): one clone of whatever runs when 5 % are left"},
	{"dolly-shed", "dolly:budget=1,threshold=1,formula=shed,under=none", "Dolly as Shed compares with it: attempts by the chance of a straggler alone, give p"},
	{"flutter+dolly", "dolly:whole=stage,under=none,order=fair,sites=flutter", "Flutter's sites, and Dolly's clones inside them, as GeoClone compares with it"},
	{"flutter+mantri", "mantri:order=fair,sites=flutter", "Flutter's sites, and Mantri's duplicates inside them, as GeoClone compares with it"},
	{"late-short", "late:min_age=1s", "LATE for tasks that last seconds"},
	{"mantri-dup", "mantri:idle=delta,restart=false", "Mantri's duplicates alone, as in Xu et al., TPDS 2017"},
	{"power-of-two", "sparrow:sampling=task", "the power of two choices: each task to the shorter of two queues drawn at random (Mitzenmacher, 2001)"},
	{"spark-geo", "fair:sites=delay", "Spark between sites: fair shares and delay scheduling, no clones"},
	{"spark-geo+late", "late:order=fair,sites=delay", "the same with LATE's clones"},
	{"spark3", "spark:quantile=0.75,multiplier=1.5", "Spark before 4.0"},
}

// Preset is another name for a policy with parameters.
type Preset struct {
	Name, Spec, Summary string
}

// added are the policies that Register was given. It is the only variable of the pure packages that changes: what is
// known by name is the same for the whole program, as with the drivers of database/sql.
var added struct {
	sync.RWMutex
	entries []*Entry // never written to in place
}

// Register makes a policy known by the name in its entry, to New and to all that takes specifications. A program does
// so once, in an init function or at the beginning of main; the entry must not change afterwards. Register panics if
// the entry is not complete (see kit.Entry.Check) or if there is a policy or a preset of the name. It is safe for
// concurrent use.
func Register(e *Entry) {
	if err := e.Check(); err != nil {
		panic("policy: Register: " + err.Error())
	}
	added.Lock()
	defer added.Unlock()
	if named(e.Name) != nil || slices.ContainsFunc(presets, func(p Preset) bool { return p.Name == e.Name }) {
		panic("policy: Register: there is a policy " + e.Name + " already")
	}
	added.entries = append(slices.Clip(added.entries), e)
}

// named returns the policy of a name, nil for none. The caller holds the lock.
func named(name string) *Entry {
	for _, entries := range [][]*Entry{builtin, added.entries} {
		if i := slices.IndexFunc(entries, func(e *Entry) bool { return e.Name == name }); i >= 0 {
			return entries[i]
		}
	}
	return nil
}

// Entries returns all policies in alphabetical order, those that were registered among them.
func Entries() []*Entry {
	added.RLock()
	all := slices.Concat(builtin, added.entries)
	added.RUnlock()
	slices.SortFunc(all, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Builtin tells whether the policy of a name is one of this package.
func Builtin(name string) bool {
	return slices.ContainsFunc(builtin, func(e *Entry) bool { return e.Name == name })
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
	for _, e := range Entries() {
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
