package policy

import "github.com/tailcut/tailcut/sched"

// What GeoClone thinks of tasks that run, where tasks lets it: line 10's p, and what is left of an attempt.
//
//	a            age of an attempt
//	X            what an attempt takes: p s_k + d_lk, from what it began with
//	left=fresh   X; the paper says nothing of running attempts, and its e_l(x) has no age
//	left=age     X - a given X > a; an attempt that is older than anything X can be lasts as long again
//	left=progress  as its reports say, see geoclone_reports.go; without any as left=age

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

// rejoin puts the attempts that a task has into its race, and tells whether reports say how long one of them takes.
func (p *geoclone) rejoin(v *sched.View, x *geoTask) (told bool) {
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
				told = true
				p.rest.Value, p.rest.Tail = append(p.rest.Value[:0], rem), append(p.rest.Tail[:0], 0)
			} else {
				p.rest = law.After(p.rest, scale*(1-row.From), shift, (v.Now() - row.Started).Seconds())
			}
			law, scale, shift = p.rest, 1, 0
		}
		x.race = p.races.join(x.race, law, scale, shift)
	}
	return told
}
