package policy

import (
	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// sitesParam is the parameter of policies that can choose sites; the first choice is the default.
func sitesParam(choices ...string) kit.Param {
	return kit.Param{
		Name: "sites", Kind: kit.Choice, Default: choices[0], Choices: choices,
		Help: "where tasks start: any, the first free slot; delay, where their data is, if a slot there is free soon; flutter or iridium, where that policy would, clones at the same site",
	}
}

// waitParam is how long delay scheduling waits.
var waitParam = kit.Param{Name: "wait", Kind: kit.Span, Default: "3s", Help: "with sites=delay, how long a stage waits for a slot where its data is"}

// sited returns the order with the choice of sites that the parameters name.
func sited(o kit.Order, a kit.Args) kit.Order {
	switch a.Choice("sites") {
	case "delay":
		return o.PlacedBy(geo.NewDelay(a.Span("wait")), false)
	case "flutter":
		return o.PlacedBy(newFlutter(geo.NewSiteWatch(kit.Defaults(geo.WatchParams))), true)
	case "iridium":
		return o.PlacedBy(newIridium(kit.Defaults(iridiumParams)), true)
	}
	return o
}

// watchOf returns what the choice of sites of an order knows of them, nil if nothing.
func watchOf(o *kit.Order) *geo.SiteWatch {
	if p, ok := o.Placing().(*flutter); ok {
		return p.watch
	}
	return nil
}

// Tell gives a policy the laws of the sites' slowdowns, for its parameter truth=true: a simulator knows them, and who
// wants to know what learning costs compares. law returns, for a site, values in ascending order and their
// probabilities. It has no effect on policies that do not learn, or that are to learn.
func Tell(p sched.Policy, law func(sched.SiteID) (values, chances []float64)) {
	if x, ok := p.(interface{ watching() *geo.SiteWatch }); ok && x.watching() != nil {
		x.watching().Tell(law)
	}
}

// ReportBytes returns how many bytes a policy's profiler has received of attempts' ends and fetches so far; 0 if it has
// none.
func ReportBytes(p sched.Policy) int64 {
	if x, ok := p.(interface{ watching() *geo.SiteWatch }); ok && x.watching() != nil {
		return x.watching().Received()
	}
	return 0
}
