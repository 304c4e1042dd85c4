package sim

import "github.com/tailcut/tailcut/sched"

// Bill is what attempts cost where links and slots have prices, and how many bytes they moved between sites. An attempt
// that is killed has moved, and had its slot, until then.
type Bill struct {
	Bytes  int64       // moved between sites
	Moved  sched.Money // for them
	Slots  sched.Money // for the time that attempts had their slots
	Clones sched.Money // of both, for attempts that were launched while another attempt of their task was running
}

// Money returns the whole amount.
func (b *Bill) Money() sched.Money { return b.Moved + b.Slots }

func (b *Bill) add(o *Bill) {
	b.Bytes += o.Bytes
	b.Moved += o.Moved
	b.Slots += o.Slots
	b.Clones += o.Clones
}

// bill returns the bill of a job.
func (g *geo) bill(j sched.JobID) *Bill {
	for len(g.bills) <= int(j) {
		g.bills = append(g.bills, Bill{})
	}
	return &g.bills[j]
}

// charge puts what an attempt has moved from a site on the bill of its job.
func (g *geo) charge(v *sched.View, id sched.AttemptID, from sched.SiteID, bytes int64) {
	a := v.Attempt(id)
	price := g.Network.Toll(from, v.Machine(a.Machine).Site, bytes)
	b := Bill{Bytes: bytes, Moved: price}
	if a.Clone {
		b.Clones = price
	}
	g.bill(v.Rows().JobOf(a.Task)).add(&b)
}

// chargeEnd puts the slot of an attempt that ends now on the bill of its job, and what it has moved; delay is that
// before it began to. Where links are shared, complete fetches were charged when they were complete.
func (g *geo) chargeEnd(v *sched.View, id sched.AttemptID, now, delay sched.Time) {
	a := v.Attempt(id)
	to := v.Machine(a.Machine).Site
	b := Bill{Slots: g.Network.Hire(to, now-a.Started)}
	if a.Clone {
		b.Clones = b.Slots
	}
	g.bill(v.Rows().JobOf(a.Task)).add(&b)
	if !g.data {
		return
	}
	if g.wan != nil {
		g.wan.left(uint32(id.Row()), func(s sched.Source) { g.charge(v, id, s.Site, s.Bytes) })
		return
	}
	g.sources = v.Sites().AppendSources(g.sources[:0], a.Task)
	for _, s := range g.sources {
		if s.Site != to {
			g.charge(v, id, s.Site, g.moved(s, to, now-a.Started-delay))
		}
	}
}

// moved returns how much of a source has come after so long, over a link that nobody else uses.
func (g *geo) moved(s sched.Source, to sched.SiteID, after sched.Time) int64 {
	if g.Network.Fetch(s.Site, to, s.Bytes) <= after {
		return s.Bytes
	}
	bandwidth, latency := g.Network.Link(s.Site, to)
	return min(s.Bytes, int64(bandwidth*max(0, after-latency).Seconds()))
}

// left calls moved with what has come of each fetch of an attempt that is not complete.
func (x *transfers) left(row uint32, moved func(sched.Source)) {
	if x.waiting[row] == nil {
		return
	}
	for _, s := range x.streams {
		for _, f := range s.fetches {
			if f.row == row {
				moved(sched.Source{Site: s.from, Bytes: max(0, f.bytes-int64(s.left(f)))})
			}
		}
	}
}
