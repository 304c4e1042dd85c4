package plan

import (
	"errors"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// Running are tasks whose attempts have run equally long.
type Running struct {
	Ages  []float64 // of the attempts of each task, seconds
	Tasks int       // at least 1
}

// Underway evaluates the forks at this instant of a job whose last tasks run: the baseline, and all of them as
// stragglers with up to maxClones clones, in the order of [Policies]. E[T] and E[C] count from now on, C per task that
// runs.
//
// It is exact. Attempts are independent, and what is left of one of age a exceeds y with the probability S(a+y)/S(a).
// The law is all atoms, otherwise it is an error. An attempt that is older than all of them is taken to end now.
//
// What was spent so far is spent under every policy. A policy whose forks never cost more than the baseline from then
// on costs no more than the baseline in all, which is what (19) asks.
func Underway(l laws.Law, running []Running, maxClones int) ([]Choice, error) {
	u := underway{law: l, running: running}
	atoms := laws.Atoms(l)
	if atoms == nil || len(running) == 0 {
		return nil, errors.New("a fork underway wants a law of atoms and tasks that run")
	}
	for _, x := range running {
		u.tasks += x.Tasks
		alive := 1.0
		for _, age := range x.Ages {
			alive *= l.Survival(age)
		}
		u.alive = append(u.alive, alive)
	}
	u.choices = []Choice{{}}
	for r := range maxClones + 1 {
		if r > 0 {
			u.choices = append(u.choices, Choice{Policy: Policy{u.tasks, r, Keep}})
		}
		u.choices = append(u.choices, Choice{Policy: Policy{u.tasks, r, Kill}})
	}
	last := 0.0
	for _, z := range u.corners(atoms) {
		u.add(last+(z-last)/2, z-last)
		last = z
	}
	return u.choices, nil
}

// underway is an evaluation by [Underway].
type underway struct {
	law     laws.Law
	running []Running
	alive   []float64 // P(no attempt of the task had ended), of each of the running
	tasks   int
	choices []Choice
}

// corners lists where what is left of an attempt, or a fresh one, may end.
func (u *underway) corners(atoms []laws.Atom) (all []float64) {
	for _, a := range atoms {
		if a.Value > 0 {
			all = append(all, a.Value)
		}
		for _, x := range u.running {
			for _, age := range x.Ages {
				if a.Value > age {
					all = append(all, a.Value-age)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// add adds a step of the integrals: the time y from now, and how long nothing changes about it.
func (u *underway) add(y, width float64) {
	fresh := u.law.Survival(y)
	for k := range u.choices {
		c := &u.choices[k]
		starts := c.Clones
		if c.Original == Kill {
			starts++
		}
		own := power(fresh, starts) // P(those that start now all last longer)
		none, sum := 0.0, 0.0       // log P(all are done), and how many attempts run
		for i, x := range u.running {
			S, attempts := own, starts
			if c.Original == Keep {
				S *= u.rest(i, y)
				attempts += len(x.Ages)
			}
			none += float64(x.Tasks) * math.Log1p(-min(S, 1))
			sum += float64(x.Tasks*attempts) * S
		}
		c.Latency += width * -math.Expm1(none)
		c.Cost += width * sum / float64(u.tasks)
	}
}

// rest returns the probability that what runs of a task does so for longer than y from now.
func (u *underway) rest(i int, y float64) float64 {
	if u.alive[i] == 0 {
		return 0
	}
	S := 1 / u.alive[i]
	for _, age := range u.running[i].Ages {
		S *= u.law.Survival(age + y)
	}
	return S
}
