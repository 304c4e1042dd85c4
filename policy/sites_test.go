package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// siteSpecs are policies that choose between sites, and settings of theirs that take other ways through the code.
var siteSpecs = []string{
	"geoclone", "geoclone:slot=0s,epsilon=0.5", "geoclone:first=printed,slots=free,slot=1s,copies=3", "geoclone:tasks=unfinished,round=quota,slot=2s",
	"geoclone:prior=,memory=1s,weight=1", "flutter:truth=true", "iridium:truth=true", "iridium:memory=20ms,bandwidth=1e9,weight=0.1",
	"flutter", "flutter:order=fifo,weight=1", "iridium", "iridium:order=srpt", "spark-geo", "spark-geo:wait=0s", "fifo:sites=delay,wait=20s", "srpt:sites=delay",
	"spark-geo+late:min_age=1s,slow_task=0.5", "flutter+mantri", "flutter+mantri:period=1s,rho=0,restarts=1", "mantri:sites=iridium,order=srpt", "flutter+dolly",
	"flutter+dolly:budget=1,threshold=1,p=0.4", "dolly:sites=iridium,budget=1,threshold=1,p=0.3",
}

// TestBatteryOfSites is the battery where machines are at several sites and tasks read data there.
func TestBatteryOfSites(t *testing.T) {
	worlds := 40
	if testing.Short() {
		worlds = 10
	}
	for _, spec := range siteSpecs {
		t.Run(spec, func(t *testing.T) {
			clones := 0
			for seed := range uint64(worlds) {
				l := limits[seed%uint64(len(limits))]
				first := inspectSites(t, spec, l, seed)
				clones += countClones(first)
				if seed%4 > 0 {
					continue
				}
				if diff := cmp.Diff(first, inspectSites(t, spec, l, seed)); diff != "" {
					t.Fatalf("seed %d: the same world twice, not the same decisions (-first +second):\n%s", seed, diff)
				}
			}
			t.Logf("%d clones", clones)
		})
	}
}

// inspectSites is inspect with several sites.
func inspectSites(t *testing.T, spec string, l sched.Limits, seed uint64) []sched.Decision {
	t.Helper()
	entry, err := Find(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	if plain := *entry; strings.Contains(spec, "delay") || strings.Contains(spec, "spark-geo") {
		plain.WorkConserving = false // a task may wait for its site
		entry = &plain
	}
	return inspectIn(t, entry, messySites(t, p, l, seed), l, seed)
}
