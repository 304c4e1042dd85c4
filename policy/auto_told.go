package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// What was told of a stage beforehand: mean and deviation of its durations, by its user or by earlier jobs of the name.

// toldCounts is how many winners a mean that was told counts as.
const toldCounts = 4

// foretold tells whether a mean was told, and may be true.
func (st *autoStage) foretold(stage *sched.Stage) bool { return stage.Mean > 0 && !st.refuted }

// refute looks whether what was told is wrong: as many tasks as it counts winners have run for longer than mean and
// deviation, and none is done. Where it is right that hardly happens. If tasks now take ten times as long as earlier
// ones did, they are not stragglers.
func (st *autoStage) refute(v *sched.View, stage *sched.Stage) {
	if !st.foretold(stage) || st.past.n > 0 {
		return
	}
	older, most := 0, stage.Mean.Seconds()+stage.SD.Seconds()
	for t, ok := v.RunningTask(st.id, 0); ok && older < toldCounts; t, ok = v.RunningTask(st.id, t+1) {
		if (v.Now() - oldest(v, t)).Seconds() > most {
			older++
		}
	}
	st.refuted = older == toldCounts
}

// told is left of a stage of which only mean and deviation are known: a lognormal law. A deviation of zero is one that
// nobody has stated, or that of a single task: such durations differ as much as those in other stages do, by Gini's
// coefficient.
func told(stage *sched.Stage, gini, age float64, to *timeLeft) {
	to.clear()
	mu, sigma := toldLog(stage, gini)
	for _, z := range normalAt {
		if x := math.Exp(mu + sigma*z); x > age {
			to.put(x-age, 1)
		}
	}
	if len(to.x) == 0 {
		to.again(age)
		return
	}
	for i := range to.w {
		to.w[i] = 1 / float64(len(to.w))
	}
}

// toldLog returns mean and deviation of the logarithm, as told.
func toldLog(stage *sched.Stage, gini float64) (mu, sigma float64) {
	mean, sd := stage.Mean.Seconds(), stage.SD.Seconds()
	sigma = math.Sqrt(math.Log1p(sd * sd / (mean * mean)))
	if sd == 0 {
		sigma = 2 * math.Erfinv(gini)
	}
	return math.Log(mean) - sigma*sigma/2, sigma
}

// toldLeast returns how long an attempt takes at least, as told: the lowest quantile. The fewer tasks a stage has, the
// less its deviation says, by about as much as quantiles of Student's law are farther apart.
func toldLeast(stage *sched.Stage, gini float64) float64 {
	mu, sigma := toldLog(stage, gini)
	few := 1 + 3/math.Pow(float64(max(1, stage.Tasks-1)), 1.5)
	return math.Exp(mu + few*sigma*normalAt[0])
}

// Quantiles 1/16, 3/16, ... of the normal law.
var normalAt = [...]float64{-1.534, -0.887, -0.489, -0.157, 0.157, 0.489, 0.887, 1.534}
