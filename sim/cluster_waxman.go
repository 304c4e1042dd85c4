package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/laws"
)

// Waxman generates the world of GeoClone's simulations (Wang et al., Section 6): sites on a plane, as the topology
// generator BRITE places those of a Waxman graph, with slots by Zipf's law. What the paper leaves open is a reading:
//
//   - Points are uniform on a grid of 1000 x 1000, no two the same. Of the graph only distances matter, so its links
//     are not made: the bandwidth between sites at distance d is 50 - 35 d/(1000 sqrt 2) Mbit/s, and there is no
//     latency.
//   - Site k has slots in proportion to k^-Skew, rounded by largest remainder, at least one. A machine has one slot.
//   - Speeds are normal in [0.2, 3]. Large sites are faster and steadier: the mean rises from 0.6 at the smallest to 1
//     at the largest, the coefficient of variation falls from 0.3 to 0.1, both linear in the logarithm of the slots.
type Waxman struct {
	Sites    int
	Slots    int     // in all, at least one per site
	Skew     float64 // Zipf's exponent; 0 for sites of one size
	Slowdown laws.Law
	Uneven   bool // speeds differ as said; otherwise all are 1
	Seed     uint64
}

// WaxmanUsage lists the keys of the generator with their defaults, for help texts.
const WaxmanUsage = `synth:waxman;sites=100;slots=30000;skew=1;slowdown=dolly|none|LAW;speed=uneven|even;seed=N`

const synthCluster = "synth:"

// slotsPerSite is how many slots per site the paper has.
const slotsPerSite = 300

// parseWaxman reads the spec of a generator.
func parseWaxman(spec string, seed uint64) (*Cluster, error) {
	body, found := strings.CutPrefix(spec, synthCluster+"waxman")
	if !found || body != "" && body[0] != ';' {
		return nil, fmt.Errorf("expected %s, got %s", WaxmanUsage, quoted(spec))
	}
	law, err := parseSlowdown("dolly")
	if err != nil {
		return nil, err
	}
	g := Waxman{Sites: 100, Skew: 1, Slowdown: law, Uneven: true, Seed: seed}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(body, ";") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		if seen[key] {
			return nil, fmt.Errorf("synth:waxman: field %s is given twice", key)
		}
		seen[key] = true
		if err := g.set(key, value); err != nil {
			return nil, fmt.Errorf("synth:waxman: field %s: %w", key, err)
		}
	}
	if g.Slots == 0 {
		g.Slots = slotsPerSite * g.Sites
	}
	if g.Slots < g.Sites {
		return nil, fmt.Errorf("synth:waxman: field slots: expected at least one for each of the %d sites, got %d", g.Sites, g.Slots)
	}
	c := g.Cluster()
	c.Name = spec
	return c, nil
}

func (g *Waxman) set(key, value string) (err error) {
	switch key {
	case "sites":
		if g.Sites, err = strconv.Atoi(value); err != nil || g.Sites < 1 || g.Sites > maxSites {
			return fmt.Errorf("expected a whole number between 1 and %d, got %s", maxSites, quoted(value))
		}
	case "slots":
		if g.Slots, err = strconv.Atoi(value); err != nil || g.Slots < 1 || g.Slots > maxMachines {
			return fmt.Errorf("expected a whole number between 1 and %d, got %s", maxMachines, quoted(value))
		}
	case "skew":
		if g.Skew, err = strconv.ParseFloat(value, 64); err != nil || !(g.Skew >= 0 && g.Skew <= 10) {
			return fmt.Errorf("expected a number between 0 and 10, got %s", quoted(value))
		}
	case "slowdown":
		g.Slowdown, err = parseSlowdown(value)
		return err
	case "speed":
		if value != "uneven" && value != "even" {
			return fmt.Errorf("expected uneven or even, got %s", quoted(value))
		}
		g.Uneven = value == "uneven"
	case "seed":
		if g.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("expected a whole number of at least 0, got %s", quoted(value))
		}
	default:
		return fmt.Errorf("expected one of %s", WaxmanUsage)
	}
	return nil
}

// Cluster returns the world. Sites are in order of size, the largest first.
func (g *Waxman) Cluster() *Cluster {
	slots := zipf(g.Sites, g.Slots, g.Skew)
	c := &Cluster{Name: "synth:waxman"}
	for i, n := range slots {
		s := Site{Name: "site" + strconv.Itoa(i), Machines: n, Slots: 1, Speed: Steady(1), Slowdown: g.Slowdown}
		if g.Uneven {
			size := 1.0 // of the site on a logarithmic scale from 0 to 1
			if lo, hi := slots[len(slots)-1], slots[0]; hi > lo {
				size = math.Log(float64(n)/float64(lo)) / math.Log(float64(hi)/float64(lo))
			}
			mean := 0.6 + 0.4*size
			s.Speed = Speed{Mean: mean, SD: mean * (0.3 - 0.2*size), Min: 0.2, Max: 3}
		}
		c.Sites = append(c.Sites, s)
	}
	c.Network = newNetwork(c.Sites)
	points := g.points()
	for k := range points {
		for l := range points {
			d := math.Hypot(points[k][0]-points[l][0], points[k][1]-points[l][1])
			c.Network.Bandwidth[k*g.Sites+l] = (50 - 35*d/(math.Sqrt2*plane)) * rateUnits["Mbit/s"]
		}
	}
	return c
}

// plane is the length of the plane's sides.
const plane = 1000

// points places the sites.
func (g *Waxman) points() [][2]float64 {
	all := make([][2]float64, 0, g.Sites)
	taken := map[[2]float64]bool{}
	for k := range uint32(g.Sites) {
		for try := uint32(0); ; try++ {
			bits := draw(g.Seed, forPlane, k, try, 0)
			p := [2]float64{float64(below(bits, plane)), float64(below(mix(bits), plane))}
			if !taken[p] {
				taken[p] = true
				all = append(all, p)
				break
			}
		}
	}
	return all
}

// zipf shares slots among sites by weights rank^-skew: at least one each, the rest by largest remainder.
func zipf(sites, slots int, skew float64) []int {
	weight, sum := make([]float64, sites), 0.0
	for i := range weight {
		weight[i] = math.Pow(float64(i+1), -skew)
		sum += weight[i]
	}
	share, rest, left := make([]int, sites), make([]int, sites), slots
	for i := range share {
		rest[i] = i
		weight[i] *= float64(slots) / sum
		share[i] = max(1, int(weight[i]))
		left -= share[i]
	}
	// negative for what was raised to one slot
	remainder := func(i int) float64 { return weight[i] - float64(share[i]) }
	slices.SortStableFunc(rest, func(a, b int) int {
		return cmp.Compare(remainder(b), remainder(a))
	})
	for k := 0; left > 0; k++ {
		share[rest[k%sites]]++
		left--
	}
	for k := 0; left < 0; k = (k + 1) % sites { // so many were raised that the large ones have to give
		if share[k] > 1 {
			share[k]--
			left++
		}
	}
	return share
}
