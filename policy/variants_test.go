package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// variants are settings of policies, beside those of specs, that take other ways through the code.
var variants = []string{
	"hadoop:gap=0,lag=0s,order=fair", "hadoop:lag=1s,heartbeat=500ms,order=srpt",
	"grass:mode=gs", "grass:mode=ras,copies=2", "grass:waves=0.5,copies=8", "grass:order=fifo", "grass:order=srpt",
	"hopper:epsilon=1,alpha=one", "hopper:beta=1,copies=4", "hopper:epsilon=0,beta=2",
	"hadoop2:rest=1s,order=fair", "hadoop2:estimator=simple-exponential,skip=2", "hadoop2:min_allowed=0,running_cap=1,retry=3s,order=srpt",
	"dolly:budget=1,threshold=1", "dolly:budget=1,p=0.5,epsilon=0.5,order=fair", "dolly-shed:p=0.4,order=srpt",
	"sca:slot=0s", "sca:slot=1s,gamma=0,copies=3",
	"ese:slot=0s,eta=10", "ese:slot=1s,sigma=0.2,xi=0",
	"sew:strict=true", "sew:maps=1,lambda=0", "sew:maps=0.1,strict=true",
	"flink:lower_bound=0s,multiplier=0.5,order=fair", "flink:ratio=0,lower_bound=5s,block=0s,interval=3s,order=srpt",
	"laps:slot=0s,beta=0.1", "laps:beta=1,slot=1s", "wlaps:slot=0s,beta=0.2", "wlaps:power=1,slot=2s", "intermediate-srpt:slot=0s",
	"capacity:queues=3,first=0,cap=0.6", "capacity:queues=1,user_limit=0.3",
	"chronos-clone:clones=2,order=srpt", "chronos-restart:detect=0.05,kill=0.1,clones=2,order=fair", "chronos-resume:detect=0,law=(pareto:alpha=1.2,xm=3)", "chronos-resume:detect=0.1,clones=3",
	"laxity:late=demote,judge=0s", "laxity:law=(pareto:alpha=1.3,xm=3),launch=1s,avoid=0s,max_attempts=2",
	"shed:law=(pareto:alpha=1.5,xm=5),launch=1s,when=reports,interval=5s", "shed:utility=sum,late=demote,when=departures,master_slots=0", "shed:utility=log,lambda=0.7,max_attempts=2", "shed:utility=alpha,alpha=4",
	"mantri:period=0s,rho=0,delta=0", "mantri:period=2s,rho=0.5,restarts=1,order=fair", "mantri-dup:delta=0.1,copies=2,order=srpt",
}

// TestVariants holds the variants to the contract that the battery holds every policy to.
func TestVariants(t *testing.T) {
	for _, spec := range variants {
		t.Run(spec, func(t *testing.T) {
			clones := 0
			for seed := range uint64(40) {
				l := limits[seed%uint64(len(limits))]
				first := inspect(t, spec, l, seed)
				clones += countClones(first)
				if seed%4 == 0 {
					if diff := cmp.Diff(first, inspect(t, spec, l, seed)); diff != "" {
						t.Fatalf("seed %d: the same world twice, not the same decisions (-first +second):\n%s", seed, diff)
					}
				}
			}
			t.Logf("%d clones", clones)
		})
	}
}
