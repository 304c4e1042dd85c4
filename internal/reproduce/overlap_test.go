package reproduce

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// What the paper says of single instances holds: Figures 2 to 4, Corollaries 4 and 6.
func TestOverlapInstances(t *testing.T) {
	p := report.Page{Sections: []report.Section{progressSection(), hadoopSection(), worstCaseSection(), hardSection()}}
	for _, c := range p.Failed() {
		t.Errorf("%s: published %s, measured %s", c.What, c.Published, c.Measured)
	}
	if got := tandemRun(fcfs, []overlap.Demand{{Map: 1, Shuffle: 2}, {Map: 3, Shuffle: 1}, {Map: 2, Shuffle: 2}}); !near(got, 3, 5, 8) {
		t.Errorf("ordinary tandem queue, Figure 3: completions %v, want 3, 5, 8", got)
	}
}

// The proof of Theorem 2 names which stream defeats which policy, and the least streams tell its schedule from the policies.
func TestAdversary(t *testing.T) {
	for which, p := range []overlap.Discipline{split, maxSRPT} {
		const k = 8
		if got := theorem2Choice(p, k); got != which {
			t.Errorf("%v: the adversary chooses %q", p, theorem2Streams[got])
		}
		jobs := theorem2Jobs(k, which)
		if n := k*k + k + k*k*k + 1; len(jobs) != n {
			t.Errorf("%s: %d jobs, want %d", theorem2Streams[which], len(jobs), n)
		}
		best, policy := theorem2Best(k, which), totalFlow(p, jobs)
		if bound := tightBound(jobs) * float64(len(jobs)); !(bound <= best && best < 0.6*policy) {
			t.Errorf("%s: bound %v, the proof's schedule %v, %v %v", theorem2Streams[which], bound, best, p, policy)
		}
	}
}

// In the ordinary tandem queue of Figure 3 the first job is shuffled from 1 to 3, the second from 4 to 5, the third from 6 to 8.
func TestTandemCourse(t *testing.T) {
	at := tandemLeft([]overlap.Demand{{Map: 1, Shuffle: 2}, {Map: 3, Shuffle: 1}, {Map: 2, Shuffle: 2}})()
	for _, c := range []struct{ t, maps, shuffles, ready float64 }{{0, 6, 5, 0}, {0.5, 5.5, 5, 0}, {1, 5, 5, 2}, {2, 4, 4, 1}, {3.5, 2.5, 3, 0}, {4, 2, 3, 1}, {5.5, 0.5, 2, 0}, {7, 0, 1, 1}, {8, 0, 0, 0}} {
		var got [3]float64
		for _, l := range at(c.t) {
			got[0], got[1], got[2] = got[0]+l.Map, got[1]+l.Shuffle, got[2]+l.Backlog
		}
		if want := [3]float64{c.maps, c.shuffles, c.ready}; got != want {
			t.Errorf("at %v %v is left, want %v", c.t, got, want)
		}
	}
}

// The table of the docs is this one.
func TestTaskTableOfDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/howto/overlap.md")
	if err != nil {
		t.Fatal(err)
	}
	var r taskRuns
	for i, p := range taskPolicies {
		cells := []any{p.spec, minutes(fluidRun(p.fluid, figure4))}
		for n := range taskCounts {
			if err := r.run(t.Context(), i, n); err != nil {
				t.Fatal(err)
			}
			cells = append(cells, minutes(r.done[i][n]))
		}
		if row := fmt.Sprintf("| %[2]s | %[3]s | %[4]s | %[5]s |", cells...); !strings.Contains(string(page), row) {
			t.Errorf("docs/howto/overlap.md lacks, for %s, %s", p.spec, row)
		}
	}
}

func minutes(times []float64) string {
	var words []string
	for _, m := range times {
		words = append(words, fmt.Sprintf("%.2f", m))
	}
	return strings.Join(words, ", ")
}

// The month has the paper's 110 jobs an hour on average and 300 in the busiest hour, up to the luck of a Poisson process.
func TestSurrogateMonth(t *testing.T) {
	jobs := surrogateMonth(1).jobs
	var hours [29 * 24]float64
	before := 0.0
	for _, j := range jobs {
		if j.Arrival < before {
			t.Fatalf("a job arrives at %v, after %v", j.Arrival, before)
		}
		before = j.Arrival
		hours[int(j.Arrival/3600)]++
	}
	peak := 0.0
	for _, n := range hours {
		peak = max(peak, n)
	}
	if mean := float64(len(jobs)) / float64(len(hours)); math.Abs(mean-110) > 2 || math.Abs(peak-300) > 60 {
		t.Errorf("%v jobs an hour and up to %v, want 110 and 300", mean, peak)
	}
}

// Figure 7 at its highest load, on the surrogate: both SRPTs far below k-LPS; SplitSRPT better with the sizes as they are, MaxSRPT with balanced ones.
func TestSurrogateMonthAtHighLoad(t *testing.T) {
	d := surrogateMonth(1)
	last := len(dayLoads) - 1
	for ratio := range dayRatios {
		if err := d.run(ratio, last); err != nil {
			t.Fatal(err)
		}
		klps, most, parts := d.relative(ratio, last, 0), d.relative(ratio, last, 1), d.relative(ratio, last, 2)
		if most < 1 || parts < 1 || max(most, parts) > klps/2 || (parts < most) != (ratio == 0) {
			t.Errorf("%s ratios: relative E[T] %.3f under MaxSRPT, %.3f under SplitSRPT, %.3f under k-LPS", dayRatios[ratio], most, parts, klps)
		}
	}
}

// A mean within the tolerance whose interval is not is undecided, and the tolerance is 3 % for every policy.
func TestLargeMeanClaim(t *testing.T) {
	l := largeJobs{n: 50_000_000}
	for _, c := range []struct {
		mean, half float64
		want       report.Verdict
	}{
		{16.28, 0.4, report.Holds}, {16.64, 0.1, report.Holds}, {16.64, 0.4, report.Undecided}, {16.9, 0.4, report.Undecided}, {17.5, 0.4, report.Fails},
	} {
		r := largeRun{policy: overlap.Discipline{Kind: overlap.KLPS, K: 100}, published: 16.28}
		for i := range r.batch {
			// two values, so that the interval is as wide as asked for
			d := c.half * math.Sqrt((batches-1)*batches) / 2.093 / math.Sqrt(batches)
			r.batch[i].jobs, r.batch[i].flow = 1, c.mean+d*float64(1-i%2*2)
		}
		r.summary.Add(overlap.Completion{Job: overlap.Demand{Map: 1}, Time: c.mean})
		if got := l.claim(0.9, &r); got.Verdict != c.want {
			t.Errorf("%v ± %v: %s, %s, want %s", c.mean, c.half, got.Measured, got.Verdict, c.want)
		}
	}
}

// A shuffle task of the estimator's jobs lasts its bytes over the bandwidth, but for noise of mean 1; and what policies are told is what came out.
func TestBytesWorkload(t *testing.T) {
	for _, s := range []bytesStream{{scatter: 0.5}, {scatter: 0.5, long: true}} {
		w, err := s.workload(200, 1)
		if err != nil {
			t.Fatal(err)
		}
		var seconds, bytes, together, longs float64
		for j := range w.Jobs {
			stages := w.StagesOf(j)
			maps, shuffles, written := w.DurationsOf(&stages[0]), w.DurationsOf(&stages[1]), w.Writes(j, 0)
			if len(written) != len(maps) || len(shuffles) != len(maps) {
				t.Fatalf("job %d: %d maps, %d shuffle tasks, %d numbers of bytes", j, len(maps), len(shuffles), len(written))
			}
			for i, b := range written {
				seconds += shuffles[i].Seconds()
				bytes += float64(b)
				if x := math.Log(float64(b) / bytesBandwidth / stages[1].Mean.Seconds()); len(maps) >= bytesMaps {
					together += x * math.Log(maps[i].Seconds()/stages[0].Mean.Seconds())
					longs += x * x
				}
			}
			if off := stages[0].Mean.Seconds() * float64(len(maps)) / total(maps).Seconds(); math.Abs(off-1) > 1e-6 {
				t.Errorf("job %d: the mean that is told is off by %v", j, off)
			}
		}
		if got := bytes / bytesBandwidth / seconds; math.Abs(got-1) > 0.02 {
			t.Errorf("long %v: shuffle tasks last %v times their bytes over the bandwidth", s.long, 1/got)
		}
		if got := together / longs; s.long != (got > 0.9) || !s.long && math.Abs(got) > 0.1 {
			t.Errorf("long %v: slope of the durations of maps over what they write %v", s.long, got)
		}
	}
}
