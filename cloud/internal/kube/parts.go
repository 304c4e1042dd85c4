package kube

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// A pool may have its slots in parts: in zones, the sites of its core, or of classes, those of its core, both in the
// order of the SlotPool. Otherwise it has one part, which has no name.

// poolKind is what slots are: pods, or of a resource, and of which parts.
type poolKind struct {
	unit    corev1.ResourceName // "" for pods
	zones   string              // joined by commas; "" for none
	classes string              // likewise
}

// names returns the parts: one without a name if there are none.
func (k poolKind) names() []string { return strings.Split(k.zones+k.classes, ",") }

// place is what a policy has to divide.
func (r *rules) place() Place {
	return Place{Shared: r.shared, Zones: r.zones != "", Classes: len(strings.Split(r.classes, ","))}
}

// capacity returns what slots a pool has, and how many in each part: of a resource, thousandths of its unit.
func (s *SlotPoolSpec) capacity() (poolKind, taken) {
	for name, q := range s.Resources { // the one that there is
		return poolKind{unit: name}, taken{q.MilliValue()}
	}
	parts := s.parts()
	if len(parts) == 0 {
		return poolKind{}, taken{int64(s.Slots)}
	}
	names, slots := make([]string, len(parts)), make(taken, len(parts))
	for i, x := range parts {
		names[i], slots[i] = x.Name, int64(x.Slots)
	}
	if len(s.Classes) > 0 {
		return poolKind{classes: strings.Join(names, ",")}, slots
	}
	return poolKind{zones: strings.Join(names, ",")}, slots
}

// parts are the zones or the classes of a pool.
func (s *SlotPoolSpec) parts() []PoolPart {
	if len(s.Classes) > 0 {
		return s.Classes
	}
	return s.Zones
}

// TotalSlots returns how many pods there may be at once, in all parts together; 0 where a resource is counted.
func (s *SlotPoolSpec) TotalSlots() (n int64) {
	kind, slots := s.capacity()
	if kind.unit != "" {
		return 0
	}
	for _, some := range slots {
		n += some
	}
	return n
}

// validateSlots says what is wrong with the slots of a pool and where they are.
func (s *SlotPoolSpec) validateSlots() error {
	kind, slots := s.capacity()
	sum, kinds := s.TotalSlots(), 0
	for _, has := range []bool{s.Slots != 0, kind.unit != "", len(s.Zones) > 0, len(s.Classes) > 0} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds > 1 || len(s.Resources) > 1:
		return fmt.Errorf("slots, resources, zones, classes: a pool counts pods, or one resource, or pods in zones or of classes")
	case kind.unit != "" && slots[0] < 1:
		return fmt.Errorf("resources: there must be more than 0 of %s", kind.unit)
	case kind.unit == "" && (sum < 1 || sum > mostSlots) && len(s.parts()) == 0:
		return fmt.Errorf("slots: %d is not between 1 and %d", sum, mostSlots)
	case kind.unit == "" && (sum < 1 || sum > mostSlots):
		return fmt.Errorf("%s: %d slots in all are not between 1 and %d", s.field(), sum, mostSlots)
	case len(s.Classes) > sched.Classes:
		return fmt.Errorf("classes: there are %d, and %d are the most", len(s.Classes), sched.Classes)
	case s.Bandwidth != nil && len(s.Zones) == 0:
		return fmt.Errorf("bandwidth: it is that between zones, and the pool has none")
	case s.Bandwidth != nil && (s.Bandwidth.Sign() < 0 || s.Bandwidth.CmpInt64(math.MaxInt64) > 0):
		return fmt.Errorf("bandwidth: %s is no number of bytes per second", s.Bandwidth)
	}
	all := s.parts()
	for i, x := range all {
		switch wrong := validation.IsValidLabelValue(x.Name); {
		case x.Name == "" || len(wrong) > 0:
			return fmt.Errorf("%s: %q is no value that a label can have", s.field(), x.Name)
		case x.Slots < 0:
			return fmt.Errorf("%s: %s: %d slots are fewer than 0", s.field(), x.Name, x.Slots)
		case slices.ContainsFunc(all[:i], func(y PoolPart) bool { return y.Name == x.Name }):
			return fmt.Errorf("%s: %s is there twice", s.field(), x.Name)
		}
	}
	return nil
}

// field names the field of the parts.
func (s *SlotPoolSpec) field() string {
	if len(s.Classes) > 0 {
		return "classes"
	}
	return "zones"
}

// classOf returns the class of slots that a Job is for: that of its label, or the first.
func (k poolKind) classOf(job *batchv1.Job) (sched.Class, error) {
	name := job.Labels[ClassLabel]
	if k.classes == "" || name == "" {
		return 0, nil
	}
	if at := slices.Index(k.names(), name); at >= 0 {
		return sched.Class(at), nil
	}
	return 0, unusable{fmt.Errorf("the label %s of the Job is %s, and its pool has classes %s", ClassLabel, name, strings.ReplaceAll(k.classes, ",", ", "))}
}

// mark labels a pod with its pool and with the part of it where it has its slot. It has to run in a zone.
func (p *pool) mark(pod *corev1.Pod, part int) {
	if !p.shared() {
		return
	}
	pod.Labels[PoolLabel] = p.name // which says whose slot it has when its Job is gone
	delete(pod.Labels, ZoneLabel)
	delete(pod.Labels, ClassLabel)
	switch name := p.run.names[part]; {
	case p.kind.zones != "":
		pod.Labels[ZoneLabel] = name
		podtemplate.InZone(&pod.Spec, name)
	case p.kind.classes != "":
		pod.Labels[ClassLabel] = name
	}
}

// partOf returns the part of its pool that a pod was made for, "" for none.
func partOf(pod *corev1.Pod) string { return cmp.Or(pod.Labels[ZoneLabel], pod.Labels[ClassLabel]) }

// taken is what pods take of a pool, by part; nil is nothing.
type taken []int64

// add adds what pods take, or with a sign of -1 subtracts it.
func (t taken) add(u taken, sign int64) {
	for z, n := range u {
		t[z] += sign * n
	}
}

func (t taken) any() bool { return slices.ContainsFunc(t, func(n int64) bool { return n > 0 }) }

// zoneIn returns the place of a zone in a list, -1 if it is none of them. Where there are no zones, all is in one.
func partIn(zones []string, name string) int {
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
