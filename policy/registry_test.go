package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewErrors(t *testing.T) {
	cases := []struct{ name, spec, want string }{
		{"unknown policy", "sparc", `unknown policy "sparc"; did you mean spark?`},
		{"empty", "", `unknown policy ""`},
		{"unknown parameter", "spark:quantil=0.9", `spark: unknown parameter "quantil"; did you mean quantile?`},
		{"no parameters at all", "fifo:x=1", `fifo: unknown parameter "x"; valid: sites=any, wait=3s`},
		{"no value", "spark:quantile", `spark: expected quantile=VALUE, got "quantile"`},
		{"not a number", "spark:quantile=much", "spark: quantile=much is not a number between 0 and 1"},
		{"above the range", "spark:quantile=1.01", "spark: quantile=1.01 is not a number between 0 and 1"},
		{"below the range", "fork:p=-0.1", "fork: p=-0.1 is not a number between 0 and 1"},
		{"not a number at all", "fork:p=NaN", "fork: p=NaN is not a number between 0 and 1"},
		{"not whole", "fork:r=1.5", "fork: r=1.5 is not a whole number between 0 and 1000"},
		{"not a duration", "spark:min_runtime=5", "spark: min_runtime=5 is not a duration such as 100ms or 5s of at least 0s"},
		{"negative duration", "late:min_age=-1s", "late: min_age=-1s is not a duration"},
		{"an interval of nothing", "spark:interval=0s", "spark: interval=0s is not a duration such as 100ms or 5s between 0.001s and 86400s"},
		{"not a choice", "fork:original=maim", "fork: original=maim is not one of keep, kill"},
		{"not an order", "late:order=lifo", "late: order=lifo is not one of fifo, fair, srpt"},
		{"not a bool", "late:node_filter=yes", "late: node_filter=yes is not true or false"},
		{"not a law", "shed:law=(cauchy:x=1),launch=1s", "shed: law=(cauchy:x=1) is not a law of seconds such as (pareto:alpha=1.5,xm=10): "},
		{"preset, wrong override", "spark3:quantile=2", "spark: quantile=2 is not a number between 0 and 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.spec, 1)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("New(%q): %v\nwant one line with: %s", c.spec, err, c.want)
			}
			if _, found := Find(c.spec); cmp.Diff(errText(err), errText(found)) != "" {
				t.Errorf("Find says %v", found)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCanonical(t *testing.T) {
	for spec, want := range map[string]string{
		"fifo":                             "fifo",
		"spark":                            "spark",
		"spark:":                           "spark",
		"spark:multiplier=2,quantile=0.5":  "spark:quantile=0.5,multiplier=2",
		"spark:quantile=0.9":               "spark",
		"spark:quantile=0.5,quantile=0.6":  "spark:quantile=0.6",
		"spark3":                           "spark:quantile=0.75,multiplier=1.5",
		"spark3:multiplier=2":              "spark:quantile=0.75,multiplier=2",
		"spark3:quantile=0.9,multiplier=3": "spark",
		"shed:launch=1s,law=(pareto:alpha=2,xm=1)": "shed:law=(pareto:alpha=2,xm=1),launch=1s",
		"backup:order=fair":                        "fork:p=0.05,order=fair",
		"fork:p=0.1,r=1,original=kill":             "fork:original=kill",
		"late-short:order=srpt,cap=0.2":            "late:cap=0.2,min_age=1s,order=srpt",
	} {
		if got, err := Canonical(spec); got != want || err != nil {
			t.Errorf("Canonical(%q) = %q, %v; want %q", spec, got, err, want)
		}
	}
	if got, err := Canonical("fork:q=1"); err == nil {
		t.Errorf("Canonical of a wrong specification is %q", got)
	}
}

func TestSplitList(t *testing.T) {
	for list, want := range map[string][]string{
		"fifo":                              {"fifo"},
		"fifo,srew:beta=0.7,lambda=1,late":  {"fifo", "srew:beta=0.7,lambda=1", "late"},
		"spark:quantile=0.5,fork:p=0.1,r=2": {"spark:quantile=0.5", "fork:p=0.1,r=2"},
		"p=1":                               {"p=1"},
		"shed:law=(pareto:alpha=2,xm=1),launch=1s,fifo": {"shed:law=(pareto:alpha=2,xm=1),launch=1s", "fifo"},
		"fifo,":                    {"fifo", ""},
		"spark3,multiplier=2,fifo": {"spark3,multiplier=2", "fifo"},
	} {
		if diff := cmp.Diff(want, SplitList(list)); diff != "" {
			t.Errorf("SplitList(%q) (-want +got):\n%s", list, diff)
		}
	}
}

// TestRegistry checks what entries promise: names that are unique and can be typed, defaults that are valid, presets that resolve.
func TestRegistry(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are not sorted and unique: %v", names)
	}
	if len(Entries())+len(Presets()) != len(names) {
		t.Errorf("%d entries, %d presets, %d names", len(Entries()), len(Presets()), len(names))
	}
	for _, e := range Entries() {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range Presets() {
		if got, err := Canonical(p.Name); err != nil || got != p.Spec || p.Summary == "" {
			t.Errorf("preset %+v: %s, %v", p, got, err)
		}
	}
}

// FuzzNew: whatever is typed, New answers with a policy or one line, and what it accepts it accepts again in canonical form.
func FuzzNew(f *testing.F) {
	for _, spec := range append(specs(), "", ":", "spark:,", "fork:p=0.1,p", "fork:p=1e999", "late:min_age=9999999h", "spark3:", "fifo:fifo:") {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := New(spec, 1)
		if (p == nil) == (err == nil) {
			t.Fatalf("New(%q) = %v, %v", spec, p, err)
		}
		canonical, failed := Canonical(spec)
		if (failed == nil) != (err == nil) {
			t.Fatalf("New: %v, Canonical: %v", err, failed)
		}
		if err != nil {
			return
		}
		if again, err := Canonical(canonical); err != nil || again != canonical {
			t.Fatalf("Canonical(%q) = %q, of that %q, %v", spec, canonical, again, err)
		}
	})
}

// TestRegister: what is registered is known everywhere, and a name only once.
func TestRegister(t *testing.T) {
	t.Cleanup(func() { added.entries = nil })
	mine := fifoEntry
	mine.Name = "mine"
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			other := mine
			other.Name = fmt.Sprintf("mine-%d", i)
			Register(&other)
			if _, err := New(other.Name+":sites=delay", 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	Register(&mine)
	if e, err := Find("mine:wait=1s"); e != &mine || err != nil {
		t.Errorf("found %v, %v", e, err)
	}
	if names := Names(); !slices.Contains(names, "mine") || !slices.IsSorted(names) || len(Entries()) != len(builtin)+9 {
		t.Errorf("names %v, %d entries", names, len(Entries()))
	}
	for name, want := range map[string]string{
		"mine": "a policy mine already", "fifo": "a policy fifo already", "backup": "a policy backup already", "a:b": "the name of a policy", "": "the name of a policy",
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("Register of %q: %s, want %q", name, got, want)
				}
			}()
			bad := mine
			bad.Name = name
			Register(&bad)
		}()
	}
}
