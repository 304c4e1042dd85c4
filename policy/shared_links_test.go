package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// sharedWorld is Iridium's own model: three to six sites behind lines of 1 to 20 MB/s that all fetches share, and one job whose maps read 100 MB each where there are often too few slots, and whose reduces
// read a part of every map's result.
func sharedWorld(tb testing.TB, seed uint64) (*sim.Cluster, *trace.Workload) {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 22))
	cluster, inputs := "sites:\n", []string{}
	for k := range 3 + r.IntN(4) {
		rate := func() int { return 1 + r.IntN(20) }
		cluster += fmt.Sprintf("  - {name: s%d, machines: %d, up: %dMB/s, down: %dMB/s}\n", k, 2+r.IntN(19), rate(), rate())
		for range 5 + r.IntN(36) {
			inputs = append(inputs, fmt.Sprintf(`[{"site":"s%d","bytes":100000000}]`, k))
		}
	}
	c, err := sim.ReadCluster("cluster.yaml", []byte(cluster+"links: {bandwidth: 1GB/s, shared: true}\n"))
	if err != nil {
		tb.Fatal(err)
	}
	job := fmt.Sprintf(`{"stages":[{"name":"map","durations_seconds":[%s],"inputs":[%s]},{"durations_seconds":[%s],"after":[{"stage":"map","bytes":[%d]}]}]}`,
		repeated(len(inputs), 1+r.IntN(5)), strings.Join(inputs, ","), repeated(10+r.IntN(21), 1), 100_000+r.IntN(900_000))
	w, err := new(trace.Importer).Read(strings.NewReader(job), "job.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	return c, w
}

func repeated(n, x int) string { return strings.TrimSuffix(strings.Repeat(fmt.Sprint(x, ","), n), ",") }

// TestSharedLinks compares policies that know of shared links with the readings that do not, in twelve worlds: the geometric mean of the ratio of completion times. The bounds are far from what was measured.
func TestSharedLinks(t *testing.T) {
	const worlds = 12
	for _, x := range []struct {
		blind, knowing string
		least          float64
	}{
		{"iridium:place=slots", "iridium", 3},
		{"iridium:place=slots,truth=true", "iridium:truth=true", 3},
		{"iridium", "iridium:truth=true", 1},
		{"flutter:contention=ignored", "flutter", 2},
		{"flutter:contention=ignored,truth=true", "flutter:truth=true", 2},
		{"geoclone:contention=ignored,copies=1", "geoclone:copies=1", 2},
		{"geoclone:contention=ignored,copies=1,truth=true", "geoclone:copies=1,truth=true", 2},
	} {
		sum, worst := 0.0, math.Inf(1)
		for seed := range uint64(worlds) {
			c, w := sharedWorld(t, seed)
			both := [2]float64{}
			for i, spec := range []string{x.blind, x.knowing} {
				both[i] = completion(t, spec, c, w, seed)
			}
			sum += math.Log(both[0] / both[1])
			worst = min(worst, both[0]/both[1])
		}
		ratio := math.Exp(sum / worlds)
		t.Logf("%s over %s: %.2f, at least %.2f", x.blind, x.knowing, ratio, worst)
		if ratio < x.least {
			t.Errorf("%s takes %.2f times as long as %s, want %v at least", x.blind, ratio, x.knowing, x.least)
		}
	}
}
