//go:build linux && long

package contest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
)

// Twenty mixed jobs with deadlines come to one server within twenty seconds. In each draw a task hangs, a task's first
// attempt takes eight times as long as it should, and a task takes three times as long in each attempt, each in a job of
// its own. Policies do not know how long anything takes; tasks report every half second and can be resumed.

var (
	mixedDraws = flag.Int("mixed-draws", 10, "draws of TestMixedDeadlines")
	mixedSpace = flag.Duration("mixed-space", 4*time.Second, "time between the starts of two contestants of TestMixedDeadlines")
)

var mixedPolicies = []string{"laxity", "fifo", "edf", "srpt", "shed", "spark", "auto"}

const (
	mixedJobs  = 20
	mixedSlots = 8
)

// mixedJob is a job of TestMixedDeadlines.
type mixedJob struct {
	at    time.Duration
	tasks int
	base  float64 // seconds of a task, on average
	limit float64 // its deadline in seconds
	odd   string  // what is wrong with its first task
}

// mixed draws the jobs. Deadlines are 1.5 to 4 times as long as the longest task should take, and twice as long where a
// task is odd, so that it can be saved.
func mixed(draw int) (jobs []mixedJob) {
	g := rand.New(rand.NewPCG(uint64(draw), 0x313e))
	odd := g.Perm(mixedJobs)
	for i := range mixedJobs {
		j := mixedJob{at: time.Duration(g.Float64() * 20e9), tasks: 1 + g.IntN(8), base: 1 + 3*g.Float64()}
		j.limit = 1 + j.base*1.3*(1.5+2.5*g.Float64())
		for k, name := range []string{"hung", "slow", "skewed"} {
			if odd[k] == i {
				j.odd = name
				j.limit *= 2
			}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// chore is a task: it works for as long as its attempt takes, and reports.
func chore(args []string) {
	var of [3]int // draw, job, task
	for i := range of {
		of[i], _ = strconv.Atoi(args[i])
	}
	j := mixed(of[0])[of[1]]
	g := rand.New(rand.NewPCG(uint64(of[0])<<32|uint64(of[1]), uint64(of[2])|0xc4<<32))
	whole, first := j.base*(0.7+0.6*g.Float64()), os.Getenv("TAILCUT_ATTEMPT") == "0"
	switch {
	case of[2] != 0:
	case j.odd == "hung" && first:
		time.Sleep(25 * time.Second)
		return
	case j.odd == "slow" && first:
		whole *= 8
	case j.odd == "skewed":
		whole *= 3
	}
	work(whole, 500*time.Millisecond)
}

// mixedRun returns how many jobs are in time in one server.
func (x tool) mixedRun(t *testing.T, policy string, draw int) (inTime int) {
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(mixedSlots), "--policy", policy)
	listening(t, server)
	self, _ := os.Executable()
	begin := time.Now()
	jobs := mixed(draw)
	var all sync.WaitGroup
	for i := range jobs {
		j := &jobs[i]
		all.Go(func() {
			time.Sleep(j.at - time.Since(begin))
			x.run(t, "submit", "--name", fmt.Sprint("job", i), "--resumable", "--tasks", fmt.Sprint(j.tasks), "--deadline", fmt.Sprintf("%.3fs", j.limit),
				"--output", filepath.Join(x.home, fmt.Sprint("out", i)), "--", self, "chore", fmt.Sprint(draw), fmt.Sprint(i), "{}")
		})
	}
	all.Wait()
	return x.finish(t, server, len(jobs), func(f finished) float64 {
		var i int
		if _, err := fmt.Sscanf(f.Name, "job%d", &i); err != nil {
			t.Errorf("a job named %q", f.Name)
			return 0
		}
		return jobs[i].limit
	})
}

func TestMixedDeadlines(t *testing.T) {
	bin := build(t)
	inTime := map[string][]float64{}
	for _, name := range mixedPolicies {
		inTime[name] = make([]float64, *mixedDraws)
	}
	var all sync.WaitGroup
	for draw := range *mixedDraws {
		for k := range mixedPolicies {
			name := mixedPolicies[(k+draw)%len(mixedPolicies)] // so that the load of the neighbours hits all
			x, to := tool{bin, t.TempDir()}, inTime[name]
			all.Go(func() { to[draw] = float64(x.mixedRun(t, name, draw)) })
			time.Sleep(*mixedSpace)
		}
	}
	all.Wait()
	ours := inTime["laxity"]
	for _, name := range mixedPolicies {
		mean, half := laws.MeanInterval(inTime[name], 0.95)
		gain, about := laws.MeanInterval(differences(ours, inTime[name]), 0.95)
		t.Logf("%-7s %.1f ± %.1f of %d in time; laxity has %+.1f ± %.1f more %v", name, mean, half, mixedJobs, gain, about, inTime[name])
		if gain+about < 0 {
			t.Errorf("laxity has fewer jobs in time than %s", name)
		}
	}
}
