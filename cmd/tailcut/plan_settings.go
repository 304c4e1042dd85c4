package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// forkSpec is the policy for --policy of run and simulate: p with as few digits as give the same fork of n tasks.
func forkSpec(p plan.Policy, tasks int) string {
	n := float64(tasks)
	done := float64(tasks - p.Stragglers)
	share := shortest(float64(p.Stragglers)/n, func(x float64) bool { return math.Round(n*(1-x)) == done })
	return fmt.Sprintf("fork:p=%s,r=%d,original=%s", share, p.Clones, p.Original)
}

// quantileFor is the least number of digits of a share x of n tasks with floor(x n) = k, as Spark and Flink compute it.
func quantileFor(k, tasks int) string {
	n := float64(tasks)
	return shortest((float64(k)+0.25)/n, func(x float64) bool { return x <= 1 && math.Floor(x*n) == float64(k) })
}

// shortest writes x with the fewest digits that are good enough.
func shortest(x float64, good func(float64) bool) string {
	for digits := 0; digits < 17; digits++ {
		s := strconv.FormatFloat(x, 'f', digits, 64)
		if v, err := strconv.ParseFloat(s, 64); err == nil && good(v) {
			return s
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// settings says how other systems are told to do what is recommended, or the nearest that they can.
func (a *forkAnswer) settings() []string {
	best, tasks := a.best[0], a.tasks
	var lines []string
	switch {
	case a.spark == nil:
		lines = append(lines, "Spark clones once, keeps the original, and not before a task is done: it cannot do better than what you have"+
			strings.TrimSuffix(a.judged(), ",")+".")
	case a.single != nil && best.Policy == a.single.Policy && a.spark.multiplier == 1:
		lines = append(lines, a.spark.settings())
	default:
		lines = append(lines, fmt.Sprintf("Spark clones once, keeps the original, and not before a task is done; the best of that kind (latency %s):",
			show.Seconds(a.spark.latency)), a.spark.settings())
	}
	if best.Baseline() {
		return lines
	}
	if best.Original == plan.Keep && best.Stragglers < tasks {
		lines = append(lines, fmt.Sprintf("Flink: execution.batch.speculative.enabled=true, execution.batch.speculative.max-concurrent-executions=%d,\n"+
			"  slow-task-detector.execution-time.baseline-ratio=%s, slow-task-detector.execution-time.baseline-multiplier=1,\n"+
			"  slow-task-detector.execution-time.baseline-lower-bound=0s",
			best.Clones+1, quantileFor(tasks-best.Stragglers, tasks)))
	} else {
		lines = append(lines, "Flink keeps the original and waits for some task to be done: it cannot do this.")
	}
	return append(lines, fmt.Sprintf("Hadoop chooses by estimated progress, one clone at a time; the nearest (latency %s, simulated):\n"+
		"  mapreduce.job.speculative.minimum-allowed-tasks=%d, mapreduce.job.speculative.retry-after-speculate=1000",
		show.Seconds(a.hadoopLatency), a.hadoop.MinAllowed))
}

func (s *sparkChoice) settings() string {
	return fmt.Sprintf("Spark: spark.speculation=true, spark.speculation.quantile=%s, spark.speculation.multiplier=%g,\n"+
		"  spark.speculation.efficiency.enabled=false", s.quantile, s.multiplier)
}
