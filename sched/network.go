package sched

import (
	"fmt"
	"math"
)

// Network is the sites of a cluster and the links between them, as far as policies are told: what a site's machines get
// when they fetch data from another. Within a site data is at hand.
type Network struct {
	Names []string // by SiteID
	// bytes per second from site k to site l at k*len(Names)+l, positive; +Inf for no bound; where k is l it does not
	// matter
	Bandwidth []float64
	Latency   []Time // likewise, until the first byte is there; nil for none
	// nobody will report fetches, so that what is said here is all that can be known of the links
	Stated bool `json:",omitempty"`

	// fetches at the same time share what links and sites carry; otherwise each has its link to itself
	Shared bool `json:",omitempty"`
	// by SiteID where Shared: bytes per second that all fetches together bring out of a site and into it, 0 for no
	// bound; nil for none anywhere
	Up, Down []float64 `json:",omitempty"`

	Price []Money `json:",omitempty"` // of a gigabyte (10^9 bytes) from site k to site l, as Bandwidth; nil for nothing
	Rent  []Money `json:",omitempty"` // of an hour of a slot, by SiteID, while an attempt has it; nil for nothing
}

// Sites returns the number of sites.
func (n *Network) Sites() int { return len(n.Names) }

// Link returns the bandwidth in bytes per second, and the latency, of fetching from one site to another: +Inf and 0
// within a site.
func (n *Network) Link(from, to SiteID) (bandwidth float64, latency Time) {
	if from == to {
		return math.Inf(1), 0
	}
	i := int(from)*len(n.Names) + int(to)
	if n.Latency != nil {
		latency = n.Latency[i]
	}
	return n.Bandwidth[i], latency
}

// Fetch returns how long it takes to fetch so many bytes over a link that nobody else uses: latency + bytes/bandwidth,
// nothing within a site or for no bytes. [Never] stands for what is beyond the range of Time.
func (n *Network) Fetch(from, to SiteID, bytes int64) Time {
	if from == to || bytes == 0 {
		return 0
	}
	bandwidth, latency := n.Link(from, to)
	if t := FromSeconds(float64(bytes) / bandwidth); t < Never-latency {
		return t + latency
	}
	return Never
}

// Ends returns how many bytes per second leave and enter a site at most: +Inf where nobody bounds them.
func (n *Network) Ends(k SiteID) (up, down float64) {
	up, down = math.Inf(1), math.Inf(1)
	if int(k) < len(n.Up) && n.Up[k] > 0 {
		up = n.Up[k]
	}
	if int(k) < len(n.Down) && n.Down[k] > 0 {
		down = n.Down[k]
	}
	return up, down
}

// maxSites bounds the sites of a cluster: a task's row keeps that of its result in 16 bits.
const maxSites = 1 << 16

// Validate reports the first thing about the network that makes no sense.
func (n *Network) Validate() error {
	k := len(n.Names)
	if k == 0 || k > maxSites {
		return fmt.Errorf("sites: %d is not between 1 and %d", k, maxSites)
	}
	if len(n.Bandwidth) != k*k || n.Latency != nil && len(n.Latency) != k*k {
		return fmt.Errorf("%d bandwidths and %d latencies: %d sites have %d pairs", len(n.Bandwidth), len(n.Latency), k, k*k)
	}
	for i, b := range n.Bandwidth {
		if i/k != i%k && !(b > 0) {
			return fmt.Errorf("bandwidth from %s to %s: %v is not a positive number", n.Names[i/k], n.Names[i%k], b)
		}
	}
	for i, l := range n.Latency {
		if l < 0 || l > Never/4 {
			return fmt.Errorf("latency from %s to %s: %v is not between 0 and %v", n.Names[i/k], n.Names[i%k], l, Never/4)
		}
	}
	if err := n.validatePrices(); err != nil {
		return err
	}
	return n.validateEnds()
}

func (n *Network) validateEnds() error {
	k := len(n.Names)
	if len(n.Up)+len(n.Down) > 0 && (!n.Shared || n.Up != nil && len(n.Up) != k || n.Down != nil && len(n.Down) != k) {
		return fmt.Errorf("%d bounds of what leaves sites and %d of what enters them: expected one for each of %d sites that share links", len(n.Up), len(n.Down), k)
	}
	for i := range k {
		if up, down := n.Ends(SiteID(i)); !(up > 0 && down > 0) || i < len(n.Up) && !(n.Up[i] >= 0) || i < len(n.Down) && !(n.Down[i] >= 0) {
			return fmt.Errorf("site %s: bounds of what leaves and enters it are at least 0, not %v and %v", n.Names[i], n.Up, n.Down)
		}
	}
	return nil
}

// Connect tells the core, and through it policies, the sites and links of the cluster. It comes before anything is
// added. The network is shared, not copied: nobody changes it from here on. A core that is not connected has the sites
// of its machines, and knows of no links.
func (c *Core) Connect(n *Network) error {
	if err := n.Validate(); err != nil {
		return fmt.Errorf("sched: %w", err)
	}
	if v := &c.view; len(v.machines) > 0 || v.issuedJobs > 0 {
		return fmt.Errorf("sched: a core is connected before machines and jobs are added, not after %d and %d", len(v.machines), v.issuedJobs)
	}
	c.view.network = n
	c.view.growSites(n.Sites())
	return nil
}
