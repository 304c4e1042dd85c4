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

	"github.com/tailcut/tailcut/laws"
)

// Twenty jobs of 1 to 400 tasks come to 8 slots within a minute: word counts, sorts, and arrays whose tasks mostly
// sleep, so that 8 slots are 8 slots on any machine. Every policy has a server of its own and gets the same jobs at
// the same instants. Beside them stands a queue that runs one job after the other, each on all slots, as pueue does by
// default: arrays by GNU parallel. With -burn the tasks of arrays sort words instead, on as many slots as -slots says,
// and the contestants come one after the other, since all of them want the cores.

var (
	seeds  = flag.Int("seeds", 3, "workloads of TestTwentyJobs")
	window = flag.Duration("window", time.Minute, "time in which the jobs come, and that the slots need for them")
	slots  = flag.Int("slots", 8, "slots of TestTwentyJobs")
	names  = flag.String("policies", "fifo,fair,srpt,srew", "of TestTwentyJobs; fifo and srpt among them")
	burn   = flag.Bool("burn", false, "have the arrays of TestTwentyJobs compute")
)

const (
	queue = "one by one"
	most  = 0.6 // of the mean flow time of FIFO that srpt may have
	apart = 0.1 // by which a simulated mean flow time may differ from the live one
)

// sizes are the quantiles of a bounded Pareto law, of heavy tail.
var sizes = [...]int{1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 42, 60, 90, 140, 230, 400}

// job is one of the twenty. Its tasks take so long that all jobs together are as much work as the slots do in the window.
type job struct {
	name   string
	at     time.Duration
	tasks  int
	mean   float64  // seconds of a task of an array
	words  []string // what to run of tailcut, without output; nil for an array
	corpus corpus   // what an array sorts; "" for one that sleeps
}

// corpus is a file of words, and the bytes of it that a core sorts in a second.
type corpus struct {
	file string
	rate float64
}

// sorting is a task that computes for a number of seconds.
func (c corpus) sorting(seconds string) string {
	return fmt.Sprintf("head -c $(awk 'BEGIN { printf \"%%d\", %.0f * %s }') %s | LC_ALL=C sort | uniq -c >/dev/null", c.rate, seconds, c.file)
}

// newCorpus writes words and measures how fast a core sorts them, in processor time.
func newCorpus(t *testing.T) corpus {
	c := corpus{filepath.Join(t.TempDir(), "words"), 4 << 20}
	var text bytes.Buffer
	for r := rand.New(rand.NewPCG(5, 5)); text.Len() < 32<<20; {
		fmt.Fprintf(&text, "word%d\n", r.IntN(500000))
	}
	if err := os.WriteFile(c.file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh", "-c", c.sorting("1"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.rate /= (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds()
	return c
}

func draw(t *testing.T, seed int, folder string, c corpus) []job {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	jobs := make([]job, len(sizes))
	work := 0.0
	for i, n := range sizes {
		jobs[i] = job{name: fmt.Sprintf("j%02d", i), at: time.Duration(r.Int64N(int64(*window))), tasks: n, mean: math.Exp(r.NormFloat64() / 2), corpus: c}
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
		jobs[i].mean *= window.Seconds() * float64(*slots) / work
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

// command is a task's: it sleeps or computes from 0.7 to 1.3 times the mean of its job.
func (j *job) command() string {
	if j.corpus.file != "" {
		return j.corpus.sorting(fmt.Sprintf("%.4f * (0.7 + 0.6 * (({} * 7919 + %d) %% 101) / 100)", j.mean, j.tasks))
	}
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

// listening starts a server, and waits until it listens.
func listening(t *testing.T, server *exec.Cmd) {
	t.Helper()
	pipe, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = pipe.Read(make([]byte, 1))
}

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
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(*slots), "--policy", policy)
	listening(t, server)
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
		c := x.command(append([]string{"run", "--alone", "-j", fmt.Sprint(*slots)}, j.args(filepath.Join(x.home, j.name))...)...)
		if j.words == nil {
			c = exec.Command("parallel", "-j", fmt.Sprint(*slots), j.command())
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
	var c corpus
	if *burn {
		c = newCorpus(t)
	}
	flows, gaps := map[string][]float64{}, map[string][]float64{}
	for seed := 1; seed <= *seeds; seed++ {
		jobs := draw(t, seed, t.TempDir(), c)
		flow := contend(t, bin, jobs, seed)
		for name, f := range flow {
			flows[name] = append(flows[name], f.live)
			gaps[name] = append(gaps[name], f.simulated/f.live-1)
			t.Logf("seed %d: %-10s live %6.2f s, simulated %6.2f s", seed, name, f.live, f.simulated)
		}
	}
	if *seeds < 2 {
		return // one draw has no interval
	}
	for _, name := range append([]string{queue}, strings.Split(*names, ",")...) {
		flow, about := laws.MeanInterval(flows[name], 0.95)
		gap, unsure := laws.MeanInterval(gaps[name], 0.95)
		t.Logf("%-10s %6.2f ± %.2f s; of one by one %s, of fifo %s; simulated %+.1f ± %.1f %%", name, flow, about,
			share(flows[name], flows[queue]), share(flows[name], flows["fifo"]), 100*gap, 100*unsure)
		if name != queue && !(math.Abs(gap)+unsure <= apart) {
			t.Errorf("the mean flow time under %s is not known to be simulated within %.0f %%", name, 100*apart)
		}
	}
	if r, about := laws.MeanInterval(quotients(flows["srpt"], flows[queue]), 0.95); !(r+about <= most) {
		t.Errorf("the mean flow time under srpt is not known to be at most %.2f of that one by one", most)
	}
}

// flow is a mean flow time in seconds.
type flow struct{ live, simulated float64 }

// contend has all contestants run the jobs: at once if they sleep, else one after the other.
func contend(t *testing.T, bin string, jobs []job, seed int) map[string]flow {
	var mu sync.Mutex
	var all sync.WaitGroup
	flows := map[string]flow{}
	contestants := append(strings.Split(*names, ","), queue)
	for i := range contestants {
		name, home := contestants[(i+seed)%len(contestants)], tool{bin, t.TempDir()}
		all.Go(func() {
			f := flow{simulated: math.NaN()}
			if name == queue {
				f.live = home.oneByOne(t, jobs)
			} else {
				f.live = home.live(t, name, jobs)
				f.simulated = home.simulated(t, name)
			}
			mu.Lock()
			defer mu.Unlock()
			flows[name] = f
		})
		if *burn {
			all.Wait()
		}
	}
	all.Wait()
	return flows
}

// quotients divides draw by draw.
func quotients(a, b []float64) (all []float64) {
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	return all
}

// share words how much of b a is.
func share(a, b []float64) string {
	r, about := laws.MeanInterval(quotients(a, b), 0.95)
	return fmt.Sprintf("%.2f ± %.2f", r, about)
}
