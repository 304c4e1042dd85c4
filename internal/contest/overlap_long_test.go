//go:build linux && long

package contest

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/past"
)

// The three jobs of Figure 4 of Lin, Zhang, Wierman and Tan, as job files of sleeping tasks: sort, grep and sort again.
// A second of here is a minute of theirs. Like theirs, a job has about six map tasks for each map slot; shuffle task i
// follows map task i.
var figure4 = []struct {
	name   string
	demand overlap.Demand
}{
	{"sort", overlap.Demand{Map: 7, Shuffle: 11}},
	{"grep", overlap.Demand{Map: 10, Shuffle: 3}},
	{"sort-again", overlap.Demand{Map: 7, Shuffle: 11}},
}

var figure4Runs = flag.Int("runs", 5, "runs of each policy in TestFigure4")

const (
	figure4Maps     = 8
	figure4Shuffles = 4
	figure4Tasks    = 48
	figure4Apart    = 0.1 // by which a live completion may differ from the simulated one
)

// seconds are those of a map task and of a shuffle task.
func seconds(d overlap.Demand) (maps, shuffles float64) {
	return d.Map * figure4Maps / figure4Tasks, d.Shuffle * figure4Shuffles / figure4Tasks
}

// writeJobs writes a job file for each job, and what is known of its durations: the policies go by sizes.
func (x tool) writeJobs(t *testing.T) {
	for _, j := range figure4 {
		maps, shuffles := seconds(j.demand)
		text := fmt.Sprintf("name: %s\nstages:\n  - {name: map, class: map, tasks: %d, command: sleep %.4f}\n  - {name: shuffle, class: shuffle, tasks: %d, after_each: map, command: sleep %.4f}\n",
			j.name, figure4Tasks, maps, figure4Tasks, shuffles)
		if err := os.WriteFile(filepath.Join(x.home, j.name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		known := &live.Past{Schema: live.PastSchema, Job: j.name, Runs: []live.PastRun{{Stages: []live.PastStage{
			{Name: "map", Tasks: figure4Tasks, Durations: slices.Repeat([]float64{maps}, figure4Tasks)},
			{Name: "shuffle", Tasks: figure4Tasks, Durations: slices.Repeat([]float64{shuffles}, figure4Tasks)},
		}}}}
		if err := past.WriteFile(t.Context(), past.Files{Folder: filepath.Join(x.home, "known")}.FileOf(j.name), known); err != nil {
			t.Fatal(err)
		}
	}
}

// batch submits the jobs to a server under a policy, and returns when each was submitted, in seconds after the first, and
// when it was done, in seconds from its submission.
func (x tool) batch(t *testing.T, policy string) (at, done []float64) {
	x.writeJobs(t)
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprintf("map=%d,shuffle=%d", figure4Maps, figure4Shuffles), "--policy", policy)
	listening(t, server)
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	names := []string{"wait"}
	for _, j := range figure4 {
		x.run(t, "submit", "-f", filepath.Join(x.home, j.name+".yaml"), "--history", filepath.Join(x.home, "known"), "--output", filepath.Join(x.home, j.name))
		names = append(names, j.name)
	}
	x.run(t, names...)
	var answer struct {
		Jobs []struct {
			Name      string
			Submitted time.Time
			Flow      float64 `json:"flow_seconds"`
		}
	}
	if err := json.Unmarshal(x.run(t, "jobs", "--format", "json"), &answer); err != nil {
		t.Fatal(err)
	}
	for _, j := range figure4 {
		for _, a := range answer.Jobs {
			if a.Name == j.name {
				at, done = append(at, a.Submitted.Sub(answer.Jobs[0].Submitted).Seconds()), append(done, a.Flow)
			}
		}
	}
	if len(done) != len(figure4) {
		t.Fatalf("%d jobs, expected %d", len(done), len(figure4))
	}
	return at, done
}

// tasked simulates the same tasks, of jobs that are submitted at the same instants.
func (x tool) tasked(t *testing.T, policy string, at []float64) (done []float64) {
	var lines strings.Builder
	for i, j := range figure4 {
		maps, shuffles := seconds(j.demand)
		stage := func(name string, mean float64, rest string) string {
			all, _ := json.Marshal(slices.Repeat([]float64{mean}, figure4Tasks))
			return fmt.Sprintf(`{"name":%q,"class":%q,"mean_seconds":%g,%s"durations_seconds":%s}`, name, name, mean, rest, all)
		}
		fmt.Fprintf(&lines, `{"arrival_seconds":%g,"stages":[%s,%s]}`+"\n", at[i], stage("map", maps, ""), stage("shuffle", shuffles, `"after_each":["map"],`))
	}
	file, out := filepath.Join(x.home, "jobs.jsonl"), filepath.Join(x.home, "done.csv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	x.run(t, "simulate", file, "--machines", "1", "--slots-per-machine", fmt.Sprintf("map=%d,shuffle=%d", figure4Maps, figure4Shuffles), "--policy", policy, "--jobs-out", out)
	done = column(t, out, "completion_seconds")
	for i := range done {
		done[i] -= at[i]
	}
	return done
}

// fluid is what the model of the paper says.
func fluid(t *testing.T, spec string) []float64 {
	p, err := overlap.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []overlap.Demand
	for _, j := range figure4 {
		jobs = append(jobs, j.demand)
	}
	done := make([]float64, len(jobs))
	overlap.Run(p, slices.Values(jobs), func(c overlap.Completion) { done[c.Index] = c.Time })
	return done
}

// TestFigure4 runs Figure 4 for real: live completions, with intervals over the runs, beside those of the fluid model
// and of simulated tasks.
func TestFigure4(t *testing.T) {
	bin := build(t)
	for _, c := range []struct{ policy, fluid string }{
		{"fifo/fair", "klps:k=1"}, // the paper's: FIFO at the map station, processor sharing at the shuffle station
		{"fifo", "fcfs"},
		{"maxsrpt", "maxsrpt"},
		{"splitsrpt", "splitsrpt"},
	} {
		t.Run(strings.ReplaceAll(c.policy, "/", "-"), func(t *testing.T) {
			t.Parallel()
			runs, at := make([][]float64, len(figure4)), make([]float64, len(figure4))
			for range *figure4Runs {
				submitted, done := (tool{bin, t.TempDir()}).batch(t, c.policy)
				for j := range figure4 {
					runs[j], at[j] = append(runs[j], done[j]), at[j]+submitted[j]/float64(*figure4Runs)
				}
			}
			t.Logf("submitted after %.3f s", at)
			model, tasks := fluid(t, c.fluid), tool{bin, t.TempDir()}.tasked(t, c.policy, at)
			for j := range figure4 {
				mean, half := interval(runs[j])
				t.Logf("%-10s %-10s fluid %5.2f, simulated tasks %5.2f, live %5.2f ± %.2f", c.policy, figure4[j].name, model[j], tasks[j], mean, half)
				if math.Abs(mean/tasks[j]-1) > figure4Apart {
					t.Errorf("%s under %s: live %.2f s, simulated %.2f s", figure4[j].name, c.policy, mean, tasks[j])
				}
			}
		})
	}
}

// interval returns the mean and the half width of its 95 % interval by Student's t, for two to six values.
func interval(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		half += (x - mean) * (x - mean)
	}
	quantiles := []float64{12.71, 4.303, 3.182, 2.776, 2.571}
	if len(values) < 2 || len(values) > len(quantiles)+1 {
		return mean, math.NaN()
	}
	return mean, quantiles[len(values)-2] * math.Sqrt(half/(n-1)/n)
}

// column returns the numbers of a column of a CSV file.
func column(t *testing.T, path, name string) (all []float64) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], name)
	if at < 0 {
		t.Fatalf("%s has no column %s: %v", path, name, rows[0])
	}
	for _, row := range rows[1:] {
		x, err := strconv.ParseFloat(row[at], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}
