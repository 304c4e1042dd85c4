package plan

import (
	"cmp"
	"slices"
)

// rungDraws are the durations to draw for the rungs of all jobs together, about.
const rungDraws = 2_000_000

// fewPlays are the fewest of a job whose chance is not taken from bounds.
const fewPlays = 30

// fits says that no job has several stages, and all originals can run at once, those of hopeless jobs aside that may
// wait.
func (p Pool) fits(jobs []Work) bool {
	if slices.ContainsFunc(jobs, func(w Work) bool { return len(w.Stages) > 0 }) {
		return false
	}
	need, bounded := 0, false
	for _, w := range jobs {
		need += p.need(w)
		bounded = bounded || w.Slots > 0 && w.Slots < w.Tasks
	}
	if need <= p.Usable() && !bounded || !p.HopelessLast {
		return need <= p.Usable() && !bounded
	}
	need = 0
	for _, w := range jobs {
		if !w.Hopeless() {
			if need += p.need(w); need > p.Usable() || w.Slots > 0 && w.Slots < w.Tasks {
				return false
			}
		}
	}
	return true
}

// admitWaves lets each job climb rungs from none on. Those that have begun and whose originals fit keep them.
func (j *Joint) admitWaves(pool Pool, jobs []Work) (left int) {
	j.claims, j.clones, j.atOnce = j.claims[:0], j.clones[:0], j.atOnce[:0]
	left = pool.Usable()
	tasks := 1
	for i, w := range jobs {
		j.clones, j.atOnce = append(j.clones, Queued), append(j.atOnce, 0)
		begun := w.Elapsed > 0 || w.Progress > 0
		switch need := pool.need(w); {
		case w.Tasks == 0:
			j.clones[i] = 0
		case w.Hopeless() && pool.HopelessLast:
		case begun && len(w.Stages) == 0 && need <= left && (w.Slots == 0 || w.Slots >= w.Tasks):
			left -= need
			j.claims = append(j.claims, claim{odds: w.odds(), job: i, slots: w.Tasks, value: cmp.Or(w.Value, 1)})
		default:
			j.claims = append(j.claims, claim{job: i, rungs: []rung{}, value: cmp.Or(w.Value, 1)})
			if w.Tasks <= played {
				tasks += w.Tasks
			}
		}
	}
	for i := range j.claims {
		c := &j.claims[i]
		w := jobs[c.job]
		if c.rungs == nil {
			c.most = pool.mostClones(w, c.odds, left)
			continue
		}
		c.rungs = w.rungs(left-pool.MasterSlots, pool.MaxAttempts, pool.plays(w, tasks))
		for r := range c.rungs[1:] {
			c.rungs[1+r].slots += pool.MasterSlots
		}
		c.most = len(c.rungs) - 1
	}
	return left
}

// plays returns how many times a job is played for its rungs, with so many tasks in all jobs; 0 if it takes bounds.
func (p Pool) plays(w Work, tasks int) int {
	switch {
	case p.Draws == 0 && w.Tasks <= played:
		return min(max(rungDraws/tasks, 100), 1000)
	case p.Draws < fewPlays*w.Tasks:
		return 0
	}
	return min(p.Draws/w.Tasks, 400)
}

// placeWaves turns the rungs that jobs have reached into clones and tasks at once, and returns the slots left. A job
// that no number of slots there is helps gets what the others leave, hopeless ones last.
func (j *Joint) placeWaves(pool Pool, jobs []Work, left int) int {
	for i := range j.claims {
		c := &j.claims[i]
		left -= c.cost(c.clones)
		j.clones[c.job], j.atOnce[c.job] = c.clones, jobs[c.job].Tasks
		if c.rungs != nil {
			r := c.rungs[c.clones]
			if j.clones[c.job], j.atOnce[c.job] = r.clones, r.atOnce; r.atOnce == 0 {
				j.clones[c.job] = Queued
			}
		}
	}
	for _, hopeless := range []bool{false, true} {
		for i, w := range jobs {
			if j.clones[i] != Queued || w.Hopeless() != hopeless {
				continue
			}
			most := left - pool.MasterSlots
			if w.Slots > 0 {
				most = min(most, w.Slots)
			}
			if most = min(most, w.Tasks); most > 0 {
				j.clones[i], j.atOnce[i] = 0, most
				left -= most + pool.MasterSlots
			}
		}
	}
	return left
}

// mostClones returns how many clones of each task a job that has its originals may get on so many slots more.
func (p Pool) mostClones(w Work, o odds, left int) int {
	most := min(left/w.Tasks, o.enough())
	if p.MaxAttempts > 0 {
		most = min(most, p.MaxAttempts-1)
	}
	if w.Slots > 0 {
		most = min(most, max(0, w.Slots/w.Tasks-1))
	}
	return most
}

// gain returns by how much more the utility counts after a step.
func (c *claim) gain(u Utility, before, after float64) float64 {
	return c.value * u.gain(before, after)
}

// log returns the logarithm of the chance with a number of clones, or on a rung.
func (c *claim) log(step int) float64 {
	if c.rungs != nil {
		return c.rungs[step].log
	}
	return c.odds.log(step)
}

// cost returns the slots that so many clones take, or a rung.
func (c *claim) cost(step int) int {
	if c.rungs != nil {
		return c.rungs[step].slots
	}
	return step * c.slots
}

// reach returns the largest step whose cost is no more than slots above that of the present one.
func (c *claim) reach(slots int) int {
	if c.rungs == nil {
		return min(c.most, c.clones+slots/c.slots)
	}
	step := c.clones
	for step < c.most && c.cost(step+1)-c.cost(c.clones) <= slots {
		step++
	}
	return step
}

// unit returns a divisor of the slots between any two steps.
func (c *claim) unit() int {
	if c.rungs == nil {
		return c.slots
	}
	unit := 0
	for _, r := range c.rungs {
		unit = divisor(unit, r.slots)
	}
	return max(unit, 1)
}
