package sim

import (
	"fmt"

	"github.com/tailcut/tailcut/sched"
)

// newNetwork returns the network of sites of which no link is known: bandwidths are 0.
func newNetwork(sites []Site) *sched.Network {
	n := &sched.Network{Bandwidth: make([]float64, len(sites)*len(sites)), Latency: make([]sched.Time, len(sites)*len(sites))}
	for i := range sites {
		n.Names = append(n.Names, sites[i].Name)
	}
	return n
}

// link is a link as a file says it: what it does not say is negative.
type link struct {
	bandwidth float64
	latency   sched.Time
	price     sched.Money
}

// readLinks reads the links between sites, and checks that each site can be reached from each other.
func (r *clusterReader) readLinks(f, sites clusterField) error {
	n := newNetwork(r.c.Sites)
	r.c.Network = n
	r.measured = make([]measurement, len(n.Bandwidth))
	all, between := link{}, clusterField{}
	if f.node != nil {
		err := f.fields(map[string]func(clusterField) error{
			"bandwidth": func(f clusterField) (err error) { all.bandwidth, err = readRate(f); return err },
			"latency":   func(f clusterField) (err error) { all.latency, err = readSpan(f); return err },
			"between":   func(f clusterField) error { between = f; return nil },
			"measured":  r.readTables,
			"price":     r.readPrice(&r.all),
			"shared":    func(f clusterField) error { return readBool(f, &n.Shared) },
		})
		if err != nil {
			return err
		}
	}
	if r.bound.node != nil {
		if !n.Shared {
			return r.bound.expected("links.shared: true beside it; otherwise nothing is shared")
		}
		n.Up, n.Down = r.up, r.down
	}
	for i := range n.Bandwidth {
		n.Bandwidth[i], n.Latency[i] = all.bandwidth, all.latency
	}
	r.useMeasured()
	r.usePrices(n)
	if between.node != nil {
		items, err := between.items()
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := r.readLink(item); err != nil {
				return err
			}
		}
	}
	return r.reachable(sites)
}

// readTables reads files of measured links. What the first of them has measured counts.
func (r *clusterReader) readTables(f clusterField) error {
	items, err := f.items()
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := r.readMeasured(item); err != nil {
			return err
		}
	}
	return nil
}

// readLink reads what is said of one link, or of both directions between two sites.
func (r *clusterReader) readLink(f clusterField) error {
	from, to, both := -1, -1, false
	l := link{-1, -1, priceUnset}
	end := func(to *int) func(clusterField) error {
		return func(f clusterField) (err error) {
			*to, err = r.site(f)
			return err
		}
	}
	err := f.fields(map[string]func(clusterField) error{
		"from": end(&from), "to": end(&to),
		"sites": func(f clusterField) error {
			both = true
			items, err := f.items()
			if err != nil {
				return err
			}
			if len(items) != 2 {
				return f.expected("two sites, got %d", len(items))
			}
			if from, err = r.site(items[0]); err != nil {
				return err
			}
			to, err = r.site(items[1])
			return err
		},
		"bandwidth": func(f clusterField) (err error) { l.bandwidth, err = readRate(f); return err },
		"latency":   func(f clusterField) (err error) { l.latency, err = readSpan(f); return err },
		"price":     r.readPrice(&l.price),
	})
	switch {
	case err != nil:
		return err
	case from < 0 || to < 0:
		return f.expected("the fields from and to, or sites: [A, B] for both directions")
	case from == to:
		return f.expected("two different sites, got %s twice", quoted(r.c.Sites[to].Name))
	}
	r.set(from, to, l)
	if both {
		r.set(to, from, l)
	}
	return nil
}

// set notes what is said of a link.
func (r *clusterReader) set(from, to int, l link) {
	i := from*len(r.c.Sites) + to
	if l.bandwidth > 0 {
		r.c.Network.Bandwidth[i] = l.bandwidth
	}
	if l.latency >= 0 {
		r.c.Network.Latency[i] = l.latency
	}
	if l.price >= 0 {
		if r.c.Network.Price == nil { // it is the first price of the file
			r.usePrices(r.c.Network)
		}
		r.c.Network.Price[i] = l.price
	}
}

func readBool(f clusterField, to *bool) error {
	text, err := f.text()
	if err == nil && text != "true" && text != "false" {
		err = f.expected("true or false, got %s", quoted(text))
	}
	*to = text == "true"
	return err
}

// site reads the name of a site.
func (r *clusterReader) site(f clusterField) (int, error) {
	name, err := f.text()
	if err != nil {
		return 0, err
	}
	i, known := r.index[name]
	if !known {
		return 0, f.expected("the name of a site, got %s", quoted(name))
	}
	return i, nil
}

// reachable checks that every link has a bandwidth.
func (r *clusterReader) reachable(sites clusterField) error {
	k := len(r.c.Sites)
	for to := range k {
		for from := range k {
			if from != to && r.c.Network.Bandwidth[from*k+to] == 0 {
				f := sites.at(fmt.Sprintf("[%d]", to), sites.node.Content[to])
				return f.expected("a bandwidth from every other site, none is given from %s to %s (links.bandwidth is for all that links.between does not name)",
					quoted(r.c.Sites[from].Name), quoted(r.c.Sites[to].Name))
			}
		}
	}
	return nil
}
