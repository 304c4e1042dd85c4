package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// calibration learns how much of what clones are expected to save they do save. The laws of a look come from few
// values, and of all tasks it is the one that seems slowest that has the clone. So what is left of it is more often
// less than expected than more, most of all where durations have a bound.
//
// A clone counts if it ends with its task, by what it was expected to save, in mean durations of a new attempt:
//
//	expected  the sum over these clones of w, the chance that it wins, times what it saves
//	won       the same sum over those that have won, without w
type calibration struct {
	expected, won float64
	rows          []forecast // by row
}

// forecast is what a look has found of a clone.
type forecast struct {
	gen           uint32
	chance, saved float64
	blind         bool // see unknown
}

const (
	calibrated      = 20 // what clones have been expected to save, and have saved, before there are any
	calibrationFade = 0.999
	mostSaved       = 4 // that counts, in mean durations: no single clone decides
)

// starts takes notice of a clone that begins.
func (c *calibration) starts(a sched.AttemptID, w *want) {
	c.rows = kit.Grown(c.rows, a.Row())
	c.rows[a.Row()] = forecast{a.Generation(), w.wins, w.saved, w.blind}
}

// ends takes in an attempt that ends with its task.
func (c *calibration) ends(a sched.AttemptID, won bool) {
	if a.Row() >= len(c.rows) || c.rows[a.Row()].gen != a.Generation() {
		return
	}
	x := &c.rows[a.Row()]
	c.expected = calibrationFade*c.expected + x.chance*x.saved
	c.won *= calibrationFade
	if won {
		c.won += x.saved
	}
}

// blind tells whether an attempt is a clone that began when nothing had won in its stage.
func (c *calibration) blind(a sched.AttemptID) bool {
	return a.Row() < len(c.rows) && c.rows[a.Row()].gen == a.Generation() && c.rows[a.Row()].blind
}

// share returns the part of what clones are expected to save that they do save, from 0 to 1.
func (c *calibration) share() float64 {
	return min(1, (calibrated+c.won)/(calibrated+c.expected))
}

// expect finds what a clone of a task is expected to do.
func (e *autoEye) expect(w *want, x *remains, cause *tally) {
	w.wins = cause[byChance]*e.renewal.before(&x.timeLeft) + cause[byPace]*x.passed(x.age, e.least)
	w.saved = min(mostSaved, e.saves(x, e.quicker(x), cause)/e.usual)
}
