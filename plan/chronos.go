package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// Chronos are the three ways of Xu, Alamro, Lan and Subramaniam, "Chronos: A Unifying Optimization Framework for
// Speculative Execution of Deadline-critical MapReduce Jobs" (ICDCS 2018), to spend machine time on a deadline. A task
// is a straggler if at Detect it is seen to miss the deadline; at Kill all attempts of a task but the one that will be
// done first are killed. What the paper says of (tmin/t)^β is said here of the survival of any law.
type Chronos struct {
	Tasks    int      // N >= 1
	Law      laws.Law // of one attempt's duration, seconds
	Deadline float64  // D, seconds from the start of the job
	Detect   float64  // τ_est, seconds, from 0 to D
	Kill     float64  // τ_kill, seconds, at least Detect
	Progress float64  // φ, of a straggler at Detect, from 0 to less than 1; it is ChronosResume's
}

// Strategy is a way to use clones.
type Strategy uint8

// The strategies, by the paper's names.
const (
	ChronosClone   Strategy = iota // r clones of each task from the start
	ChronosRestart                 // a straggler goes on, with r fresh clones
	ChronosResume                  // a straggler is killed, and r+1 attempts do what it has left
)

// String returns the name of the strategy.
func (s Strategy) String() string { return [...]string{"clone", "restart", "resume"}[s] }

// Validate returns an error that names the first field out of range.
func (c Chronos) Validate() error {
	switch {
	case c.Tasks < 1:
		return fmt.Errorf("a job has at least 1 task, got %d", c.Tasks)
	case c.Law == nil:
		return fmt.Errorf("a job wants a law of its tasks' durations")
	case !(c.Deadline > 0) || math.IsInf(c.Deadline, 1):
		return fmt.Errorf("a deadline is a positive number of seconds, got %g", c.Deadline)
	case !(c.Detect >= 0 && c.Detect < c.Deadline):
		return fmt.Errorf("stragglers are detected before the deadline, got %g s", c.Detect)
	case !(c.Kill >= c.Detect) || math.IsInf(c.Kill, 1):
		return fmt.Errorf("attempts are killed after stragglers are detected, got %g s", c.Kill)
	case !(c.Progress >= 0 && c.Progress < 1):
		return fmt.Errorf("the progress of a straggler is from 0 to less than 1, got %g", c.Progress)
	}
	return nil
}

// PoCD returns the probability that the job meets its deadline (Theorems 1, 3 and 5):
//
//	clone    (1 - S(D)^(r+1))^N
//	restart  (1 - S(D) S(D-τ_est)^r)^N
//	resume   (1 - S(D) S((D-τ_est)/(1-φ))^(r+1))^N
func (c Chronos) PoCD(s Strategy, clones int) float64 {
	late, left := logSurvival(c.Law, c.Deadline), c.Deadline-c.Detect
	switch s {
	case ChronosClone:
		late *= float64(clones + 1)
	case ChronosRestart:
		if clones > 0 {
			late += float64(clones) * logSurvival(c.Law, left)
		}
	case ChronosResume:
		late += float64(clones+1) * logSurvival(c.Law, left/(1-c.Progress))
	}
	return math.Exp(float64(c.Tasks) * logComplement(late))
}

// MachineTime returns the expected machine time of the job in seconds, +Inf where it diverges (Theorems 2, 4 and 6):
//
//	clone      N (r τ_kill + E min of r+1 attempts)
//	straggler  τ_est + r (τ_kill-τ_est) + what the first to finish takes from τ_est on
//	other      E[T | T <= D]
//
// It takes clones to run until τ_kill, as the paper does. It is a quadrature where the law has no closed form, with
// some ten digits.
func (c Chronos) MachineTime(s Strategy, clones int) float64 {
	n, r := float64(c.Tasks), float64(clones)
	if s == ChronosClone {
		return n * (r*c.Kill + laws.Min(c.Law, clones+1).Mean())
	}
	var other, straggler float64
	late := c.Law.Survival(c.Deadline)
	if late < 1 {
		onTime, err := laws.Truncate(c.Law, 0, c.Deadline)
		if err != nil {
			return math.NaN() // a law of durations that are negative
		}
		other = onTime.Mean()
	}
	if late == 0 {
		return n * other
	}
	straggler = c.Detect + r*(c.Kill-c.Detect)
	if s == ChronosRestart {
		straggler += c.first(clones)
	} else {
		straggler += (1 - c.Progress) * laws.Min(c.Law, clones+1).Mean()
	}
	return n * ((1-late)*other + late*straggler)
}

// first returns what is left, from Detect on, of a straggler with fresh clones, until the first of them is done:
// ∫ P(T > max(D, τ_est+w)) / P(T > D) · P(T > w)^r dw.
func (c Chronos) first(clones int) float64 {
	late, left := c.Law.Survival(c.Deadline), c.Deadline-c.Detect
	alive := func(w float64) float64 {
		return c.Law.Survival(max(c.Deadline, c.Detect+w)) / late * math.Pow(c.Law.Survival(w), float64(clones))
	}
	// The integrand has corners where an attempt can first be done, and where the straggler can.
	corners := []float64{0, left}
	end := c.Law.InvSurvival(0) - c.Detect
	atoms := laws.Atoms(c.Law)
	for _, a := range atoms {
		corners = append(corners, a.Value, a.Value-c.Detect)
	}
	corners = append(corners, c.Law.Quantile(0), end)
	slices.Sort(corners)
	var sum float64
	add := func(w, width float64) { sum += alive(w) * width }
	last := 0.0
	for _, corner := range corners {
		switch {
		case corner <= last || math.IsInf(corner, 1) || corner > end:
			continue
		case atoms != nil:
			add((last+corner)/2, corner-last)
		default:
			between(last, corner, add)
		}
		last = corner
	}
	if math.IsInf(end, 1) {
		if laws.Min(c.Law, clones+1).Mean() == end {
			return end
		}
		beyond(last, last, alive, add)
	}
	return sum
}

// NetUtility returns lg(R-floor) - price E[machine time], with lg to base 10: what a number of clones is worth to one
// who wants a PoCD above floor and pays so much for a machine second (θ times the price, in the paper). It is -Inf
// where R is not above floor.
func (c Chronos) NetUtility(s Strategy, clones int, floor, price float64) float64 {
	above := c.PoCD(s, clones) - floor
	if !(above > 0) {
		return math.Inf(-1)
	}
	cost := 0.0
	if price > 0 {
		cost = price * c.MachineTime(s, clones)
	}
	return math.Log10(above) - cost
}

// Best returns the number of clones, up to most, with the largest net utility, the least of equals, and that utility.
// Every number is tried: the utility is concave only from where N times the chance of a late task is below 1.
func (c Chronos) Best(s Strategy, most int, floor, price float64) (clones int, utility float64) {
	utility = math.Inf(-1)
	for r := range most + 1 {
		if u := c.NetUtility(s, r, floor, price); u > utility {
			clones, utility = r, u
		}
	}
	return clones, utility
}
