package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// unknown is what is taken of a stage in which nothing has won yet, and whose attempts do not report. Likewise of a
// single task that reports: that it will be done at its pace says nothing of what another attempt would take.
//
// Its tasks are taken to last as long as those that have won lately in all stages, d on average, and to differ as
// much as those of a stage do: two attempts of a task are alike, so a clone saves g d of d, where g is Gini's
// coefficient of the durations in a stage, which is 1 - E[min(a, b)] / E[a] for a and b drawn from them. It is 0
// where all are equal, and 1/2 for a law that does not age. Each of the n tasks is as likely to be the last of the
// stage, so the stage saves g d / n.
type unknown struct {
	n, sum     float64 // winners, and seconds that they took
	stages     float64 // that are done
	own, apart float64 // the sums over these of their coefficients, and of the chances that unlike returns
	races, won float64 // of clones that began before their stage had a winner, in races of two; and those won
}

// What stages are taken for before one is done, as if by so many.
const (
	usualGini   = 0.5
	usualUnlike = 0.5
	giniCounts  = 1
)

// For each winner, and each stage, what was learned fades; races fade with each winner, so that where clones have the
// duration of their task again, one is tried now and then.
const (
	unknownFade = 0.99
	racesFade   = 0.9999
	fewWins     = 0.25 // of the races that clones should win
	blindStarts = 3    // costs of a start that a clone has to save about which nothing is known
)

// learns takes in a winner of any stage, which took d seconds.
func (u *unknown) learns(d float64) {
	u.n, u.sum = unknownFade*u.n+1, unknownFade*u.sum+d
	u.races, u.won = racesFade*u.races, racesFade*u.won
}

// race takes in that a task is done which had so many attempts, the second of which began a while after the first. All
// such tasks count, not those that were the first of their stage to be done: of these the original has mostly won, by
// its head start. Of four attempts the original wins as often as it wins two races of two, one after the other.
func (u *unknown) race(attempts int, later float64, won bool) {
	many := math.Log2(float64(attempts))
	if apart := 2 * u.differ() * u.typical(); apart > 0 { // the mean difference of two durations
		many *= math.Exp(-later / apart)
	}
	u.races += many
	if won {
		u.won++
	}
}

// chance returns how likely it is that a clone draws a new duration. Then it wins half of the races, but for those in
// which it takes as long as the original, and else none.
func (u *unknown) chance() float64 { return min(1, (u.won+1)/(u.races*u.unlike()+1)) }

// unlike returns how likely it is that of two durations in a stage the second is the less, and by more than a hair. It
// is no less than seldom, or clones that win nothing would never count.
func (u *unknown) unlike() float64 {
	return max(seldom, (u.apart+giniCounts*usualUnlike)/(u.stages+giniCounts))
}

// ends takes in the durations of a stage that is done.
func (u *unknown) ends(past *sample) {
	if g, ok := past.gini(); ok {
		u.stages, u.own, u.apart = unknownFade*u.stages+1, unknownFade*u.own+g, unknownFade*u.apart+past.unlike()
	}
}

// gini returns Gini's coefficient of the durations, from 0 to 1; ok is false if there are not two.
func (s *sample) gini() (g float64, ok bool) {
	n := float64(len(s.sorted))
	sum, less := 0.0, 0.0 // less is the sum of the lesser of each pair
	for i, x := range s.sorted {
		sum += x
		less += x * (n - 1 - float64(i))
	}
	if n < 2 || sum == 0 {
		return 0, false
	}
	return 1 - less/(n*(n-1)/2)/(sum/n), true
}

// A shorter duration counts as less if it differs by this part: where most tasks take as long as each other, and a few
// hang, an original wins most races by its head start alone. Such pairs are at least so rare, see below.
const (
	hair   = 0.05
	seldom = 0.05
)

// unlike returns the share of the pairs of durations in which the second is less by more than a hair. There have to be
// two durations.
func (s *sample) unlike() float64 {
	n, less, k := len(s.sorted), 0, 0
	for i, x := range s.sorted {
		for k < i && s.sorted[k] < (1-hair)*x {
			k++
		}
		less += k
	}
	return float64(less) / float64(n*(n-1))
}

// differ returns Gini's coefficient of the durations in a stage.
func (u *unknown) differ() float64 {
	return (u.own + giniCounts*usualGini) / (u.stages + giniCounts)
}

// typical returns the mean duration in seconds, 0 if it is not known.
func (u *unknown) typical() float64 {
	if u.n == 0 {
		return 0
	}
	return u.sum / u.n
}

// blind returns the bid of one more attempt of a task that has m, in a stage in which nothing has won; 0 if that is no
// reason for one. The first of m attempts takes d (1-g)^log2(m): each doubling saves as much of what is left. What
// other stages have shown counts like a mean that was told beforehand. Tasks that wait come first. As nothing of the
// stage itself speaks for the clone, it has to save several times what a start costs: tasks of a tenth of a second on a
// busy machine have none.
func (p *auto) blind(st *autoStage, stage *sched.Stage, m int) float64 {
	chance := min(p.unknown.chance(), p.cause(st, stage.Job)[byChance])
	if st.past.n > 0 || stage.Pending > 0 || chance < fewWins {
		return 0
	}
	sure := 1 - 1/math.Sqrt(1+toldCounts)
	d, start := p.unknown.typical(), p.start.cost(1)
	without := d * math.Pow(1-p.unknown.differ(), math.Log2(float64(m)))
	with := d * math.Pow(1-p.unknown.differ(), math.Log2(float64(m+1)))
	saved := without - with
	return bid(sure*chance, saved/float64(max(1, stage.Running))-blindStarts*start, saved, with+start)
}

// guess finds the bids of a stage's clones where no law is known: of those that it wants, and of those that it has.
// Of a task that reports, the clone starts before half of it is done. A task has one clone, or several if it is alone
// in its stage.
func (p *auto) guess(v *sched.View, st *autoStage, stage *sched.Stage) {
	blind := func(attempts int) float64 {
		if st.says && stage.Running > 1 {
			return 0
		}
		return p.blind(st, stage, attempts)
	}
	first := blind(1)
	for t, ok := v.RunningTask(st.id, 0); ok && len(st.best) < st.toSee(stage); t, ok = v.RunningTask(st.id, t+1) {
		live, room := int(v.Task(t).Live), v.AttemptRoom(t)
		a, _ := v.FirstAttempt(t)
		for m := live - 1; m > 0; m-- {
			worth := blind(m)
			if p.redraw.futileIn(st) {
				worth = hopeless
			}
			p.hold(a, worth)
			a, _ = v.NextAttempt(a)
		}
		switch {
		case first == 0 || room == 0 || halfDone(v, t):
		case stage.Tasks == 1:
			for m := live; m < min(mostLaws, live+room); m++ {
				st.best = append(st.best, want{task: t, bid: blind(m), live: m, blind: true})
			}
		case live == 1:
			st.best = append(st.best, want{task: t, bid: first, live: live, blind: true})
		}
	}
	slices.SortFunc(st.best, func(a, b want) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.live, b.live)) })
	p.bid(st)
}

// halfDone tells whether an attempt of a task has run for longer than it still takes, by its report.
func halfDone(v *sched.View, t sched.TaskID) bool {
	for a, runs := v.FirstAttempt(t); runs; a, runs = v.NextAttempt(a) {
		row := v.Attempt(a)
		if rem, told := row.Remaining(v.Now()); told && rem < v.Now()-row.Started {
			return true
		}
	}
	return false
}

// race takes in that a task is done which had a clone that began when nothing had won in its stage.
func (p *auto) race(v *sched.View, t sched.TaskID, won sched.AttemptID) {
	blind := p.kept.blind(won)
	first, second, n := v.Rows().Started(won), sched.Never, 1
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		blind = blind || p.kept.blind(a)
		began := v.Rows().Started(a)
		first, second, n = min(first, began), min(second, max(first, began)), n+1
	}
	if blind && n > 1 {
		p.unknown.race(n, (second - first).Seconds(), v.Rows().Started(won) > first)
	}
}
