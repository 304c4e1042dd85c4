package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy"
)

// classPool gives a pool slots of the classes map and shuffle.
func classPool(sp *SlotPool, maps, shuffles int32) *SlotPool {
	sp.Spec.Slots, sp.Spec.Classes = 0, []PoolPart{{"map", maps}, {"shuffle", shuffles}}
	return sp
}

// classJob is a Job of a class, "" for the first.
func classJob(name, class string, tasks int32) *batchv1.Job {
	job := memberJob(name, tasks, tasks)
	if class != "" {
		job.Labels[ClassLabel] = class
	}
	return job
}

// drawClass gives a Job of a pool of classes one.
func (b *bench) drawClass(rt *rapid.T, job *batchv1.Job) {
	var names []string
	for _, c := range b.pool().Spec.Classes {
		if c.Slots > 0 {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		job.Labels[ClassLabel] = rapid.SampledFrom(names).Draw(rt, "class")
	}
}

// crowdedClass says which class of the pool has more pods than slots, or that of one more.
func (b *bench) crowdedClass(more *corev1.Pod) string {
	pods, count := b.live(), map[string]int32{}
	if more != nil {
		pods = append(pods, *more)
	}
	for i := range pods {
		count[pods[i].Labels[ClassLabel]]++
	}
	for _, c := range b.pool().Spec.Classes {
		if count[c.Name] > c.Slots && !b.ending {
			return fmt.Sprintf("class %s has %d pods in %d slots", c.Name, count[c.Name], c.Slots)
		}
	}
	return ""
}

// Jobs have the slots of their class and no others, those without a label the first, under all policies that the
// controller takes for such a pool, and under one for each class.
func TestClasses(t *testing.T) {
	for _, spec := range []string{"auto", "spark", "srpt", "srew:slot=1s", "hopper", "maxsrpt", "splitsrpt", "fillsrpt", "capacity", "fifo/fair"} {
		b := newBench(t, classPool(testPool(0, spec), 3, 2), classJob("maps", "map", 5), classJob("more", "", 2), classJob("shuffles", "shuffle", 4))
		most := map[string]int{}
		for range 120 {
			b.turn()
			count := map[string]int{}
			for _, p := range b.live() {
				class := p.Labels[ClassLabel]
				if want := map[string]string{"maps": "map", "more": "map", "shuffles": "shuffle"}[p.OwnerReferences[0].Name]; class != want {
					t.Errorf("%s: %s is of class %q", spec, p.Name, class)
				}
				if count[class]++; count[class] > most[class] {
					most[class] = count[class]
				}
			}
		}
		if want := map[string]int{"map": 3, "shuffle": 2}; !maps.Equal(most, want) {
			t.Errorf("%s: at most %v pods at once, want %v", spec, most, want)
		}
		for _, job := range b.jobsOf() {
			if conditionOf(&job.Status, batchv1.JobComplete) == nil {
				t.Errorf("%s: %s is not complete: %+v", spec, job.Name, job.Status)
			}
		}
	}
}

// In each class the smallest Job goes first under maxsrpt, and its clones take no slot of the other class.
func TestClassesInOrder(t *testing.T) {
	b := newBench(t, classPool(testPool(0, "maxsrpt"), 2, 2), classJob("large", "shuffle", 8), classJob("small", "shuffle", 3), classJob("maps", "map", 4))
	var ended []string
	for range 120 {
		b.turn()
		for _, job := range b.jobsOf() {
			if conditionOf(&job.Status, batchv1.JobComplete) != nil && !slices.Contains(ended, job.Name) {
				ended = append(ended, job.Name)
			}
		}
	}
	if len(ended) != 3 || slices.Index(ended, "small") > slices.Index(ended, "large") {
		t.Errorf("complete in the order %v", ended)
	}
}

// The status says what each class has, and what a Job waits for whose class has no free slot.
func TestClassStatus(t *testing.T) {
	b := newBench(t, classPool(testPool(0, "fifo"), 3, 1), classJob("shuffles", "shuffle", 4), classJob("maps", "map", 1))
	b.turn()
	st := b.statusOf(b.pool(), b.clock)
	if want := []PartStatus{{"map", 3, 1}, {"shuffle", 1, 1}}; !slices.Equal(st.Classes, want) || st.Zones != nil || st.Slots != 4 {
		t.Errorf("%+v", st)
	}
	at := slices.IndexFunc(st.Members, func(m PoolMember) bool { return m.Name == "shuffles" })
	if at < 0 || st.Members[at].Waits != "all 1 slots of class shuffle are taken" {
		t.Errorf("%+v", st.Members)
	}
}

// A label that the pool has no class for, and pools that make no sense, make Jobs wait, and say why.
func TestWrongClasses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*SlotPool, *batchv1.Job)
		says string
	}{
		{"unknown", func(_ *SlotPool, job *batchv1.Job) { job.Labels[ClassLabel] = "reduce" }, "the label tailcut.dev/class of the Job is reduce, and its pool has classes map, shuffle"},
		{"too many", func(sp *SlotPool, _ *batchv1.Job) {
			sp.Spec.Classes = []PoolPart{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}}
		}, "classes: there are 5, and 4 are the most"},
		{"twice", func(sp *SlotPool, _ *batchv1.Job) { sp.Spec.Classes[1].Name = "map" }, "classes: map is there twice"},
		{"no name", func(sp *SlotPool, _ *batchv1.Job) { sp.Spec.Classes[1].Name = "a b" }, `classes: "a b" is no value that a label can have`},
		{"negative", func(sp *SlotPool, _ *batchv1.Job) { sp.Spec.Classes[1].Slots = -1 }, "classes: shuffle: -1 slots are fewer than 0"},
		{"with slots", func(sp *SlotPool, _ *batchv1.Job) { sp.Spec.Slots = 3 }, "slots, resources, zones, classes: a pool counts pods"},
		{"with zones", func(sp *SlotPool, _ *batchv1.Job) { sp.Spec.Zones = []PoolPart{{"a", 1}} }, "slots, resources, zones, classes: a pool counts pods"},
		{"three policies", func(sp *SlotPool, _ *batchv1.Job) { sp.Spec.Policy = "fifo/fair/srpt" }, "expected one policy, or one for each of 2 classes of slots, got 3"},
	} {
		sp, job := classPool(testPool(0, "fifo"), 2, 2), classJob("job", "map", 2)
		c.edit(sp, job)
		b := newBench(t, sp, job)
		recorder := events.NewFakeRecorder(10)
		b.events = recorder
		b.turn()
		said := ""
		for len(recorder.Events) > 0 {
			said += <-recorder.Events + "\n"
		}
		if len(b.live()) > 0 || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d pods; %q", c.name, len(b.live()), said)
		}
	}
}

// Other numbers of slots, another class and a controller that starts anew move no pod that has a slot.
func TestClassesChange(t *testing.T) {
	b := newBench(t, classPool(testPool(0, "srpt"), 2, 2), classJob("maps", "map", 6), classJob("shuffles", "shuffle", 6))
	b.turn()
	before := podNames(b.live())
	sp := b.pool()
	sp.Spec.Classes = []PoolPart{{"map", 1}, {"reduce", 1}, {"shuffle", 3}}
	b.repool(sp, 4)
	count, kept := b.byPart(ClassLabel, before)
	if want := map[string]int{"map": 1, "shuffle": 3}; !maps.Equal(count, want) || kept != 3 {
		t.Errorf("%v, %d of them from before", count, kept)
	}
	b.restart()
	for range 120 {
		b.turn()
		if text := b.crowdedClass(nil); text != "" {
			t.Fatal(text)
		}
	}
	b.unharmed("after the change")
}

// Policies that a Job alone has no use for are taken where there are several Jobs, classes or zones.
func TestPlaceOfPools(t *testing.T) {
	for _, c := range []struct {
		rules rules
		want  Place
	}{
		{rules{}, Place{Classes: 1}},
		{rules{shared: true, poolKind: poolKind{zones: "a,b"}}, Place{Shared: true, Zones: true, Classes: 1}},
		{rules{shared: true, poolKind: poolKind{classes: "a,b"}}, Place{Shared: true, Classes: 2}},
	} {
		if got := c.rules.place(); got != c.want {
			t.Errorf("%+v: %+v", c.rules, got)
		}
		if _, err := policy.NewPerClass("fifo", 1, c.want.Classes); err != nil {
			t.Error(err)
		}
	}
}
