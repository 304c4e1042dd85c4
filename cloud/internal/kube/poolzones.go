package kube

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tailcut/tailcut/sched"
)

// A pool may have its slots in zones. They are the sites of its core, in the order of the SlotPool. A pool without
// zones has one, which has no name.

// poolKind is what slots are: pods, or of a resource, and in which zones.
type poolKind struct {
	unit  corev1.ResourceName // "" for pods
	zones string              // joined by commas; "" for none
}

// names returns the zones: one without a name if there are none.
func (k poolKind) names() []string { return strings.Split(k.zones, ",") }

// capacity returns what slots a pool has, and how many in each zone: of a resource, thousandths of its unit.
func (s *SlotPoolSpec) capacity() (poolKind, taken) {
	for name, q := range s.Resources { // the one that there is
		return poolKind{unit: name}, taken{q.MilliValue()}
	}
	if len(s.Zones) == 0 {
		return poolKind{}, taken{int64(s.Slots)}
	}
	names, slots := make([]string, len(s.Zones)), make(taken, len(s.Zones))
	for i, z := range s.Zones {
		names[i], slots[i] = z.Name, int64(z.Slots)
	}
	return poolKind{zones: strings.Join(names, ",")}, slots
}

// validateSlots says what is wrong with the slots of a pool and where they are.
func (s *SlotPoolSpec) validateSlots() error {
	kind, slots := s.capacity()
	sum := int64(0)
	for _, n := range slots {
		sum += n
	}
	switch {
	case len(s.Resources) > 1 || (s.Slots != 0 && kind.unit != "") || len(s.Zones) > 0 && (s.Slots != 0 || kind.unit != ""):
		return fmt.Errorf("slots, resources, zones: a pool counts pods, or one resource, or pods in zones")
	case kind.unit != "" && sum < 1:
		return fmt.Errorf("resources: there must be more than 0 of %s", kind.unit)
	case len(s.Zones) == 0 && kind.unit == "" && (sum < 1 || sum > mostSlots):
		return fmt.Errorf("slots: %d is not between 1 and %d", sum, mostSlots)
	case len(s.Zones) > 0 && (sum < 1 || sum > mostSlots):
		return fmt.Errorf("zones: %d slots in all are not between 1 and %d", sum, mostSlots)
	case s.Bandwidth != nil && len(s.Zones) == 0:
		return fmt.Errorf("bandwidth: it is that between zones, and the pool has none")
	case s.Bandwidth != nil && (s.Bandwidth.Sign() < 0 || s.Bandwidth.CmpInt64(math.MaxInt64) > 0):
		return fmt.Errorf("bandwidth: %s is no number of bytes per second", s.Bandwidth)
	}
	for i, z := range s.Zones {
		switch wrong := validation.IsValidLabelValue(z.Name); {
		case z.Name == "" || len(wrong) > 0:
			return fmt.Errorf("zones: %q is no value that the label %s of a node can have", z.Name, corev1.LabelTopologyZone)
		case z.Slots < 0:
			return fmt.Errorf("zones: %s: %d slots are fewer than 0", z.Name, z.Slots)
		case slices.ContainsFunc(s.Zones[:i], func(x PoolZone) bool { return x.Name == z.Name }):
			return fmt.Errorf("zones: %s is there twice", z.Name)
		}
	}
	return nil
}

// taken is what pods take of a pool, by zone; nil is nothing.
type taken []int64

// add adds what pods take, or with a sign of -1 subtracts it.
func (t taken) add(u taken, sign int64) {
	for z, n := range u {
		t[z] += sign * n
	}
}

func (t taken) any() bool { return slices.ContainsFunc(t, func(n int64) bool { return n > 0 }) }

// zoneIn returns the place of a zone in a list, -1 if it is none of them. Where there are no zones, all is in one.
func zoneIn(zones []string, name string) int {
	if zones[0] == "" {
		return 0
	}
	return slices.Index(zones, name)
}

// network returns the zones of a core and the links between them; nil if there are none. Who reads what is elsewhere is
// the task itself, so nobody can tell how long it took.
func (r *rules) network() *sched.Network {
	if r.zones == "" {
		return nil
	}
	n := &sched.Network{Names: r.names(), Stated: true}
	between := math.Inf(1)
	if r.bandwidth > 0 {
		between = float64(r.bandwidth)
	}
	for range n.Sites() * n.Sites() {
		n.Bandwidth = append(n.Bandwidth, between)
	}
	return n
}
