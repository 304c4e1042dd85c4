package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tailcut/tailcut/trace"
)

// shortJobs and longJobs are the tasks of a job of either kind: nine of ten jobs are short.
const shortJobs, longJobs = 10, 200

// mixture makes a workload: short and long jobs that arrive at random, at so many per second. It writes the format of
// docs/reference/workloads.md, in which a workload of yours may already be.
func mixture(jobs int, rate float64, seed uint64) (*trace.Workload, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	var lines strings.Builder
	at := 0.0
	for range jobs {
		at += random.ExpFloat64() / rate
		kind, tasks := "short", shortJobs
		if random.IntN(10) == 0 {
			kind, tasks = "long", longJobs
		}
		fmt.Fprintf(&lines, `{"name":%q,"arrival_seconds":%.3f,"stages":[{"tasks":%d,"law":"pareto:alpha=1.8,xm=5"}]}`+"\n", kind, at, tasks)
	}
	return trace.Read(strings.NewReader(lines.String()), "mixture", seed)
}
