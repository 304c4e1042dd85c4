// Package portfolio has one of several policies decide: the one under which the jobs that are there are done soonest,
// when their rest is played on from the present state. The plays are those of package promise.
//
// To change policies is to go on with a core that is restored from a snapshot, with a fresh policy. So it is a fact in
// a journal, as any other change of a server's policy is, and a replay does not play anything. A change ends no
// attempt: see [sched.Snapshot.Keep].
package portfolio

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// Member is a policy of a portfolio.
type Member struct {
	Spec string
	New  func(seed uint64) (sched.Policy, error)
}

// Portfolio is several policies, one of which decides: at first the first.
type Portfolio struct {
	Members []Member
	Now     int // who decides

	Verdicts, Changes int
	Sums              []Sums // by member, once there was a verdict
}

// Sums are what all verdicts said of a member.
type Sums struct {
	Best int     // in how many it was the best
	Gap  float64 // sum of what the jobs took under the policy that decided by what they took under it, less 1
}

// Regret is the mean over all verdicts of what the jobs took under the policy that decided by what they took under a
// member, less 1.
func (p *Portfolio) Regret(member int) float64 {
	if p.Verdicts == 0 {
		return 0
	}
	return p.Sums[member].Gap / float64(p.Verdicts)
}

// Split splits a specification of several policies, A+B. A plus before a number is a part of that, and a plus in the
// name of a policy, as in flutter+mantri, a part of the name.
func Split(spec string) (all []string) {
	names := policy.Names()
	from := 0
	for i := 1; i+1 < len(spec); i++ {
		if c := spec[i+1]; spec[i] != '+' || c < 'a' || c > 'z' {
			continue
		}
		next := spec[i+1:]
		if end := strings.IndexAny(next, ":+"); end >= 0 {
			next = next[:end]
		}
		if !slices.Contains(names, spec[from:i]+"+"+next) {
			all = append(all, spec[from:i])
			from = i + 1
		}
	}
	return append(all, spec[from:])
}

// Every is how often a portfolio is to be played while jobs run, if that costs no more than plays may.
const Every = 30 * time.Second

const (
	// Plays is how often each member plays the rest for a verdict.
	Plays = 12

	leastGain = 0.02 // of the mean time in which jobs end, for which policies change
)

// Verdict is what the plays of a state say.
type Verdict struct {
	Jobs   int       // about which something is known; with 0 nothing was played
	Flow   []float64 // by member: mean seconds in which jobs end
	Gain   []float64 // by member: seconds by which they end sooner than under the present policy
	Half   []float64 // of the 95 % interval of Gain
	Best   int       // member with the least Flow
	Change bool      // it gains enough, and with certainty
}

// Judge plays the rest of the jobs under each member.
func (p *Portfolio) Judge(ctx context.Context, s *promise.State) (*Verdict, error) {
	policies := make([]func(uint64) (sched.Policy, error), len(p.Members))
	for i := range p.Members {
		policies[i] = p.Members[i].New
	}
	flows, jobs, err := s.Compare(ctx, policies, Plays)
	if err != nil || jobs == 0 {
		return &Verdict{}, err
	}
	return verdictOf(flows, jobs, p.Now), nil
}

func verdictOf(flows [][]float64, jobs, now int) *Verdict {
	v := &Verdict{Jobs: jobs}
	for i, flow := range flows {
		gains := make([]float64, len(flow))
		for k := range flow {
			gains[k] = flows[now][k] - flow[k]
		}
		mean, _ := laws.MeanInterval(flow, 0.95)
		gain, half := laws.MeanInterval(gains, 0.95)
		v.Flow, v.Gain, v.Half = append(v.Flow, mean), append(v.Gain, gain), append(v.Half, half)
		if mean < v.Flow[v.Best] {
			v.Best = i
		}
	}
	gain := v.Gain[v.Best]
	v.Change = gain > v.Half[v.Best] && gain > leastGain*v.Flow[now]
	return v
}

// Take takes notice of a verdict, and changes the policy if it says so.
func (p *Portfolio) Take(v *Verdict) (changed bool) {
	if v.Jobs == 0 {
		return false
	}
	if p.Sums == nil {
		p.Sums = make([]Sums, len(p.Members))
	}
	p.Verdicts++
	for i := range p.Sums {
		if v.Flow[i] > 0 {
			p.Sums[i].Gap += v.Flow[p.Now]/v.Flow[i] - 1
		}
	}
	p.Sums[v.Best].Best++
	if v.Change {
		p.Now = v.Best
		p.Changes++
	}
	return v.Change
}

// Regrets says how the policies compared over all verdicts, "" if there was none.
func (p *Portfolio) Regrets() string {
	if p.Verdicts == 0 {
		return ""
	}
	var parts []string
	for i := range p.Members {
		parts = append(parts, fmt.Sprintf("%s %+.1f%%", p.Members[i].Spec, 100*p.Regret(i)))
	}
	return fmt.Sprintf("verdicts: %d, changes: %d; jobs took longer than under each policy, as played: %s", p.Verdicts, p.Changes, strings.Join(parts, ", "))
}

// Say describes a verdict in a line, for a log.
func (p *Portfolio) Say(v *Verdict) string {
	var b strings.Builder
	for i := range p.Members {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %.3gs", p.Members[i].Spec, v.Flow[i])
		if i != p.Now {
			fmt.Fprintf(&b, " (%+.3gs ± %.2gs)", -v.Gain[i], v.Half[i])
		}
	}
	return b.String()
}
