//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A check is a command whose result theory knows: a row of docs/explain/validation.md.
type check struct {
	world   string // what is simulated
	source  string // the theory, in words and symbols
	command string // behind "tailcut simulate", in a clone of the project
	want    float64
	of      func(*simulated) (mean, half float64) // what is compared, and half its 95 % interval; 0 where no chance is left
	seeds   int                                   // repetitions that draw the jobs anew, with the seeds 1, 2 and so on; 0 where --runs repeats
}

// simulated is what simulate prints as JSON, as far as checks use it.
type simulated struct {
	Results []struct {
		Mean      float64 `json:"mean_flow_seconds"`
		Fruitful  float64 `json:"fruitful_seconds"`
		Fruitless float64 `json:"fruitless_seconds"`
		Makespan  float64 `json:"makespan_seconds"`
	}
}

// flow is the mean flow time.
func flow(s *simulated) (mean, half float64) {
	var all []float64
	for _, r := range s.Results {
		all = append(all, r.Mean)
	}
	return normal(all)
}

// machineTime is what all attempts took together.
func machineTime(s *simulated) (mean, half float64) {
	var all []float64
	for _, r := range s.Results {
		all = append(all, r.Fruitful+r.Fruitless)
	}
	return normal(all)
}

// normal is a mean and half its 95 % interval, of so many repetitions that the normal law serves: the intervals that
// simulate prints are wider where repetitions are skewed, and would let more pass. The half is 0 where all are equal.
func normal(all []float64) (mean, half float64) {
	if slices.Max(all) == slices.Min(all) {
		return all[0], 0
	}
	var sum, squares float64
	n := float64(len(all))
	for _, x := range all {
		sum += x / n
	}
	for _, x := range all {
		squares += (x - sum) * (x - sum)
	}
	return sum, 1.96 * math.Sqrt(squares/(n*(n-1)))
}

// Means of the largest of n: the harmonic number for exponential durations with mean 1, and a product for Pareto.
func harmonic(n int) (h float64) {
	for k := n; k > 0; k-- {
		h += 1 / float64(k)
	}
	return h
}

// largestPareto is n! Γ(1-1/α)/Γ(n+1-1/α), in units of the least duration.
func largestPareto(n int, alpha float64) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(1 - 1/alpha)
	c, _ := math.Lgamma(float64(n) + 1 - 1/alpha)
	return math.Exp(a + b - c)
}

// waiting is the mean time in an M/M/c queue with service rate 1 (Erlang 1917).
func waiting(c int, load float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= load / float64(k+1)
	}
	last := term / (1 - load/float64(c))
	return 1 + last/(sum+last)/(float64(c)-load)
}

// general is the mean time in an M/G/1 queue (Pollaczek 1930, Khinchine 1932) from the arrival rate and the two moments of service.
func general(rate, first, second float64) float64 {
	return first + rate*second/(2*(1-rate*first))
}

// shortest is the mean time in an M/G/1 queue that takes the shortest job first and ends none, for exponential service with mean 1:
// 1 + ∫ λE[S²]/2 / (1-ρ(x))² dF(x), where ρ(x) is the load of jobs below x (Phipps 1956). Simpson's rule over u = F(x), with an error below 1e-6.
func shortest(rate float64) float64 {
	wait := func(u float64) float64 { // ρ(x) = λ(1 - e^-x - x e^-x), with e^-x = 1-u
		below := u
		if u < 1 {
			below += (1 - u) * math.Log1p(-u)
		}
		return rate / math.Pow(1-rate*below, 2)
	}
	const n = 1 << 16
	sum := wait(0) + wait(1)
	for k := 1; k < n; k++ {
		sum += wait(float64(k)/n) * float64(2+2*(k%2))
	}
	return 1 + sum/(3*n)
}

// shortestRemaining is the mean time in an M/G/1 queue that serves the job with the least work left, for exponential service with mean 1 (Schrage and
// Miller 1966): over sizes x, λ(∫t²dF(t) + x²(1-F(x)))/2/(1-ρ(x))² + ∫dt/(1-ρ(t)), integrals from 0 to x. Simpson's rule up to 40, beyond which there
// are fewer than one in 10^17 jobs.
func shortestRemaining(rate float64) float64 {
	const n, top = 1 << 16, 40.0
	sum, spent := 0.0, 0.0 // spent is the last integral, by trapezoids
	below := func(x float64) float64 { return rate * (1 - math.Exp(-x)*(1+x)) }
	for k := 0; k <= n; k++ {
		x := top * float64(k) / n
		if k > 0 {
			spent += top / n * (1/(1-below(x-top/n)) + 1/(1-below(x))) / 2
		}
		tail := math.Exp(-x)
		squares := 2 - tail*(x*x+2*x+2) + x*x*tail
		weight := float64(2 + 2*(k%2))
		if k == 0 || k == n {
			weight = 1
		}
		sum += weight * tail * (rate*squares/2/math.Pow(1-below(x), 2) + spent)
	}
	return sum * top / n / 3
}

const (
	queue = " --machines 1 --policy fifo"
	array = "'synth:jobs=1;tasks=100;law=%s;arrivals=batch' --service law --max-attempts none --clone-budget none --runs 8000 "
)

func arrayOf(law, rest string) string { return fmt.Sprintf(array, law) + rest }

var checks = []check{
	{"M/M/1, load 0.7", "1/(μ-λ)", "'synth:jobs=20000;tasks=1;law=exp:mean=1;arrivals=poisson:rate=0.7'" + queue, 1 / 0.3, flow, 40},
	{"M/M/5, load 0.7", "Erlang's C", "'synth:jobs=20000;tasks=1;law=exp:mean=1;arrivals=poisson:rate=3.5'" +
		strings.Replace(queue, "1", "5", 1), waiting(5, 3.5), flow, 40},
	{"M/D/1, load 0.7", "Pollaczek and Khinchine", "'synth:jobs=20000;tasks=1;law=1;arrivals=poisson:rate=0.7'" + queue, general(0.7, 1, 1), flow, 40},
	{"M/G/1, durations uniform in (0, 2), load 0.7", "Pollaczek and Khinchine",
		"'synth:jobs=20000;tasks=1;law=uniform:lo=0,hi=2;arrivals=poisson:rate=0.7'" + queue, general(0.7, 1, 4./3), flow, 40},
	{"M/G/1, lognormal with coefficient of variation 1.5, load 0.5", "Pollaczek and Khinchine",
		"'synth:jobs=20000;tasks=1;law=lognormal:mean=1,sd=1.5;arrivals=poisson:rate=0.5'" + queue, general(0.5, 1, 3.25), flow, 40},
	{"jobs of 4 tasks one by one, each exponential: M/E₄/1, load 0.7", "Pollaczek and Khinchine",
		"'synth:jobs=20000;tasks=4;law=exp:mean=0.25;arrivals=poisson:rate=0.7'" + queue, general(0.7, 1, 1.25), flow, 40},
	{"M/M/1, shortest job first, load 0.7", "Phipps' integral",
		"'synth:jobs=20000;tasks=1;law=1;scale=exp:mean=1;arrivals=poisson:rate=0.7'" + strings.Replace(queue, "fifo", "srpt", 1), shortest(0.7), flow, 40},
	{"M/M/1, shortest remaining time first, load 0.7", "Schrage and Miller's integrals",
		"'synth:jobs=20000;tasks=1;law=1;scale=exp:mean=1;arrivals=poisson:rate=0.7;resumable=true' --machines 1 --policy srpt:preempt=true --progress exact",
		shortestRemaining(0.7), flow, 40},
	{"M/M/1, processor sharing, load 0.7", "1/(μ-λ)",
		"'synth:jobs=20000;tasks=1;law=exp:mean=1;arrivals=poisson:rate=0.7' --machines 300 --policy laps:servers=1", 1 / 0.3, flow, 40},
	{"M/G/1, processor sharing, lognormal with coefficient of variation 1.5, load 0.5", "E[S]/(1-ρ), whatever the law",
		"'synth:jobs=20000;tasks=1;law=lognormal:mean=1,sd=1.5;arrivals=poisson:rate=0.5' --machines 300 --policy laps:servers=1", 2, flow, 40},
	{"the slowest of 100, exponential", "H₁₀₀", arrayOf("exp:mean=1", "--machines 100 --policy fifo"), harmonic(100), flow, 0},
	{"the slowest of 100, Pareto α = 3", "n! Γ(1-1/α)/Γ(n+1-1/α)", arrayOf("pareto:alpha=3,xm=1", "--machines 100 --policy fifo"),
		largestPareto(100, 3), flow, 0},
	{"a fork at 90 of 100, exponential, the original kept", "H₁₀₀ - H₁₀ + H₁₀/2", arrayOf("exp:mean=1", "--machines 200 --policy fork:p=0.1,r=1"),
		harmonic(100) - harmonic(10)/2, flow, 0},
	{"the same: machine time of exponential clones that are ended with the winner", "n, as without clones",
		arrayOf("exp:mean=1", "--machines 200 --policy fork:p=0.1,r=1"), 100, machineTime, 0},
	{"a fork at 90 of 100, shifted exponential 1 + exp(1), the original killed", "1 + H₁₀₀ - H₁₀ + 1 + H₁₀/2",
		arrayOf("shiftedexp:delta=1,mu=1", "--machines 200 --policy fork:p=0.1,r=1,original=kill"), 2 + harmonic(100) - harmonic(10)/2, flow, 0},
	{"launches that take an exponential time, tasks of 10 s", "10 + 5 H₁₀₀",
		"'synth:jobs=1;tasks=100;law=10;arrivals=batch' --machines 100 --policy fifo --launch-delay exp:mean=5 --runs 4000", 10 + 5*harmonic(100), flow, 0},
	{"a task of 1 h on machines that fail every hour, begun anew elsewhere", "(e^{λd}-1)/λ",
		"'synth:jobs=200;tasks=1;law=3600;arrivals=batch' --machines 2000 --policy fifo --failures mtbf=1h,mttr=1m --runs 100", 3600 * math.Expm1(1), flow, 0},
	{"racks of 2 that fail every hour: 2 tasks of 1 h at once, begun anew elsewhere", "(e^{λd}-1)/λ, as both fail at once",
		"'synth:jobs=100;tasks=2;law=3600;arrivals=batch' --machines 2000 --policy fifo --failures mtbf=1h,mttr=1m,rack=2 --runs 200", 3600 * math.Expm1(1), flow, 0},
	{"the policy decides every 2 s, tasks of 10 s", "1 + 10: half an interval, and the end is at its end",
		"'synth:jobs=2000;tasks=1;law=10;arrivals=poisson:rate=0.5' --machines 50 --policy fifo --overheads interval=2s", 11, flow, 40},
	{"heartbeats every 3 s, tasks of 10 s", "1.5 + 12: half a heartbeat, then whole ones",
		"'synth:jobs=2000;tasks=1;law=10;arrivals=batch' --machines 2000 --policy fifo --overheads heartbeat=3s", 13.5, flow, 40},
	{"attempts that pause 1 s in each 4 s of work, tasks of 10 s", "10 + 10/4",
		"'synth:jobs=2000;tasks=1;law=10;arrivals=poisson:rate=0.5' --machines 50 --policy fifo --overheads pause=1s/4s", 12.5, flow, 40},
	{"a graph of four stages", "the longest path, 3 + 5 + 4 s, or 2 + 9 + 4 s", "docs/data/validation/dag.jsonl --machines 4 --policy fifo", 15, flow, 0},
	{"two fetches of 4 kB and 8 kB that share 1 kB/s, then 10 s of work", "max-min shares: (8 + 12)/2 + 10",
		"docs/data/validation/transfer.jsonl --cluster docs/data/validation/link.yaml --policy fifo", 20, flow, 0},
	{"M/M/1, load 0.8, 1,000 jobs: those in an empty and in an emptying queue cut by the rule", "1/(μ-λ)",
		"'synth:jobs=1000;tasks=1;law=exp:mean=1;arrivals=poisson:rate=0.8'" + queue + " --replicate both --runs 4000 --cut auto", 5, flow, 0},
}

// words splits a command as a shell would, where no quote is within a word.
func words(command string) (all []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// simulate runs a check's command, once or with each of its seeds.
func (c *check) simulate(t *testing.T) *simulated {
	t.Helper()
	run := func(more ...string) (s simulated) {
		var out, errs bytes.Buffer
		args := slices.Concat([]string{"simulate"}, words(c.command), []string{"--format", "json"}, more)
		if status := tailcut(args, strings.NewReader(""), &out, &errs); status != 0 {
			t.Fatalf("%s: exit status %d: %s", c.command, status, &errs)
		}
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if c.seeds == 0 {
		s := run()
		return &s
	}
	all := simulated{}
	for seed := range c.seeds {
		all.Results = append(all.Results, run("--seed", strconv.Itoa(seed+1)).Results...)
	}
	return &all
}

// TestValidation: what simulate prints is what theory says. The page shows all rows; -rewrite writes it. A row is refused beyond 3.3 standard
// errors, which one in a thousand passes by chance; draws are the same in each run of the test. An interval beyond 2 % would show little.
func TestValidation(t *testing.T) {
	t.Chdir("../..") // where the commands of the page are given
	var table, commands strings.Builder
	commands.WriteString("<!-- not run: TestValidation runs them -->\n\n")
	for i, c := range checks {
		s := c.simulate(t)
		got, half := c.of(s)
		off := math.Abs(got-c.want) / (half / 1.96)
		switch {
		case half > 0 && (off > 3.3 || half > 0.02*c.want):
			t.Errorf("%s: simulated %v ± %v, theory %v: %.1f standard errors", c.world, got, half, c.want, off)
		case half == 0 && got != c.want:
			t.Errorf("%s: simulated %v, theory %v", c.world, got, c.want)
		}
		measured, errors := strconv.FormatFloat(got, 'g', -1, 64), "exact"
		if half > 0 {
			measured, errors = fmt.Sprintf("%.5g ± %.2g", got, half), fmt.Sprintf("%.1f", off)
		}
		fmt.Fprintf(&table, "| %d | %s | %s | %.5g | %s | %s |\n", i+1, c.world, c.source, c.want, measured, errors)
		seeds := ""
		if c.seeds > 0 {
			seeds = fmt.Sprintf(", with --seed 1 to %d", c.seeds)
		}
		fmt.Fprintf(&commands, "    tailcut simulate %s    # %d%s\n", c.command, i+1, seeds)
	}
	comparePage(t, "docs/explain/validation.md", table.String(), commands.String())
}

// comparePage compares the generated parts of a page, each between a line "<!-- begin -->" and a line "<!-- end -->".
func comparePage(t *testing.T, name string, parts ...string) {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(string(page), "<!-- begin -->\n")
	if len(pieces) != len(parts)+1 {
		t.Fatalf("%s has %d places to fill, want %d", name, len(pieces)-1, len(parts))
	}
	for i, part := range parts {
		_, rest, _ := strings.Cut(pieces[i+1], "<!-- end -->")
		pieces[i+1] = part + "<!-- end -->" + rest
	}
	want := strings.Join(pieces, "<!-- begin -->\n")
	if want == string(page) {
		return
	}
	if !*rewritePages {
		t.Fatalf("%s is not what the commands print; run go test -tags long ./cmd/tailcut -run TestValidation -rewrite", name)
	}
	if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}
