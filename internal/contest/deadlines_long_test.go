//go:build linux && long

package contest

import (
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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
)

// Three jobs with deadlines come at once: Shed's jobs and deadlines, a fortieth of their time, on 30 slots. Either one
// server has all slots and its policy divides them, or each job is a run of its own on a third of them, which knows
// nothing of the others. Attempts draw their times by seed, job, task and number, so all contestants meet the same slow
// ones. Tasks are silent and begin anew, as most programs do, or they report what they have done every fifth of a second
// and can go on from there.

var (
	tight  = flag.Float64("tight", 0.9, "deadlines of TestThreeDeadlines as a multiple of the paper's")
	silent = flag.Bool("silent", true, "tasks of TestThreeDeadlines report nothing")
	wide   = flag.Int("wide", 30, "slots of TestThreeDeadlines")
	draws  = flag.Int("draws", 10, "draws of TestThreeDeadlines")
	space  = flag.Duration("space", 4*time.Second, "time between the starts of two contestants: starting processes costs time")
)

const (
	least   = 3.0 // seconds of the fastest attempt
	tail    = 1.5 // index of the Pareto law of attempts
	slowest = 10  // times the fastest, at which the law is cut
	step    = 200 * time.Millisecond
)

type errand struct {
	tasks int
	paper float64 // deadline in the paper's proportion, seconds
}

var errands = []errand{{3, 11.5}, {6, 12.5}, {12, 14}}

func (e errand) limit() float64 { return *tight * e.paper }

// rivals are the contestants than which Shed's division has more jobs in time, by the whole interval: all three that run
// each job alone if tasks are silent, unless deadlines are so tight that hardly any division helps, or so many slots that
// each job has enough. Where tasks report, laxity alone has nearly all jobs in time, and nothing can have more.
func rivals(mute bool, draws int) []string {
	least := 0.8 // of ten draws
	if draws >= 100 {
		least = 0.5
	}
	switch {
	case *wide != 30 || *tight < least || *tight > 1:
		return []string{"fifo"}
	case mute:
		return []string{"shed", "laxity", "fifo"}
	}
	return []string{"shed", "fifo"}
}

// lawful policies know the law, as in the paper. sum is shed for the expected number of jobs in time, in place of the
// smallest chance.
var lawful = map[string]string{
	"fifo":   "fifo",
	"sum":    fmt.Sprintf("shed:utility=sum,law=(pareto:alpha=%g,xm=%g)", tail, least),
	"shed":   fmt.Sprintf("shed:law=(pareto:alpha=%g,xm=%g)", tail, least),
	"laxity": fmt.Sprintf("laxity:law=(pareto:alpha=%g,xm=%g)", tail, least),
}

// This program is also what the tasks run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "labour":
			labour(os.Args[2:])
			return
		case "chore":
			chore(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

// labour waits for as long as its attempt takes, in steps which another attempt can go on from if it may report them.
func labour(args []string) {
	var of [4]uint64 // draw, job, task, whether it is silent
	for i := range of {
		of[i], _ = strconv.ParseUint(args[i], 10, 32)
	}
	attempt, _ := strconv.ParseUint(os.Getenv("TAILCUT_ATTEMPT"), 10, 32)
	u := rand.New(rand.NewPCG(of[0]<<32|of[1], of[2]<<32|attempt)).Float64()
	whole := least * min(slowest, math.Pow(1-u, -1/tail))
	if of[3] != 0 {
		time.Sleep(time.Duration(whole * 1e9))
		return
	}
	work(whole, step)
}

// work waits for so many seconds of a whole task, from where the attempt goes on, and reports after each step. An offset
// is a millionth of the task.
func work(whole float64, step time.Duration) {
	progress, err := os.OpenFile(os.Getenv("TAILCUT_PROGRESS"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	done, _ := strconv.ParseFloat(os.Getenv("TAILCUT_RESUME_OFFSET"), 64)
	from, begin := done/1e6, time.Now()
	for {
		left := (1-from)*whole - time.Since(begin).Seconds()
		time.Sleep(min(step, time.Duration(left*1e9)))
		now := from + time.Since(begin).Seconds()/whole
		if now >= 1 {
			return
		}
		if err := os.WriteFile(filepath.Join(os.Getenv("TAILCUT_OUTPUT"), fmt.Sprint(int(done))), nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		done = max(done+1, math.Floor(now*1e6))
		fmt.Fprintf(progress, "%.6f %d\n", min(now, 0.999999), int(done))
	}
}

func (x tool) errand(draw, i int, more ...string) []string {
	self, _ := os.Executable()
	e := errands[i]
	mute := "0"
	if *silent {
		mute = "1"
	} else {
		more = append(more, "--resumable")
	}
	return append(more, "--tasks", fmt.Sprint(e.tasks), "--deadline", fmt.Sprintf("%.3fs", e.limit()),
		"--output", filepath.Join(x.home, fmt.Sprint("out", i)), "--", self, "labour", fmt.Sprint(draw), fmt.Sprint(i), "{}", mute)
}

var room = []string{"--max-attempts", "5", "--clone-budget", "none"}

// together returns how many jobs are in time in one server.
func (x tool) together(t *testing.T, policy string, draw int) (inTime int) {
	server := x.command(append([]string{"serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(*wide), "--policy", policy}, room...)...)
	listening(t, server)
	for i := range errands {
		x.run(t, x.errand(draw, i, "submit")...)
	}
	return x.finish(t, server, len(errands), func(j finished) float64 { return errands[j.ID].limit() })
}

// finished is a job of a server that is over.
type finished struct {
	ID   int
	Name string
	Flow float64 `json:"flow_seconds"`
}

// finish waits for the n jobs of a server, stops it, and returns how many took no longer than their limit in seconds.
func (x tool) finish(t *testing.T, server *exec.Cmd, n int, limit func(finished) float64) (inTime int) {
	wait := []string{"wait"}
	for i := range n {
		wait = append(wait, fmt.Sprint(i))
	}
	x.run(t, wait...)
	var answer struct{ Jobs []finished }
	if err := json.Unmarshal(x.run(t, "jobs", "--format", "json"), &answer); err != nil || len(answer.Jobs) != n {
		t.Errorf("%v: %d jobs", err, len(answer.Jobs))
	}
	for _, j := range answer.Jobs {
		if j.Flow > 0 && j.Flow <= limit(j) {
			inTime++
		}
	}
	_ = server.Process.Signal(syscall.SIGTERM)
	_ = server.Wait()
	return inTime
}

// apart returns how many jobs are in time as runs of their own.
func (x tool) apart(t *testing.T, policy string, draw int) (inTime int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range errands {
		all.Go(func() {
			out := x.run(t, x.errand(draw, i, append([]string{"run", "--alone", "--format", "json", "--slots", fmt.Sprint(*wide / len(errands)), "--policy", policy}, room...)...)...)
			var answer struct {
				Flow float64 `json:"flow_seconds"`
			}
			if err := json.Unmarshal(out, &answer); err != nil || answer.Flow == 0 {
				t.Errorf("%v: %s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			if answer.Flow <= errands[i].limit() {
				inTime++
			}
		})
	}
	all.Wait()
	return inTime
}

func TestThreeDeadlines(t *testing.T) {
	bin := build(t)
	order := []string{"shed together", "sum together", "laxity together", "fifo together", "shed apart", "laxity apart", "fifo apart"}
	inTime := map[string][]float64{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for draw := range *draws {
		for k := range order {
			name := order[(k+draw)%len(order)] // so that the load of the neighbours hits all
			x := tool{bin, t.TempDir()}
			if inTime[name] == nil {
				inTime[name] = make([]float64, *draws)
			}
			to := inTime[name]
			all.Go(func() {
				var policy, how string
				_, _ = fmt.Sscan(name, &policy, &how)
				n := 0
				if how == "together" {
					n = x.together(t, lawful[policy], draw)
				} else {
					n = x.apart(t, lawful[policy], draw)
				}
				mu.Lock()
				defer mu.Unlock()
				to[draw] = float64(n)
			})
			time.Sleep(*space)
		}
	}
	all.Wait()
	ours := inTime[order[0]]
	for _, name := range order {
		mean, half := laws.MeanInterval(inTime[name], 0.95)
		gain, about := laws.MeanInterval(differences(ours, inTime[name]), 0.95)
		t.Logf("%-16s %.2f ± %.2f of %d in time; shed together has %+.2f ± %.2f more %v", name, mean, half, len(errands), gain, about, inTime[name])
		var policy, how string
		if _, _ = fmt.Sscan(name, &policy, &how); how == "apart" && slices.Contains(rivals(*silent, *draws), policy) && !(gain-about > 0) {
			t.Errorf("shed together has not more jobs in time than %s", name)
		}
	}
}

// differences subtracts draw by draw.
func differences(a, b []float64) (all []float64) {
	for i := range a {
		all = append(all, a[i]-b[i])
	}
	return all
}

// TestDeadlinesSwept plays the same in the simulator for deadlines from three tenths of the paper's on, with other seeds.
func TestDeadlinesSwept(t *testing.T) {
	x := tool{build(t), t.TempDir()}
	law := fmt.Sprintf("mixture:w1=1,of1=(truncated:lo=%[1]g,hi=%[2]g,of=(pareto:alpha=%[3]g,xm=%[1]g)),w2=%[4]g,of2=(det:value=%[2]g)",
		least, slowest*least, tail, math.Pow(slowest, -tail)/(1-math.Pow(slowest, -tail)))
	for _, *wide = range []int{30, 36} {
		for _, mute := range []bool{false, true} {
			for _, *tight = range []float64{0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1} {
				x.swept(t, law, mute)
			}
		}
	}
}

// swept compares the contestants at one setting.
func (x tool) swept(t *testing.T, law string, mute bool) {
	const runs = 300
	text := fmt.Sprintf("%d slots, silent %-5v deadlines %.2f:", *wide, mute, *tight)
	var ours []float64
	for _, policy := range []string{"shed", "sum", "laxity", "fifo"} {
		together := x.chances(t, lawful[policy], *wide, runs, law, mute, errands...)
		if ours == nil {
			ours = together
		}
		apart := make([]float64, runs)
		for i := range errands {
			for k, met := range x.chances(t, lawful[policy], *wide/len(errands), runs, law, mute, errands[i]) {
				apart[k] += met
			}
		}
		mean, half := laws.MeanInterval(together, 0.95)
		alone, about := laws.MeanInterval(apart, 0.95)
		gain, unsure := laws.MeanInterval(differences(ours, apart), 0.95)
		text += fmt.Sprintf("  %s %.2f ± %.2f, apart %.2f ± %.2f (%+.2f ± %.2f)", policy, mean, half, alone, about, gain, unsure)
		if *tight > 0.3 && slices.Contains(rivals(mute, runs), policy) && !(gain-unsure > 0) {
			t.Errorf("%d slots, silent %v, deadlines %.2f: shed together has not more jobs in time than %s apart", *wide, mute, *tight, policy)
		}
	}
	t.Log(text)
}

// chances returns how many jobs are in time in each of many simulations.
func (x tool) chances(t *testing.T, spec string, machines, runs int, law string, mute bool, jobs ...errand) (inTime []float64) {
	spec, err := policy.ForDeadlines(spec, "2s")
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for _, e := range jobs {
		lines = fmt.Appendf(lines, `{"deadline_seconds":%g,"stages":[{"tasks":%d,"law":%q,"resumable":%v}]}`+"\n", e.limit(), e.tasks, law, !mute)
	}
	workload, reports := filepath.Join(x.home, "jobs.jsonl"), step.String()
	if mute {
		reports = "none"
	}
	if err := os.WriteFile(workload, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Results []struct {
			Met float64 `json:"deadline_met_ratio"`
		}
	}
	args := append([]string{"simulate", workload, "--machines", fmt.Sprint(machines), "--policy", spec, "--service", "law", "--progress", reports,
		"--launch-delay", "20ms", "--runs", fmt.Sprint(runs), "--format", "json"}, room...)
	if err := json.Unmarshal(x.run(t, args...), &answer); err != nil {
		t.Fatal(err)
	}
	for i := range answer.Results {
		inTime = append(inTime, answer.Results[i].Met*float64(len(jobs)))
	}
	return inTime
}
