package kube

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// zones remembers in which zone a node is.
type zones struct {
	mu    sync.Mutex
	known map[string]placed
}

// placed is a node's zone, "" for none, and when it was asked for.
type placed struct {
	zone string
	at   time.Time
}

// zoneFor is how long a zone is believed: a node of the same name may be another machine.
const zoneFor = 10 * time.Minute

// zoneOf returns the zone of a node, "" if it has none or nobody may know.
func (c *reconciler) zoneOf(ctx context.Context, name string) string {
	z, now := &c.zones, c.now()
	z.mu.Lock()
	was, known := z.known[name]
	z.mu.Unlock()
	if known && now.Sub(was.at) < zoneFor {
		return was.zone
	}
	node := &corev1.Node{}
	_ = c.client.Get(ctx, client.ObjectKey{Name: name}, node) // where a clone goes is advice, which nothing waits for
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.known == nil || len(z.known) > mostNodes {
		z.known = map[string]placed{}
	}
	z.known[name] = placed{node.Labels[corev1.LabelTopologyZone], now}
	return z.known[name].zone
}

// spread has clones prefer other zones than those of the attempts of their tasks that run: what slows down a node often
// slows down its zone. Clones in a pool of zones are where the policy wants them.
func (c *reconciler) spread(ctx context.Context, clones []*attempt, pods []*corev1.Pod, sights []sight) {
	for i, a := range clones {
		if pods[i].Labels[ZoneLabel] != "" {
			continue
		}
		var there []string
		for k := range sights {
			if s := &sights[k]; s.index == a.index && s.live && s.node != "" {
				if zone := c.zoneOf(ctx, s.node); zone != "" && !slices.Contains(there, zone) {
					there = append(there, zone)
				}
			}
		}
		podtemplate.AvoidZones(&pods[i].Spec, there)
	}
}
