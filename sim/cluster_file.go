package sim

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Bounds of a cluster, so that its file and its tables fit into memory.
const (
	maxClusterFile = 16 << 20 // bytes
	maxSites       = 4096
	maxMachines    = 1 << 24
	maxSlots       = 1 << 16 // of a machine
)

// LoadCluster returns the cluster that a user names on the command line: a file, or the spec of a generator,
// "synth:...". Errors are one line that names the file, the line and the field.
func LoadCluster(arg string, seed uint64) (*Cluster, error) {
	if strings.HasPrefix(arg, synthCluster) {
		return parseWaxman(arg, seed)
	}
	in, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxClusterFile+1))
	if err == nil && len(data) > maxClusterFile {
		err = fmt.Errorf("%s: expected a cluster file of at most %d MiB", arg, maxClusterFile>>20)
	}
	if err != nil {
		return nil, err
	}
	return ReadCluster(arg, data)
}

// ReadCluster reads a cluster file. docs/reference/cluster-file.md describes it.
func ReadCluster(file string, data []byte) (*Cluster, error) {
	return readCluster(file, data, openFile)
}

// readCluster opens the files that a cluster file names by open.
func readCluster(file string, data []byte, open func(path string) (io.ReadCloser, error)) (*Cluster, error) {
	doc, err := clusterDocument(file, data)
	if err != nil {
		return nil, err
	}
	r := clusterReader{c: &Cluster{Name: file}, index: map[string]int{}, open: open}
	var sites, links clusterField
	err = doc.fields(map[string]func(clusterField) error{
		"sites": func(f clusterField) error { sites = f; return nil },
		"links": func(f clusterField) error { links = f; return nil },
		"money": r.readMoney,
	})
	switch {
	case err != nil:
		return nil, err
	case sites.node == nil:
		return nil, doc.expected("a field sites, a list")
	}
	if err := r.readSites(sites); err != nil {
		return nil, err
	}
	if err := r.readLinks(links, sites); err != nil {
		return nil, err
	}
	return r.c, nil
}

// clusterReader puts a cluster together.
type clusterReader struct {
	c     *Cluster
	index map[string]int // of sites
	bound clusterField   // the last field up or down, if there is one
	up    []float64      // by site; 0 for no bound
	down  []float64      // likewise
	prices

	open     func(path string) (io.ReadCloser, error)
	measured []measurement // by link; zero where nothing was measured
}

func (r *clusterReader) readSites(f clusterField) error {
	items, err := f.items()
	if err != nil {
		return err
	}
	if len(items) == 0 || len(items) > maxSites {
		return f.expected("between 1 and %d sites, got %d", maxSites, len(items))
	}
	machines := 0
	for _, item := range items {
		site := Site{Slots: 1, Speed: Steady(1), Line: item.node.Line}
		r.up, r.down = append(r.up, 0), append(r.down, 0)
		r.egress, r.rent = append(r.egress, priceUnset), append(r.rent, 0)
		if err := r.readSite(item, &site); err != nil {
			return err
		}
		if _, twice := r.index[site.Name]; twice {
			return item.expected("a name of its own, %s is there twice", quoted(site.Name))
		}
		if machines += site.Machines; machines > maxMachines {
			return item.expected("at most %d machines in all", maxMachines)
		}
		r.index[site.Name] = len(r.c.Sites)
		r.c.Sites = append(r.c.Sites, site)
	}
	return nil
}

func (r *clusterReader) readSite(f clusterField, site *Site) error {
	bound := func(to *float64) func(clusterField) error {
		return func(f clusterField) (err error) {
			r.bound = f
			*to, err = readRate(f)
			return err
		}
	}
	err := f.fields(map[string]func(clusterField) error{
		"name": func(f clusterField) (err error) {
			if site.Name, err = f.text(); err == nil && site.Name == "" {
				err = f.expected("a name")
			}
			return err
		},
		"machines": func(f clusterField) error { return f.count(maxMachines, &site.Machines) },
		"slots":    func(f clusterField) error { return f.count(maxSlots, &site.Slots) },
		"speed":    func(f clusterField) error { return readSpeed(f, &site.Speed) },
		"up":       bound(&r.up[len(r.up)-1]),
		"down":     bound(&r.down[len(r.down)-1]),
		"egress":   r.readPrice(&r.egress[len(r.egress)-1]),
		"rent":     r.readPrice(&r.rent[len(r.rent)-1]),
		"busy":     func(f clusterField) error { return readBusy(f, &site.Busy) },
		"slowdown": func(f clusterField) (err error) {
			site.Slowdown, err = readSlowdown(f)
			return err
		},
	})
	switch {
	case err != nil:
		return err
	case site.Name == "":
		return f.expected("a field name")
	case site.Machines == 0:
		return f.expected("a field machines, the number of machines of site %s", quoted(site.Name))
	}
	return nil
}

// readSpeed reads a number or the parameters of a normal law.
func readSpeed(f clusterField, to *Speed) error {
	if _, err := f.text(); err == nil {
		var v float64
		err := f.number(false, &v)
		*to = Steady(v)
		return err
	}
	*to = Speed{Mean: 1, Min: 0.2, Max: 3}
	cv := 0.0
	number := func(zero bool, to *float64) func(clusterField) error {
		return func(f clusterField) error { return f.number(zero, to) }
	}
	err := f.fields(map[string]func(clusterField) error{
		"mean": number(false, &to.Mean), "cv": number(true, &cv), "min": number(false, &to.Min), "max": number(false, &to.Max),
	})
	if err != nil {
		return err
	}
	to.SD = cv * to.Mean
	if name, err := to.validate(); err != nil {
		f.path += "." + name
		return f.wrong(err)
	}
	return nil
}

// readSlowdown reads a law of factors of at least 0, or one of the names none and dolly.
func readSlowdown(f clusterField) (laws.Law, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	law, err := parseSlowdown(text)
	if err != nil {
		return nil, f.wrong(err)
	}
	return law, nil
}

func parseSlowdown(text string) (laws.Law, error) {
	switch text {
	case "none":
		return nil, nil
	case "dolly":
		text = Dolly
	}
	law, err := laws.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("expected none, dolly or a law: %w", err)
	}
	if lo := law.Quantile(0); !(lo >= 0) {
		return nil, fmt.Errorf("expected a law of factors of at least 0, %s begins at %v", law, lo)
	}
	return law, nil
}

// readBusy reads how much of a site does other work.
func readBusy(f clusterField, to *Busy) error {
	to.Keep = sched.Time(defaultKeep)
	err := f.fields(map[string]func(clusterField) error{
		"level": func(f clusterField) error {
			text, err := f.text()
			if err != nil {
				return err
			}
			var x float64
			if f.number(true, &x) == nil {
				to.Level = laws.Deterministic{Value: x}
			} else if to.Level, err = laws.Parse(text); err != nil {
				return f.expected("a number or a law of the part that is busy: %v", err)
			}
			return nil
		},
		"keep": func(f clusterField) (err error) { to.Keep, err = readSpan(f); return err },
	})
	if err != nil {
		return err
	}
	if to.Level == nil {
		return f.expected("a field level, the part of the machines that is busy")
	}
	if err := to.validate(); err != nil {
		return f.wrong(err)
	}
	return nil
}

// readSpan reads a duration of at least 0.
func readSpan(f clusterField) (sched.Time, error) {
	text, err := f.text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > math.MaxInt64/4 {
		return 0, f.expected("a duration of at least 0 such as 20ms, got %s", quoted(text))
	}
	return sched.Time(d), nil
}

func readRate(f clusterField) (float64, error) {
	text, err := f.text()
	if err != nil {
		return 0, err
	}
	rate, err := ParseRate(text)
	if err != nil {
		return 0, f.wrong(err)
	}
	return rate, nil
}
