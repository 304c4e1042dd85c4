//go:build linux && long

package contest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
)

// Three jobs with deadlines come at once: Shed's jobs and deadlines, a fortieth of their time, on 36 slots. Either one
// server has all slots and its policy divides them, or each job is a run of its own on a third of them. Attempts draw
// their times by seed, job, task and number, so all contestants meet the same slow ones.

var (
	tight = flag.Float64("tight", 0.6, "deadlines of TestThreeDeadlines as a multiple of the paper's, which all but fifo meet")
	draws = flag.Int("draws", 10, "draws of TestThreeDeadlines")
	space = flag.Duration("space", 4*time.Second, "time between the starts of two contestants: starting processes costs time")
)

const (
	wide    = 36
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

// lawful policies know the law, as in the paper.
var lawful = map[string]string{
	"fifo":   "fifo",
	"shed":   fmt.Sprintf("shed:law=(pareto:alpha=%g,xm=%g)", tail, least),
	"laxity": fmt.Sprintf("laxity:law=(pareto:alpha=%g,xm=%g)", tail, least),
}

// This program is also what the tasks run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "labour" {
		labour(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// labour waits for as long as its attempt takes, in steps which another attempt can go on from. An offset is a
// millionth of the task.
func labour(args []string) {
	var of [3]uint64 // draw, job, task
	for i := range of {
		of[i], _ = strconv.ParseUint(args[i], 10, 32)
	}
	attempt, _ := strconv.ParseUint(os.Getenv("TAILCUT_ATTEMPT"), 10, 32)
	u := rand.New(rand.NewPCG(of[0]<<32|of[1], of[2]<<32|attempt)).Float64()
	whole := least * min(slowest, math.Pow(1-u, -1/tail))
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
	args := append(more, "--tasks", fmt.Sprint(e.tasks), "--resumable", "--deadline", fmt.Sprintf("%.3fs", e.limit()),
		"--output", filepath.Join(x.home, fmt.Sprint("out", i)), "--", self, "labour", fmt.Sprint(draw), fmt.Sprint(i), "{}")
	return args
}

var room = []string{"--max-attempts", "5", "--clone-budget", "none"}

// together returns how many jobs are in time in one server.
func (x tool) together(t *testing.T, policy string, draw int) (inTime int) {
	server := x.command(append([]string{"serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(wide), "--policy", policy}, room...)...)
	pipe, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = pipe.Read(make([]byte, 1)) // it listens
	for i := range errands {
		x.run(t, x.errand(draw, i, "submit")...)
	}
	x.run(t, "wait", "0", "1", "2")
	var answer struct {
		Jobs []struct {
			ID   int
			Flow float64 `json:"flow_seconds"`
		}
	}
	if err := json.Unmarshal(x.run(t, "jobs", "--format", "json"), &answer); err != nil || len(answer.Jobs) != len(errands) {
		t.Errorf("%v: %d jobs", err, len(answer.Jobs))
	}
	for _, j := range answer.Jobs {
		if j.Flow > 0 && j.Flow <= errands[j.ID].limit() {
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
			out := x.run(t, x.errand(draw, i, append([]string{"run", "--alone", "--format", "json", "--slots", fmt.Sprint(wide / len(errands)), "--policy", policy}, room...)...)...)
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
	order := []string{"shed together", "laxity together", "fifo together", "shed apart", "laxity apart", "fifo apart"}
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
		more := make([]float64, len(ours))
		for i := range more {
			more[i] = ours[i] - inTime[name][i]
		}
		gain, about := laws.MeanInterval(more, 0.95)
		t.Logf("%-16s %.2f ± %.2f of %d in time; shed together has %+.2f ± %.2f more %v", name, mean, half, len(errands), gain, about, inTime[name])
		if (name == "shed apart" || name == "fifo apart") && !(gain-about > 0) {
			t.Errorf("shed together has not more jobs in time than %s", name)
		}
	}
}
