package serve

import (
	"context"
	"time"

	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// FitPortfolio is FitPolicy for each policy of a portfolio, A+B, or for the only one.
func FitPortfolio(spec string, classes int) (fitted []string, notice string, err error) {
	for _, part := range portfolio.Split(spec) {
		one, odd, err := FitPolicy(part, classes)
		if err != nil {
			return nil, "", err
		}
		if notice == "" {
			notice = odd
		}
		fitted = append(fitted, one)
	}
	return fitted, notice, nil
}

// policies are all that a server has.
func (c *Config) policies() []string { return append([]string{c.Policy}, c.Others...) }

// rivals are the policies of a server that has several, of which one decides.
type rivals struct {
	portfolio.Portfolio
	judged time.Time
}

// newRivals returns nil for one policy. The first decides at first.
func newRivals(specs []string, classes int) *rivals {
	if len(specs) < 2 {
		return nil
	}
	r := &rivals{}
	for _, spec := range specs {
		r.Members = append(r.Members, portfolio.Member{Spec: spec, New: func(seed uint64) (sched.Policy, error) {
			return policy.NewPerClass(spec, seed, max(1, classes))
		}})
	}
	return r
}

// judge plays the rest under each policy, if it is time for that, and has the one go on under which jobs end soonest.
func (s *Server) judge(ctx context.Context, state *promise.State) error {
	r := s.contest()
	if r == nil || time.Since(r.judged) < portfolio.Every {
		return nil
	}
	r.judged = time.Now()
	v, err := r.Judge(ctx, state)
	if err != nil || v.Jobs == 0 {
		return err
	}
	if !v.Change {
		r.Take(v)
		return nil
	}
	s.handing.Lock()
	defer s.handing.Unlock()
	if s.contest() != r {
		return nil // somebody has chosen meanwhile
	}
	said := r.Say(v)
	spec := r.Members[v.Best].Spec
	if err := s.engine.HandTo(ctx, spec, s.cfg.Seed, s.cfg.Limits); err != nil {
		return err
	}
	r.Take(v)
	s.decides(spec)
	s.say("policy %s goes on; mean time in which jobs end, as played: %s", spec, said)
	return nil
}

func (s *Server) contest() *rivals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rivals
}

// decides takes notice of the policy that goes on.
func (s *Server) decides(spec string) {
	s.mu.Lock()
	s.policy = spec
	s.mu.Unlock()
	s.times.Decides(spec)
	s.news.tell(Event{Kind: "server", Job: -1})
}

// regrets says how the policies of a portfolio compared over all verdicts, "" for no portfolio or no verdict.
func (r *rivals) regrets() string {
	if r == nil || r.Verdicts == 0 {
		return ""
	}
	return "portfolio: " + r.Regrets()
}
