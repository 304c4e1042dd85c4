package diagnosis

import (
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/internal/advice"
	"github.com/tailcut/tailcut/internal/replay"
)

// The systems that settings are for.
const (
	Spark      = "spark"
	Flink      = "flink"
	Hadoop     = "hadoop"
	Tailcut    = "tailcut"
	Kubernetes = "kubernetes"
)

// Systems are all of them.
func Systems() []string { return []string{Spark, Flink, Hadoop, Tailcut, Kubernetes} }

// candidate is a rule of a system with its settings, as lines that can be pasted.
type candidate struct {
	spec  string
	words func(tasks int) string // what it does in a stage of so many tasks
	lines []string
}

// always says the same of every stage.
func always(text string) func(int) string { return func(int) string { return text } }

// forkOf is the rule of a stage for which a fork was planned. In a stage of other tasks the same share of them is left.
func forkOf(s *Finding, line string) candidate {
	return candidate{s.Policy, func(tasks int) string { return advice.WordsElsewhere(s.best, s.Tasks, tasks) }, []string{line + s.Policy}}
}

// candidates are what a system can be told, where the exact plan says that clones help at all: with a machine for each
// task they help most. Its best forks are proposed, as the system can come nearest to them. Settings are for all stages
// of an application, so each candidate is. Spark runs no clone on the host of the original, so with one host it has
// none.
func (d *Diagnosis) candidates(system string, again *replay.Rerun) (all []candidate) {
	var helped []*Finding
	for _, s := range d.Stages {
		if s.Verdict == Replicate || s.Verdict == SlowHost {
			helped = append(helped, s)
		}
	}
	if len(helped) == 0 || system == Spark && again.OneHost() {
		return nil
	}
	slices.SortStableFunc(helped, byWorth)
	propose := func(c candidate) {
		if !slices.ContainsFunc(all, func(o candidate) bool { return o.spec == c.spec }) {
			all = append(all, c)
		}
	}
	switch system {
	case Spark:
		propose(sparkCandidate("0.9", 3))
		propose(sparkCandidate("0.75", 1.5))
		for _, multiplier := range []float64{1.2, 1.5, 2, 3, 4} {
			propose(sparkCandidate("0.5", multiplier))
		}
	case Flink:
		for _, multiplier := range []float64{1.2, 1.5, 2, 3} {
			propose(flinkCandidate("0.75", multiplier))
			propose(flinkCandidate("0.5", multiplier))
		}
	case Hadoop:
		propose(hadoopCandidate(10, 15))
	}
	for _, s := range helped[:min(len(helped), mostProposed)] {
		left := s.best.Stragglers
		switch {
		case system == Spark && left < s.Tasks:
			propose(sparkCandidate(advice.QuantileFor(s.Tasks-left, s.Tasks), 1))
		case system == Flink && left < s.Tasks:
			propose(flinkCandidate(advice.QuantileFor(s.Tasks-left, s.Tasks), 1))
		case system == Hadoop:
			propose(hadoopCandidate(left, 1))
		case system == Tailcut:
			propose(forkOf(s, "--policy "))
		case system == Kubernetes:
			propose(forkOf(s, "tailcut.dev/policy: "))
		}
	}
	return all
}

// sparkCandidate is one clone of a task that runs longer than a multiple of the median, and keeps the original. Since
// version 3.4 Spark may judge by records per second instead, unless told not to.
func sparkCandidate(quantile string, multiplier float64) candidate {
	return candidate{
		fmt.Sprintf("spark:quantile=%s,multiplier=%g", quantile, multiplier),
		always(fmt.Sprintf("speculate: quantile %s, multiplier %g", quantile, multiplier)),
		[]string{
			"spark.speculation=true", "spark.speculation.quantile=" + quantile, fmt.Sprintf("spark.speculation.multiplier=%g", multiplier),
			"spark.speculation.efficiency.enabled=false",
		},
	}
}

// flinkCandidate is the same by Flink's detector, which blocks no machine and knows no task that is too young.
func flinkCandidate(ratio string, multiplier float64) candidate {
	return candidate{
		fmt.Sprintf("flink:ratio=%s,multiplier=%g,lower_bound=0s,block=0s", ratio, multiplier),
		always(fmt.Sprintf("speculate: ratio %s, multiplier %g", ratio, multiplier)),
		[]string{
			"execution.batch.speculative.enabled: true", "execution.batch.speculative.block-slow-node-duration: 0 ms",
			"slow-task-detector.execution-time.baseline-ratio: " + ratio,
			fmt.Sprintf("slow-task-detector.execution-time.baseline-multiplier: %g", multiplier),
			"slow-task-detector.execution-time.baseline-lower-bound: 0 ms",
		},
	}
}

// hadoopCandidate waits for rest seconds after a scan that has asked for an attempt.
func hadoopCandidate(allowed, rest int) candidate {
	property := func(name string, value any) string {
		return fmt.Sprintf("<property><name>%s</name><value>%v</value></property>", name, value)
	}
	return candidate{
		fmt.Sprintf("hadoop2:min_allowed=%d,rest=%ds", allowed, rest),
		always(fmt.Sprintf("speculate: %d at once", allowed)),
		[]string{
			property("mapreduce.map.speculative", true), property("mapreduce.reduce.speculative", true),
			property("mapreduce.job.speculative.minimum-allowed-tasks", allowed),
			property("mapreduce.job.speculative.retry-after-speculate", 1000*rest),
		},
	}
}
