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
	"strconv"
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
	seeds  = flag.Int("seeds", 5, "workloads of TestTwentyJobs and TestCalibration")
	window = flag.Duration("window", time.Minute, "time in which the jobs come, and that the slots need for them")
	slots  = flag.Int("slots", 8, "slots of TestTwentyJobs")
	names  = flag.String("policies", "fifo,fair,srpt,srew,auto", "of TestTwentyJobs; fifo and srpt among them")
	burn   = flag.Bool("burn", false, "have the arrays of TestTwentyJobs compute")
	kept   = flag.String("keep", "", "folder in which servers leave what they know; what is there is not run again")
)

const (
	queue = "one by one"
	most  = 0.6 // of the mean flow time of FIFO that srpt may have
	apart = 0.1 // by which a simulated mean flow time may differ from the live one
)

// world is what twenty jobs are like.
type world struct {
	name     string
	policies []string // the first is the one that others are compared with
	slots    int
	window   time.Duration // in which the jobs come
	load     float64       // their work, by what the slots do in the window
	burn     bool          // arrays compute
	slow     float64       // share of an array's attempts that take eight times as long
	folder   string        // with the homes of servers
}

// slowness is how many times as long a slow attempt takes.
const slowness = 8

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
	slow   float64  // share of an array's attempts that take eight times as long
	seed   int
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

// draw returns the jobs of a world, which come within its window.
func (w *world) draw(t *testing.T, seed int, folder string, c corpus) []job {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	jobs := make([]job, len(sizes))
	work := 0.0
	for i, n := range sizes {
		jobs[i] = job{name: fmt.Sprintf("j%02d", i), at: time.Duration(r.Int64N(int64(w.window))), tasks: n, mean: math.Exp(r.NormFloat64() / 2), corpus: c, slow: w.slow, seed: seed}
		switch i {
		case 6, 9, 12:
			jobs[i].words = []string{"wordcount", words(t, r, folder, i, n), "--split-size", "20KiB"}
		case 8, 11:
			jobs[i].words = []string{"sort", words(t, r, folder, i, n), "--split-size", "20KiB"}
		default:
			work += float64(n) * jobs[i].mean * (1 + w.slow*(slowness-1))
		}
	}
	for i := range jobs {
		jobs[i].mean *= w.load * w.window.Seconds() * float64(w.slots) / work
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

// straggles is a program whose attempts sleep as long as command's, but some longer. The attempt draws that, whichever policy has started it, and a single
// process takes least of the cores.
func (j *job) straggles() string {
	return fmt.Sprintf("sub u { my $x = 43758.5453 * abs sin(12.9898 * $_[0]); $x - int $x } my $t = $ARGV[0] + 1000 * %d; "+
		"select undef, undef, undef, %.4f * (0.7 + 0.6 * u($t)) * (u(3 * $t + 7777 * (1 + $ENV{TAILCUT_ATTEMPT}) + %d) < %g ? %d : 1)", j.tasks, j.mean, j.seed, j.slow, slowness)
}

func (j *job) args(out string) []string {
	if j.words != nil {
		return append(slices.Clone(j.words), "--name", j.name, "--output", out)
	}
	command := []string{"sh", "-c", j.command()}
	if j.slow > 0 {
		command = []string{"perl", "-e", j.straggles(), "{}"}
	}
	return append([]string{"--tasks", fmt.Sprint(j.tasks), "--name", j.name, "--output", out, "--"}, command...)
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
func (x tool) live(t *testing.T, policy string, slots int, jobs []job) float64 {
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(slots), "--policy", policy)
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

// simulated returns for each policy the mean flow time in seconds, in the simulator, of the jobs that this home's server
// has run.
func (x tool) simulated(t *testing.T, policies []string, flags ...string) map[string]float64 {
	var answer struct {
		Summary []struct {
			Flow float64 `json:"mean_flow_seconds"`
		}
	}
	out := x.run(t, append([]string{"simulate", "--from-history", "*", "--policy", strings.Join(policies, ","), "--runs", "20", "--format", "json"}, flags...)...)
	flows := map[string]float64{}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Summary) != len(policies) {
		t.Errorf("%v: %s", err, out)
		return flows
	}
	for i, name := range policies {
		flows[name] = answer.Summary[i].Flow
	}
	return flows
}

// oneByOne runs the jobs one after the other, in the order in which they come, and returns their mean flow time.
func (x tool) oneByOne(t *testing.T, slots int, jobs []job) float64 {
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

// TestTwentyJobs: simulated mean flow times are those of real runs, and rank the policies as these do.
func TestTwentyJobs(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("needs GNU parallel")
	}
	w := &world{"twenty", strings.Split(*names, ","), *slots, *window, 1, *burn, 0, keep(t)}
	for _, name := range []string{"fifo", "srpt"} { // others are compared with these
		if !slices.Contains(w.policies, name) {
			t.Fatalf("-policies %s lacks %s", *names, name)
		}
	}
	flows, simulated := w.contend(t, build(t), append(slices.Clone(w.policies), queue))
	if *seeds < 2 {
		return // one draw has no interval
	}
	for _, name := range append([]string{queue}, w.policies...) {
		flow, about := laws.MeanInterval(flows[name], 0.95)
		t.Logf("%-10s %6.2f ± %.2f s; of one by one %s, of fifo %s", name, flow, about, share(flows[name], flows[queue]), share(flows[name], flows["fifo"]))
		if name == queue {
			continue
		}
		gap, unsure := laws.MeanInterval(changes(simulated[name], flows[name]), 0.95)
		t.Logf("%-10s simulated %+.1f ± %.1f %%", name, 100*gap, 100*unsure)
		if !(math.Abs(gap)+unsure <= apart) {
			t.Errorf("the mean flow time under %s is not known to be simulated within %.0f %%", name, 100*apart)
		}
	}
	checkRanks(t, w.policies, flows, simulated)
	if r, about := laws.MeanInterval(quotients(flows["srpt"], flows[queue]), 0.95); !(r+about <= most) {
		t.Errorf("the mean flow time under srpt is not known to be at most %.2f of that one by one", most)
	}
}

// checkRanks compares each pair of policies, draw by draw, live and simulated. A pair is ranked where the whole interval
// of its difference is on one side of 0; else it is a tie. No pair may be ranked one way live and the other way
// simulated.
func checkRanks(t *testing.T, policies []string, live, simulated map[string][]float64) {
	for i, a := range policies {
		for _, b := range policies[:i] {
			real, about := laws.MeanInterval(changes(live[a], live[b]), 0.95)
			sim, unsure := laws.MeanInterval(changes(simulated[a], simulated[b]), 0.95)
			t.Logf("%-5s beside %-5s live %+6.1f ± %4.1f %%, simulated %+6.1f ± %4.1f %%: %s", a, b, 100*real, 100*about, 100*sim, 100*unsure,
				map[int]string{0: "a tie in one or both", 1: "the same rank", -1: "SWAPPED"}[sign(real, about)*sign(sim, unsure)])
			if sign(real, about)*sign(sim, unsure) < 0 {
				t.Errorf("%s and %s are ranked one way live and the other way simulated", a, b)
			}
		}
	}
}

// sign is that of x if it is known, else 0.
func sign(x, about float64) int {
	switch {
	case x > about:
		return 1
	case x < -about:
		return -1
	}
	return 0
}

// contend has all contestants run the jobs of each draw: at once if they sleep, else one after the other. It returns
// their mean flow times in seconds, and those of simulations of what each server has kept.
func (w *world) contend(t *testing.T, bin string, contestants []string) (live, simulated map[string][]float64) {
	var c corpus
	if w.burn {
		c = newCorpus(t)
	}
	live, simulated = map[string][]float64{}, map[string][]float64{}
	for seed := 1; seed <= *seeds; seed++ {
		jobs := w.draw(t, seed, t.TempDir(), c)
		flows := make([]float64, len(contestants))
		var all sync.WaitGroup
		for i := range contestants {
			k := (i + seed) % len(contestants)
			all.Go(func() { flows[k] = w.run(t, tool{bin, w.home(t, seed, contestants[k])}, contestants[k], jobs) })
			if w.burn {
				all.Wait()
			}
		}
		all.Wait()
		for k, name := range contestants {
			live[name] = append(live[name], flows[k])
			if name == queue {
				continue
			}
			x := tool{bin, w.home(t, seed, name)}
			f := x.simulated(t, []string{name})[name]
			simulated[name] = append(simulated[name], f)
			t.Logf("seed %d: %-10s live %6.2f s, simulated %6.2f s", seed, name, flows[k], f)
		}
	}
	return live, simulated
}

// keep returns the folder of -keep, or one that goes with the test.
func keep(t *testing.T) string {
	if *kept != "" {
		return *kept
	}
	return t.TempDir()
}

// home is where a contestant lives in a draw.
func (w *world) home(t *testing.T, seed int, name string) string {
	dir := filepath.Join(w.folder, w.name, fmt.Sprint(seed), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run has a contestant run the jobs, unless it has before, and returns their mean flow time in seconds.
func (w *world) run(t *testing.T, x tool, name string, jobs []job) (flow float64) {
	file := filepath.Join(x.home, "flow")
	if text, err := os.ReadFile(file); err == nil {
		flow, err = strconv.ParseFloat(string(text), 64)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		return flow
	}
	if name == queue {
		flow = x.oneByOne(t, w.slots, jobs)
	} else {
		flow = x.live(t, name, w.slots, jobs)
	}
	if err := os.WriteFile(file, strconv.AppendFloat(nil, flow, 'g', -1, 64), 0o600); err != nil {
		t.Error(err)
	}
	return flow
}

// changes are the quotients less 1.
func changes(a, b []float64) (all []float64) {
	for _, q := range quotients(a, b) {
		all = append(all, q-1)
	}
	return all
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
