package e2e

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	rounds       = flag.Int("rounds", 1, "how often TestSlowNode runs each Job")
	slowTasks    = flag.Int("slow-tasks", 24, "tasks of each Job of TestSlowNode, of which half run at once")
	slowTask     = flag.String("slow-task", "5s", "how long such a task takes on a node that is not slow")
	slowPolicies = flag.String("slow-policies", "", "policies that TestSlowNode measures beside the default, separated by blanks")
)

// Three nodes, of which one takes ten times as long for everything, and three nodes that are alike; pods have the default grace period and ignore SIGTERM. Under the default policy the Job
// completes in less than three quarters of the time that it takes under Kubernetes' own controller if there is a slow node, and loses nothing if there is none: by the median of the
// rounds, if there are enough of them to say so. Every index has succeeded, once.
//
// A round runs each Job once, one after another; each goes first in turn. A ratio is that of two Jobs of the same round.
func TestSlowNode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.controller()()
	policies := append([]string{"", "default"}, strings.Fields(*slowPolicies)...)
	cases := []struct {
		name string
		slow int
		most float64 // of Kubernetes' own time
	}{{"a slow node", 10, 0.75}, {"no slow node", 1, 1.05}}
	flows := make([][][]float64, len(cases))
	for i := range flows {
		flows[i] = make([][]float64, len(policies))
	}
	for round := range *rounds {
		for i, x := range cases {
			for k := range policies {
				at := (round + k) % len(policies)
				w := work{name: fmt.Sprintf("slow-%d-%d-%d", i, at, round), tasks: *slowTasks, parallelism: *slowTasks / 2, policy: policies[at], takes: *slowTask, slow: x.slow}
				start := time.Now()
				c.begin(w)
				c.wait(w.name, "complete", 10*time.Minute)
				flows[i][at] = append(flows[i][at], time.Since(start).Seconds())
				t.Logf("round %d, %s, %s: %.1f s", round, x.name, policies[at], time.Since(start).Seconds())
				if testing.Verbose() {
					c.timeline(w.name)
				}
				c.whole(w)
			}
		}
	}
	for i, x := range cases {
		t.Logf("%s: policy | seconds, median (range) | of Kubernetes' own, median (range) | mean, 95 %% interval", x.name)
		for k, policy := range policies {
			var ratios []float64
			for round := range *rounds {
				ratios = append(ratios, flows[i][k][round]/flows[i][0][round])
			}
			t.Logf("%s: %s | %s | %s | %s", x.name, policy, spread(flows[i][k], "%.1f"), spread(ratios, "%.2f"), interval(ratios))
			if slices.Sort(ratios); policy == "default" && *rounds >= 5 && ratios[len(ratios)/2] > x.most {
				t.Errorf("%s: the Job takes %.2f of the time that it takes under Kubernetes' own controller, want no more than %v", x.name, ratios[len(ratios)/2], x.most)
			}
		}
	}
	c.valid()
}

// spread writes median and range.
func spread(x []float64, format string) string {
	x = slices.Sorted(slices.Values(x))
	return fmt.Sprintf(strings.ReplaceAll("% (%–%)", "%", format), x[len(x)/2], x[0], x[len(x)-1])
}

// interval writes the geometric mean of ratios and its 95 % interval by Student's t.
func interval(ratios []float64) string {
	n := float64(len(ratios))
	sum, squares := 0.0, 0.0
	for _, r := range ratios {
		sum += math.Log(r)
		squares += math.Log(r) * math.Log(r)
	}
	mean := sum / n
	if n < 2 {
		return fmt.Sprintf("%.2f", math.Exp(mean))
	}
	t := 1.96 + 2.7/(n-1) // Student's quantile 0.975, within 0.01 from ten degrees of freedom on
	if few := []float64{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26}; len(ratios)-2 < len(few) {
		t = few[len(ratios)-2]
	}
	half := t * math.Sqrt(max(0, squares-n*mean*mean)/(n-1)/n)
	return fmt.Sprintf("%.2f, %.2f–%.2f", math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half))
}
