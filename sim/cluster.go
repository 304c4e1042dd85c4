package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Cluster is a world of several sites, after GeoClone (Wang et al., Section 3): an attempt of a task that takes p on a
// machine of unit speed takes
//
//	e = p s/v + d
//
// on a machine of speed v, where s is its slowdown, drawn for each attempt from the law of the site, and d the time to
// fetch what it reads, from all sources at once. It is read from a file ([ReadCluster]) or generated ([Waxman]). Nobody
// changes it once it is used.
type Cluster struct {
	Name    string // where it comes from, for messages
	Sites   []Site
	Money   string         // name of the unit that prices are in; "" if nobody says
	Network *sched.Network // names are those of Sites; if Shared, by max-min fairness; nil only before it is complete
}

// Site is machines that are equally good on average and have each other's data at hand.
type Site struct {
	Name     string
	Machines int
	Slots    int      // per machine
	Speed    Speed    // of its machines
	Slowdown laws.Law // of its attempts, each draws its own; nil for none
	Busy     Busy     // with work that is not ours
	Line     int      // of the cluster file where it is described; 0 if there is none
}

// Speed is the law of the speeds of a site's machines: normal, given that it is between Min and Max. A machine draws
// once.
type Speed struct{ Mean, SD, Min, Max float64 }

// Steady is the law of machines that are all so fast.
func Steady(v float64) Speed { return Speed{v, 0, v, v} }

// Quantile returns the speed below which a machine is with probability u.
func (s Speed) Quantile(u float64) float64 {
	if s.SD == 0 {
		return min(max(s.Mean, s.Min), s.Max)
	}
	below := func(x float64) float64 { return math.Erfc((s.Mean-x)/s.SD/math.Sqrt2) / 2 }
	lo, hi := below(s.Min), below(s.Max)
	x := s.Mean + s.SD*math.Sqrt2*math.Erfinv(2*(lo+u*(hi-lo))-1)
	return min(max(x, s.Min), s.Max)
}

// validate reports the first thing that makes no sense, with the field's name in the cluster file.
func (s Speed) validate() (field string, err error) {
	switch {
	case !(s.Min > 0) || math.IsInf(s.Max, 0):
		return "min", fmt.Errorf("expected a positive number, got %v", s.Min)
	case !(s.Max >= s.Min):
		return "max", fmt.Errorf("expected at least min, %v, got %v", s.Min, s.Max)
	case !(s.Mean > 0) || math.IsInf(s.Mean, 0):
		return "mean", fmt.Errorf("expected a positive number, got %v", s.Mean)
	case !(s.SD >= 0) || math.IsInf(s.SD, 0):
		return "cv", fmt.Errorf("expected a number of at least 0, got %v", s.SD/s.Mean)
	case s.SD > 0 && !(s.Quantile(0.5) > 0 && (s.Mean-s.Max)/s.SD < 8 && (s.Min-s.Mean)/s.SD < 8):
		return "mean", fmt.Errorf("expected a mean near the range of %v to %v, got %v", s.Min, s.Max, s.Mean)
	}
	return "", nil
}

// Machines returns the machines of all sites, which are numbered site by site.
func (c *Cluster) Machines() (n int) {
	for i := range c.Sites {
		n += c.Sites[i].Machines
	}
	return n
}

// Slots returns the slots of all sites.
func (c *Cluster) Slots() (n int) {
	for i := range c.Sites {
		n += c.Sites[i].Machines * c.Sites[i].Slots
	}
	return n
}

// Locate returns the site that each of the workload's Sites is, by name. That of index 0, which is no site, means
// nothing. It is an error if a job names a site that the cluster does not have, or may run a task nowhere.
func (c *Cluster) Locate(w *trace.Workload) ([]sched.SiteID, error) {
	index := make(map[string]sched.SiteID, len(c.Sites))
	for i := range c.Sites {
		index[c.Sites[i].Name] = sched.SiteID(i)
	}
	at := make([]sched.SiteID, len(w.Sites))
	for i, name := range w.Sites {
		if i == 0 {
			continue
		}
		s, known := index[name]
		if !known {
			return nil, fmt.Errorf("%s: a job names site %q, which %s does not have", w.Name, name, c.Name)
		}
		at[i] = s
	}
	for j := range w.Jobs {
		if w.RulesOf(j) == nil {
			continue
		}
		var spec sched.JobSpec
		w.Spec(j, &spec)
		w.Confine(j, &spec, len(c.Sites), func(site uint32) sched.SiteID { return at[site] })
		if err := spec.Validate(); err != nil {
			return nil, fmt.Errorf("%s:%d: on %s: %w", w.Name, w.Jobs[j].Number+1, c.Name, err)
		}
	}
	return at, nil
}

// validate is for clusters that were put together by a program; readers say more about where a mistake is.
func (c *Cluster) validate() error {
	if c.Network == nil || c.Network.Sites() != len(c.Sites) {
		return errors.New("expected a cluster with a network of its sites")
	}
	if err := c.Network.Validate(); err != nil {
		return err
	}
	for i := range c.Sites {
		s := &c.Sites[i]
		if s.Machines < 1 || s.Slots < 1 {
			return fmt.Errorf("site %s: expected machines and slots, got %d with %d each", s.Name, s.Machines, s.Slots)
		}
		if err := s.Busy.validate(); err != nil {
			return fmt.Errorf("site %s: busy: %w", s.Name, err)
		}
		if _, err := s.Speed.validate(); err != nil {
			return fmt.Errorf("site %s: speed: %w", s.Name, err)
		}
	}
	return nil
}
