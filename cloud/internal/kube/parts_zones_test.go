package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// confining are policies that choose the zone of each pod.
var confining = []string{"geoclone:slot=0s", "flutter", "iridium", "spark-geo", "fair:sites=delay", "flutter+mantri"}

// zonePool puts the slots of a pool into zones a, b, c ...
func zonePool(sp *SlotPool, slots ...int32) *SlotPool {
	sp.Spec.Slots, sp.Spec.Zones = 0, nil
	for i, n := range slots {
		sp.Spec.Zones = append(sp.Spec.Zones, PoolPart{string(rune('a' + i)), n})
	}
	return sp
}

func drawZones(rt *rapid.T, slots int32) []int32 {
	zones := make([]int32, 3)
	for range slots {
		zones[rapid.IntRange(0, 2).Draw(rt, "zone")]++
	}
	return zones
}

// pool returns the bench's pool.
func (b *bench) pool() *SlotPool {
	sp := &SlotPool{}
	_ = b.api.Get(context.Background(), client.ObjectKey{Name: "pool"}, sp)
	return sp
}

// overfull says which zone of the pool has more pods than slots, or the zone of one more.
func (b *bench) overfull(more *corev1.Pod) string {
	zones := b.pool().Spec.Zones
	if len(zones) == 0 {
		return ""
	}
	pods := b.live()
	if more != nil {
		pods = append(pods, *more)
	}
	count := map[string]int32{}
	for i := range pods {
		zone := pods[i].Labels[ZoneLabel]
		count[zone]++
		if !podtemplate.MayBeIn(&pods[i].Spec, zone) || podtemplate.MayBeIn(&pods[i].Spec, zone+"x") {
			return fmt.Sprintf("%s has to be in %s, and may be elsewhere", pods[i].Name, zone)
		}
	}
	for _, z := range zones {
		if count[z.Name] > z.Slots && (more == nil || more.Labels[ZoneLabel] == z.Name) {
			return fmt.Sprintf("zone %s has %d pods in %d slots", z.Name, count[z.Name], z.Slots)
		}
		delete(count, z.Name)
	}
	if len(count) > 0 {
		return fmt.Sprintf("pods are in zones that are not of the pool: %v", count)
	}
	return ""
}

// drawPlace says where a Job of a pool of zones reads and may run.
func (b *bench) drawPlace(rt *rapid.T, job *batchv1.Job) {
	sp := b.pool()
	if len(sp.Spec.Zones) == 0 {
		return
	}
	data := rapid.SampledFrom([]string{"", "a=1Gi", "a=1Gi,b=3Gi", "0:c=5Gi", "0:b=10Gi;1-9:c=1"}).Draw(rt, "data")
	if i := strings.Index(data, ";"); i > 0 && *job.Spec.Completions < 10 {
		data = data[:i]
	}
	job.Annotations = map[string]string{DataAnnotation: data}
	zone := rapid.SampledFrom(sp.Spec.Zones).Draw(rt, "pinned to")
	if r, err := b.rulesOf(sp); err == nil && r.confines && sp.Spec.MaxWait == nil && zone.Slots > 0 && rapid.IntRange(0, 3).Draw(rt, "pinned") == 0 {
		job.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone.Name}
	}
}

// rezone changes the slots of a pool's zones, unless none would stay where a Job has to be.
func (b *bench) rezone(rt *rapid.T, slots int32) bool {
	sp := b.pool()
	if len(sp.Spec.Zones) == 0 {
		return false
	}
	n := drawZones(rt, slots)
	for i := range n {
		for _, job := range b.jobsOf() {
			if job.Spec.Template.Spec.NodeSelector[corev1.LabelTopologyZone] == sp.Spec.Zones[i].Name && n[i] == 0 {
				return false
			}
		}
	}
	sp = zonePool(sp, n...)
	if err := b.api.Update(context.Background(), sp); err != nil {
		rt.Fatal(err)
	}
	b.ending = true
	return true
}

// inZones counts the pods of a Job that run or will, by zone.
func (b *bench) inZones(name string) map[string]int {
	count := map[string]int{}
	for _, p := range b.jobPods(name) {
		count[p.Labels[ZoneLabel]]++
	}
	return count
}

// zoneBench runs Jobs in a pool of zones for so many seconds, and counts in which zones pods succeed.
func zoneBench(t *testing.T, sp *SlotPool, seconds int, jobs ...*batchv1.Job) (b *bench, done map[string]int) {
	t.Helper()
	objects := []client.Object{sp}
	for _, job := range jobs {
		objects = append(objects, job)
	}
	b, done = newBench(t, objects...), map[string]int{}
	for range seconds {
		b.turn()
		b.bounds(t.Fatalf, 1000)
	}
	for _, p := range b.pods() {
		if p.Status.Phase == corev1.PodSucceeded {
			done[p.Labels[ZoneLabel]]++
		}
	}
	return b, done
}

// reader is a Job whose tasks read so much in zones.
func reader(name string, tasks int32, data string) *batchv1.Job {
	job := memberJob(name, tasks, tasks)
	job.Annotations = map[string]string{DataAnnotation: data, LawAnnotation: "det:value=10"}
	return job
}

// Tasks of 10 s that read 10 GB in a zone run there, where to fetch it takes 100 s, if there are slots for all of them.
// If nothing bounds the bandwidth, data draws only under delay scheduling. Policies that do not choose take the first
// free slot, whatever the data.
func TestDataDrawsTasks(t *testing.T) {
	for _, c := range []struct {
		policy, data, bandwidth string
		want                    map[string]int
	}{
		{"flutter", "b=10G", "100M", map[string]int{"b": 6}},
		{"geoclone:slot=0s,copies=1", "b=10G", "100M", map[string]int{"b": 6}},
		{"iridium", "b=10G", "100M", map[string]int{"b": 6}},
		{"spark-geo", "b=10G", "100M", map[string]int{"b": 6}},
		{"spark-geo", "b=10G", "", map[string]int{"b": 6}},
		{"fair:sites=delay", "a=1,b=10G", "", map[string]int{"b": 6}},
		{"mantri:sites=flutter", "b=10G", "100M", map[string]int{"b": 6}},
		{"flutter", "0-1:a=10G;2-5:b=10G", "100M", map[string]int{"a": 2, "b": 4}},
		{"flutter", "0:c=10G;3:b=10G,c=20G", "100M", map[string]int{"a": 4, "c": 2}},
		{"flutter", "b=10G", "", map[string]int{"a": 6}},
		{"fifo", "b=10G", "100M", map[string]int{"a": 6}},
		{"auto", "b=10G", "100M", map[string]int{"a": 6}},
	} {
		t.Run(c.policy+" "+c.data+" "+c.bandwidth, func(t *testing.T) {
			sp := zonePool(testPool(0, c.policy), 6, 6, 6)
			if c.bandwidth != "" {
				sp.Spec.Bandwidth = ptr.To(resource.MustParse(c.bandwidth))
			}
			_, done := zoneBench(t, sp, 30, reader("job", 6, c.data))
			if !maps.Equal(done, c.want) {
				t.Errorf("%v, want %v", done, c.want)
			}
		})
	}
}

// A clone of geoclone runs in another zone than its original, and asks for it: nothing in its pod says otherwise.
func TestCloneInAnotherZone(t *testing.T) {
	sp := zonePool(testPool(0, "geoclone:slot=0s,copies=2"), 2, 2)
	job := reader("job", 1, "a=1M")
	job.Spec.Parallelism = ptr.To[int32](4)
	b := newBench(t, sp, job)
	for range 3 {
		b.turn()
	}
	pods := b.jobPods("job")
	if len(pods) != 2 || !maps.Equal(b.inZones("job"), map[string]int{"a": 1, "b": 1}) {
		t.Fatalf("%v", b.inZones("job"))
	}
	for _, p := range pods {
		zone, nodes := p.Labels[ZoneLabel], p.Spec.Affinity.NodeAffinity
		if terms := nodes.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms; len(terms) != 1 || !podtemplate.MayBeIn(&p.Spec, zone) {
			t.Errorf("%s: %+v", zone, terms)
		}
		for _, x := range nodes.PreferredDuringSchedulingIgnoredDuringExecution {
			if len(x.Preference.MatchExpressions) > 0 {
				t.Errorf("%s: prefers %+v", zone, x.Preference)
			}
		}
	}
}

// pin lets the pods of a Job be in some zones only.
func pin(job *batchv1.Job, zones ...string) *batchv1.Job {
	job.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}}}},
	}}}
	return job
}

// A Job whose template names zones has pods in these only, under policies that choose, however many slots others have.
func TestPinnedJob(t *testing.T) {
	for _, policy := range confining {
		b, done := zoneBench(t, zonePool(testPool(0, policy), 4, 1, 2), 60, pin(memberJob("pinned", 6, 6), "b", "c", "elsewhere"), memberJob("free", 6, 6))
		for _, job := range b.jobsOf() {
			if conditionOf(&job.Status, batchv1.JobComplete) == nil {
				t.Errorf("%s: %s: %+v", policy, job.Name, job.Status)
			}
		}
		for _, p := range b.pods() {
			if zone := p.Labels[ZoneLabel]; p.OwnerReferences[0].Name == "pinned" && zone == "a" {
				t.Errorf("%s: a pod of the pinned Job was in zone a: %v", policy, done)
			}
		}
	}
}

// A Job waits, with a reason, whose data or template names zones that the pool does not have, or whose policy does not
// choose zones. Outside of a pool of zones the annotation has no effect.
func TestUnusableZones(t *testing.T) {
	data := func(text string) *batchv1.Job { return reader("job", 4, text) }
	two := zonePool(testPool(0, "flutter"), 2, 2)
	for _, c := range []struct {
		name string
		sp   *SlotPool
		job  *batchv1.Job
		says string // "" if it runs
	}{
		{"fits", two, pin(data("a=1Gi"), "a"), ""},
		{"may be anywhere", zonePool(testPool(0, "fifo"), 2, 2), pin(data("a=1Gi"), "a", "b", "c"), ""},
		{"no zones", testPool(4, "fifo"), pin(data("nonsense"), "elsewhere"), ""},
		{"data elsewhere", two, data("a=1Gi,z=1Gi"), "PoolUnusable tailcut.dev/data: zone z is none of the pool's, a, b"},
		{"pinned elsewhere", two, pin(data(""), "z"), "PoolUnusable the pod template of the Job allows none of the zones of its pool, a, b"},
		{"policy", zonePool(testPool(0, "fifo"), 2, 2), pin(data(""), "b"), "PoolUnusable the pod template of the Job allows only zones b, and policy fifo of its pool does not choose zones; expected one that does, such as geoclone"},
		{"one of two policies", zonePool(testPool(0, "spark-geo+srpt"), 2, 2), pin(data(""), "b"), "PoolUnusable the pod template"},
		{"maxWait", func() *SlotPool {
			sp := zonePool(testPool(0, "flutter"), 2, 2)
			sp.Spec.MaxWait = &metav1.Duration{Duration: time.Minute}
			return sp
		}(), pin(data(""), "b"), "PoolUnusable the pod template of the Job allows only zones b, and maxWait of its pool starts pods in any"},
		{"grammar", two, data("a"), `InvalidAnnotation tailcut.dev/data: "a": expected a zone and how many bytes are there, such as eu-a=10Gi`},
		{"too many", two, data("0-4:a=1"), "InvalidAnnotation tailcut.dev/data: index 4: the Job has 4, from 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.sp.DeepCopy(), c.job)
			told := events.NewFakeRecorder(10)
			b.events = told
			b.settle()
			want := 4
			if c.says != "" {
				want = 0
				if text := <-told.Events; !strings.HasPrefix(text, "Warning "+c.says) {
					t.Error(text)
				}
			} else if within := c.job.Spec.Template.Spec.Affinity; within != nil && c.name == "fits" {
				want = 2
			}
			if n := len(b.live()); n != want || len(told.Events) > 0 {
				t.Errorf("%d pods, want %d; %d more events", n, want, len(told.Events))
			}
		})
	}
}

// A pool that came to have a policy that does not choose zones goes on for others, before its pinned Job has seen it.
func TestPinnedJobSeesLate(t *testing.T) {
	b := newBench(t, zonePool(testPool(0, "flutter"), 1, 1), pin(memberJob("pinned", 4, 4), "b"), memberJob("free", 4, 4))
	b.turn()
	sp := b.pool()
	sp.Spec.Policy = "fifo"
	if err := b.api.Update(context.Background(), sp); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"free", "pinned", "free"} {
		if _, err := b.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 {
		b.turn()
		b.bounds(t.Fatalf, 2)
	}
	if done := b.jobsOf()[0]; conditionOf(&done.Status, batchv1.JobComplete) == nil {
		t.Errorf("%s: %+v", done.Name, done.Status)
	}
}

// A controller that starts while Jobs share zones changes nothing, under policies that choose and under others, even if a
// Job comes late. Only geoclone draws among tasks by the instant, in any pool.
func TestRestartInZones(t *testing.T) {
	for _, policy := range []string{"flutter", "iridium", "spark-geo", "fair:sites=delay", "fifo", "srpt", "fair", "auto"} {
		sp := zonePool(testPool(0, policy), 2, 2, 1)
		sp.Spec.Bandwidth = ptr.To(resource.MustParse("1G"))
		b := newBench(t, sp, reader("job0", 6, "a=5G"), reader("job1", 3, "c=1G"), pin(reader("job2", 9, ""), "a", "b", "c"))
		for step := range 8 {
			if err := b.around(); err != nil {
				t.Fatal(err)
			}
			before := podNames(b.live())
			b.woken = nil
			b.restart()
			for _, name := range []string{"job1", "job0", "job2"} {
				if _, err := b.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.around(); err != nil {
				t.Fatal(err)
			}
			if got := podNames(b.live()); !slices.Equal(got, before) {
				t.Errorf("%s, step %d: %v are %v after a restart", policy, step, before, got)
			}
			b.bounds(t.Fatalf, 5)
			b.clock = b.clock.Add(3 * time.Second)
			for i, p := range b.live() {
				if p.Status.Phase == "" {
					b.startPod(&p)
				} else if (i+step)%2 == 0 {
					b.exitPod(&p, 0)
				}
			}
		}
	}
}

// What a controller that starts does not know is why a pod is where it is: the Job whose pods were elsewhere then is
// gone. The pod goes on, and the slots elsewhere are given away all the same.
func TestRestartAfterOthersHaveGone(t *testing.T) {
	first, second := memberJob("first", 2, 2), memberJob("second", 2, 2)
	b := newBench(t, zonePool(testPool(0, "fifo"), 2, 1), first)
	b.turn()
	if err := b.api.Create(context.Background(), second); err != nil {
		t.Fatal(err)
	}
	b.turn()
	if got := b.inZones("second"); !maps.Equal(got, map[string]int{"b": 1}) {
		t.Fatalf("%v", got)
	}
	for _, p := range b.jobPods("first") {
		b.exitPod(&p, 0)
	}
	before := podNames(b.jobPods("second"))
	if _, err := b.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(first)}); err != nil { // is complete
		t.Fatal(err)
	}
	b.woken = nil
	b.restart()
	for range 2 {
		b.turn()
		b.bounds(t.Fatalf, 3)
	}
	if got := b.inZones("second"); !maps.Equal(got, map[string]int{"a": 1, "b": 1}) || !slices.Contains(podNames(b.jobPods("second")), before[0]) {
		t.Errorf("%v, of them before %v: %v", podNames(b.jobPods("second")), before, got)
	}
}

// Slots of zones can change while Jobs run. Where there are fewer, or none any more, pods end and count as no failure,
// and their tasks run where there are slots.
func TestZonesChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*SlotPool)
		want   map[string]int
	}{
		{"fewer", func(sp *SlotPool) { zonePool(sp, 1, 3) }, map[string]int{"a": 1, "b": 3}},
		{"more", func(sp *SlotPool) { zonePool(sp, 3, 3) }, map[string]int{"a": 3, "b": 3}},
		{"moved", func(sp *SlotPool) { zonePool(sp, 0, 4) }, map[string]int{"b": 4}},
		{"one more zone", func(sp *SlotPool) { zonePool(sp, 2, 2, 2) }, map[string]int{"a": 2, "b": 2, "c": 2}},
		{"another order", func(sp *SlotPool) { slices.Reverse(sp.Spec.Zones) }, map[string]int{"a": 2, "b": 2}},
		{"another zone", func(sp *SlotPool) { sp.Spec.Zones[0].Name = "z" }, map[string]int{"z": 2, "b": 2}},
		{"without zones", func(sp *SlotPool) { sp.Spec.Zones, sp.Spec.Slots = nil, 3 }, nil},
	} {
		for _, policy := range []string{"fifo", "flutter", "spark-geo"} {
			b := newBench(t, zonePool(testPool(0, policy), 2, 2), reader("job", 12, ""), reader("other", 4, ""))
			b.turn()
			before := podNames(b.live())
			sp := b.pool()
			c.change(sp)
			b.repool(sp, 3)
			got, kept := b.byPart(ZoneLabel, before)
			if c.want == nil {
				if len(b.live()) != 3 || kept != 3 {
					t.Errorf("%s, %s: %d pods, %d of them from before", c.name, policy, len(b.live()), kept)
				}
				continue
			}
			could := 0
			for _, n := range got {
				could += n
			}
			if !maps.Equal(got, c.want) || kept < 2 {
				t.Errorf("%s, %s: %v with %d of %v, want %v", c.name, policy, got, kept, before, c.want)
			}
			for range 60 {
				b.turn()
				b.bounds(t.Fatalf, could)
			}
			b.unharmed(c.name + ", " + policy)
		}
	}
}

// The status says what each zone has, also while nobody is in the pool, and what a pinned Job waits for.
func TestZoneStatus(t *testing.T) {
	sp := zonePool(testPool(0, "flutter"), 3, 1)
	b := newBench(t, sp, pin(memberJob("pinned", 3, 3), "b"))
	if got := b.statusOf(sp, b.clock).Zones; !slices.Equal(got, []PartStatus{{"a", 3, 0}, {"b", 1, 0}}) {
		t.Errorf("%+v", got)
	}
	b.turn()
	st := b.statusOf(sp, b.clock)
	if !slices.Equal(st.Zones, []PartStatus{{"a", 3, 0}, {"b", 1, 1}}) || st.Used != 1 {
		t.Errorf("%+v", st)
	}
	if waits := st.Members[0].Waits; waits != "its pod template allows only zones b, and their slots are taken" {
		t.Error(waits)
	}
	copied := sp.DeepCopy()
	copied.Spec.Bandwidth, copied.Status = ptr.To(resource.MustParse("1G")), *st
	again := copied.DeepCopy()
	again.Spec.Zones[0].Slots, again.Status.Zones[0].Used = 7, 7
	again.Spec.Bandwidth.Add(resource.MustParse("1G"))
	if copied.Spec.Zones[0].Slots != 3 || copied.Status.Zones[0].Used != 0 || sp.Spec.Zones[0].Slots != 3 || copied.Spec.Bandwidth.String() != "1G" {
		t.Errorf("%+v", copied)
	}
}

// Pools of zones that make no sense are told what is wrong with them.
func TestWrongZones(t *testing.T) {
	negative := resource.MustParse("-1")
	for _, c := range []struct {
		spec SlotPoolSpec
		says string
	}{
		{SlotPoolSpec{Slots: 2, Zones: []PoolPart{{"a", 1}}}, "slots, resources, zones, classes: a pool counts pods, or one resource, or pods in zones or of classes"},
		{SlotPoolSpec{Resources: corev1.ResourceList{"cpu": resource.MustParse("1")}, Zones: []PoolPart{{"a", 1}}}, "slots, resources, zones, classes: a pool counts"},
		{SlotPoolSpec{Zones: []PoolPart{{"a", 0}}}, "zones: 0 slots in all are not between 1 and 100000"},
		{SlotPoolSpec{Zones: []PoolPart{{"a", 99_999}, {"b", 2}}}, "zones: 100001 slots in all are not between"},
		{SlotPoolSpec{Zones: []PoolPart{{"a", 1}, {"a", 2}}}, "zones: a is there twice"},
		{SlotPoolSpec{Zones: []PoolPart{{"a,b", 1}}}, `zones: "a,b" is no value that a label can have`},
		{SlotPoolSpec{Zones: []PoolPart{{"", 1}}}, `zones: "" is no value`},
		{SlotPoolSpec{Zones: []PoolPart{{"a", -1}, {"b", 2}}}, "zones: a: -1 slots are fewer than 0"},
		{SlotPoolSpec{Slots: 1, Bandwidth: &negative}, "bandwidth: it is that between zones, and the pool has none"},
		{SlotPoolSpec{Zones: []PoolPart{{"a", 1}}, Bandwidth: &negative}, "bandwidth: -1 is no number of bytes per second"},
	} {
		b := newBench(t)
		if _, err := b.rulesOf(&SlotPool{Spec: c.spec}); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// The rest of a pool of zones can be played, and another of its policies can take over, while pinned Jobs that read run.
func TestPlaysInZones(t *testing.T) {
	b := newBench(t, zonePool(testPool(0, "spark-geo+flutter"), 2, 1, 2), pin(reader("pinned", 6, "0:a=1Gi;1-5:c=2Gi"), "b", "c"), reader("free", 6, "b=1Gi"))
	b.turn()
	r := b.pools["pool"].run
	if all, err := r.state().Foresee(t.Context(), 0); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	r.turns = append(r.turns, turnTo("flutter", b.clock))
	for range 60 {
		b.turn()
		b.bounds(t.Fatalf, 5)
	}
	if r.decides != "flutter" || b.inZones("pinned")["a"] > 0 {
		t.Errorf("%s decides; %v", r.decides, b.inZones("pinned"))
	}
	for _, job := range b.jobsOf() {
		if conditionOf(&job.Status, batchv1.JobComplete) == nil {
			t.Errorf("%s: %+v", job.Name, job.Status)
		}
	}
}
