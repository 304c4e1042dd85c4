// The program registers a policy of its own and compares it with Spark's on a simulated cluster.
package main

import (
	"context"
	"log"
	"os"

	"github.com/tailcut/tailcut"
	"github.com/tailcut/tailcut/trace"
)

func main() {
	tailcut.Register(&entry)
	jobs, err := trace.Synthesize("synth:jobs=200;tasks=50;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=0.05", 1)
	if err != nil {
		log.Fatal(err)
	}
	c, err := tailcut.Simulate(context.Background(), tailcut.Simulation{
		Workload: jobs, Machines: 120, Policies: []string{"spark", "patience:after=60s", "patience:after=20s"}, Runs: 10,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.WriteText(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
