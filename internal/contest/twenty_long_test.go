//go:build linux && long

package contest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Twenty jobs of 1 to 400 tasks come to 8 slots within a minute: word counts, sorts, and arrays whose tasks mostly
// sleep, so that 8 slots are 8 slots on any machine. Every policy has a server of its own and gets the same jobs at
// the same instants. Beside them stands a queue that runs one job after the other, each on all slots, as pueue does by
// default: arrays by GNU parallel.

var (
	seeds  = flag.Int("seeds", 3, "workloads of TestTwentyJobs")
	window = flag.Duration("window", time.Minute, "time in which the jobs come")
)

const (
	slots   = 8
	queue   = "one by one"
	most    = 0.6 // of the mean flow time of FIFO that srpt may have
	apart   = 0.1 // by which a simulated mean flow time may differ from the live one
	perTask = 440 * time.Millisecond
)

// sizes are the quantiles of a bounded Pareto law, of heavy tail.
var sizes = [...]int{1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 42, 60, 90, 140, 230, 400}

var contestants = []string{"fifo", "fair", "srpt", "srew"}

// job is one of the twenty. Its tasks take so long that all jobs together are a minute's work of the slots.
type job struct {
	name  string
	at    time.Duration
	tasks int
	mean  float64  // seconds of a task of an array
	words []string // what to run of tailcut, without output; nil for an array
}

func draw(t *testing.T, seed int, folder string) []job {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	jobs := make([]job, len(sizes))
	work := 0.0
	for i, n := range sizes {
		jobs[i] = job{name: fmt.Sprintf("j%02d", i), at: time.Duration(r.Int64N(int64(*window))), tasks: n, mean: math.Exp(r.NormFloat64() / 2)}
		switch i {
		case 6, 9, 12:
			jobs[i].words = []string{"wordcount", words(t, r, folder, i, n), "--split-size", "20KiB"}
		case 8, 11:
			jobs[i].words = []string{"sort", words(t, r, folder, i, n), "--split-size", "20KiB"}
		default:
			work += float64(n) * jobs[i].mean
		}
	}
	for i := range jobs {
		jobs[i].mean *= perTask.Seconds() * 1086 / work
	}
	slices.SortFunc(jobs, func(a, b job) int { return int(a.at - b.at) })
	return jobs
}

// words makes input of n splits.
func words(t *testing.T, r *rand.Rand, folder string, i, n int) string {
	dir := filepath.Join(folder, fmt.Sprint("words", i))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for k := range n {
		var text bytes.Buffer
		for text.Len() < 19<<10 {
			fmt.Fprintf(&text, "word%d and%d\n", r.IntN(5000), r.IntN(50))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command is a task's: it sleeps from 0.7 to 1.3 times the mean of its job.
func (j *job) command() string {
	return fmt.Sprintf("sleep $(awk 'BEGIN { srand({} * 7919 + %d); rand(); printf \"%%.3f\", %.4f * (0.7 + 0.6 * rand()) }')", j.tasks, j.mean)
}

func (j *job) args(out string) []string {
	if j.words != nil {
		return append(slices.Clone(j.words), "--name", j.name, "--output", out)
	}
	return []string{"--tasks", fmt.Sprint(j.tasks), "--name", j.name, "--output", out, "--", "sh", "-c", j.command()}
}

// tool is the tool with its programs, in a home of its own.
type tool struct{ bin, home string }

func build(t *testing.T) string {
	bin := t.TempDir()
	for _, b := range [][2]string{{"../..", "./cmd/tailcut"}, {"../../history", "./cmd/tailcut-history"}} {
		c := exec.Command("go", "build", "-o", bin, b[1])
		c.Dir = b[0]
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return bin
}

func (x tool) command(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(x.bin, "tailcut"), args...)
	c.Dir = x.home
	c.Env = append(os.Environ(), "PATH="+x.bin+":"+os.Getenv("PATH"), "XDG_RUNTIME_DIR="+x.home, "XDG_STATE_HOME="+x.home, "TAILCUT_SERVER=")
	return c
}

func (x tool) run(t *testing.T, args ...string) []byte {
	t.Helper()
	var errs bytes.Buffer
	c := x.command(args...)
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Errorf("tailcut %s: %v: %s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out
}

// live runs the jobs under a policy and returns their mean flow time in seconds.
func (x tool) live(t *testing.T, policy string, jobs []job) float64 {
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(slots), "--policy", policy)
	pipe, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = pipe.Read(make([]byte, 1)) // it listens
	begin := time.Now()
	var all []string
	for i := range jobs {
		time.Sleep(time.Until(begin.Add(jobs[i].at)))
		x.run(t, append([]string{"submit"}, jobs[i].args(filepath.Join(x.home, jobs[i].name))...)...)
		all = append(all, jobs[i].name)
	}
	x.run(t, append([]string{"wait"}, all...)...)
	var answer struct {
		Jobs []struct {
			Flow  float64 `json:"flow_seconds"`
			State string
		}
	}
	if err := json.Unmarshal(x.run(t, "jobs", "--format", "json"), &answer); err != nil {
		t.Error(err)
	}
	sum := 0.0
	for _, j := range answer.Jobs {
		if sum += j.Flow; j.State != "succeeded" {
			t.Errorf("%s: a job has %s", policy, j.State)
		}
	}
	if len(answer.Jobs) != len(jobs) {
		t.Errorf("%s: %d jobs, expected %d", policy, len(answer.Jobs), len(jobs))
	}
	_ = server.Process.Signal(syscall.SIGTERM)
	_ = server.Wait()
	return sum / float64(len(jobs))
}

// simulated returns the mean flow time in seconds of the jobs that this home's server has run, in the simulator.
func (x tool) simulated(t *testing.T, policy string) float64 {
	var answer struct {
		Results []struct {
			Flow float64 `json:"mean_flow_seconds"`
		}
	}
	out := x.run(t, "simulate", "--from-history", "*", "--policy", policy, "--runs", "10", "--format", "json")
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Results) == 0 {
		t.Errorf("%v: %s", err, out)
		return math.NaN()
	}
	sum := 0.0
	for i := range answer.Results {
		sum += answer.Results[i].Flow
	}
	return sum / float64(len(answer.Results))
}

// oneByOne runs the jobs one after the other, in the order in which they come, and returns their mean flow time.
func (x tool) oneByOne(t *testing.T, jobs []job) float64 {
	begin, sum := time.Now(), 0.0
	for i := range jobs {
		j := &jobs[i]
		time.Sleep(time.Until(begin.Add(j.at)))
		c := x.command(append([]string{"run", "--alone", "-j", fmt.Sprint(slots)}, j.args(filepath.Join(x.home, j.name))...)...)
		if j.words == nil {
			c = exec.Command("parallel", "-j", fmt.Sprint(slots), j.command())
			var numbers bytes.Buffer
			for k := range j.tasks {
				fmt.Fprintln(&numbers, k)
			}
			c.Stdin = &numbers
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		sum += (time.Since(begin) - j.at).Seconds()
	}
	return sum / float64(len(jobs))
}

func TestTwentyJobs(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("needs GNU parallel")
	}
	bin := build(t)
	var ratios, gaps []float64
	for seed := 1; seed <= *seeds; seed++ {
		jobs := draw(t, seed, t.TempDir())
		flow, simulated := map[string]float64{}, map[string]float64{}
		var mu sync.Mutex
		var all sync.WaitGroup
		note := func(to map[string]float64, name string, x float64) { mu.Lock(); to[name] = x; mu.Unlock() }
		homes := map[string]tool{}
		for _, p := range append(slices.Clone(contestants), queue) {
			homes[p] = tool{bin, t.TempDir()}
		}
		for _, p := range contestants {
			all.Go(func() { note(flow, p, homes[p].live(t, p, jobs)) })
		}
		all.Go(func() { note(flow, queue, homes[queue].oneByOne(t, jobs)) })
		all.Wait()
		for _, p := range contestants {
			simulated[p] = homes[p].simulated(t, p)
			gaps = append(gaps, math.Abs(simulated[p]/flow[p]-1))
			t.Logf("seed %d: %-10s live %6.2f s, simulated %6.2f s (%+.1f %%), %.2f of one by one", seed, p, flow[p], simulated[p], 100*(simulated[p]/flow[p]-1), flow[p]/flow[queue])
		}
		t.Logf("seed %d: %-10s live %6.2f s", seed, queue, flow[queue])
		ratios = append(ratios, flow["srpt"]/flow[queue])
	}
	if worst := slices.Max(ratios); worst > most {
		t.Errorf("the mean flow time under srpt is up to %.2f of that one by one, expected at most %.2f", worst, most)
	}
	if worst := slices.Max(gaps); worst > apart {
		t.Errorf("simulated mean flow times are up to %.0f %% from live ones, expected at most %.0f %%", 100*worst, 100*apart)
	}
}
