package tailcut_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tailcut/tailcut"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func ExampleSimulate() {
	workload, err := trace.Synthesize("synth:jobs=50;tasks=100;law=pareto:alpha=1.5,xm=10", 1)
	if err != nil {
		log.Fatal(err)
	}
	compared, err := tailcut.Simulate(context.Background(), tailcut.Simulation{
		Workload: workload,
		Machines: 2000,
		Policies: []string{"fifo", "spark", "srew"},
		Runs:     10,
	})
	if err != nil {
		log.Fatal(err)
	}
	for i, policy := range compared.Policies[1:] {
		// All policies see the same random draws, so their differences vary little. What a policy saves is beyond doubt
		// where the whole interval of the difference is below 0.
		d := compared.Versus(i + 1).Difference
		fmt.Println(policy, "is faster than fifo:", d.Mean+d.Half < 0)
	}
	// Output:
	// spark is faster than fifo: true
	// srew is faster than fifo: true
}

func ExampleRecommend() {
	var measured []time.Duration
	for i := range 95 {
		measured = append(measured, time.Duration(10+i%5)*time.Second)
	}
	for i := range 5 {
		measured = append(measured, time.Duration(60+10*i)*time.Second) // stragglers
	}
	r, err := tailcut.Recommend(context.Background(), tailcut.Question{Durations: measured, Tasks: 200})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("without clones %v\n", r.Without.Latency.Round(time.Second))
	fmt.Printf("--policy %s: %v\n", r.Best.Policy, r.Best.Latency.Round(time.Second))
	fmt.Println("no more machine time:", r.Best.Machine <= r.Without.Machine)
	// Output:
	// without clones 1m38s
	// --policy fork:p=0.435,r=3,original=keep: 25s
	// no more machine time: true
}

func ExampleExplain() {
	d, err := tailcut.Explain(context.Background(), tailcut.Log{Path: "docs/data/durations.txt"})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range d.Stages {
		fmt.Println(s.Tasks, "tasks:", s.Verdict, s.Policy)
	}
	// Output:
	// 1000 tasks: replicate fork:p=0.058,r=2,original=keep
}

func ExampleRun() {
	output, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(output)

	job := tailcut.Job{Stages: []tailcut.Stage{{Tasks: 20, Command: []string{"sh", "-c", "echo square of {} is $(({} * {}))"}}}}
	result, err := tailcut.Run(context.Background(), job, tailcut.Options{Output: output, Slots: 4, Log: os.Stderr})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Tasks, "tasks")
	part, err := os.ReadFile(filepath.Join(output, "part-00012"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(part))
	// Output:
	// 20 tasks
	// square of 12 is 144
}

// patient starts tasks in the order of their jobs, and clones nothing.
type patient struct{ order kit.Order }

func (p *patient) Observe(v *sched.View, ev *sched.Event)   { p.order.Observe(v, ev) }
func (p *patient) Decide(v *sched.View, act *sched.Actions) { p.order.Fill(v, act) }

func ExampleRegister() {
	tailcut.Register(&policy.Entry{
		Name:           "patient",
		Summary:        "jobs one after the other, no clones",
		Source:         "an example",
		Params:         []kit.Param{kit.OrderParam},
		WorkConserving: true,
		New:            func(a kit.Args) sched.Policy { return &patient{kit.NewOrder(a)} },
	})
	fmt.Println(slices.Contains(tailcut.Policies(), "patient"))
	// Output: true
}

func ExamplePolicies() {
	fmt.Println(slices.Contains(tailcut.Policies(), "srew"))
	// Output: true
}
