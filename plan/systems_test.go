package plan

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// The fork of Spark's rule, by hand: quantile 0.75 of 4, so 3 done; the median of 1 2 3 is 2, and 1.5 times that is 3.
func TestSparkFork(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   Spark
		sorted []float64
		want   float64
	}{
		{"at the quantile", Spark{Quantile: 0.75, Multiplier: 1.5}, []float64{1, 2, 3, 10}, 3},
		{"later, by the multiplier", Spark{Quantile: 0.75, Multiplier: 3}, []float64{1, 2, 3, 10}, 6},
		{"never", Spark{Quantile: 0.75, Multiplier: 6}, []float64{1, 2, 3, 10}, math.Inf(1)},
		// done = 2: the median is 2, th 8, but then 3 tasks are done: the median stays 2 of 1 2 7, th 8 < 20
		{"while others finish", Spark{Quantile: 0.5, Multiplier: 4}, []float64{1, 2, 7, 20}, 8},
		{"at the next check", Spark{Quantile: 0.75, Multiplier: 1.6, Interval: 0.5}, []float64{1, 2, 3, 10}, 3.5},
		{"after the threshold, not at it", Spark{Quantile: 0.75, Multiplier: 2, Interval: 0.5}, []float64{1, 2, 3, 10}, 4.5},
		{"not too young", Spark{Quantile: 0.75, Multiplier: 1, Interval: 0.5, MinRuntime: 8}, []float64{1, 2, 3, 10}, 8.5},
		{"too late a check", Spark{Quantile: 0.75, Multiplier: 1, Interval: 20}, []float64{1, 2, 3, 10}, math.Inf(1)},
	} {
		if got := c.rule.at(c.sorted); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Flink by hand: 3 of 4 done at 3, the (3/2+1)th of them is 2.
func TestFlinkFork(t *testing.T) {
	for _, c := range []struct {
		name string
		rule Flink
		want float64
	}{
		{"at the ratio", Flink{Ratio: 0.75, Multiplier: 1.5, Executions: 2}, 3},
		{"at the multiple of the median", Flink{Ratio: 0.75, Multiplier: 2.25, Executions: 2}, 4.5},
		{"at the next check", Flink{Ratio: 0.75, Multiplier: 2.25, Interval: 1, Executions: 2}, 5},
		{"at the lower bound", Flink{Ratio: 0.75, Multiplier: 1.5, LowerBound: 7, Executions: 2}, 7},
		{"at the start", Flink{Executions: 2}, 0},
	} {
		if got := c.rule.at([]float64{1, 2, 3, 10}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// As Flink allows more attempts it is the fork with more clones.
func TestFlinkIsAFork(t *testing.T) {
	l := laws.Pareto{Alpha: 2, Xm: 2}
	m, err := NewSimulate(l, 40, 100, 3)
	if err != nil {
		t.Fatal(err)
	}
	a := evaluate(t, m, Flink{Ratio: 0.75, Multiplier: 1, Executions: 4})
	if b := evaluate(t, m, Policy{10, 3, Keep}); a != b {
		t.Errorf("Flink %+v, fork %+v", a, b)
	}
}

// hadoopTwin plays Hadoop's scans one by one, looking at every task, with the clones that the job draws.
func hadoopTwin(r Hadoop, j *playing) (latency, cost float64) {
	type task struct{ end, clonedAt, lasts float64 }
	tasks := make([]task, len(j.sorted))
	for i, x := range j.sorted {
		tasks[i] = task{x, math.Inf(1), x}
	}
	for now := r.Retry; ; {
		best, running, two, done, sum := -1, 0, 0, 0, 0.0
		for i, x := range tasks {
			switch {
			case x.end <= now:
				done++
				sum += x.lasts
				continue
			case !math.IsInf(x.clonedAt, 1):
				two++
			case best < 0 || x.end >= tasks[best].end:
				best = i
			}
			running++
		}
		if running == 0 {
			break
		}
		allowed := max(r.MinAllowed, int(max(r.TotalCap*float64(len(tasks)), r.RunningCap*float64(running)))) // an int in DefaultSpeculator
		if best >= 0 && done >= 1 && float64(done) >= 0.05*float64(len(tasks)) && two < allowed &&
			now+sum/float64(done) < tasks[best].end {
			x := &tasks[best]
			x.clonedAt = now
			if fresh := j.draw(1, best); now+fresh < x.end {
				x.end, x.lasts = now+fresh, fresh
			}
			now += r.Rest
			continue
		}
		now += r.Retry
	}
	for _, x := range tasks {
		latency = max(latency, x.end)
		cost += x.end + max(0, x.end-x.clonedAt)
	}
	return latency, cost / float64(len(tasks))
}

func TestHadoopAgainstTwin(t *testing.T) {
	for _, r := range []Hadoop{HadoopDefaults(), {Retry: 2, Rest: 2, MinAllowed: 2, TotalCap: 0.01, RunningCap: 0.3}} {
		for _, spec := range []string{"pareto:alpha=1.2,xm=20", "lognormal:mu=3,sigma=2", "empirical:values=(10x20 200 201 202x3)"} {
			j := newJob(law(t, spec), 60)
			cloned := false
			for number := range 200 {
				j.reset(8, uint64(number))
				j.start()
				r.play(j)
				latency, cost := j.finish()
				wantLatency, wantCost := hadoopTwin(r, j)
				if !near(latency, wantLatency, 1e-9) || !near(cost, wantCost, 1e-9) {
					t.Fatalf("%+v %s job %d: %v, %v, want %v, %v", r, spec, number, latency, cost, wantLatency, wantCost)
				}
				cloned = cloned || latency < j.sorted[59]
			}
			if !cloned {
				t.Errorf("%s: no job was made faster", spec)
			}
		}
	}
}
