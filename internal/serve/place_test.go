package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/trace"
)

func TestParseSlots(t *testing.T) {
	for _, c := range []struct {
		text    string
		classes []string
		want    []trace.JournalMachine
	}{
		{"8", []string{""}, []trace.JournalMachine{{Name: "local", Slots: 8}}},
		{"map=4,shuffle=2", []string{"map", "shuffle"}, []trace.JournalMachine{{Name: "map", Slots: 4}, {Name: "shuffle", Class: 1, Slots: 2}}},
	} {
		classes, machines, err := ParseSlots(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.classes, classes) + cmp.Diff(c.want, machines); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "8,4", "map=", "=4", "map=4,map=2", "map=4,3", "1e9", strings.Repeat("a=1,", 300) + "b=1"} {
		if _, machines, err := ParseSlots(text); err == nil {
			t.Errorf("%.50q was accepted: %v", text, machines)
		}
	}
}

func TestFitPolicy(t *testing.T) {
	for _, c := range []struct {
		spec    string
		classes int
		want    string // of the policy or of the error
	}{
		{"", 1, "auto"},
		{"srew", 1, "srew:slot=0s"},
		{"srew:slot=2s", 1, "srew:slot=2s"},
		{"capacity", 1, "capacity"},
		{"maxsrpt", 2, "maxsrpt"},
		{"srpt/fair", 2, "srpt/fair"},
		{"srpt/fair", 1, "expected one policy"},
		{"maxsrpt", 1, "has nothing to decide"},
		{"laps", 1, "laps"},
		{"shed", 1, "shed:master_slots=0,when=reports,interval=2s"},
		{"nonsense", 1, "nonsense"},
		{"fifo:x=1", 1, "unknown parameter"},
	} {
		got, _, err := FitPolicy(c.spec, c.classes)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s on %d classes: %s, not %s", c.spec, c.classes, got, c.want)
		}
	}
}

// TestPlacesOf: unfinished jobs find the classes that they know, whatever the order and number of those that are given.
func TestPlacesOf(t *testing.T) {
	for _, c := range []struct {
		had    string
		needed int
		given  string
		want   string // places, or the error
	}{
		{"map shuffle", 2, "map shuffle", "[0 1]"},
		{"map shuffle", 2, "shuffle map", "[1 0]"},
		{"map shuffle", 1, "shuffle map", "[1 0]"},
		{"map shuffle", 0, "shuffle map", "[0 1]"},
		{"map shuffle", 2, "reduce shuffle map", "[2 1 0]"},
		{"map shuffle", 2, "map", "jobs that are not over need slots of class shuffle: expected some, as in map=1,shuffle=1"},
		{"map shuffle", 1, "map", "[0]"},
		{"map shuffle", 1, "-", "jobs that are not over need slots of class map: expected some, as in map=1,shuffle=1"},
		{"-", 1, "shuffle map", "[0 1]"},
		{"-", 1, "-", "[0]"},
		{"a b c d", 3, "d e a c b", "[2 4 3 0 1]"},
	} {
		split := func(text string) []string { return strings.Fields(strings.ReplaceAll(text, "-", "")) }
		had, given := split(c.had), split(c.given)
		if c.had == "-" {
			had = []string{""}
		}
		if c.given == "-" {
			given = []string{""}
		}
		from, err := placesOf(had, c.needed, given)
		got := fmt.Sprint(from)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, of which %d are needed, and now %s: %s, not %s", c.had, c.needed, c.given, got, c.want)
		}
	}
}
