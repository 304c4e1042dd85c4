package promise

import "time"

// Levels are the probabilities whose quantiles a promise has. The middle one is the promised time, and each has its
// counterpart: between the second and the last but one lie 90 % of all ends if the promise is right.
var Levels = [...]float64{0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975}

const middle = len(Levels) / 2

// Promise says when a job will have ended.
type Promise struct {
	Made time.Time   `json:"made"`
	Ends []time.Time `json:"ends"` // quantiles at Levels, ascending; empty if nothing is known
	// Chance is the probability that the job is done by its deadline; nil if it has none, or nothing is known.
	Chance *float64 `json:"chance,omitempty"`
	Plays  *Plays   `json:"-"` // of which the chance is; nil where it is none, and in promises that are kept
}

// Plays are what a chance was counted from.
type Plays struct {
	N        int
	Met      []time.Duration // from the promise to the ends of those that met the deadline
	Deadline time.Time
}

// ChanceAt is the chance of a job that is not over at an instant: of the plays only those count in which it was not
// over either. Without that, the older chances are, the more are they too high, for nobody asks about the jobs any more
// that were done as soon as was foreseen.
func (p *Promise) ChanceAt(now time.Time) *float64 {
	switch {
	case p.Plays == nil:
		return p.Chance
	case now.After(p.Plays.Deadline):
		return new(0.0)
	}
	left, met := p.Plays.N, 0
	for _, end := range p.Plays.Met {
		if p.Made.Add(end).After(now) {
			met++
		} else {
			left--
		}
	}
	return new(chance(met, left))
}

// Known tells whether the promise says anything.
func (p *Promise) Known() bool { return len(p.Ends) == len(Levels) }

// Middle is the promised time: the job ends before it as likely as after it. The promise is known.
func (p *Promise) Middle() time.Time { return p.Ends[middle] }

// Interval returns the span in which the job ends with a probability of 80 %. The promise is known.
func (p *Promise) Interval() (from, to time.Time) { return p.Ends[2], p.Ends[len(Levels)-3] }
