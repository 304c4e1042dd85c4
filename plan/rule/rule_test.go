package rule

import (
	"math"
	"testing"
)

// Whole numbers and seconds meet the same instants.
func TestNext(t *testing.T) {
	for _, c := range []struct{ t, step, want int64 }{{0, 3, 0}, {1, 3, 3}, {3, 3, 3}, {4, 3, 6}, {7, 0, 7}} {
		if got := next(c.t, c.step); got != c.want {
			t.Errorf("next(%d, %d) = %d, want %d", c.t, c.step, got, c.want)
		}
		if got := next(float64(c.t), float64(c.step)); got != float64(c.want) {
			t.Errorf("next(%g, %g) = %g, want %d", float64(c.t), float64(c.step), got, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	spark := Spark[int64]{Multiplier: 1.5, Interval: 10, MinRuntime: 3}
	if limit, ok := spark.Limit(5); !ok || limit != 7 { // age > 7 and age > 7.5 is the same of whole numbers
		t.Errorf("Spark's limit of 1.5 times 5 is %d", limit)
	}
	if limit, ok := spark.Limit(1); !ok || limit != 3 {
		t.Errorf("Spark's limit of 1.5 times 1, and 3, is %d", limit)
	}
	if _, ok := spark.Limit(math.MaxInt64 / 4 * 3); ok {
		t.Error("there is a limit beyond the range of time")
	}
	if at := spark.Check(20, 5); at != 30 { // older than the limit, not as old
		t.Errorf("Spark checks at %d", at)
	}
	flink := Flink[int64]{Ratio: 0.75, Multiplier: 1.5, LowerBound: 3, Interval: 10}
	if at := flink.Check(20, 5); at != 20 { // as old as the limit
		t.Errorf("Flink checks at %d", at)
	}
	for tasks, want := range []int{0, 1, 2, 2, 2, 3} { // k = 0, 1, 2, 2, 3, 4
		if got := flink.Shortest(tasks); got != want {
			t.Errorf("of %d tasks Flink takes the %d shortest, want %d", tasks, got, want)
		}
	}
}

// The gate of Hadoop is of quotients, as in its code: 0.05 × 140 is more than 7. Its caps are cut off.
func TestHadoopOpens(t *testing.T) {
	r := Hadoop[int64]{Retry: 1, Rest: 15, TotalCap: 0.01, RunningCap: 0.1}
	for _, c := range []struct {
		tasks, done, running, twice int
		want                        bool
	}{
		{140, 7, 100, 0, true},
		{140, 6, 100, 0, false},
		{5, 0, 5, 0, false},
		{100, 50, 29, 1, true},
		{100, 50, 29, 2, false}, // 2.9
	} {
		if got := r.Open(c.tasks, c.done, c.running, c.twice); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// 5 % of a job are rounded, and the fork of 10 tasks with 0.9 is at 1.
func TestForkAt(t *testing.T) {
	for _, c := range []struct {
		p           float64
		tasks, want int
	}{{0.05, 9, 9}, {0.05, 11, 10}, {0.05, 20, 19}, {0.05, 100, 95}, {0.9, 10, 1}, {0, 7, 7}, {1, 7, 0}} {
		if got := (Fork{P: c.p}).At(c.tasks); got != c.want {
			t.Errorf("%d tasks fork with %g at %d, want %d", c.tasks, c.p, got, c.want)
		}
	}
}

func TestRanges(t *testing.T) {
	nan := math.NaN()
	for _, r := range []interface{ Validate() error }{
		Spark[float64]{Quantile: 2}, Spark[float64]{Quantile: nan}, Spark[float64]{Multiplier: -1}, Spark[float64]{Interval: -1},
		Spark[float64]{MinRuntime: nan}, Flink[float64]{Executions: 0}, Flink[float64]{Executions: 2, Ratio: nan},
		Flink[float64]{Executions: 2, Multiplier: nan}, Flink[float64]{Executions: 2, LowerBound: -1},
		Hadoop[float64]{Retry: 1}, Hadoop[float64]{Rest: 1}, Hadoop[float64]{Retry: 1, Rest: 1, MinAllowed: -1},
		Hadoop[float64]{Retry: 1, Rest: 1, TotalCap: nan}, Fork{P: nan}, Fork{P: 1.1}, Fork{R: -1},
	} {
		if r.Validate() == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}
