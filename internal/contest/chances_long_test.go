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
	"sync"
	"syscall"
	"testing"
	"time"
)

// Twenty mixed jobs with deadlines come to a server, again and again with other draws. Their names come back, so the server knows what they took before, but
// in the first draw. At four random instants of each draw the jobs that are there are asked for their chance; of those of a job one counts.

var (
	rounds    = flag.Int("rounds", 26, "draws of TestServedChances under each policy")
	firstDraw = flag.Int("first", 1, "the first of the draws of TestServedChances")
)

// servedPolicies run at the same time, each in a server of its own.
var servedPolicies = []string{"fifo", "srpt", "laxity", "auto"}

// servedSizes are the tasks of the jobs.
var servedSizes = [...]int{1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 8, 8, 10, 12, 15, 20, 24, 30, 40, 60}

const (
	servedSlots  = 8
	servedWindow = 30.0 // seconds in which the jobs come
	servedMean   = 0.7  // seconds of a task
	servedFile   = "../../docs/data/chances-serve.json"
)

// servedJob is a job of a draw.
type servedJob struct {
	name     string
	at       float64
	deadline time.Duration
	args     []string
}

// told is a chance, as the server told it, and what became of the job.
type told struct {
	Policy string  `json:"policy"`
	Draw   int     `json:"draw"`
	Job    string  `json:"job"`
	At     float64 `json:"at_seconds"` // in its draw
	Chance float64 `json:"pocd"`
	Met    bool    `json:"deadline_met"`
}

// drawServed returns the jobs of a draw. A third of them has attempts that all take about as long, a third draws them from an exponential law, and in the
// others one attempt in twenty takes six times as long. Sizes, means and laws go with the names.
func drawServed(draw int) (jobs []servedJob) {
	names, r := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(uint64(draw), 2))
	for i, n := range servedSizes {
		mean := servedMean * math.Exp(names.NormFloat64()/2)
		alone := mean * (float64(n)/servedSlots + 2)
		j := servedJob{
			name: fmt.Sprintf("j%02d", i), at: servedWindow * r.Float64(),
			deadline: time.Duration(alone * math.Exp(0.5+0.6*r.NormFloat64()) * float64(time.Second)),
		}
		law := []string{"0.7 + 0.6 * u($t)", "-log(1 - u($t))", "(u($t) < 0.05 ? 6 : 0.7)"}[i%3]
		program := fmt.Sprintf("sub u { my $x = 43758.5453 * abs sin(12.9898 * $_[0]); $x - int $x } my $t = 1000 * %d + 10 * $ARGV[0] + $ENV{TAILCUT_ATTEMPT} + %d; select undef, undef, undef, %.4f * (%s)",
			draw, 7919*i, mean, law)
		j.args = []string{"--tasks", fmt.Sprint(n), "--name", j.name, "--deadline", j.deadline.Round(time.Millisecond).String(), "--output", fmt.Sprintf("out/%d/%s", draw, j.name), "--", "perl", "-e", program, "{}"}
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b servedJob) int { return int(math.Copysign(1, a.at-b.at)) })
	return jobs
}

// servedList is what a server says of its jobs.
type servedList struct {
	Jobs []struct {
		ID       int64
		Name     string
		State    string
		Chance   *float64 `json:"pocd"`
		Ended    *time.Time
		Deadline *time.Time
	}
}

func (x tool) listed(t *testing.T) (l servedList) {
	if err := json.Unmarshal(x.run(t, "jobs", "--format", "json"), &l); err != nil {
		t.Error(err)
	}
	return l
}

// serveChances runs the draws in a server under a policy.
func serveChances(t *testing.T, x tool, policy string) (all []told) {
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--slots", fmt.Sprint(servedSlots), "--policy", policy)
	listening(t, server)
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	for draw := *firstDraw; draw < *firstDraw+*rounds; draw++ {
		r := rand.New(rand.NewPCG(uint64(draw), 3))
		begin := time.Now()
		chances := map[int64][]told{}
		var asking sync.WaitGroup
		asks := []float64{}
		for range 4 {
			asks = append(asks, 3+servedWindow*r.Float64())
		}
		slices.Sort(asks)
		asking.Go(func() {
			for _, at := range asks {
				time.Sleep(time.Until(begin.Add(time.Duration(at * float64(time.Second)))))
				for _, j := range x.listed(t).Jobs {
					if j.Chance != nil && j.Ended == nil {
						chances[j.ID] = append(chances[j.ID], told{Policy: policy, Draw: draw, Job: j.Name, At: math.Round(10*at) / 10, Chance: *j.Chance})
					}
				}
			}
		})
		var names []string
		for _, j := range drawServed(draw) {
			time.Sleep(time.Until(begin.Add(time.Duration(j.at * float64(time.Second)))))
			x.run(t, append([]string{"submit"}, j.args...)...)
			names = append(names, j.name)
		}
		x.run(t, append([]string{"wait"}, names...)...)
		asking.Wait()
		for _, j := range x.listed(t).Jobs {
			if c := chances[j.ID]; len(c) > 0 && j.Ended != nil {
				one := c[r.IntN(len(c))]
				one.Met = j.State == "succeeded" && !j.Ended.After(*j.Deadline)
				all = append(all, one)
			}
		}
	}
	return all
}

// TestServedChances: what servers tell of the chances of their jobs, for docs/explain/chance.md. With -rewrite it writes
// them down; TestReliabilityOfSharedClusters draws them. It takes a quarter of an hour.
func TestServedChances(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("needs perl")
	}
	bin := build(t)
	rows := make([][]told, len(servedPolicies))
	var all sync.WaitGroup
	for i, policy := range servedPolicies {
		all.Go(func() { rows[i] = serveChances(t, tool{bin, t.TempDir()}, policy) })
	}
	all.Wait()
	flat := slices.Concat(rows...)
	for i, policy := range servedPolicies {
		t.Logf("%s: %d jobs", policy, len(rows[i]))
	}
	if len(flat) < 200 {
		t.Errorf("%d chances were told", len(flat))
	}
	if !*rewrite {
		return
	}
	text, err := json.MarshalIndent(flat, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(servedFile, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}
