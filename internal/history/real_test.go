package history

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// real returns the path of a public log, and skips the test where the collection is not there.
func real(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("TAILCUT_TRACES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "traces")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no public traces here (%v); set TAILCUT_TRACES to their folder", err)
	}
	return path
}

// summary is what a log holds.
type summary struct {
	counts    [4]int // by outcome
	stages    map[[2]string]bool
	jobs      map[string]bool
	hosts     map[string]bool
	seconds   []float64 // of attempts that succeeded, sorted
	input     int64
	shuffled  int64
	byOutcome map[string][4]int // by stage's name
}

func summarise(t testing.TB, path string, keep func(*Record) bool) *summary {
	t.Helper()
	l, err := Open(path, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &summary{stages: map[[2]string]bool{}, jobs: map[string]bool{}, hosts: map[string]bool{}, byOutcome: map[string][4]int{}}
	for a, err := range l.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
		if keep != nil && !keep(a) {
			continue
		}
		s.counts[a.Outcome]++
		c := s.byOutcome[a.Stage]
		c[a.Outcome]++
		s.byOutcome[a.Stage] = c
		s.stages[[2]string{a.Job, a.Stage}] = true
		s.jobs[a.Job] = true
		s.hosts[a.Host] = true
		s.input += a.InputBytes
		s.shuffled += a.ShuffleBytes
		if a.Outcome == Succeeded {
			s.seconds = append(s.seconds, a.Duration.Seconds())
		}
	}
	slices.Sort(s.seconds)
	return s
}

// quantile interpolates, as the statistics of the collection do.
func (s *summary) quantile(p float64) float64 {
	at := p * float64(len(s.seconds)-1)
	i := int(at)
	if i+1 == len(s.seconds) {
		return s.seconds[i]
	}
	return s.seconds[i] + (at-float64(i))*(s.seconds[i+1]-s.seconds[i])
}

func (s *summary) mean() float64 {
	var sum float64
	for _, x := range s.seconds {
		sum += x
	}
	return sum / float64(len(s.seconds))
}

// The counts and quantiles are those that the collection's README states for each file, computed there by other means; where it states none,
// they come from a few lines of Python over the same file.
func TestRealLogs(t *testing.T) {
	for _, c := range []struct {
		path         string
		stages       []string // "" is all
		counts       [4]int   // succeeded, failed, killed, running
		jobs, groups int      // 0: not looked at
		mean         float64
		quantiles    map[float64]float64
	}{
		{path: "spark-eventlogs/sparklint/application_1472176676028_407508_1.gz", counts: [4]int{612}, jobs: 7, groups: 12, mean: 339,
			quantiles: map[float64]float64{0.5: 323, 0.9: 576, 0.99: 983, 1: 1065}},
		{path: "spark-eventlogs/sparklint/spark_event_log_example.gz", counts: [4]int{204}, groups: 3,
			quantiles: map[float64]float64{0.5: 1.5, 0.99: 59.5, 1: 62.7}},
		// The log ends while the only task of a sixth stage runs.
		{path: "spark-eventlogs/sparklint/event_log_1.gz", counts: [4]int{97, 1, 0, 1}, groups: 6},
		{path: "spark-eventlogs/mcp-apache-spark-history-server/events_1_spark-cc4d115f011443d787f03a71a476a745.gz", counts: [4]int{73}, jobs: 6,
			quantiles: map[float64]float64{0.5: 3.2, 1: 287}},
		{path: "spark-eventlogs/mcp-apache-spark-history-server/events_1_spark-110be3a8424d4a2789cb88134418217b.gz", counts: [4]int{39}, jobs: 6,
			quantiles: map[float64]float64{1: 137}},
		{path: "spark-eventlogs/dr-elephant/event_log_1.gz", counts: [4]int{10}},
		{path: "spark-eventlogs/spark-rapids-tools/nds_q72_dataproc_2_2.gz", counts: [4]int{13504}, jobs: 49,
			quantiles: map[float64]float64{0.5: 0.05, 0.9: 0.84, 0.99: 11.6, 1: 35.1}},
		// 75 jobs, and five stages whose JobStart the log lacks.
		{path: "spark-eventlogs/spark-rapids-tools/tasks_executors_fail_compressed_eventlog.gz", counts: [4]int{8577, 53}, jobs: 76, groups: 135},
		{path: "spark-eventlogs/spark-rapids-tools/eventlog_4nodes_8cores_dynamic_alloc.gz", counts: [4]int{235}, jobs: 20,
			quantiles: map[float64]float64{1: 15.8}},

		{path: "hadoop-history/v20-joblog/sample-job-tracker-logs.gz", stages: []string{"map"}, counts: [4]int{154, 4, 66}, jobs: 3},
		{path: "hadoop-history/v20-joblog/sample-job-tracker-logs.gz", stages: []string{"reduce"}, counts: [4]int{49, 0, 3}},
		{path: "hadoop-history/v20-joblog/dispatch-sample-v20-jt-log.gz", counts: [4]int{210, 4, 69}},
		{path: "hadoop-history/v20-joblog/truncated-job-tracker-log.gz", counts: [4]int{23, 1}},
		{path: "hadoop-history/v20-joblog/v20-single-input-log.gz", counts: [4]int{23, 1}, jobs: 1},
		{path: "hadoop-history/jhist/job_1329348432655_0001-1329348443227-user-Sleep+job-1329348468601-10-1-SUCCEEDED-default.jhist.gz",
			counts: [4]int{12}, quantiles: map[float64]float64{0: 1.18, 1: 12.1}},
		{path: "hadoop-history/jhist/job_1416424547277_0002-1416424775281-root-TeraGen-1416424785433-2-0-SUCCEEDED-default-1416424779349.jhist.gz",
			stages: []string{"map"}, counts: [4]int{2}, mean: 3.0},
		{path: "hadoop-history/jhist/job_0.23.9-FAILED.jhist.gz", counts: [4]int{0, 7, 1}},
		{path: "hadoop-history/jhist/job_2.4.0-FAILED.jhist.gz", counts: [4]int{0, 4}},
		{path: "hadoop-history/jhist/job_1393307629410_0001-1393307687476-user-Sleep+job-1393307723835-0-0-FAILED-default-1393307693920.jhist.gz",
			counts: [4]int{0, 1}},
		{path: "hadoop-history/jhist/job_1526555215992_0001-1526555642677-user-QuasiMonteCarlo-1526555658299-1-1-SUCCEEDED-default-1526555648931.jhist.gz",
			counts: [4]int{2}, quantiles: map[float64]float64{0: 2.1, 1: 2.2}},

		{path: "hadoop-rumen/19-jobs.trace.json.gz", stages: []string{"map", "reduce"}, counts: [4]int{8404, 3496, 1096}},
		{path: "hadoop-rumen/19-jobs.trace.json.gz", stages: []string{"map"}, counts: [4]int{5650, 3345, 621}, mean: 304,
			quantiles: map[float64]float64{0: 2.8, 0.5: 100, 0.99: 1330, 1: 2457}},
		{path: "hadoop-rumen/19-jobs.trace.json.gz", stages: []string{"reduce"}, counts: [4]int{2754, 151, 475}, mean: 1252,
			quantiles: map[float64]float64{0: 19, 0.5: 1342, 0.99: 2323, 1: 5997}},
		{path: "hadoop-rumen/trace_7m.json.gz", stages: []string{"map", "reduce"}, counts: [4]int{616}, jobs: 26},
		{path: "hadoop-rumen/trace_7m.json.gz", stages: []string{"reduce"}, counts: [4]int{440}, quantiles: map[float64]float64{0.5: 3.1, 1: 200}},
		{path: "hadoop-rumen/trace_12m.json.gz", stages: []string{"map", "reduce"}, counts: [4]int{447}, jobs: 46},
		{path: "hadoop-rumen/2jobs2min-rumen-jh.json.gz", counts: [4]int{192}, jobs: 2, mean: 20.8, quantiles: map[float64]float64{0: 11.1, 1: 47.0}},

		{path: "google-2011/google-cluster-data.txt.gz", counts: [4]int{2256, 1, 121, 2227}, quantiles: map[float64]float64{0: 15, 0.5: 211, 1: 530}},
		{path: "google-2011/GOOG_job_6390035868.tr", counts: [4]int{1024}, jobs: 1,
			quantiles: map[float64]float64{0: 81.6, 0.5: 769.4, 0.9: 1111, 0.99: 2954, 1: 3189.4}},
		{path: "google-2011/GOOG_heavy_tail_jobs.tr.gz", counts: [4]int{59394}, jobs: 77},
	} {
		t.Run(filepath.Base(c.path)+" "+fmt.Sprint(c.stages), func(t *testing.T) {
			s := summarise(t, real(t, c.path), func(a *Record) bool { return c.stages == nil || slices.Contains(c.stages, a.Stage) })
			if s.counts != c.counts {
				t.Errorf("attempts by outcome %v, expected %v", s.counts, c.counts)
			}
			if c.jobs > 0 && len(s.jobs) != c.jobs {
				t.Errorf("%d jobs, expected %d", len(s.jobs), c.jobs)
			}
			if c.groups > 0 && len(s.stages) != c.groups {
				t.Errorf("%d stages, expected %d", len(s.stages), c.groups)
			}
			if c.mean > 0 && !near(s.mean(), c.mean) {
				t.Errorf("mean %v s, expected %v", s.mean(), c.mean)
			}
			for p, want := range c.quantiles {
				if got := s.quantile(p); !near(got, want) {
					t.Errorf("quantile %v is %v s, expected %v", p, got, want)
				}
			}
		})
	}
}

// near compares with a number that was printed with two or three digits.
func near(got, want float64) bool {
	return math.Abs(got-want) <= max(0.005, 0.02*want) && (math.Abs(got-want) <= 0.5 || math.Abs(got-want) <= 0.006*want)
}

// The two large jobs of the Google sample: how many tasks finish, and how long at least the rest had run (README).
func TestGoogleJobs(t *testing.T) {
	path := real(t, "google-2011/google-cluster-data.txt.gz")
	for _, c := range []struct {
		job                   string
		finished              int
		shortest, median, max float64
	}{
		{"6251674199", 997, 141, 182, 451},
		{"6251672941", 994, 201, 228, 479},
	} {
		s := summarise(t, path, func(a *Record) bool { return a.Job == c.job })
		if s.counts[Succeeded] != c.finished || s.counts[Succeeded]+s.counts[Killed]+s.counts[Failed]+s.counts[Running] != 1050 {
			t.Errorf("job %s: %v by outcome, expected %d of 1050 finished", c.job, s.counts, c.finished)
		}
		if s.quantile(0) != c.shortest || math.Round(s.quantile(0.5)) != c.median || s.quantile(1) != c.max {
			t.Errorf("job %s: %v, %v, %v s, expected %v, %v, %v", c.job, s.quantile(0), s.quantile(0.5), s.quantile(1), c.shortest, c.median, c.max)
		}
	}
}

// Bytes and machines of the production job: 72.1 GB of shuffle, 23 hosts (README).
func TestSparkBytes(t *testing.T) {
	s := summarise(t, real(t, "spark-eventlogs/sparklint/application_1472176676028_407508_1.gz"), nil)
	if len(s.hosts) != 23 || !near(float64(s.shuffled), 72.1e9) {
		t.Errorf("%d hosts and %d bytes of shuffle, expected 23 and 72.1e9", len(s.hosts), s.shuffled)
	}
}

// What Rumen made of the same old log: every attempt with its start, length, outcome and machine.
func TestOldLogEqualsRumen(t *testing.T) {
	type key struct {
		job, stage   string
		task, number int
	}
	read := func(path string) map[key]Record {
		all := map[key]Record{}
		for _, a := range readPath(t, real(t, path)) {
			all[key{a.Job, a.Stage, a.Task, a.Number}] = a
		}
		return all
	}
	old := read("hadoop-history/v20-joblog/sample-job-tracker-logs.gz")
	want := read("hadoop-history/v20-joblog/job-tracker-logs-trace-output.gz")
	if len(old) != len(want) {
		t.Fatalf("%d attempts, Rumen found %d", len(old), len(want))
	}
	for k, a := range want {
		b, known := old[k]
		if !known || b.Start != a.Start || b.Duration != a.Duration || b.Outcome != a.Outcome || b.InputBytes != a.InputBytes || b.ShuffleBytes != a.ShuffleBytes {
			t.Errorf("%v: %+v, Rumen has %+v", k, b, a)
		}
	}
}
