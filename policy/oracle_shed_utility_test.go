package policy

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// shedAlpha returns the alpha of a utility, infinite for max-min.
func shedAlpha(a kit.Args) float64 {
	switch a.Choice("utility") {
	case "sum":
		return 0
	case "log":
		return 1
	case "alpha":
		return a.Float("alpha")
	}
	return math.Inf(1)
}

// divide returns the clones of each stage: Algorithm 1 for max-min, else the division with the largest sum of utilities.
// All divisions are tried for that. Of those that are equal but for rounding it takes the one that plan.Joint takes.
func (p *slowShed) divide(v *sched.View, all []sched.StageID, chance map[sched.StageID]shedChance, works []plan.Work, kappa, most int) map[sched.StageID]int {
	if math.IsInf(p.alpha, 1) || len(all) == 0 {
		return p.maxMin(v, all, chance, kappa, most)
	}
	pool := plan.Pool{Slots: kappa, Lambda: 1, MaxAttempts: most + 1}
	for _, w := range works {
		pool.Slots += w.Tasks
	}
	r, sum, slots := map[sched.StageID]int{}, 0.0, 0
	for i, n := range new(plan.Joint).Optimise(pool, plan.Utility(p.alpha), works).Clones {
		r[all[i]] = n
		slots += n * p.tasks(v, all[i])
		sum += p.utility(chance[all[i]], p.tasks(v, all[i]), n)
	}
	best := p.largest(v, all, chance, kappa, most)
	if slots > kappa || !(sum >= best-1e-9*max(1, math.Abs(best))) {
		panic(fmt.Sprintf("at %v clones %v on %d of %d slots have utility %g of %g", v.Now(), r, slots, kappa, sum, best))
	}
	return r
}

// largest returns the largest sum of utilities of all divisions.
func (p *slowShed) largest(v *sched.View, all []sched.StageID, chance map[sched.StageID]shedChance, kappa, most int) float64 {
	if len(all) == 0 {
		return 0
	}
	n, best := p.tasks(v, all[0]), math.Inf(-1)
	for r := 0; r <= most && r*n <= kappa; r++ {
		best = max(best, p.utility(chance[all[0]], n, r)+p.largest(v, all[1:], chance, kappa-r*n, most))
		if n == 0 {
			break
		}
	}
	return best
}

// utility is U(R), 0 for a stage that no number of clones gives a chance. A chance of 0 counts as hardly any.
func (p *slowShed) utility(c shedChance, n, r int) float64 {
	if n == 0 || c.original == 0 && c.clone == 0 {
		return 0
	}
	logR := float64(n) * math.Log(-math.Expm1(c.late(r)))
	if p.alpha == 1 {
		return max(logR, -1e277)
	}
	return math.Expm1(min((1-p.alpha)*logR, 640)) / (1 - p.alpha)
}

// told describes stages to plan.Joint, those that miss their deadlines with the ones for which they are helped.
func (p *slowShed) told(v *sched.View, all []sched.StageID, help bool) (works []plan.Work) {
	for _, s := range all {
		job := v.Job(v.Stage(s).Job)
		w := plan.Work{Tasks: p.tasks(v, s), Law: p.lawOf(v, s), Deadline: (job.Deadline - job.Arrived).Seconds(), Elapsed: (v.Now() - job.Arrived).Seconds()}
		left := w.Deadline - w.Elapsed
		if help {
			left = p.soon(v, s)
		}
		switch {
		case w.Law == nil:
			w.Law, w.Deadline, w.Elapsed = certainly, 1, 0
		case v.Stage(s).Pending > 0:
		case p.mute(v, s):
			w.Launch = p.launch.Seconds()
			w.Age, w.Held = p.ages(v, s, left)
		default:
			if w.Progress = p.slowest(v, s); w.Progress > 0 && v.Stage(s).Resumable {
				w.Launch = p.launch.Seconds()
			}
		}
		if help && w.Launch == 0 {
			w.Elapsed = 0
		}
		if help {
			w.Deadline = w.Elapsed + left
		}
		works = append(works, w)
	}
	return works
}
