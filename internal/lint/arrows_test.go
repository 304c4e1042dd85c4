package lint

import (
	"go/token"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says which packages of the module may import which. "->" reads "may import"; what is not said is forbidden.
//
// It is a statement of policy. DO NOT CHANGE IT TO MAKE A BUILD PASS: a new arrow is a decision (docs/decisions). No policy knows a
// driver, no driver knows another, the planner knows neither scheduler nor simulator, and the core knows nobody.
// Tests may import what they like of the module, as far as Go lets them.
const arrows = `
	.          -> internal/advice internal/diagnosis internal/durations internal/replay internal/inputs internal/jobfile internal/run internal/simulation laws plan policy sched sim trace
	laws       -> internal/grammar
	sched      ->
	plan       -> laws plan/rule
	policy     -> sched laws plan plan/rule internal/grammar policy/kit policy/internal/geo policy/internal/tandem policy/internal/resume policy/internal/probes
	plan/rule  ->
	policy/kit -> sched laws internal/grammar
	trace      -> sched laws internal/grammar internal/disk internal/unpack
	sim        -> sched laws trace internal/grammar

	policy/policytest      -> sched policy/kit sim trace
	policy/internal/geo    -> sched laws policy/kit
	policy/internal/resume -> sched policy/kit
	policy/internal/tandem -> sched policy/kit
	policy/internal/probes -> sched policy/kit

	internal/grammar     ->
	internal/outlook     -> sched laws plan
	internal/history     -> internal/live trace sched internal/unpack
	internal/mapreduce   -> internal/disk internal/unpack
	internal/inputs      ->
	internal/jobfile     -> internal/grammar internal/inputs internal/mapreduce sched
	internal/overlap     -> laws
	internal/overlap/study -> internal/grammar internal/overlap internal/report internal/show trace internal/cputime internal/unpack
	internal/live        -> internal/grammar sched laws trace
	internal/live/proc   -> internal/grammar internal/live internal/jobfile sched internal/mapreduce internal/show internal/disk internal/strides
	internal/live/remote -> internal/live internal/jobfile sched
	internal/run         -> internal/hindsight internal/notify internal/past internal/promise internal/audit internal/live internal/live/proc internal/live/remote internal/inputs internal/jobfile internal/mapreduce internal/outlook internal/grammar internal/results internal/show laws plan policy sched sim trace internal/disk
	internal/timeline    -> internal/live sched trace
	internal/door        ->
	internal/serve       -> internal/door internal/grammar internal/jobfile internal/live internal/live/proc internal/mapreduce internal/past internal/portfolio internal/promise internal/whatif internal/results internal/run internal/timeline policy sched trace internal/disk
	internal/past        -> internal/live internal/live/remote internal/promise sched
	internal/promise     -> laws sched
	internal/portfolio   -> internal/promise laws policy sched
	internal/page        -> internal/timeline
	internal/parting     -> internal/live internal/show internal/timeline sched trace
	internal/whatif      -> internal/grammar internal/past internal/show internal/simulation laws sched sim trace
	internal/cputime     ->
	internal/disk        ->
	internal/disk/disktest ->
	internal/history/historytest ->
	internal/unpack      ->
	internal/strides     ->
	internal/notify      ->
	internal/hindsight   -> internal/live laws policy sched sim trace
	internal/measure     -> internal/cputime policy sim trace
	internal/suite       -> internal/simulation policy sched sim trace
	bench/suite          -> internal/report internal/suite policy
	internal/show        ->
	internal/audit       -> internal/live internal/live/proc internal/mapreduce internal/page internal/report internal/show internal/timeline policy sched trace
	internal/results     -> internal/grammar internal/inputs internal/jobfile internal/live internal/live/proc internal/mapreduce internal/show sched trace
	internal/catalogue   -> internal/show policy policy/kit
	internal/workload    -> internal/audit internal/grammar internal/history internal/live internal/replay internal/show sched trace
	internal/simulation  -> internal/grammar internal/portfolio internal/show laws policy sched sim trace
	internal/report      -> internal/show
	internal/durations   -> internal/history internal/live internal/show laws
	internal/replay      -> internal/history laws policy sched sim trace
	internal/advice      -> internal/durations internal/report internal/show laws plan policy
	internal/diagnosis   -> internal/advice internal/durations internal/history internal/replay internal/report internal/show laws plan
	internal/nights      -> internal/diagnosis internal/durations internal/history internal/replay internal/show laws sched
	internal/sizing      -> internal/history internal/replay internal/show
	internal/deadline    -> internal/show laws plan
	internal/reproduce   -> laws sched policy policy/kit plan trace sim internal/overlap internal/overlap/study internal/report
	internal/attack      ->
internal/contest     ->
	internal/lint        ->
	internal/manual      -> internal/version
	internal/version     ->

	cloud/chart ->
	cloud/internal/podtemplate ->
	cloud/internal/kube  -> internal/live internal/portfolio internal/promise cloud/internal/podtemplate sched
	cloud/internal/why   -> cloud/internal/kube cloud/internal/podtemplate internal/door internal/page
	cloud/internal/store -> internal/live internal/jobfile sched internal/mapreduce internal/strides
	cloud/internal/pods  -> internal/jobfile internal/live cloud/internal/store cloud/internal/podtemplate sched

	history/internal/database -> internal/live internal/past internal/promise sched

	cmd/*       -> *
	cloud/cmd/* -> *
	history/cmd/* -> *
	cloud/e2e       ->
	cloud/e2e/cmd/* ->
`

// outsiders says who alone may import certain modules of others; the rest is free to all but the pure packages.
const outsiders = `
	k8s.io               -> cloud/internal/kube cloud/internal/pods cloud/internal/podtemplate cloud/internal/why cloud/e2e
	sigs.k8s.io          -> cloud/internal/kube cloud/internal/pods cloud/internal/podtemplate cloud/internal/why cloud/e2e
	gocloud.dev          -> cloud/internal/store
	modernc.org          -> history/internal/database
	github.com/spf13     -> cmd/* cloud/cmd/* history/cmd/* internal/manual
	gonum.org/v1/gonum   -> laws internal/overlap
`

func TestArrows(t *testing.T) { everywhere(t, checkArrows) }

func checkArrows(f *file) (found []string) {
	mine, known := rules(arrows)[class(f.dir())]
	if !known {
		return []string{f.found(f.Package, "package %s has no line in internal/lint's arrows; say there what it may import", f.dir())}
	}
	for _, imp := range f.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		own, ours := strings.CutPrefix(target, module+"/")
		if ours && !f.test() && !slices.Contains(mine, own) && !slices.Contains(mine, "*") {
			found = append(found, f.found(imp.Pos(), "%s may import %v, not %s; turn the arrow round or move the code", f.dir(), mine, own))
		}
		if strings.Contains(strings.Split(target, "/")[0], ".") && !ours {
			found = append(found, checkOutsider(f, imp.Pos(), target)...)
		}
	}
	return found
}

// checkOutsider looks at the import of somebody else's module.
func checkOutsider(f *file, at token.Pos, target string) []string {
	for prefix, who := range rules(outsiders) {
		if target != prefix && !strings.HasPrefix(target, prefix+"/") {
			continue
		}
		if !slices.Contains(who, class(f.dir())) {
			return []string{f.found(at, "%s belongs to %v; %s has to do without", prefix, who, f.dir())}
		}
		return nil
	}
	if slices.Contains(pure, f.dir()) && !f.test() {
		return []string{f.found(at, "%s is pure and imports nothing but the standard library and what internal/lint's outsiders allow, not %s", f.dir(), target)}
	}
	return nil
}

// class is a package as the rules name it: programs share a line.
func class(dir string) string {
	if parent := path.Dir(dir); path.Base(parent) == "cmd" {
		return parent + "/*"
	}
	return dir
}

// rules reads lines of the form "a -> b c".
func rules(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if from, to, ok := strings.Cut(line, "->"); ok {
			all[strings.TrimSpace(from)] = strings.Fields(to)
		}
	}
	return all
}

// The tool starts itself for every attempt. What it links is paid for each time.
func TestToolLinksNoClouds(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/tailcut")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"k8s.io/", "sigs.k8s.io/", "gocloud.dev", "github.com/aws/", "modernc.org/"} {
			if strings.HasPrefix(name, heavy) {
				t.Errorf("cmd/tailcut links %s; that is for cloud/cmd/tailcut-cloud or history/cmd/tailcut-history", name)
			}
		}
	}
}

func TestArrowsFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, imports, want string }{
		{"sched/x.go", `"fmt"`, ""},
		{"sched/x.go", `"github.com/tailcut/tailcut/laws"`, "x.go:2: sched may import [], not laws"},
		{"sched/x_test.go", `"github.com/tailcut/tailcut/laws"`, ""},
		{"policy/x.go", `"github.com/tailcut/tailcut/sched"`, ""},
		{"policy/x.go", `"github.com/tailcut/tailcut/sim"`, "not sim"},
		{"cmd/tailcut/x.go", `"github.com/tailcut/tailcut/sim"`, ""},
		{"util/x.go", `"fmt"`, "package util has no line"},
		{"cloud/internal/kube/x.go", `"k8s.io/api/batch/v1"`, ""},
		{"internal/live/x.go", `"k8s.io/api/batch/v1"`, "k8s.io belongs to [cloud/internal/kube cloud/internal/pods cloud/internal/podtemplate cloud/internal/why cloud/e2e]"},
		{"internal/live/x_test.go", `"k8s.io/api/batch/v1"`, "k8s.io belongs to [cloud/internal/kube cloud/internal/pods cloud/internal/podtemplate cloud/internal/why cloud/e2e]"},
		{"sched/x.go", `"example.org/clever"`, "sched is pure"},
		{"sched/x_test.go", `"pgregory.net/rapid"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { sample(t, checkArrows, c.name, "package x\nimport "+c.imports, c.want) })
	}
}
