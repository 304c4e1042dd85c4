package sim

import (
	"errors"
	"math"

	"github.com/tailcut/tailcut/dist"
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
	if c.Shared && g.data {
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
}

// span returns how long an attempt takes that would take span on a machine of unit speed: Never while nobody knows
// because it fetches over links that are shared.
func (g *geo) span(v *sched.View, d *sched.Decision, r *running, a *Attempt, span sched.Time) sched.Time {
	site := v.Machine(d.Machine).Site
	span = g.compute(site, a, span)
	if g.wan != nil {
		g.sources = v.AppendSources(g.sources[:0], d.Task)
		if g.wan.begin(r, g.sources, site, span) {
			return sched.Never
		}
		return span
	}
	if fetch := g.fetch(v, d.Task, site); span < sched.Never-fetch {
		return span + fetch
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
	return max(0, dist.Sample(law, uniform(draw(seed, forSite, job, task, number))))
}

// compute returns how long an attempt works once it has what it reads.
func (g *geo) compute(site sched.SiteID, a *Attempt, span sched.Time) sched.Time {
	v := &g.speed[a.Machine]
	if *v == 0 {
		*v = g.SpeedOf(site, a.Machine, a.Seed)
	}
	factor := 1 / *v * g.SlowdownOf(site, a.Seed, a.Job, a.Task, a.Number)
	if span == sched.Never || math.IsNaN(factor) {
		return sched.Never
	}
	return scaled(span, factor)
}

// fetch returns how long it takes to fetch what a task reads, from all its sources at once, if nobody else uses the
// links.
func (g *geo) fetch(v *sched.View, t sched.TaskID, to sched.SiteID) (longest sched.Time) {
	g.sources = v.AppendSources(g.sources[:0], t)
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
	g.sources = v.AppendSources(g.sources[:0], a.Task)
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

// fetching tells whether an attempt waits for data over links that are shared.
func (s *Simulator) fetching(r *running) bool {
	wan := s.wan()
	return wan != nil && wan.waiting[uint32(r.id.Row())] != nil
}

// came tells of a fetch over links that are shared. Its last byte is there after the latency.
func (s *Simulator) came(a *arrival, src sched.Source, span sched.Time) {
	s.geo.tell(s.now, a.id, s.core.View().Attempt(a.id).Machine, src, span)
}

// fetched schedules the end of an attempt that has all it reads.
func (s *Simulator) fetched(a *arrival) {
	r := &a.running
	if a.span < sched.Never-a.ready-s.o.LaunchDelay {
		r.end = a.ready + s.o.LaunchDelay + a.span
	}
	s.ends.remove(uint32(r.id.Row()))
	if s.keeps() {
		r.reports = s.rows[r.id.Row()].reports
		s.keep(r)
	}
	s.schedule(r)
	if s.o.Progress.Exact && r.end > s.now && r.end < sched.Never {
		s.told = append(s.told, s.forecast(r, r.from))
	}
}
