package plan

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
)

// AtRisk is the PoCD below which a job is said to be at risk.
const AtRisk = 0.9

// Work is what is left of a job that has a deadline, new or running (Alamro, Xu, Lan and Subramaniam, "Shed: Optimal
// Dynamic Cloning to Meet Application Deadlines in Cloud", Section IV).
//
//	symbol   here
//	N        Tasks
//	T, tmin  Law: its survival takes the place of (tmin/t)^β
//	D, τ     Deadline, Elapsed
//	φ        Progress
//	r        clones, so that a task has r+1 attempts
//	R        PoCD
//
// All methods are pure, allocate nothing and take constant time, but for a law whose survival does not.
type Work struct {
	Tasks    int      // that are not done; 0 is a job that is
	Law      laws.Law // of what one attempt takes for a whole task, in seconds, not nil
	Deadline float64  // seconds from the job's start
	Elapsed  float64  // seconds since the job's start, 0 for a new one
	Progress float64  // from 0 to 1: how far the least advanced task is by its most advanced attempt
	// Age is for attempts that run and report nothing, 0 otherwise: the seconds for which they have run. The time that
	// they take is then known to be longer, which equation 7 leaves aside. Held is how many clones of each task run so
	// and stay; further ones begin the task anew.
	Age  float64
	Held int
	// Launch is how many seconds later than an original a clone gets to its first byte (Section V). It then begins
	// where the most advanced attempt will be, which is taken to go on with the speed Progress/Elapsed. A clone that
	// would find nothing to do is none.
	Launch float64
	// For [Joint]: the most slots that the attempts of this job may take, 0 for no bound; and by how much its utility
	// counts, 0 for 1.
	Slots int
	Value float64
	// Stages of a job that has several, nil for one; Law is then not looked at. Such a job runs in waves, if with all
	// its tasks at once: [Work.Waves], [Work.FewestSlots], [Work.Within] and [Joint] know what it can expect.
	Stages []Phase
	// Later are the stages of such a job that have not begun where Tasks and Law are of the one that has; nil for
	// none. They come one after the other, whatever their After is, and their clones are chosen when the first of
	// them begins. Only jobs in waves of a [Pool] look at them.
	Later []Phase
}

// Validate returns an error that names the first field out of range.
func (w Work) Validate() error {
	for _, f := range []struct {
		name     string
		value    float64
		positive bool
	}{
		{"deadline", w.Deadline, true}, {"elapsed time", w.Elapsed, false}, {"launch time", w.Launch, false}, {"age", w.Age, false},
	} {
		if !(f.value >= 0) || math.IsInf(f.value, 1) || f.positive && f.value == 0 {
			return fmt.Errorf("the %s of a job is a number of seconds, and not negative, got %g", f.name, f.value)
		}
	}
	if len(w.Stages) > 0 {
		if err := w.validateStages(); err != nil {
			return err
		}
	}
	switch {
	case w.Tasks < 0:
		return fmt.Errorf("a job has no fewer than 0 tasks, got %d", w.Tasks)
	case w.Slots < 0:
		return fmt.Errorf("a job has no fewer than 0 slots, got %d", w.Slots)
	case !(w.Value >= 0) || math.IsInf(w.Value, 1):
		return fmt.Errorf("the value of a job is a number, and not negative, got %g", w.Value)
	case w.Held < 0:
		return fmt.Errorf("a task has no fewer than 0 clones, got %d", w.Held)
	case w.Law == nil && len(w.Stages) == 0:
		return fmt.Errorf("a job wants a law of its tasks' durations")
	case !(w.Progress >= 0 && w.Progress <= 1):
		return fmt.Errorf("the progress of a job is from 0 to 1, got %g", w.Progress)
	}
	return nil
}

// PoCD returns the probability that the job is done by its deadline if each of its tasks has r clones beside its
// original: Theorems 1 and 2,
//
//	R = (1 - S((D-τ)/(1-φ))^(r+1))^N
//
// with S the survival of Law, and for a clone that has to be launched S((D-τ-L)/(1-φ')), φ' being the progress at τ+L.
// It is 0 when there is no time left, or so little that no attempt can make it. As in the paper all tasks count as no
// further than the least advanced one, which is cautious, and the original as a fresh attempt for what it has left,
// which underrates one that has been fast so far and overrates one that has been slow.
//
// An attempt of which nothing is known but its age a is late with probability S(a+D-τ)/S(a).
func (w Work) PoCD(clones int) float64 { return math.Exp(w.odds().log(clones)) }

// Miss returns 1-PoCD, with full relative accuracy where it is small.
func (w Work) Miss(clones int) float64 { return -math.Expm1(w.odds().log(clones)) }

// LogPoCD returns the natural logarithm of PoCD, -Inf where that is 0.
func (w Work) LogPoCD(clones int) float64 { return w.odds().log(clones) }

// Hopeless says that no number of clones gives the job a chance to meet its deadline.
func (w Work) Hopeless() bool {
	if len(w.Stages) > 0 {
		s := w.shift(0)
		return s.left <= 0 || s.atLeast(w.Tasks) > s.left
	}
	return w.odds().hopeless()
}

// LogLate returns the natural logarithm of the probability that an attempt is late that has run for an age and reports
// nothing.
func (w Work) LogLate(age float64) float64 {
	w.Age = age
	late, _ := w.late(w.Deadline - w.Elapsed)
	return late
}

// Renew says that an attempt begun now is likelier to be in time than one that has run for an age and reports nothing.
// Under a law without memory they are equally likely, but for rounding.
func (w Work) Renew(age float64) bool {
	const rounding = 1e-9
	w.Age = age
	running, fresh := w.late(w.Deadline - w.Elapsed)
	return fresh < running-rounding
}

// odds are what the PoCD of a job depends on.
type odds struct {
	tasks    float64
	original float64 // the logarithm of the probability that an original is late, or a clone that is held
	clone    float64 // ... that a new clone is
	held     int     // clones of each task that are as the original
}

func (w Work) odds() odds { return w.oddsWithin(w.Deadline - w.Elapsed) }

// oddsWithin are the odds that the job is done within a time from now.
func (w Work) oddsWithin(left float64) odds {
	o := odds{tasks: float64(w.Tasks)}
	if o.original, o.clone = w.late(left); w.Age > 0 {
		o.held = w.Held
	}
	return o
}

// late returns the logarithms of the probabilities that an original and that a clone take longer than a time from now.
func (w Work) late(left float64) (original, clone float64) {
	if !(left > 0) {
		return 0, 0
	}
	if w.Age > 0 {
		return w.lateAged(left)
	}
	rest := 1 - min(max(w.Progress, 0), 1)
	if rest == 0 {
		return math.Inf(-1), math.Inf(-1)
	}
	original = logSurvival(w.Law, left/rest)
	if w.Launch <= 0 {
		return original, original
	}
	if w.Elapsed > 0 {
		rest -= w.Launch * w.Progress / w.Elapsed
	}
	if rest <= 0 || left <= w.Launch {
		return original, 0
	}
	return original, logSurvival(w.Law, (left-w.Launch)/rest)
}

// lateAged is late for attempts of which only the age is known. One that no draw of the law lasts as long as is late.
func (w Work) lateAged(left float64) (original, clone float64) {
	if left > w.Launch {
		clone = logSurvival(w.Law, left-w.Launch)
	}
	if alive := logSurvival(w.Law, w.Age); !math.IsInf(alive, -1) {
		original = min(0, logSurvival(w.Law, w.Age+left)-alive)
	}
	return original, clone
}

// logSurvival returns log P(X > x), read from whichever of survival and CDF has the digits.
func logSurvival(l laws.Law, x float64) float64 {
	s := l.Survival(x)
	if s > 0.5 {
		return math.Log1p(-l.CDF(x))
	}
	return math.Log(s)
}

// log returns the logarithm of PoCD.
func (o odds) log(clones int) float64 {
	if o.tasks == 0 {
		return 0
	}
	return o.tasks * logComplement(o.late(clones))
}

// late returns the logarithm of the probability that a task with so many clones is late.
func (o odds) late(clones int) float64 {
	late := o.original
	if held := min(clones, o.held); held > 0 {
		late += float64(held) * o.original
	}
	if clones > o.held {
		late += float64(clones-o.held) * o.clone
	}
	return late
}

// hopeless says that PoCD is 0 whatever the clones.
func (o odds) hopeless() bool { return o.tasks > 0 && o.original == 0 && o.clone == 0 }

// logComplement returns log(1-exp(x)) for x <= 0 (Mächler, "Accurately computing log(1-exp(-|a|))", 2012).
func logComplement(x float64) float64 {
	if x > -math.Ln2 {
		return math.Log(-math.Expm1(x))
	}
	return math.Log1p(-math.Exp(x))
}
