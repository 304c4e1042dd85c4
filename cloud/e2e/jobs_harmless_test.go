package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The original of index 0 takes long and succeeds, and its clone fails at once. Under Kubernetes' own controller each of these Jobs completes, and so it does with clones.
func TestFailedClone(t *testing.T) {
	c := newCluster(t)
	defer c.controller()()
	specs := map[string]string{
		"one-index":  "backoffLimitPerIndex: 0",
		"fail-job":   "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [3]}}]}",
		"fail-index": "backoffLimitPerIndex: 5, podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [3]}}]}",
		"backoff":    "backoffLimit: 0",
	}
	for name, spec := range specs {
		c.beginFeature(name, "tailcut.dev/controller", "completionMode: Indexed, completions: 4, parallelism: 4, "+spec, "1s 0=25s clone=3")
	}
	for name := range specs {
		got := ""
		c.eventually(3*time.Minute, "the end of "+name, func() bool { got = ended(c.job(name)); return got != "" })
		if want := "Complete CompletionsReached [0-3|] 4 0"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if n := len(c.pods("job-name=" + name + ",tailcut.dev/kind=clone")); n != 1 {
			t.Errorf("%s: %d clones, want the one that fails", name, n)
		}
	}
	c.must("", "delete", "jobs", "--all", "--cascade=foreground", "--timeout=2m")
	c.valid()
}

var (
	randomJobs = flag.Int("random-jobs", 8, "how many Jobs TestClonesDoNoHarm runs")
	randomSeed = flag.Uint64("random-seed", 1, "what TestClonesDoNoHarm draws them from")
)

// drawJob draws limits and policies of a Job, and what its attempts do.
func drawJob(r *rand.Rand) (spec, args string) {
	n := 2 + r.IntN(3)
	spec = fmt.Sprintf("completionMode: Indexed, completions: %d, parallelism: %d", n, 1+r.IntN(6))
	actions := []string{"Count", "Ignore", "FailJob"}
	if r.IntN(2) == 0 {
		spec += fmt.Sprintf(", backoffLimit: 9, backoffLimitPerIndex: %d", r.IntN(2))
		if r.IntN(2) == 0 {
			spec += fmt.Sprintf(", maxFailedIndexes: %d", r.IntN(2))
		}
		actions = append(actions, "FailIndex")
	} else {
		spec += fmt.Sprintf(", backoffLimit: %d", r.IntN(3))
	}
	if r.IntN(2) == 0 {
		spec += fmt.Sprintf(", podFailurePolicy: {rules: [{action: %s, onExitCodes: {operator: In, values: [%d]}}]}", actions[r.IntN(len(actions))], 1+r.IntN(2))
	}
	args = "1s fates=/out"
	for i := range n {
		for _, kind := range []string{"", "c"} {
			var all []string
			for range r.IntN(3) {
				all = append(all, fmt.Sprintf("%ds/%d", 1+r.IntN(9), r.IntN(3)))
			}
			if len(all) > 0 {
				args += fmt.Sprintf(" %s%d=%s", kind, i, strings.Join(all, "+"))
			}
		}
	}
	return spec, args
}

// Random Jobs, each under Kubernetes' own controller and under ours with a policy that clones early. The nth original of an index does the same under both. No Job fails, and no index,
// that does not fail without clones; and where no clone started the Jobs end the same, to the last count.
func TestClonesDoNoHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	defer c.controller("--policy", "spark:quantile=0.2,multiplier=1")()
	r := rand.New(rand.NewPCG(*randomSeed, 0))
	type drawn struct{ name, spec, args string }
	var jobs []drawn
	for i := range *randomJobs {
		spec, args := drawJob(r)
		jobs = append(jobs, drawn{fmt.Sprintf("random-%d", i), spec, args})
		c.beginFeature(jobs[i].name+"-own", "", spec, args)
		c.beginFeature(jobs[i].name+"-tailcut", "tailcut.dev/controller", spec, args)
	}
	clones := 0
	for _, j := range jobs {
		own, ours := "", ""
		c.eventually(5*time.Minute, "the end of "+j.name, func() bool {
			own, ours = ended(c.job(j.name+"-own")), ended(c.job(j.name+"-tailcut"))
			return own != "" && ours != ""
		})
		n := len(c.pods("job-name=" + j.name + "-tailcut,tailcut.dev/kind=clone"))
		clones += n
		t.Logf("%s, %d clones: %s; without: %s; {%s} %s", j.name, n, ours, own, j.spec, j.args)
		if strings.HasPrefix(own, "Complete") && !strings.HasPrefix(ours, "Complete") {
			t.Errorf("%s fails only with clones: %s", j.name, ours)
		}
		if strings.HasPrefix(own, "Complete") && n == 0 && own != ours {
			t.Errorf("%s: without a clone %s, want %s", j.name, ours, own)
		}
	}
	t.Logf("%d clones", clones)
	c.must("", "delete", "jobs", "--all", "--cascade=foreground", "--timeout=2m")
	c.valid()
}
