package policy

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// What GeoClone thinks of tasks that run, where tasks=unfinished lets it: line 10's p, what is left of an attempt, and
// whether to begin it anew.
//
//	a            age of an attempt
//	X            what an attempt takes: p s_k + d_lk, from what it began with
//	left=fresh   X; the paper says nothing of running attempts, and its e_l(x) has no age
//	left=age     X - a given X > a; an attempt that is older than anything X can be lasts as long again
//	left=progress  as kit.Silence has it, where the attempt has reported; else as left=age

// bar returns p of line 10: a task gets no further attempt once e_l(x) <= p (1+eps) u.
func (p *geoclone) bar(v *sched.View, x *geoTask) float64 {
	switch p.stop {
	case "site":
		return x.alone
	case "least":
		if x.least == 0 {
			p.sources = v.Sites().AppendSources(p.sources[:0], x.id)
			for k := range p.watch.Laws {
				if !v.Sites().Allows(x.id, sched.SiteID(k)) {
					continue
				}
				if e := x.p*p.watch.Laws[k].Mean + p.watch.Links.FetchTo(v, p.sources, sched.SiteID(k)); x.least == 0 || e < x.least {
					x.least = e
				}
			}
		}
		return x.least
	}
	return x.p
}

// rejoin puts the attempts that a task has into its race.
func (p *geoclone) rejoin(v *sched.View, x *geoTask) {
	p.sources = v.Sites().AppendSources(p.sources[:0], x.id)
	for a, ok := v.FirstAttempt(x.id); ok; a, ok = v.NextAttempt(a) {
		row := v.Attempt(a)
		k := v.Machine(row.Machine).Site
		fetch := p.watch.Links.FetchTo(v, p.sources, k)
		if x.race.n == 0 {
			x.alone = x.p*p.watch.Laws[k].Mean + fetch
		}
		law, scale, shift := p.watch.Laws[k].Stair, x.p, fetch
		if p.left != "fresh" {
			if rem, ok := p.foretold(v, a); ok {
				p.rest.Value, p.rest.Tail = append(p.rest.Value[:0], rem), append(p.rest.Tail[:0], 0)
			} else {
				p.rest = law.After(p.rest, scale*(1-row.From), shift, (v.Now() - row.Started).Seconds())
			}
			law, scale, shift = p.rest, 1, 0
		}
		x.race = p.races.join(x.race, law, scale, shift)
	}
}

// foretold returns the seconds that an attempt still takes by its reports, if these count.
func (p *geoclone) foretold(v *sched.View, a sched.AttemptID) (seconds float64, ok bool) {
	if p.quiet == nil {
		return 0, false
	}
	row := p.quiet.Attempt(v, a)
	rem, ok := row.Remaining(v.Now())
	return rem.Seconds(), ok
}

// replace kills attempts that have more before them than others would at the best site, and starts others.
func (p *geoclone) replace(v *sched.View, act *sched.Actions) {
	if p.kill == 0 {
		return
	}
	for _, job := range p.jobs {
		for i := range p.open[job.from:job.to] {
			x := &p.open[int(job.from)+i]
			if a, ok := v.FirstAttempt(x.id); ok && v.Task(x.id).Live == 1 && x.quota > 0 && v.Rows().MayKill(a) {
				p.renew(v, act, x, a)
			}
		}
	}
}

// renew kills a task's only attempt and starts another, if that is expected to take less time by the factor kill. The
// slot that would be free then counts.
func (p *geoclone) renew(v *sched.View, act *sched.Actions, x *geoTask, a sched.AttemptID) {
	home := v.Machine(v.Attempt(a).Machine).Site
	p.room[home]++
	p.search(v, x)
	old := *x
	x.race = race{}
	joined := p.joined(v, x)
	if old.race.expected <= p.kill*joined.expected {
		*x = old
		x.best = -1
		p.room[home]--
		return
	}
	kit.Kill(act, a, sched.Replaced)
	m, _ := v.Sites().FreeMachine(sched.SiteID(x.best), 0)
	kit.Start(v, act, x.id, m)
	p.watch.Starts(v, p.sources, x.p, sched.SiteID(x.best))
	p.spare++
	p.took(x, joined)
}
