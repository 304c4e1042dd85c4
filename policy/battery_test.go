package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// specs are all policies and presets as they come, and settings that take other ways through the code.
func specs() []string {
	return append(Names(),
		"late:estimate=progress,order=srpt", "late:node_filter=true,min_age=0s,cap=0.5", "late:min_age=1s,slow_task=0.5,order=fair",
		"spark:quantile=0,multiplier=0,min_runtime=0s", "spark:quantile=0.5,multiplier=1.1,order=fair,interval=1s",
		"spark:task_threshold=5s,order=srpt",
		"fork:p=0", "fork:p=1,r=2", "fork:p=0.3,r=2,original=kill,order=fair", "fork:p=0.5,r=0,original=kill,order=srpt",
		"fork:p=1,r=3,original=kill", "fork:learn=true,r=3,winners=1,order=fair", "fork:learn=true", "wlaps:energy=3", "wlaps:energy=2,power=1",
	)
}

// variants are settings of policies, beside those of specs, that take other ways through the code.
var variants = []string{
	"late:clones=cluster,min_age=1s", "spark:clones=cluster,quantile=0.5,multiplier=1", "hadoop:clones=cluster,lag=0s", "hadoop2:clones=cluster,rest=1s",
	"flink:clones=cluster,lower_bound=0s", "hadoop2:estimator=simple-exponential-first,skip=1,rest=1s",
	"hadoop:gap=0,lag=0s,order=fair", "hadoop:lag=1s,heartbeat=500ms,order=srpt",
	"fillsrpt:size=first", "splitsrpt:size=bytes", "fillsrpt:clones=auto", "grass:mode=gs,tnew=known", "grass:mode=ras,copies=2,tnew=all", "grass:switch=waves,waves=0.5,copies=8", "grass:order=fifo,sample=0.9", "grass:order=srpt,switch=size,size=5",
	"hopper:beta=1,copies=4", "hopper:epsilon=0,beta=2,alpha=work", "hopper:epsilon=1,alpha=one",
	"hadoop2:rest=1s,order=fair", "hadoop2:estimator=simple-exponential,skip=2", "hadoop2:min_allowed=0,running_cap=1,retry=3s,order=srpt",
	"dolly:budget=1,threshold=1,min_age=1s", "dolly:budget=1,p=0.5,epsilon=0.5,under=mantri,order=fair", "dolly:budget=0.5,threshold=1,p=0.3,under=none", "dolly-shed:p=0.4,order=srpt",
	"srew:preempt=clones,slot=1s",
	"sca:slot=0s", "sca:slot=1s,gamma=0,copies=3",
	"ese:slot=0s,eta=10", "ese:slot=1s,sigma=0.2,xi=0",
	"sew:strict=true", "sew:maps=1,lambda=0", "sew:maps=0.1,strict=true",
	"flink:lower_bound=0s,multiplier=0.5,order=fair", "flink:ratio=0,lower_bound=5s,block=0s,interval=3s,order=srpt",
	"laps:beta=0.1", "laps:servers=2", "srpt:preempt=true", "laps:beta=1,slot=5s", "wlaps:beta=0.2", "wlaps:power=1,slot=2s", "intermediate-srpt:slot=5s",
	"capacity:queues=3,first=0,cap=0.6", "capacity:queues=1,user_limit=0.3,user_check=reached",
	"chronos-clone:clones=2,order=srpt", "chronos-restart:detect=0.05,kill=0.1,clones=2,order=fair", "chronos-resume:detect=0,law=(pareto:alpha=1.2,xm=3)", "chronos-resume:detect=0.1,clones=3",
	"laxity:late=kill", "laxity:late=demote,judge=10s", "laxity:law=(pareto:alpha=1.3,xm=3),launch=1s,avoid=0s,max_attempts=2",
	"shed:law=(pareto:alpha=1.5,xm=5),launch=1s,when=reports,interval=5s", "shed:utility=sum,late=demote,when=departures,master_slots=0", "shed:utility=log,lambda=0.7,max_attempts=2", "shed:utility=alpha,alpha=4", "shed:late=kill",
	"sparrow:probes=1,trip=0s", "sparrow:probes=3,trip=1s,cancel=false", "sparrow:sampling=batch,trip=2s", "sparrow:sampling=task,trip=0s,cancel=false",
	"hawk:cutoff=0s,short=0", "hawk:cutoff=20s,short=0.4,steal=3,trip=1s", "hawk:cutoff=20s,short=1,cancel=true",
	"eagle:cutoff=0s,short=0", "eagle:cutoff=20s,short=0.4,trip=1s,bypass=1", "eagle:cutoff=20s,short=0.5,sticky=false,bypass=-1,cancel=true",
	"mantri:period=0s,rho=0,delta=0", "mantri:period=2s,rho=0.5,restarts=1,order=fair,tnew=finished", "mantri-dup:delta=0.1,copies=2,order=srpt,tnew=known,clones=cluster",
}

// siteSpecs are policies that choose between sites, and settings of theirs that take other ways through the code.
var siteSpecs = []string{
	"geoclone", "geoclone:slot=0s,epsilon=0.5", "geoclone:first=printed,slots=free,slot=1s,copies=3", "geoclone:tasks=unfinished,round=quota,slot=2s",
	"geoclone:prior=,memory=1s,weight=1", "flutter:truth=true", "iridium:truth=true", "iridium:memory=20ms,bandwidth=1e9,weight=0.1",
	"flutter", "flutter:order=fifo,weight=1", "iridium", "iridium:place=slots", "iridium:order=srpt", "spark-geo", "spark-geo:wait=0s", "fifo:sites=delay,wait=20s", "srpt:sites=delay",
	"spark-geo+late:min_age=1s,slow_task=0.5", "flutter+mantri", "flutter+mantri:period=1s,rho=0,restarts=1", "mantri:sites=iridium,order=srpt", "flutter+dolly",
	"flutter+dolly:budget=1,threshold=1,p=0.4", "dolly:sites=iridium,budget=1,threshold=1,p=0.3",
	"geoclone:money=1000,slot=1s,tasks=unfinished,draws=2", "flutter:money=1e4", "iridium:money=1000", "iridium:money=100,place=slots",
}

// TestBattery holds every policy, under all these settings, to what every policy is held to.
func TestBattery(t *testing.T) {
	settings := map[string][]string{}
	for _, spec := range slices.Concat(specs(), variants, siteSpecs) {
		canonical, err := Canonical(spec)
		if err != nil {
			t.Fatal(err)
		}
		name, params, _ := strings.Cut(canonical, ":")
		if params != "" && !slices.Contains(settings[name], params) {
			settings[name] = append(settings[name], params)
		}
	}
	var seen policytest.Seen
	for _, e := range Entries() {
		one := policytest.Run(t, e, settings[e.Name]...)
		seen.Clones += one.Clones
		seen.Retried += one.Retried
	}
	if worlds := 20; !testing.Short() && (seen.Clones < 20*worlds || seen.Retried < worlds) {
		t.Errorf("only %d clones and %d retried jobs in all: the worlds test nothing", seen.Clones, seen.Retried)
	}
}

// subject returns a policy for the battery.
func subject(t *testing.T, spec string) *policytest.Subject {
	t.Helper()
	canonical, err := Canonical(spec)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Find(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, params, _ := strings.Cut(canonical, ":")
	return policytest.Of(t, e, params)
}

// TestMixedClasses: each class of slots may have a policy of another kind.
func TestMixedClasses(t *testing.T) {
	for _, pair := range [][2]string{{"fifo", "fair"}, {"late", "srew"}, {"maxsrpt:size=first", "maxsrpt:size=first"}, {"splitsrpt:size=history", "splitsrpt:size=history"}, {"fillsrpt", "fillsrpt"}, {"maxsrpt:size=bytes", "maxsrpt:size=bytes"}, {"fillsrpt:clones=auto", "fillsrpt:clones=auto"}} {
		t.Run(strings.Join(pair[:], "/"), func(t *testing.T) {
			policytest.PerClass(t, subject(t, pair[0]), subject(t, pair[1]), 30)
		})
	}
}

// TestHandOver: any policy can go on where any other left off.
func TestHandOver(t *testing.T) {
	names := Names()
	for i, first := range names {
		second := names[(i*7+3)%len(names)]
		t.Run(fmt.Sprintf("%s to %s", first, second), func(t *testing.T) {
			policytest.HandOver(t, forOneJob(t, first), forOneJob(t, second))
		})
	}
}

// TestTakeUp: a policy may be changed for any other at any instant, whatever runs.
func TestTakeUp(t *testing.T) {
	names := Names()
	policytest.TakeUp(t, 40, func(n int) *policytest.Subject {
		s := subject(t, names[n*13%len(names)])
		s.WorkConserving = false // the next may not be
		return s
	})
}

// TestMemoryless: a policy that keeps nothing of its own decides as if it had not been replaced.
func TestMemoryless(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"fifo", "fair", "srpt", "capacity", "laps", "wlaps", "intermediate-srpt"} {
		t.Run(spec, func(t *testing.T) { policytest.Memoryless(t, subject(t, spec), 16) })
	}
}

func forOneJob(t *testing.T, spec string) func() sched.Policy {
	spec, err := ForDeadlines(spec, "2s")
	if err != nil {
		t.Fatal(err)
	}
	return subject(t, spec).New
}
