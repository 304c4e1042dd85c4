package simulation

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// Portfolio is what the plays of a portfolio have shown, over all runs.
type Portfolio struct {
	Verdicts, Changes int
	Members           []Regret
}

// Regret is what the jobs take under the policy that decides by what they take under a member, less 1: the mean over
// all verdicts, as played. It is negative where the member would be worse.
type Regret struct {
	Policy string
	Best   int // verdicts in which it was the best
	Regret float64
}

// pilots are those of all runs.
type pilots struct {
	mu  sync.Mutex
	own []flown
}

type flown struct {
	policy int
	*portfolio.Pilot
}

// steered returns who steers the runs of a portfolio.
func (q *question) steered(policy int, specs []string, members []policyOf) func(seed uint64) sim.Steer {
	return func(seed uint64) sim.Steer {
		p := &portfolio.Pilot{Limits: q.options.Limits, Seed: seed}
		for i := range members {
			p.Members = append(p.Members, portfolio.Member{Spec: specs[i], New: members[i].make})
		}
		q.pilots.mu.Lock()
		defer q.pilots.mu.Unlock()
		q.pilots.own = append(q.pilots.own, flown{policy, p})
		return p.Steer
	}
}

// all returns what they have seen, by policy. Runs are summed up by their seeds, so that it does not matter which was
// the first to begin.
func (x *pilots) all(policies int) []*Portfolio {
	x.mu.Lock()
	defer x.mu.Unlock()
	slices.SortFunc(x.own, func(a, b flown) int { return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.Seed, b.Seed)) })
	all := make([]*Portfolio, policies)
	for _, f := range x.own {
		to := all[f.policy]
		if to == nil {
			to = &Portfolio{Members: make([]Regret, len(f.Members))}
			all[f.policy] = to
		}
		to.Verdicts += f.Verdicts
		to.Changes += f.Changes
		for i := range f.Members {
			m := &to.Members[i]
			m.Policy = f.Members[i].Spec
			if f.Verdicts > 0 {
				m.Best += f.Sums[i].Best
				m.Regret += f.Sums[i].Gap
			}
		}
	}
	for _, to := range all {
		if to != nil && to.Verdicts > 0 {
			for i := range to.Members {
				to.Members[i].Regret /= float64(to.Verdicts)
			}
		}
	}
	return all
}

// printPortfolios says what portfolios have done, and their regret against each of their policies.
func (r *Result) printPortfolios(w io.Writer) {
	for k, p := range r.Portfolios {
		if p == nil || p.Verdicts == 0 {
			continue
		}
		var parts []string
		for _, m := range p.Members {
			parts = append(parts, fmt.Sprintf("%s %+.1f%%", m.Policy, 100*m.Regret))
		}
		fmt.Fprintf(w, "%s: %s, %s of policy. By how much longer jobs took than under each, as played at each verdict: %s.\n",
			r.Policies[k], show.Count(p.Verdicts, "verdict"), show.Count(p.Changes, "change"), strings.Join(parts, ", "))
	}
}
