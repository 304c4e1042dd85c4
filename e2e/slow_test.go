package e2e

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var rounds = flag.Int("rounds", 1, "how often TestSlowNode runs each Job")

// One of three nodes takes ten times as long for everything. Under each policy the Job completes sooner than under Kubernetes' own controller, by the
// median of the rounds, and every index has succeeded. The parameters are for tasks of seconds; the defaults are for minutes. Fifo has no clones: it
// tells what the rest comes to, as keeping away from the slow node.
func TestSlowNode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.controller()()
	policies := []string{"", "fifo", "spark:quantile=0.5,multiplier=1.5", "late:min_age=5s,cap=0.3", "srew:slot=1s"}
	flows := make([][]float64, len(policies))
	for round := range *rounds {
		for k := range policies {
			at := (round + k) % len(policies) // so that each goes first once
			w := work{name: fmt.Sprintf("slow-%d-%d", at, round), tasks: 60, parallelism: 12, policy: policies[at]}
			start := time.Now()
			c.begin(w)
			c.wait(w.name, "complete", 10*time.Minute)
			flows[at] = append(flows[at], time.Since(start).Seconds())
			t.Logf("round %d, %s: %.1f s", round, policies[at], time.Since(start).Seconds())
			if testing.Verbose() {
				c.timeline(w.name)
			}
			c.whole(w)
		}
	}
	t.Log("policy | seconds, median (range) | of Kubernetes' own, median (range)")
	for k, policy := range policies {
		var ratios []float64
		for round := range *rounds {
			ratios = append(ratios, flows[k][round]/flows[0][round])
		}
		t.Logf("%s | %s | %s", policy, spread(flows[k], "%.1f"), spread(ratios, "%.2f"))
		if slices.Sort(ratios); k > 1 && ratios[len(ratios)/2] >= 1 {
			t.Errorf("under %s the Job takes no less time than under Kubernetes' own controller", policy)
		}
	}
	c.valid()
}

// spread writes median and range.
func spread(x []float64, format string) string {
	x = slices.Sorted(slices.Values(x))
	return fmt.Sprintf(strings.ReplaceAll("% (%–%)", "%", format), x[len(x)/2], x[0], x[len(x)-1])
}
