package policy

import (
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// A task's size is what its attempts have in common; what an attempt foretells is that times a slowdown of at least 1,
// which each attempt draws. Of the variance of the logarithms of what is foretold a share is that of the sizes. With
// none of it attempts draw their durations anew, and redrawn has the rule; with nearly all, another attempt is of no
// use. Sizes are taken as lognormal and slowdowns as Pareto's.
//
// The share is learned: each foretold duration of a task that has foretold before is likelier under some shares than
// under others, given what the task has foretold. So it does not matter that only slow attempts are replaced.

// likenesses are the shares that are considered.
var likenesses = [...]float64{0, 0.3, 0.6, 0.75, 0.85, 0.92, 0.97, 0.995}

const (
	likenessDoubt = 8    // by how much the log-likelihood of another share must exceed that of 0
	likenessOdd   = 0.05 // chance that a duration is drawn anew whatever the share
	likenessBins  = 18   // of logarithms, each half a deviation wide but for the first and the last
	likenessPrior = 10   // durations as which the normal law counts beside those that were foretold
)

// likeness is what is known of the share. Durations count by the bin that their logarithm is in, so that values that
// are equal by chance say little.
type likeness struct {
	log  [len(likenesses)]float64 // log-likelihoods
	seen [likenessBins]float64    // durations by bin
}

// drawnSize is what a task has foretold: how many durations, and the logarithm of the shortest.
type drawnSize struct{ n, least float32 }

func (d *drawnSize) add(log float64) {
	if d.n++; d.n == 1 || float32(log) < d.least {
		d.least = float32(log)
	}
}

// hear takes in the logarithm of a duration, and what the task has foretold before; mean and variance are of the
// stage. With a share of 0 it is as likely as such durations have been.
func (l *likeness) hear(mean, variance float64, before drawnSize, log float64) {
	if variance < leastSpread {
		return
	}
	sd := math.Sqrt(variance)
	bin := min(max(int(math.Floor((log-mean)/sd*2))+likenessBins/2, 0), likenessBins-1)
	lo, hi := mean+sd*float64(bin-likenessBins/2)/2, mean+sd*float64(bin+1-likenessBins/2)/2
	if bin == 0 {
		lo = math.Inf(-1)
	} else if bin == likenessBins-1 {
		hi = math.Inf(1)
	}
	if before.n > 0 {
		n := 0.0
		for _, x := range l.seen {
			n += x
		}
		normal := math.Exp(logNormalCDF((hi-mean)/sd)) - math.Exp(logNormalCDF((lo-mean)/sd))
		anew := (l.seen[bin] + likenessPrior*normal) / (n + likenessPrior)
		for i, share := range likenesses {
			chance := anew
			if share > 0 {
				s := newTaskSize(mean, variance, share, before)
				chance = s.late(1, math.Exp(lo)) - s.late(1, math.Exp(hi))
			}
			l.log[i] += math.Log((1-likenessOdd)*max(0, chance) + likenessOdd*anew)
		}
	}
	l.seen[bin]++
}

// share returns the likeliest one; 0 unless another is much likelier.
func (l *likeness) share() float64 {
	best, share := l.log[0]+likenessDoubt, 0.0
	for i, x := range l.log[1:] {
		if x > best {
			best, share = x, likenesses[1+i]
		}
	}
	return share
}

func (l *likeness) fade() {
	for i := range l.log {
		l.log[i] *= fade
	}
	for i := range l.seen {
		l.seen[i] *= fade
	}
}

// taskSize is the law of a task's size, given what it has foretold: all are logarithms, of seconds.
//
//	mu, sigma  of the normal law of sizes
//	alpha      of Pareto's law of slowdowns from 1 on
//	n, least   see drawnSize
type taskSize struct{ mu, sigma, alpha, n, least float64 }

// leastSpread is the least variance of logarithms that is reckoned with.
const leastSpread = 1e-6

func newTaskSize(mean, variance, share float64, d drawnSize) taskSize {
	variance = max(variance, leastSpread)
	alpha := 1 / math.Sqrt((1-share)*variance)
	s := taskSize{mean - 1/alpha, math.Sqrt(share * variance), alpha, float64(d.n), float64(d.least)}
	if d.n == 0 {
		s.least = math.Inf(1)
	}
	return s
}

// z returns the logarithm of E[e^(alpha k X); X < l] for the size X before anything is foretold. After n durations its
// density is proportional to e^(alpha n x) where x is below all of them.
func (s *taskSize) z(k, l float64) float64 {
	k *= s.alpha
	return k*s.mu + k*k*s.sigma*s.sigma/2 + logNormalCDF((l-s.mu)/s.sigma-k*s.sigma)
}

// late returns the chance that each of k more attempts takes longer than a time, for a whole task.
func (s *taskSize) late(k, seconds float64) float64 {
	if seconds <= 0 {
		return 1
	}
	log := math.Log(seconds)
	if math.IsInf(log, 1) {
		return 0
	}
	below, all := min(s.least, log), s.z(s.n, s.least)
	return min(1, max(0, 1-math.Exp(s.z(s.n, below)-all)+math.Exp(-k*s.alpha*log+s.z(s.n+k, below)-all)))
}

// quantile returns that of the logarithm of the size. Far in the tail of the normal law that is nearly exponential.
func (s *taskSize) quantile(u float64) float64 {
	const far = -5
	mu := s.mu + s.n*s.alpha*s.sigma*s.sigma
	b := (s.least - mu) / s.sigma
	if b < far {
		return s.least + math.Log(u)*s.sigma/-b
	}
	return mu - s.sigma*math.Sqrt2*math.Erfcinv(u*math.Erfc(-b/math.Sqrt2))
}

// logNormalCDF returns the logarithm of the normal law's distribution function.
func logNormalCDF(x float64) float64 {
	if x > -30 {
		return math.Log(0.5 * math.Erfc(-x/math.Sqrt2))
	}
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi))
}

// sizes is what laxity knows of tasks' sizes.
type sizes struct {
	likeness
	logs  powers // of what all jobs have foretold
	tasks sched.Table[sched.TaskID, drawnSize]
	table reservation // for slowdowns of law
	law   laws.Law
	alpha float64 // of law
}

// moments returns the mean and the variance of the logarithms of a stage's durations: its own, and those of all jobs as
// foretoldOthers of them.
func (z *sizes) moments(own powers) (mean, variance float64) {
	if z.logs.n > 0 {
		own = own.plus(foretoldOthers, z.logs.sum/z.logs.n, z.logs.squares/z.logs.n)
	}
	if own.n == 0 {
		return 0, 0
	}
	mean = own.sum / own.n
	return mean, max(0, own.squares/own.n-mean*mean)
}

// logOf returns the logarithm of a duration in seconds, at least a nanosecond.
func logOf(y float64) float64 { return math.Log(max(y, 1e-9)) }

// foretells takes in a duration.
func (z *sizes) foretells(st *stageForetold, t sched.TaskID, y float64) {
	log, d := logOf(y), z.tasks.At(t)
	mean, variance := z.moments(st.logs)
	z.hear(mean, variance, *d, log)
	d.add(log)
	st.logs.add(log)
	z.logs.add(log)
}

func (z *sizes) forget(v *sched.View, j sched.JobID) {
	kit.DropTasks(&z.tasks, v, j)
	z.fade()
	z.logs.n, z.logs.sum, z.logs.squares = z.logs.n*fade, z.logs.sum*fade, z.logs.squares*fade
}

// sizeOf returns what is known of the size of a task; ok is false where sizes do not count.
func (p *laxity) sizeOf(v *sched.View, t sched.TaskID) (s taskSize, ok bool) {
	share := p.sizes.share()
	if share == 0 {
		return s, false
	}
	mean, variance := p.sizes.moments(p.stages.Of(v.Task(t).Stage).logs)
	return newTaskSize(mean, variance, share, p.sizes.tasks.Get(t)), true
}

// sizeNodes are how many sizes of equal probability stand for all.
const sizeNodes = 6

// reservation returns the seconds, for a whole task, that are worth another attempt: the mean of x over the sizes X,
// with E[(x-XS)^+] = c for the slowdown S. What an attempt does until it is judged does not count here: with it tasks
// take as long, and three attempts instead of two (decision 0113).
func (z *sizes) reservation(s *taskSize, c float64) (sum float64) {
	if z.alpha != s.alpha {
		z.law, z.alpha = laws.Pareto{Alpha: s.alpha, Xm: 1}, s.alpha
	}
	for i := range sizeNodes {
		x := math.Exp(s.quantile((float64(i) + 0.5) / sizeNodes))
		sum += x * z.table.of(z.law, drawing{c: c / x}) / sizeNodes
	}
	return sum
}
