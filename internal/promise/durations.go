package promise

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// Durations are what is known of how long the attempts of a stage take, in seconds. Stages that share a pointer share
// the work to make a law of them.
type Durations struct {
	Past []Run // of earlier jobs of the name, in any order
	Own  Run   // of this job so far, without what still runs
}

// Run is what one job took in a stage.
type Run struct {
	Ended []float64 // attempts that succeeded
	Cut   []float64 // attempts that were cut off: what they would have taken is longer
}

// lawRuns and lawDraws are as how many earlier runs of how many tasks a law counts that is stated.
const lawRuns, lawDraws = 10, 100

// Stated returns what a law says, as [laws.Parse] reads it, in seconds, as if earlier jobs had taken that long.
func Stated(law string) ([]Run, error) {
	l, err := laws.Parse(law)
	if err != nil {
		return nil, err
	}
	r := Run{}
	for i := range lawDraws {
		r.Ended = append(r.Ended, l.Quantile((float64(i)+0.5)/lawDraws))
	}
	return slices.Repeat([]Run{r}, lawRuns), nil
}

// Tell returns whether enough is known to play a stage.
func (d *Durations) Tell() bool {
	return len(d.Own.Ended) >= leastOwn || slices.ContainsFunc(d.Past, func(r Run) bool { return len(r.Ended) > 0 })
}

// leastOwn is from how many ends of its own on a job is judged by itself.
const leastOwn = 10

// doubt is by how much the error of a mean is taken to be larger than the deviation of few durations says: where these
// happen to be short, they seem to be alike, too.
const doubt = 1.3

// priorDeviation is how much jobs of a name are taken to differ from each other, as a share of their mean, as far as
// too few are known to tell. It counts as much as one job.
const priorDeviation = 0.1

// law is what is taken of a stage's durations: a law, and by how much the job as a whole may be slower or faster than
// it says, as the standard deviation of the logarithm of a factor.
type law struct {
	laws.Law
	mean, sd  float64 // of the law, which may take long to reckon
	deviation float64
}

func newLaw(l laws.Law) *law { return &law{Law: l, mean: l.Mean(), sd: laws.StdDev(l)} }

// draw returns how long something lasts that has lasted for age.
func (l *law) draw(age, u float64) float64 {
	if age <= 0 {
		return laws.Sample(l, u)
	}
	left := l.Survival(age)
	if left <= 0 { // none was seen that lasted so long: as long again, perhaps
		return age - age/2*math.Log1p(-u)
	}
	return max(age, l.InvSurvival(left*(1-u)))
}

// lawOf makes a law of what is known; ages are for how long attempts of this job have run that still do. It is that of
// the job's own attempts or of earlier jobs', whichever is the less uncertain. nil means that too little is known.
func lawOf(d *Durations, ages []float64) *law {
	past, own := lawOfPast(d.Past), lawOfOwn(&d.Own, ages)
	if past == nil || own != nil && own.deviation < past.deviation {
		return own
	}
	return past
}

func lawOfOwn(r *Run, ages []float64) *law {
	if len(r.Ended) < leastOwn {
		return nil
	}
	return lawOfFew(r, ages)
}

// lawOfFew makes a law of what was seen of one thing, however little that is; nil for nothing.
func lawOfFew(r *Run, ages []float64) *law {
	n := float64(len(r.Ended))
	all := observe(nil, r, 1)
	for _, age := range ages {
		all = append(all, laws.Observation{Value: age, Censored: true})
	}
	l, err := laws.Learn(all)
	if err != nil {
		return nil
	}
	own := newLaw(l)
	own.deviation = doubt * own.sd / max(own.mean, 1e-9) / math.Sqrt(n)
	return own
}

func lawOfPast(past []Run) *law {
	between, noise, factors := spread(past)
	var all []laws.Observation
	for i := range past {
		all = observe(all, &past[i], 1/factors[i])
	}
	l, err := laws.Learn(all)
	if err != nil {
		return nil
	}
	known := newLaw(l)
	known.deviation = math.Sqrt(math.Log1p(between + noise))
	return known
}

func observe(to []laws.Observation, r *Run, scale float64) []laws.Observation {
	for _, x := range r.Ended {
		to = append(to, laws.Observation{Value: x * scale})
	}
	for _, x := range r.Cut {
		to = append(to, laws.Observation{Value: x * scale, Censored: true})
	}
	return to
}

// spread tells jobs that are slow as a whole from attempts that are: a model of random effects. between is the variance
// of a job's mean as a share of the mean of all, noise that of the mean of all itself, and factors by how much each
// job is taken to have been slower than the mean: less than it seems where it has few attempts (James and Stein 1961).
func spread(past []Run) (between, noise float64, factors []float64) {
	means, within := make([]float64, len(past)), make([]float64, len(past))
	factors = make([]float64, len(past))
	mean, runs := 0.0, 0.0
	for i := range past {
		factors[i] = 1
		n, m, squares := 0.0, 0.0, 0.0 // Welford
		for _, values := range [][]float64{past[i].Ended, past[i].Cut} {
			for _, x := range values {
				n++
				d := x - m
				m += d / n
				squares += d * (x - m)
			}
		}
		if n == 0 {
			continue
		}
		means[i], within[i] = m, math.NaN()
		if n > 1 {
			within[i] = squares / (n - 1) / n
		}
		mean += m
		runs++
	}
	if mean /= max(1, runs); mean <= 0 {
		return priorDeviation * priorDeviation, 0, factors
	}
	squares, average := 0.0, 0.0
	for i, m := range means {
		if m == 0 {
			continue
		}
		if math.IsNaN(within[i]) { // one attempt: whether it or its job was slow cannot be told
			within[i] = 0
		}
		within[i] /= mean * mean
		squares += (m/mean - 1) * (m/mean - 1)
		average += within[i] / runs
	}
	between = (max(0, squares-(runs-1)*average) + priorDeviation*priorDeviation) / runs
	for i, m := range means {
		if m > 0 {
			factors[i] = max(0.1, 1+(m/mean-1)*between/(between+within[i]))
		}
	}
	return between, (between + average) / runs, factors
}
