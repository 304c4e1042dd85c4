package sim

import (
	"errors"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Intrinsic is the model of a task that takes as long as recorded however often it is tried: what differs between
// attempts is the cluster's doing.
func Intrinsic(*trace.Workload, int, uint64) (Service, error) { return intrinsic{}, nil }

type intrinsic struct{}

func (intrinsic) Duration(a *Attempt) sched.Time { return scaled(a.size(), a.Share) }

// geo is the sites of one run.
type geo struct {
	*Cluster
	at      []sched.SiteID // by index of the workload's Sites
	speed   []float64      // by machine; 0 if it has not been drawn yet, a mere cache
	data    bool           // the workload says what tasks read
	sources []sched.Source // scratch
	wan     *transfers     // nil if fetches share nothing
	fetched []sched.Event  // to tell the core
	late    int            // facts of the present step about what attempts had fetched that were killed before it
	busy    *occupancy     // nil if no site is ever busy
	bills   []Bill         // by job
}

// newGeo returns the sites of a run and completes its options by what they say; nil if there are none.
func newGeo(w *trace.Workload, o *Options) (*geo, error) {
	c := o.Cluster
	if c == nil {
		return nil, nil
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if len(o.More) > 0 {
		return nil, errors.New("a cluster of sites has slots of one class")
	}
	at, err := c.Locate(w)
	if err != nil {
		return nil, err
	}
	o.Machines = c.Machines()
	if o.Model == nil {
		o.Model = Intrinsic
	}
	g := &geo{Cluster: c, at: at, speed: make([]float64, o.Machines), data: w.HasData()}
	if c.Network.Shared && g.data {
		g.wan = newTransfers(c)
	}
	if len(w.Jobs) > 0 {
		g.busy = newOccupancy(c.Sites, o.Seed, w.Jobs[0].Arrival)
	}
	if g.busy != nil && o.Faults.MTBF > 0 {
		return nil, errors.New("machines of a cluster that are busy with other work do not fail")
	}
	return g, nil
}

// addSites makes the sites and their machines known to the core and has the machines join.
func (s *Simulator) addSites() error {
	if err := s.core.Connect(s.geo.Network); err != nil {
		return err
	}
	for i := range s.geo.Sites {
		site := &s.geo.Sites[i]
		for range site.Machines {
			m, err := s.core.AddMachine(sched.SiteID(i), site.Slots)
			if err != nil {
				return err
			}
			if busy := s.geo.busy; busy == nil || busy.state[m] == ours {
				s.back = append(s.back, m)
			}
		}
	}
	return nil
}

// place says at which sites the inputs of a job are. Those of which the workload does not say it are all at one site,
// each equally likely.
func (g *geo) place(w *trace.Workload, j int, spec *sched.JobSpec, seed uint64) {
	if !g.data {
		return
	}
	anywhere := sched.SiteID(below(draw(seed, forPlace, w.Jobs[j].Number, 0, 0), len(g.Sites)))
	w.Data(j, spec, func(site uint32) sched.SiteID {
		if site == 0 {
			return anywhere
		}
		return g.at[site]
	})
	w.Confine(j, spec, len(g.Sites), func(site uint32) sched.SiteID { return g.at[site] })
}

// begins returns when an attempt begins its work: it is launched and has what it reads. Never means that nobody knows
// because it fetches over links that are shared.
func (g *geo) begins(v *sched.View, r *running) sched.Time {
	site := v.Machine(r.machine).Site
	if g.wan != nil {
		g.sources = v.Sites().AppendSources(g.sources[:0], r.of)
		if g.wan.begin(r, g.sources, site) {
			return sched.Never
		}
		return r.begun
	}
	if fetch := g.fetch(v, r.of, site); r.begun < sched.Never-fetch {
		return r.begun + fetch
	}
	return sched.Never
}

// SpeedOf returns the speed of a machine at a site, as the seed draws it.
func (c *Cluster) SpeedOf(k sched.SiteID, m sched.MachineID, seed uint64) float64 {
	return c.Sites[k].Speed.Quantile(uniform(draw(seed, forSpeed, uint32(m), 0, 0)))
}

// SlowdownOf returns the slowdown of an attempt at a site, as the seed draws it for the number of the job, the task's
// index in it, and the attempt's number. It is no number or at least 0.
func (c *Cluster) SlowdownOf(k sched.SiteID, seed uint64, job, task, number uint32) float64 {
	law := c.Sites[k].Slowdown
	if law == nil {
		return 1
	}
	return max(0, laws.Sample(law, uniform(draw(seed, forSite, job, task, number))))
}

// factor returns how much longer an attempt works at a site than on a machine of unit speed; it may be no number.
func (g *geo) factor(site sched.SiteID, a *Attempt) float64 {
	v := &g.speed[a.Machine]
	if *v == 0 {
		*v = g.SpeedOf(site, a.Machine, a.Seed)
	}
	return 1 / *v * g.SlowdownOf(site, a.Seed, a.Job, a.Task, a.Number)
}

// fetch returns how long it takes to fetch what a task reads, from all its sources at once, if nobody else uses the
// links.
func (g *geo) fetch(v *sched.View, t sched.TaskID, to sched.SiteID) (longest sched.Time) {
	g.sources = v.Sites().AppendSources(g.sources[:0], t)
	for _, s := range g.sources {
		longest = max(longest, g.Network.Fetch(s.Site, to, s.Bytes))
	}
	return longest
}

// tellFetched notes what an attempt that ends now has fetched, where links are not shared; delay is that before it
// began. A fetch is told when its attempt ends, so that it takes no step of its own.
func (g *geo) tellFetched(v *sched.View, id sched.AttemptID, now, delay sched.Time) {
	if !g.data || g.wan != nil {
		return
	}
	a := v.Attempt(id)
	to := v.Machine(a.Machine).Site
	g.sources = v.Sites().AppendSources(g.sources[:0], a.Task)
	for _, s := range g.sources {
		if s.Site == to {
			continue
		}
		if span := g.Network.Fetch(s.Site, to, s.Bytes); span <= now-a.Started-delay {
			g.tell(now, id, a.Machine, s, span)
		}
	}
}

func (g *geo) tell(now sched.Time, id sched.AttemptID, m sched.MachineID, s sched.Source, span sched.Time) {
	g.fetched = append(g.fetched, sched.Event{At: now, Kind: sched.DataFetched, Machine: m, Site: s.Site, Attempt: id, Bytes: s.Bytes, Span: span})
}

// busy returns what other work the sites do, nil if none.
func (s *Simulator) busy() *occupancy {
	if s.geo == nil {
		return nil
	}
	return s.geo.busy
}

// wan returns the links that fetches share, nil if they do not.
func (s *Simulator) wan() *transfers {
	if s.geo == nil {
		return nil
	}
	return s.geo.wan
}

// came tells of a fetch over links that are shared. Its last byte is there after the latency.
func (s *Simulator) came(a *arrival, src sched.Source, span sched.Time) {
	s.geo.charge(s.core.View(), a.id, src.Site, src.Bytes)
	s.geo.tell(s.now, a.id, s.core.View().Attempt(a.id).Machine, src, span)
}

// fetched schedules the end of an attempt that has all it reads.
func (s *Simulator) fetched(a *arrival) {
	r := &a.running
	if r.begun = sched.Never; a.ready < sched.Never-s.o.LaunchDelay {
		r.begun = a.ready + s.o.LaunchDelay
		s.beginWork(r)
	}
	s.ends.remove(uint32(r.id.Row()))
	if s.keeps() {
		r.reports = s.rows[r.id.Row()].reports
		s.keep(r)
	}
	s.schedule(r)
	if s.o.Progress.Exact && r.begun == s.now && r.end > s.now && r.end < sched.Never {
		s.told = append(s.told, s.forecast(r, r.from))
	}
}
