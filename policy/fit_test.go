package policy_test

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy"
)

// What cannot decide is refused, what is reduced to less is noticed, and what needs nothing is let in.
func TestFit(t *testing.T) {
	one, sites := policy.Place{Name: "a run"}, policy.Place{Name: "a run", Sites: true}
	for _, c := range []struct {
		spec        string
		at          policy.Place
		notice, err string
	}{
		{"fifo", one, "", ""},
		{"spark:quantile=0.5", one, "", ""},
		{"srew", one, "", ""},
		{"capacity:queues=3", one, "", "capacity has nothing to decide in a run, which has one job; use fifo, or spark for clones, or 'tailcut simulate' to see what it does"},
		{"capacity", sites, "", "capacity has nothing to decide in a run, which has one job"},
		{"maxsrpt", one, "", "maxsrpt has nothing to decide in a run, which has one class of slots; use fifo"},
		{"splitsrpt", policy.Place{Name: "x", Jobs: true}, "", "splitsrpt has nothing to decide in x, which has one class of slots"},
		{"splitsrpt", policy.Place{Name: "x", Jobs: true, Classes: true}, "", ""},
		{"srpt", one, "srpt: a run has one job: tasks run in order and there are no clones, as with fifo", ""},
		{"hopper", one, "hopper: a run has one job: no slot is kept", ""},
		{"sew", one, "sew: a run has one job: ", ""},
		{"flutter", one, "flutter: a run has one site: tasks run in order", ""},
		{"flutter", sites, "", ""},
		{"spark-geo", sites, "", ""},
		{"spark-geo", one, "fair: a run has one job: ", ""},
		{"sperk", one, "", `unknown policy "sperk"`},
	} {
		notice, err := policy.Fit(c.spec, c.at)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(notice, c.notice) || (notice == "") != (c.notice == "") || !strings.HasPrefix(text, c.err) || (text == "") != (c.err == "") {
			t.Errorf("%s: %q, %q; want %q, %q", c.spec, notice, text, c.notice, c.err)
		}
	}
}
