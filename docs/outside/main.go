// The program compares a policy of its own with Spark's on a simulated cluster, and then runs a job under it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tailcut/tailcut"
	"github.com/tailcut/tailcut/trace"
)

func main() {
	tailcut.Register(&entry)
	ctx := context.Background()
	jobs, err := trace.Synthesize("synth:jobs=200;tasks=50;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=0.05", 1)
	check(err)
	c, err := tailcut.Simulate(ctx, tailcut.Simulation{
		Workload: jobs, Machines: 120, Policies: []string{"spark", "patience:after=60s", "patience:after=20s"}, Runs: 10,
	})
	check(err)
	check(c.WriteText(os.Stdout))

	output, err := os.MkdirTemp("", "patience")
	check(err)
	defer os.RemoveAll(output)
	// The first attempt of task 7 hangs.
	command := []string{"sh", "-c", "if [ $TAILCUT_TASK$TAILCUT_ATTEMPT = 70 ]; then sleep 600; fi; echo {} squared is $(({} * {}))"}
	job := tailcut.Job{Stages: []tailcut.Stage{{Tasks: 20, Command: command}}}
	r, err := tailcut.Run(ctx, job, tailcut.Options{Output: output, Policy: "patience:after=5s", Slots: 4})
	check(err)
	part, err := os.ReadFile(output + "/part-00007")
	check(err)
	fmt.Printf("\n%d tasks, %d clone: %s", r.Tasks, r.Clones, part)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
