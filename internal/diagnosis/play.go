package diagnosis

import (
	"cmp"
	"context"
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
)

// A replay plays each candidate mostPlays times, of a large log as often as playedTasks allow. Where they do not allow
// for all, the application as a whole is played under the mostWhole candidates alone whose stages are the fastest.
const (
	mostPlays    = 100
	leastPlays   = 3
	mostWhole    = 3
	playedTasks  = 1_000_000
	toldTasks    = 100_000 // likewise, under rules that are told of progress
	leastWorth   = 0.01    // share of the application's time below which no setting is worth to be set
	mostProposed = 4       // stages, those with most to save, whose best forks become candidates
)

// played is what came of the candidates of a system.
type played struct {
	system     string
	candidates []candidate
	now        replay.Taken                            // of what happened; of the system of the log's rule only
	without    *replay.Taken                           // of the same without clones; nil if the rule has none
	plain      map[*history.StageRecord][]replay.Taken // likewise, by stage
	whole      []replay.Taken                          // by survivor
	survivors  []int                                   // of the candidates, whose whole was played
	apart      map[*history.StageRecord][]replay.Taken // what happened, then by candidate
}

// playAll plays what happened, the candidates of a system, and those of Tailcut's own engine. All meet the same draws.
func playAll(ctx context.Context, r *Request, own, engine *played) error {
	all := 1 + len(own.candidates) + len(engine.candidates)
	most := playedTasks
	if own.system == Hadoop {
		most = toldTasks
	}
	plays := func(candidates int) int { return max(leastPlays, min(mostPlays, most/max(1, r.tasks()*candidates))) }
	often, left := plays(all), all
	if often < mostPlays {
		left = 1 + min(mostWhole, len(own.candidates)) + min(mostWhole, len(engine.candidates))
	}
	sides := []*played{own}
	if len(engine.candidates) > 0 {
		sides = append(sides, engine)
	}
	tick, stop := r.watch("replaying", r.Again.Tasks()*(len(sides)*often+(all-1)*often+left*plays(left)+1))
	defer stop()
	rules := replay.Rules{Runs: often, Seed: r.Seed, Tick: tick}
	for _, p := range sides {
		if err := p.playApart(ctx, r, rules); err != nil {
			return err
		}
		p.survive(left < all)
	}
	rules.Runs = plays(left)
	rules.System, rules.Specs = own.system, []string{r.Again.Rule}
	now, err := r.Again.Whole(ctx, rules)
	if err != nil {
		return err
	}
	own.now = now[0]
	if r.Again.Rule != replay.Without {
		rules.Specs = []string{replay.Without}
		without, err := r.Again.Whole(ctx, rules)
		if err != nil {
			return err
		}
		own.without = &without[0]
		if own.plain, err = r.Again.Apart(ctx, rules); err != nil {
			return err
		}
	}
	for _, p := range sides {
		if p.whole, err = r.Again.Whole(ctx, p.rules(rules, p.survivors)); err != nil {
			return err
		}
	}
	return nil
}

// rules are the system's with some of its candidates.
func (p *played) rules(q replay.Rules, some []int) replay.Rules {
	q.System, q.Specs = p.system, nil
	for _, k := range some {
		q.Specs = append(q.Specs, p.candidates[k].spec)
	}
	return q
}

// playApart plays the stages for themselves.
func (p *played) playApart(ctx context.Context, r *Request, q replay.Rules) (err error) {
	for k := range p.candidates {
		p.survivors = append(p.survivors, k)
	}
	q = p.rules(q, p.survivors)
	q.Specs = append([]string{r.Again.Rule}, q.Specs...)
	p.apart, err = r.Again.Apart(ctx, q)
	return err
}

// survive leaves the candidates alone whose stages are the fastest, all together.
func (p *played) survive(few bool) {
	if !few || len(p.survivors) <= mostWhole {
		return
	}
	seconds := make([]float64, len(p.candidates))
	for _, taken := range p.apart {
		for k := range seconds {
			seconds[k] += taken[k+1].Mean
		}
	}
	slices.SortStableFunc(p.survivors, func(a, b int) int { return cmp.Compare(seconds[a], seconds[b]) })
	p.survivors = p.survivors[:mostWhole]
	slices.Sort(p.survivors)
}

// setting is the fastest candidate for all stages together; nil if none is faster than what happened on average, and no
// slower in at least 97.5 % of the plays.
func (p *played) setting(now replay.Taken) *Setting {
	k := fastest(append([]replay.Taken{now}, p.whole...))
	if k == 0 || p.whole[k-1].Mean >= (1-leastWorth)*now.Mean || p.whole[k-1].High > now.Mean*(1+1e-9) {
		return nil
	}
	return &Setting{p.system, p.candidates[p.survivors[k-1]].lines, bestOf(&p.whole[k-1])}
}

func bestOf(t *replay.Taken) Best { return Best{t.Mean, t.Low, t.High} }

// fastest is the index of the least mean. The first counts if others are no better.
func fastest(all []replay.Taken) (best int) {
	for k := range all {
		if all[k].Mean < all[best].Mean*(1-1e-9) {
			best = k
		}
	}
	return best
}
