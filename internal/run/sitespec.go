package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// siteRequest is what a user says of sites.
type siteRequest struct {
	Sites   []string `json:"sites,omitempty"`
	Cluster string   `json:"cluster,omitempty"` // the argument,
	Text    string   `json:"text,omitempty"`    // and what is in the file
	Data    []string `json:"data,omitempty"`
}

// settleSites settles the sites of a run, if it has any. Their slots are those of the run.
func (e *Engine) settleSites() (err error) {
	o := &e.o
	if len(o.Sites) == 0 && o.Cluster == "" {
		if len(o.Data) > 0 {
			return errors.New("--data needs sites; add --site or --cluster")
		}
		return e.settleWhereabouts()
	}
	if len(o.Sites) > 0 && o.Cluster != "" {
		return errors.New("--site and --cluster: give one of them")
	}
	if o.Slots != 0 {
		return grammar.Wrong("slots", errors.New("the sites have their own slots; leave it out"))
	}
	r := &siteRequest{Sites: o.Sites, Cluster: o.Cluster, Data: slices.Clone(o.Data)}
	e.sites = &runSites{}
	if o.Cluster != "" {
		r.Text, e.sites.Cluster, err = loadRunCluster(o.Cluster, o.Seed)
	} else {
		e.sites.Cluster, err = parseSites(o.Sites)
	}
	if err != nil {
		return err
	}
	if e.Slots = e.sites.Slots(); e.Slots > MostSlots {
		return fmt.Errorf("%s: expected at most %d slots in all, got %d", e.sites.Name, MostSlots, e.Slots)
	}
	if e.Job.MapReduce == nil && len(o.Data) > 0 {
		return errors.New("--data: Tailcut does not know what the tasks of an array job read; use it with operators and mappers")
	}
	for i, text := range r.Data {
		d, err := e.sites.parseData(text)
		if err == nil {
			err = e.sites.addData(d)
		}
		if err != nil {
			return fmt.Errorf("--data: %w", err)
		}
		r.Data[i] = e.sites.Sites[d.site].Name + "=" + d.path
	}
	e.Request.Sites = r
	return e.settleWhereabouts()
}

// parseSites makes a cluster of sites that are given one by one.
func parseSites(all []string) (*sim.Cluster, error) {
	c := &sim.Cluster{Name: "--site"}
	rates := make([]float64, len(all))
	for i, text := range all {
		site := sim.Site{Machines: 1, Speed: sim.Steady(1)}
		rates[i] = unbounded
		if err := parseSite(text, &site, &rates[i]); err != nil {
			return nil, fmt.Errorf("--site %s: %w", text, err)
		}
		if slices.ContainsFunc(c.Sites, func(s sim.Site) bool { return s.Name == site.Name }) {
			return nil, fmt.Errorf("--site %s: expected a name of its own, %s is there twice", text, site.Name)
		}
		c.Sites = append(c.Sites, site)
	}
	c.Network = &sched.Network{}
	for _, from := range rates {
		for _, to := range rates {
			c.Network.Bandwidth = append(c.Network.Bandwidth, min(from, to))
		}
	}
	for i := range c.Sites {
		c.Network.Names = append(c.Network.Names, c.Sites[i].Name)
	}
	return c, nil
}

// unbounded is the bandwidth of a link that nobody bounds, in bytes per second: a number, because the journal's header
// is JSON.
const unbounded = math.MaxFloat64

// parseSite reads NAME=SLOTS[,speed=F][,bandwidth=RATE].
func parseSite(text string, site *sim.Site, rate *float64) (err error) {
	parts := strings.Split(text, ",")
	name, slots, ok := strings.Cut(parts[0], "=")
	if !ok || name == "" {
		return fmt.Errorf("expected NAME=SLOTS, as in edge=2,speed=0.5,bandwidth=20Mbit/s, got %q", parts[0])
	}
	site.Name = name
	if site.Slots, err = strconv.Atoi(slots); err != nil || site.Slots < 1 || site.Slots > 1<<16 {
		return fmt.Errorf("expected a number of slots between 1 and %d, got %q", 1<<16, slots)
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "speed":
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v >= leastSpeed && v <= 1) {
				return fmt.Errorf("speed: expected a fraction of this machine's speed between %v and 1, got %q", leastSpeed, value)
			}
			site.Speed = sim.Steady(v)
		case "bandwidth":
			if *rate, err = sim.ParseRate(value); err != nil {
				return fmt.Errorf("bandwidth: %w", err)
			}
		default:
			return fmt.Errorf("unknown key %q; valid: speed, bandwidth", key)
		}
	}
	return nil
}

// leastSpeed bounds how slow a site can be made.
const leastSpeed = 0.001

// loadRunCluster reads a cluster that a live run can be like, and returns the text of its file, too.
func loadRunCluster(arg string, seed uint64) (string, *sim.Cluster, error) {
	c, err := sim.LoadCluster(arg, seed)
	if err != nil {
		return "", nil, fmt.Errorf("--cluster: %w", err)
	}
	text, err := os.ReadFile(arg)
	if err != nil && !strings.HasPrefix(arg, "synth:") {
		return "", nil, err
	}
	if c.Network.Shared {
		return "", nil, fmt.Errorf("--cluster: %s: field links.shared: expected false or nothing: in a live run each fetch has its link to itself", c.Name)
	}
	for i := range c.Sites {
		s := &c.Sites[i]
		at := fmt.Sprintf("--cluster: %s:%d: field sites[%d]", c.Name, s.Line, i)
		switch {
		case s.Busy.Level != nil:
			return "", nil, fmt.Errorf("%s.busy: expected nothing: a live run has no other work", at)
		case s.Speed.SD == 0 && s.Speed.Mean > 1:
			return "", nil, fmt.Errorf("%s.speed: expected at most 1, got %v: a live run makes no machine faster", at, s.Speed.Mean)
		}
	}
	for i, b := range c.Network.Bandwidth {
		c.Network.Bandwidth[i] = min(b, unbounded)
	}
	return string(text), c, nil
}

// parseData reads SITE=PATH.
func (r *runSites) parseData(text string) (siteData, error) {
	name, path, _ := strings.Cut(text, "=")
	k := r.named(name)
	if k < 0 || path == "" {
		return siteData{}, fmt.Errorf("expected SITE=PATH with the name of a site, got %q", text)
	}
	abs, err := filepath.Abs(path)
	return siteData{site: sched.SiteID(k), path: abs, dataset: -1}, err
}

// addData adds data that there is.
func (r *runSites) addData(d siteData) error {
	found, err := mapreduce.Glob(context.Background(), d.path)
	if err == nil {
		_, err = os.Stat(found[0])
	}
	r.data = append(r.data, d)
	return err
}
