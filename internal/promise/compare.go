package promise

import (
	"context"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Compare plays the rest under each of several policies. Play k meets the same luck under each: an attempt of a task
// lasts as long, if it is the task's attempt of the same number. It returns for each policy and play the mean time in
// seconds in which the jobs end, and how many these are: those about which something is known. Where there are none,
// or they do not end under some policy, it returns 0.
func (s *State) Compare(ctx context.Context, policies []func(seed uint64) (sched.Policy, error), plays int) (flows [][]float64, jobs int, err error) {
	state := *s
	state.Came = nil
	g := newGame(&state, MostTasks)
	g.paired, g.every = true, g.interval()
	for i := range g.jobs {
		if g.jobs[i].known {
			jobs++
		}
	}
	if jobs == 0 {
		return nil, 0, nil
	}
	for _, p := range policies {
		state.Policy = p
		for i := range g.jobs {
			g.jobs[i].ends = g.jobs[i].ends[:0]
		}
		flow := make([]float64, plays)
		for k := range plays {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			began := time.Now()
			if err := g.play(k); err != nil {
				return nil, 0, err
			}
			for i := range g.jobs {
				j := &g.jobs[i]
				switch {
				case !j.known:
				case j.ends[k] == sched.Never:
					return nil, 0, nil
				default:
					flow[k] += (j.ends[k] - s.Snapshot.At).Seconds() / float64(jobs)
				}
			}
			if s.Rest != nil {
				s.Rest(ctx, time.Since(began))
			}
		}
		flows = append(flows, flow)
	}
	return flows, jobs, nil
}

// rearm makes what an attempt lasts a function of the play, its task, and its number, if plays are paired.
func (g *game) rearm(play int, task sched.TaskID, number uint32) {
	if g.paired {
		g.luck.Seed(g.Seed+uint64(play)<<32, uint64(task)<<24^uint64(number))
		g.luck.Uint64() // seeds that differ little begin alike
	}
}
