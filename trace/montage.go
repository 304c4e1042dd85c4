package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// MontageJobs generates jobs with the shape of Montage, which assembles pictures of the sky, as the generator of
// synthetic Pegasus workflows has it (Bharathi et al., WORKS 2008): the workload of GeoClone's simulations (Wang et
// al., Section 6). P projections are compared pairwise in D tasks, and corrected by what that tells:
//
//	mProject P -> mDiffFit D -> mConcatFit -> mBgModel -> mBackground P -> mImgTbl -> mAdd -> mShrink -> mJPEG
//
// with n = 2P + D + 6 tasks. A pair of projections is compared at most once. A background task reads its projection
// too, and mAdd the corrected images; this edge adds data and no order. Jobs of less than 15 tasks have no room for the
// shape: n-1 projections go into one task, a reading.
type MontageJobs struct {
	Jobs  int
	Mix   string  // of sizes: "facebook" or "hpc", see [MontageMixes]; "" if all are of Tasks
	Tasks int     // of each job
	Rate  float64 // of Poisson arrivals, jobs per second
	Scale float64 // factor on all durations
	Seed  uint64
}

// MontageUsage lists the keys of the generator with their defaults, for help texts.
const MontageUsage = `synth:montage;jobs=100;mix=facebook|hpc;tasks=N;rate=0.02;scale=1;seed=N`

const montagePrefix = "synth:montage"

// MontageMixes are the sizes of jobs in GeoClone's two mixes: 89, 8 and 3 % of the jobs have up to 150, up to 500, and
// more tasks, 90 on average, like those of Facebook; 47 and 53 % have 150 to 500 and more, 430 on average, like those
// of high-performance computing. How sizes are spread within a range is chosen such that the means come out.
var MontageMixes = map[string][]SizeRange{
	"facebook": {{0.89, 1, 150, true}, {0.08, 150, 500, true}, {0.03, 501, 2830, true}},
	"hpc":      {{0.47, 150, 500, false}, {0.53, 501, 545, false}},
}

// SizeRange is a part of a mix: jobs of Lo to Hi tasks, uniform, or uniform in the logarithm.
type SizeRange struct {
	Part, Lo, Hi float64
	Logarithmic  bool
}

// draw returns a size for a number in (0, 1).
func (r SizeRange) draw(u float64) float64 {
	if r.Logarithmic {
		return r.Lo * math.Pow(r.Hi/r.Lo, u)
	}
	return r.Lo + u*(r.Hi-r.Lo)
}

// Bytes of files (Bharathi's generator).
const (
	montageInput     = 4_222_080
	montageProjected = 2 * 4_162_432 // an image and its area
	montageFit       = 274
	montageMosaic    = 173_465_280 // each of two, at 50 projections
	montageShrink    = 24.99
	montageJPEGRate  = 549_291 // bytes per second
)

// Purposes of a job's streams, beside those of other generators.
const (
	drawMontageSize uint64 = iota + 1<<17
	drawMontagePairs
	drawMontageTimes
)

// leastMontage is the smallest job that has Montage's shape.
const leastMontage = 15

func parseMontage(body string, seed uint64) (*MontageJobs, error) {
	g := &MontageJobs{Jobs: 100, Mix: "facebook", Rate: 0.02, Scale: 1, Seed: seed}
	if err := eachPair(body, g.set); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *MontageJobs) set(key, value string) (err error) {
	switch key {
	case "jobs":
		g.Jobs, err = parseJobs(value)
	case "mix":
		if _, known := MontageMixes[value]; !known {
			return fmt.Errorf("expected facebook or hpc, got %q", abridged(value))
		}
		g.Mix = value
	case "tasks":
		if g.Tasks, err = strconv.Atoi(value); err != nil || g.Tasks < 1 || g.Tasks > 1<<20 {
			return fmt.Errorf("expected a whole number between 1 and %d, got %q", 1<<20, abridged(value))
		}
		g.Mix = ""
	case "rate":
		err = positive(value, &g.Rate)
	case "scale":
		err = positive(value, &g.Scale)
	case "seed":
		if g.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("expected a whole number of at least 0, got %q", abridged(value))
		}
	default:
		return fmt.Errorf("expected one of %s", MontageUsage)
	}
	return err
}

func positive(value string, to *float64) error {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("expected a positive number, got %q", abridged(value))
	}
	*to = x
	return nil
}

// Workload generates the jobs. The first arrives at 0; job k depends on the spec, the seed and k alone.
func (g *MontageJobs) Workload(name string) (*Workload, error) {
	w := &Workload{Name: name, Sites: []string{""}}
	names := newNames(w)
	gap, now := laws.Exponential{Mu: g.Rate}, sched.Time(0)
	for k := range uint32(g.Jobs) {
		b := montage{w: w, names: names, scale: g.Scale, times: jobStream(g.Seed, k, drawMontageTimes)}
		n := g.size(k)
		if n > maxSynthTasks-len(w.Durations) {
			return nil, errSynthTasks
		}
		job := JobRow{Arrival: now, Number: k, FirstStage: uint32(len(w.Stages)), FirstEdge: uint32(len(w.Edges))}
		if n < leastMontage {
			b.small(n)
		} else {
			b.large(n, jobStream(g.Seed, k, drawMontagePairs))
		}
		job.Stages, job.Edges = uint32(len(w.Stages))-job.FirstStage, uint32(len(w.Edges))-job.FirstEdge
		w.Jobs = append(w.Jobs, job)
		span, err := drawSeconds(gap, jobStream(g.Seed, k, drawGap))
		if now += span; err != nil || now > maxInstant {
			return nil, fmt.Errorf("synth: job %d would arrive after %v", k+1, sched.Time(maxInstant))
		}
		if b.err != nil {
			return nil, fmt.Errorf("synth: job %d: %w", k, b.err)
		}
	}
	return w, nil
}

// size returns the number of tasks of job k.
func (g *MontageJobs) size(k uint32) int {
	if g.Mix == "" {
		return g.Tasks
	}
	draws := jobStream(g.Seed, k, drawMontageSize)
	u, within := uniform(draws), uniform(draws)
	parts := MontageMixes[g.Mix]
	for i, r := range parts {
		if u -= r.Part; u < 0 || i == len(parts)-1 {
			return max(1, int(math.Round(r.draw(within))))
		}
	}
	panic("trace: a mix without sizes")
}

// montageShape returns how many projections and comparisons a job of n tasks has: about a sixth of n-6 are projections,
// more if these do not make enough pairs.
func montageShape(n int) (projections, comparisons int) {
	r := n - 6
	p := int(math.Round(float64(r) / 6))
	for p*(p-1)/2 < r-2*p {
		p++
	}
	return p, r - 2*p
}

// montage builds one job.
type montage struct {
	w     *Workload
	names *names
	scale float64
	times *rand.PCG
	err   error // a duration out of range
}

// tasks appends a stage of n tasks with durations of a mean and a variance.
func (b *montage) tasks(name string, n int, mean, variance float64) {
	first := len(b.w.Durations)
	for range n {
		d, err := checkSeconds(b.scale * max(0, mean+math.Sqrt(variance)*normal(uniform(b.times))))
		if err != nil {
			b.err = err
		}
		b.w.Durations = append(b.w.Durations, d)
	}
	b.w.addStage(first, n, b.names.add(name))
}

// after makes the last stage, number to of the job, wait for another as a whole, or task by task, and read of its
// results.
func (b *montage) after(from, to uint32, kind sched.EdgeKind, bytes ...int64) {
	b.w.Edges = append(b.w.Edges, Edge{From: from, To: to, Kind: kind})
	b.w.addBytes(bytes...)
}

// small makes a job that has no room for Montage's shape.
func (b *montage) small(n int) {
	b.tasks("mProject", max(1, n-1), 13.59, 0.06)
	b.w.addInput(Source{0, montageInput})
	if n > 1 {
		b.tasks("mAdd", 1, 13.59, 0.06)
		b.after(0, 1, sched.Barrier, montageProjected)
	}
}

// large makes a job of n tasks.
func (b *montage) large(n int, draws *rand.PCG) {
	p, d := montageShape(n)
	g := math.Sqrt(float64(p) / 50)
	b.tasks("mProject", p, 13.59, 0.06)
	b.w.addInput(Source{0, montageInput})
	b.tasks("mDiffFit", d, 10.59, 0.01)
	b.compare(p, d, draws)
	b.tasks("mConcatFit", 1, 0.08*float64(d), 0)
	b.after(1, 2, sched.Barrier, montageFit)
	b.tasks("mBgModel", 1, 0.13*float64(d), 0.01)
	b.after(2, 3, sched.Barrier, montageFit*int64(d))
	b.tasks("mBackground", p, 10.74, 0.03)
	b.after(3, 4, sched.Barrier, montageFit*int64(p))
	b.after(0, 4, sched.Pointwise, montageProjected)
	b.tasks("mImgTbl", 1, 0.37*float64(p), 0.01)
	b.after(4, 5, sched.Barrier, montageProjected)
	b.tasks("mAdd", 1, 30.11*g*g, 0.05)
	b.after(5, 6, sched.Barrier, montageFit*int64(p))
	b.after(4, 6, sched.Barrier, montageProjected)
	mosaic := 2 * montageMosaic * g * (0.9 + 0.2*uniform(b.times))
	b.tasks("mShrink", 1, 12.21*g, 0)
	b.after(6, 7, sched.Barrier, int64(mosaic))
	shrunk := mosaic / montageShrink
	jpeg := shrunk / 4 * (0.75 + 0.5*uniform(b.times))
	b.tasks("mJPEG", 1, jpeg/montageJPEGRate, 0)
	b.after(7, 8, sched.Barrier, int64(shrunk))
}

// compare makes each of d tasks wait for two of p projections, no two tasks for the same.
func (b *montage) compare(p, d int, draws *rand.PCG) {
	first := uint32(len(b.w.Pairs))
	taken := make(map[[2]uint32]bool, d)
	for task := uint32(0); task < uint32(d); {
		x, y := uint32(float64(p)*uniform(draws)), uint32(float64(p)*uniform(draws))
		pair := [2]uint32{min(x, y), max(x, y)}
		if x == y || taken[pair] {
			continue
		}
		taken[pair] = true
		b.w.Pairs = append(b.w.Pairs, [2]uint32{pair[0], task}, [2]uint32{pair[1], task})
		task++
	}
	b.w.Edges = append(b.w.Edges, Edge{From: 0, To: 1, Kind: sched.PerTask, FirstPair: first, Pairs: uint32(len(b.w.Pairs)) - first})
	b.w.addBytes(montageProjected)
}
