package main

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/cloud/internal/kube"
)

// Policies are taken where they have something to decide.
func TestPoliciesOfPlaces(t *testing.T) {
	alone, pool := kube.Place{Classes: 1}, kube.Place{Shared: true, Classes: 1}
	classes, zones := kube.Place{Shared: true, Classes: 2}, kube.Place{Shared: true, Zones: true, Classes: 1}
	for _, c := range []struct {
		spec string
		at   kube.Place
		says string // "" if it is taken
	}{
		{"auto", alone, ""},
		{"capacity", alone, "has nothing to decide in a Job's pods"},
		{"capacity", pool, ""},
		{"maxsrpt", pool, "has nothing to decide in a pool, which has one class of slots"},
		{"maxsrpt", classes, ""},
		{"srpt/fair", classes, ""},
		{"srpt/fair", pool, "one for each of 1 classes"},
		{"geoclone", zones, ""},
		{"laps", pool, ""},
		{"none", pool, "none"},
	} {
		_, err := newPolicy(c.spec, "", false, c.at)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s at %+v: %v, want %q", c.spec, c.at, err, c.says)
		}
	}
}
