package kube

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

func testPool(slots int32, policy string) *SlotPool {
	return &SlotPool{ObjectMeta: metav1.ObjectMeta{Name: "pool", Generation: 1}, Spec: SlotPoolSpec{Slots: slots, Policy: policy}}
}

func memberJob(name string, completions, parallelism int32) *batchv1.Job {
	job := testJob(completions)
	job.Name, job.UID, job.Spec.Parallelism = name, types.UID(name+"-uid"), &parallelism
	job.Labels = map[string]string{PoolLabel: "pool"}
	return job
}

// cpuPool makes a pool count cores instead of pods.
func cpuPool(cores int64, sp *SlotPool) *SlotPool {
	sp.Spec.Slots, sp.Spec.Resources = 0, corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI)}
	return sp
}

// requestCPU sets what a pod of a Job requests.
func requestCPU(job *batchv1.Job, cores int64) {
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI)},
	}}}
}

// repool changes the pool, and lets each Job see it so often.
func (b *bench) repool(sp *SlotPool, times int) {
	b.t.Helper()
	if err := b.api.Update(context.Background(), sp); err != nil {
		b.t.Fatal(err)
	}
	for range times {
		if err := b.around(); err != nil {
			b.t.Fatal(err)
		}
		b.clock = b.clock.Add(time.Second)
	}
}

// byPart counts the pods that run or will, by the part of the pool that a label names, and those among some names.
func (b *bench) byPart(label string, names []string) (count map[string]int, among int) {
	count = map[string]int{}
	for _, p := range b.live() {
		count[p.Labels[label]]++
		if slices.Contains(names, p.Name) {
			among++
		}
	}
	return count, among
}

// unharmed checks that all Jobs are complete, without a failure that counts.
func (b *bench) unharmed(what string) {
	b.t.Helper()
	for _, job := range b.jobsOf() {
		if conditionOf(&job.Status, batchv1.JobComplete) == nil || job.Status.Failed > 0 {
			b.t.Errorf("%s: %s: %+v", what, job.Name, job.Status)
		}
	}
}

// jobsOf returns all Jobs.
func (b *bench) jobsOf() []batchv1.Job {
	list := &batchv1.JobList{}
	if err := b.api.List(context.Background(), list); err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

// around looks at all Jobs, and at those that are woken, until nobody is.
func (b *bench) around() error {
	for _, job := range b.jobsOf() {
		b.woken = append(b.woken, client.ObjectKeyFromObject(&job))
	}
	for n := 0; len(b.woken) > 0; n++ {
		if n == 1000 {
			b.t.Fatalf("they wake each other for ever: %v", b.woken)
		}
		name := b.woken[0]
		b.woken = slices.DeleteFunc(b.woken, func(x types.NamespacedName) bool { return x == name })
		if _, err := b.Reconcile(context.Background(), reconcile.Request{NamespacedName: name}); err != nil {
			return err
		}
	}
	return nil
}

// bounds fails if a pool or a Job has more pods than it may.
func (b *bench) bounds(fatal func(string, ...any), slots int) {
	count := map[string]int{}
	taken := 0
	for _, p := range b.live() {
		count[p.OwnerReferences[0].Name]++
		taken += b.sizeOf(&p)
	}
	for _, job := range b.jobsOf() {
		if n := count[job.Name]; n > int(*job.Spec.Parallelism) {
			fatal("%s has %d pods of %d", job.Name, n, *job.Spec.Parallelism)
		}
	}
	if taken > slots && !b.ending {
		fatal("pods take %d of %d slots: %v", taken, slots, count)
	}
	if text := b.overfull(nil); text != "" && !b.ending {
		fatal("%s", text)
	}
}

// sizeOf is what a pod takes of the bench's pool.
func (b *bench) sizeOf(p *corev1.Pod) int {
	sp := &SlotPool{}
	if err := b.api.Get(context.Background(), client.ObjectKey{Name: "pool"}, sp); err != nil || len(sp.Spec.Resources) == 0 {
		return 1
	}
	return int(p.Spec.Containers[0].Resources.Requests.Cpu().Value())
}

// Whatever happens to the pods of a pool's Jobs, and however often the controller dies, there are never more pods than slots, no Job has more than
// its parallelism, and in the end each has one result per index.
func TestPoolStorm(t *testing.T) {
	t.Run("whole", func(t *testing.T) { poolStorm(t, "pods", "cpu") })
	t.Run("parts", func(t *testing.T) { poolStorm(t, "zones", "classes") })
}

// poolStorm strikes pools whose slots are of one of some kinds.
func poolStorm(t *testing.T, kinds ...string) {
	rapid.Check(t, func(rt *rapid.T) {
		all, kind := policiesOfJobs(), rapid.SampledFrom(kinds).Draw(rt, "kind")
		if kind == "zones" {
			for range 10 { // of many policies
				all = append(all, confining...)
			}
		}
		slots, crowded := rapid.Int32Range(1, 6).Draw(rt, "slots"), "" // crowded says that a pod was made too soon
		sp := testPool(slots, rapid.SampledFrom(all).Draw(rt, "policy"))
		sp.Spec.Preemption = rapid.SampledFrom([]string{"", PreemptAny}).Draw(rt, "preemption")
		if rapid.Bool().Draw(rt, "bounded wait") {
			sp.Spec.MaxWait = &metav1.Duration{Duration: 30 * time.Second}
		}
		switch kind {
		case "cpu":
			sp = cpuPool(int64(slots), sp)
		case "classes":
			n := rapid.Int32Range(0, slots).Draw(rt, "slots of class map")
			sp = classPool(sp, n, slots-n)
		case "zones":
			sp = zonePool(sp, drawZones(rt, slots)...)
			if rapid.Bool().Draw(rt, "bandwidth") {
				sp.Spec.Bandwidth = resource.NewQuantity(1e9, resource.DecimalSI)
			}
		}
		b := newBench(t, sp)
		b.refuse = func(o client.Object) error {
			p, is := o.(*corev1.Pod)
			if !is {
				return nil
			}
			n := b.sizeOf(p)
			for _, x := range b.live() {
				n += b.sizeOf(&x)
			}
			if n > int(slots) && !b.ending {
				crowded = fmt.Sprintf("%s is made, and then pods take %d of %d slots", o.GetName(), n, slots)
			}
			if text := cmp.Or(b.overfull(p), b.crowdedClass(p)); text != "" {
				crowded = fmt.Sprintf("%s is made: %s", o.GetName(), text)
			}
			return nil
		}
		for range rapid.IntRange(0, 40).Draw(rt, "rounds") {
			b.poolStrike(rt, slots)
			b.bounds(rt.Fatalf, int(slots))
			if crowded != "" {
				rt.Fatal(crowded)
			}
		}
		b.left = -1
		for range 150 {
			if err := b.around(); err != nil {
				rt.Fatal(err)
			}
			b.ending = false
			if b.bounds(rt.Fatalf, int(slots)); crowded != "" {
				rt.Fatal(crowded)
			}
			left := 0
			for _, job := range b.jobsOf() {
				if ptr.Deref(job.Spec.Suspend, false) {
					job.Spec.Suspend = ptr.To(false)
					if err := b.api.Update(context.Background(), &job); err != nil {
						rt.Fatal(err)
					}
				}
				if conditionOf(&job.Status, batchv1.JobFailed) != nil && conditionOf(&job.Status, batchv1.JobFailed).Reason == reasonGivenUp {
					continue
				}
				if conditionOf(&job.Status, batchv1.JobComplete) == nil {
					left++
				} else if n := int(*job.Spec.Completions); job.Status.CompletedIndexes != filled(n).String() || int(job.Status.Succeeded) != n {
					rt.Fatalf("%s: %+v", job.Name, job.Status)
				}
			}
			if left == 0 {
				return
			}
			b.clock = b.clock.Add(11 * time.Minute) // no backoff is longer
			for _, p := range b.live() {
				b.finishPod(&p, corev1.PodSucceeded)
			}
		}
		for _, job := range b.jobsOf() {
			rt.Logf("%s: %+v", job.Name, job.Status)
		}
		rt.Fatalf("not complete; %d pods", len(b.live()))
	})
}

func filled(n int) indexSet {
	s := make(indexSet, n)
	for i := range s {
		s[i] = true
	}
	return s
}

// poolStrike is one thing that happens to a pool, and what the controller makes of it.
func (b *bench) poolStrike(rt *rapid.T, slots int32) {
	b.clock = b.clock.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "seconds")) * time.Second)
	jobs := b.jobsOf()
	switch what := rapid.IntRange(0, 11).Draw(rt, "what"); {
	case what < 2 && len(jobs) < 5 || len(jobs) == 0:
		job := memberJob(fmt.Sprint("job", len(jobs)), rapid.Int32Range(1, 6).Draw(rt, "completions"), rapid.Int32Range(1, 4).Draw(rt, "parallelism"))
		job.Spec.BackoffLimit = ptr.To[int32](1000)
		requestCPU(job, int64(rapid.Int32Range(1, slots).Draw(rt, "cpu")))
		b.drawPlace(rt, job)
		b.drawClass(rt, job)
		if err := b.api.Create(context.Background(), job); err != nil {
			rt.Fatal(err)
		}
	case what == 11 && b.rezone(rt, slots):
	case what == 2:
		job := &jobs[rapid.IntRange(0, len(jobs)-1).Draw(rt, "job")]
		if !finished(job) {
			job.Spec.Suspend = ptr.To(!ptr.Deref(job.Spec.Suspend, false))
			if err := b.api.Update(context.Background(), job); err != nil {
				rt.Fatal(err)
			}
		}
	default:
		pods := b.live()
		if len(pods) == 0 {
			break
		}
		p := &pods[rapid.IntRange(0, len(pods)-1).Draw(rt, "pod")]
		switch {
		case what < 6 && p.Status.Phase == "":
			b.startPod(p)
		case what < 9:
			b.finishPod(p, corev1.PodSucceeded)
		case what == 9:
			b.finishPod(p, corev1.PodFailed)
		case what == 10:
			if err := b.api.Delete(context.Background(), p); err != nil {
				rt.Fatal(err)
			}
		}
	}
	b.left = -1
	if rapid.IntRange(0, 4).Draw(rt, "killed") == 0 {
		b.left = rapid.IntRange(0, 8).Draw(rt, "after")
	}
	if err := b.around(); err != nil && b.left != 0 {
		rt.Fatal(err)
	} else if err == nil {
		b.ending = false
	}
	if b.left == 0 || rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
		b.woken = nil
		b.restart()
	}
}

// flows runs Jobs of so many tasks of 10 s in a pool of four slots and returns the mean time until they are complete.
func flows(t *testing.T, policy string, sizes ...int32) time.Duration {
	t.Helper()
	objects := []client.Object{testPool(4, policy)}
	for i, n := range sizes {
		objects = append(objects, memberJob(fmt.Sprint("job", i), n, 4))
	}
	b := newBench(t, objects...)
	ends := map[string]time.Duration{}
	for b.clock.Sub(epoch) < time.Hour && len(ends) < len(sizes) {
		for range 2 {
			b.beat()
			b.bounds(t.Fatalf, 4)
		}
		if err := b.around(); err != nil {
			t.Fatal(err)
		}
		for _, job := range b.jobsOf() {
			if at, known := ends[job.Name]; !known && at == 0 && conditionOf(&job.Status, batchv1.JobComplete) != nil {
				ends[job.Name] = b.clock.Sub(epoch)
			}
		}
		b.clock = b.clock.Add(time.Second)
	}
	sum := time.Duration(0)
	for _, at := range ends {
		sum += at
	}
	if len(ends) < len(sizes) {
		t.Fatalf("%s: only %v are complete", policy, ends)
	}
	return sum / time.Duration(len(sizes))
}

// A pool under srpt serves small Jobs first, as it does by default, which fair shares and the order of arrival do not.
func TestPoolOrdersBySize(t *testing.T) {
	sizes := []int32{20, 10, 2, 2, 4}
	none, srpt, fair, fifo := flows(t, "", sizes...), flows(t, "srpt", sizes...), flows(t, "fair", sizes...), flows(t, "fifo", sizes...)
	t.Logf("mean completion: without a policy %v, srpt %v, fair %v, fifo %v", none, srpt, fair, fifo)
	if srpt > fair*8/10 || srpt > fifo*8/10 || none > srpt*21/20 {
		t.Errorf("without a policy %v, srpt %v, fair %v, fifo %v", none, srpt, fair, fifo)
	}
	if DefaultPoolPolicy != policy.Default {
		t.Errorf("the default of pools is %s, and that of everything else is %s", DefaultPoolPolicy, policy.Default)
	}
}

// A Job whose pool it cannot use waits, with one event that says why. What runs of it runs on. When the pool is mended it goes on.
func TestPoolUnusable(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"team": "a"}}}
	for _, c := range []struct {
		name, says string
		pool       func(*SlotPool)
	}{
		{"no pool", "there is no SlotPool pool", nil},
		{"no such policy", `SlotPool pool: policy: unknown policy "sparc"`, func(p *SlotPool) { p.Spec.Policy = "sparc" }},
		{"no slots", "SlotPool pool: slots: 0 is not between 1 and", func(p *SlotPool) { p.Spec.Slots = 0 }},
		{"negative budget", "SlotPool pool: cloneBudget: -1 is negative", func(p *SlotPool) { p.Spec.CloneBudget = ptr.To[int32](-1) }},
		{"negative wait", "SlotPool pool: maxWait: -1s is negative", func(p *SlotPool) { p.Spec.MaxWait = &metav1.Duration{Duration: -time.Second} }},
		{"preemption", `SlotPool pool: preemption: "All" is neither WhatIsKept nor Any`, func(p *SlotPool) { p.Spec.Preemption = "All" }},
		{"other namespaces", "SlotPool pool does not select namespace ns", func(p *SlotPool) {
			p.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, memberJob("job", 3, 3), ns.DeepCopy(), testPool(1, ""))
			b.settle()
			if n := len(b.live()); n != 1 {
				t.Fatalf("%d pods", n)
			}
			told := events.NewFakeRecorder(10)
			b.events = told
			sp := &SlotPool{}
			if err := b.api.Get(context.Background(), client.ObjectKey{Name: "pool"}, sp); err != nil {
				t.Fatal(err)
			}
			if c.pool == nil {
				if err := b.api.Delete(context.Background(), sp); err != nil {
					t.Fatal(err)
				}
			} else {
				c.pool(sp)
				if err := b.api.Update(context.Background(), sp); err != nil {
					t.Fatal(err)
				}
			}
			b.settle()
			if text := <-told.Events; len(told.Events) > 0 || !strings.HasPrefix(text, "Warning PoolUnusable ") || !strings.Contains(text, c.says) {
				t.Errorf("%d more events after %q", len(told.Events), text)
			}
			pods := b.live()
			if len(pods) != 1 {
				t.Fatalf("%d pods", len(pods))
			}
			b.finishPod(&pods[0], corev1.PodSucceeded)
			b.settle()
			if st := b.job().Status; len(b.live()) > 0 || st.Succeeded != 1 {
				t.Fatalf("%d pods, %+v", len(b.live()), st)
			}
			mended := testPool(1, "")
			if c.pool == nil {
				if err := b.api.Create(context.Background(), mended); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := b.api.Get(context.Background(), client.ObjectKey{Name: "pool"}, sp); err != nil {
					t.Fatal(err)
				}
				sp.Spec = mended.Spec
				if err := b.api.Update(context.Background(), sp); err != nil {
					t.Fatal(err)
				}
			}
			b.settle()
			if n := len(b.live()); n != 1 {
				t.Errorf("%d pods when it is mended", n)
			}
		})
	}
}

// Jobs of a pool are looked at side by side, as the controller's workers do.
func TestPoolSideBySide(t *testing.T) {
	t.Run("slots", func(t *testing.T) { sideBySide(t, testPool(5, "srpt")) })
	t.Run("zones", func(t *testing.T) { sideBySide(t, zonePool(testPool(0, "flutter"), 2, 2, 1)) })
}

func sideBySide(t *testing.T, sp *SlotPool) {
	objects := []client.Object{sp}
	for i := range 6 {
		objects = append(objects, memberJob(fmt.Sprint("job", i), 4, 3))
	}
	b := newBench(t, objects...)
	for round := 0; ; round++ {
		if round == 60 {
			t.Fatal("not complete")
		}
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				for range 3 {
					_, _ = b.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: fmt.Sprint("job", i)}})
				}
			})
		}
		group.Wait()
		b.bounds(t.Fatalf, 5)
		if err := b.around(); err != nil {
			t.Fatal(err)
		}
		b.bounds(t.Fatalf, 5)
		open := 0
		for _, job := range b.jobsOf() {
			if conditionOf(&job.Status, batchv1.JobComplete) == nil {
				open++
			}
		}
		if open == 0 {
			return
		}
		b.clock = b.clock.Add(5 * time.Second)
		for i, p := range b.live() {
			if p.Status.Phase == "" {
				b.startPod(&p)
			} else if (i+round)%2 == 0 {
				b.exitPod(&p, 0)
			}
		}
	}
}

// The label of a namespace is that of its Jobs, and a Job's own goes before it.
func TestPoolOfNamespace(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{PoolLabel: "pool"}}}
	job := memberJob("job", 3, 3)
	job.Labels = nil
	b := newBench(t, job, ns, testPool(2, ""))
	b.settle()
	if n := len(b.live()); n != 2 {
		t.Errorf("%d pods in two slots", n)
	}
	b.edit(func(j *batchv1.Job) { j.Labels = map[string]string{PoolLabel: ""} })
	b.settle()
	if n := len(b.live()); n != 3 {
		t.Errorf("%d pods of a Job alone", n)
	}
}

// A Job whose namespace names a pool waits until the controller knows that there are pools: the cluster may have got the
// resource just before. A controller of one namespace, which can have none, runs it alone.
func TestPoolNotThereYet(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{PoolLabel: "pool"}}}
	for _, everyone := range []bool{true, false} {
		job := memberJob("job", 3, 3)
		job.Labels = nil
		b := newBench(t, job, ns.DeepCopy(), testPool(2, ""))
		b.everyone = everyone
		b.pooling.Store(false)
		b.settle()
		if n := len(b.live()); n != map[bool]int{true: 0, false: 3}[everyone] {
			t.Errorf("everyone %v: %d pods before there are pools", everyone, n)
		}
		b.pooling.Store(everyone)
		b.settle()
		if n := len(b.live()); n != map[bool]int{true: 2, false: 3}[everyone] {
			t.Errorf("everyone %v: %d pods", everyone, n)
		}
	}
}

// A controller that starts lives through the past of all Jobs of a pool and changes nothing, even if one Job comes late.
func TestPoolRestart(t *testing.T) {
	var objects []client.Object
	for i, n := range []int32{6, 3, 9} {
		objects = append(objects, memberJob(fmt.Sprint("job", i), n, 4))
	}
	b := newBench(t, append(objects, testPool(5, "fair"))...)
	for step := range 6 {
		if err := b.around(); err != nil {
			t.Fatal(err)
		}
		before := podNames(b.live())
		b.woken = nil
		b.restart()
		if _, err := b.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "job1"}}); err != nil {
			t.Fatal(err)
		}
		if got := podNames(b.live()); !slices.Equal(got, before) {
			t.Fatalf("step %d: the first Job alone makes %v of %v", step, got, before)
		}
		if err := b.around(); err != nil {
			t.Fatal(err)
		}
		if got := podNames(b.live()); !slices.Equal(got, before) {
			t.Errorf("step %d: %v are %v after a restart", step, before, got)
		}
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

func podNames(pods []corev1.Pod) (all []string) {
	for _, p := range pods {
		all = append(all, p.Name)
	}
	return all
}

// The status says who has the slots and what the others wait for.
func TestPoolStatus(t *testing.T) {
	b := newBench(t, memberJob("big", 9, 9), memberJob("small", 3, 1), testPool(2, "srpt"))
	if err := b.around(); err != nil {
		t.Fatal(err)
	}
	status := func() *SlotPoolStatus {
		if _, err := (poolReconciler{b.reconciler}).Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "pool"}}); err != nil {
			t.Fatal(err)
		}
		sp := &SlotPool{}
		if err := b.api.Get(context.Background(), client.ObjectKey{Name: "pool"}, sp); err != nil {
			t.Fatal(err)
		}
		return &sp.Status
	}
	st := status()
	if st.Jobs != 2 || st.Used != 2 || st.Waiting != 0 || len(st.Conditions) != 1 || st.Conditions[0].Status != metav1.ConditionTrue {
		t.Errorf("%+v", st)
	}
	want := []PoolMember{
		{"ns", "big", 1, 0, 9, "all 2 slots are taken, and srpt has given them to others"},
		{"ns", "small", 1, 0, 3, "it has as many pods as its parallelism, 1"},
	}
	if !slices.Equal(st.Members, want) {
		t.Errorf("%+v, want %+v", st.Members, want)
	}
	sp := &SlotPool{}
	if err := b.api.Get(context.Background(), client.ObjectKey{Name: "pool"}, sp); err != nil {
		t.Fatal(err)
	}
	sp.Spec.Policy = "sparc"
	if err := b.api.Update(context.Background(), sp); err != nil {
		t.Fatal(err)
	}
	if st := status(); st.Conditions[0].Status != metav1.ConditionFalse || !strings.Contains(st.Conditions[0].Message, "sparc") {
		t.Errorf("%+v", st.Conditions)
	}
}

// A Job whose pods must not run twice has no clones in a pool either, whatever the policy.
func TestPoolDoesNoHarm(t *testing.T) {
	job := memberJob("job", 2, 4)
	job.Annotations = map[string]string{ClonesAnnotation: clonesNever}
	b := newBench(t, job, testPool(4, "srew:slot=0s"))
	for range 4 {
		b.settle()
		for _, p := range b.live() {
			if podtemplate.IsClone(p.Labels) {
				t.Fatal("a clone")
			}
			if p.Status.Phase == "" {
				b.startPod(&p)
			}
		}
		b.clock = b.clock.Add(time.Minute)
	}
}

// taker ends the attempt of the first job when there is a second, and starts the first again when there is a slot.
type taker struct{}

func (taker) Observe(*sched.View, *sched.Event) {}

func (taker) Decide(v *sched.View, act *sched.Actions) {
	if a, runs := v.FirstAttempt(0); runs && v.Job(1).State == sched.JobActive {
		_ = act.Kill(a, sched.Share)
	}
	for _, t := range []sched.TaskID{1, 0} {
		if m, free := v.FreeMachine(0); free && int(t) < v.Rows().Tasks() && v.Task(t).State == sched.TaskPending {
			_, _ = act.Launch(t, m, v.Task(t).Saved, sched.Resume)
		}
	}
}

// What a pod has saved that a policy has ended for another Job is gone on from, although its pod is gone. Of a pod that cannot be gone on from no policy
// takes the slot, unless the pool says so.
func TestPreemption(t *testing.T) {
	for _, c := range []struct {
		resumable, gentle, ended bool
		offset                   string
	}{{true, true, true, "500"}, {false, true, false, ""}, {false, false, true, ""}} {
		first := memberJob("a", 1, 1)
		first.Annotations = map[string]string{ResumableAnnotation: fmt.Sprint(c.resumable)}
		sp := testPool(1, "")
		if !c.gentle {
			sp.Spec.Preemption = PreemptAny
		}
		b := newBench(t, first, sp)
		b.newPolicy = func(string, string, bool, Place) (sched.Policy, error) { return taker{}, nil }
		around := func() {
			if err := b.around(); err != nil {
				t.Fatal(err)
			}
			b.bounds(t.Fatalf, 1)
			b.clock = b.clock.Add(time.Second)
		}
		around()
		pods := b.live()
		b.startPod(&pods[0])
		pods = b.live()
		pods[0].Annotations = with(pods[0].Annotations, ProgressAnnotation, "0.5 500")
		if err := b.api.Update(context.Background(), &pods[0]); err != nil {
			t.Fatal(err)
		}
		around()
		second := memberJob("b", 1, 1)
		second.CreationTimestamp = metav1.Time{Time: b.clock}
		if err := b.api.Create(context.Background(), second); err != nil {
			t.Fatal(err)
		}
		around()
		around()
		if pods = b.live(); len(pods) != 1 || (pods[0].OwnerReferences[0].Name == "b") != c.ended {
			t.Fatalf("%+v: %v have the slot", c, podNames(pods))
		}
		if !c.ended {
			continue
		}
		b.finishPod(&pods[0], corev1.PodSucceeded)
		around()
		around()
		if pods = b.live(); len(pods) != 1 || pods[0].Annotations[resumeAnnotation] != c.offset || pods[0].Labels[podtemplate.AttemptLabel] != "1" {
			t.Errorf("%+v: %+v", c, pods)
		}
	}
}

// A pool of 5,000 Jobs with 50,000 pods, all of which are looked at, started and ended once, and then lived through again.
func TestLargePool(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const jobs, each, slots = 5000, 10, 20_000
	p := newPool("pool")
	how := rules{policy: "srpt", shared: true, limits: sched.DefaultLimits()}
	newPolicy := func(string) (sched.Policy, error) { return policy.New("srpt", 1) }
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, now := time.Now(), epoch
	seen, visits := make([]*entry, jobs), 0
	visit := func(j int) *member {
		visits++
		m, _, err := p.visit(types.UID(seen[j].name.Name), seen[j], how, taken{slots}, newPolicy, now)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for j := range seen {
		seen[j] = &entry{
			name: types.NamespacedName{Namespace: "ns", Name: fmt.Sprint("job", j)}, over: make(indexSet, each),
			want: settings{policy: "srpt", completions: each, most: each, start: epoch},
		}
		visit(j)
	}
	done := 0
	for round := 0; done < jobs*each && round < 100; round++ {
		now = now.Add(10 * time.Second)
		for j, e := range seen {
			m := p.entries[types.UID(e.name.Name)].m
			for _, a := range m.missing() {
				e.sights = append(e.sights, sight{ref: a.ref, live: true, phase: running, begun: now})
			}
			for i := range e.sights {
				if s := &e.sights[i]; s.live && now.Sub(s.begun) >= 10*time.Second {
					s.live, s.phase, s.ended = false, succeeded, now
					e.over[s.index] = true
					done++
				}
			}
			visit(j)
		}
		if n := p.run.core.View().Cluster().Live(); n > slots {
			t.Fatalf("%d attempts in %d slots", n, slots)
		}
	}
	lived := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	mb := (after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)) >> 20
	start, p.run = time.Now(), nil
	visit(0)
	again := time.Since(start)
	t.Logf("%d pods ended in %d visits and %v, %d MB; lived through again in %v", done, visits, lived, mb, again)
	if done < jobs*each || lived > 2*time.Minute || again > time.Minute || mb > 500 {
		t.Errorf("%d of %d pods ended after %v; %d MB; again in %v", done, jobs*each, lived, mb, again)
	}
}

// The pods of a work queue that has had its first success keep their slots until they end, and no longer, even if the controller starts anew meanwhile.
func TestQueueInPool(t *testing.T) {
	for _, restart := range []bool{false, true} {
		queue, other := memberJob("queue", 1, 3), memberJob("other", 9, 9)
		queue.Spec.Completions, queue.Spec.CompletionMode = nil, nil
		b := newBench(t, testPool(3, "fifo"), queue)
		b.turn()
		if err := b.api.Create(context.Background(), other); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			b.exitPod(&b.jobPods("queue")[0], 0)
			if restart {
				b.restart()
			}
			for range 3 {
				b.clock = b.clock.Add(patience)
				if err := b.around(); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(b.jobPods("other")); n != i+1 {
				t.Errorf("restart %v: %d pods of another Job beside %d of the queue", restart, n, 2-i)
			}
		}
	}
}

// jobPods returns the pods of a Job that run or will.
func (b *bench) jobPods(name string) (pods []corev1.Pod) {
	for _, p := range b.live() {
		if p.OwnerReferences[0].Name == name {
			pods = append(pods, p)
		}
	}
	return pods
}

// Pods of a Job that is deleted keep their slots until Kubernetes' garbage collection has deleted them, also when a Job of
// the same name takes its place, and when the controller starts anew.
func TestSlotsOfADeletedJob(t *testing.T) {
	for _, c := range []struct {
		name          string
		held, restart bool // the Job waits for its pods; the controller starts anew
		sized         bool
		again         bool // a Job of the same name is made
	}{
		{name: "at once"}, {name: "at once, by cpu", sized: true}, {name: "waits for its pods", held: true},
		{name: "waits for its pods, restart", held: true, restart: true}, {name: "made again", again: true},
		{name: "at once, restart", restart: true}, {name: "at once, by cpu, restart", sized: true, restart: true}, {name: "made again, restart", again: true, restart: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sp, gone, other := testPool(4, "fifo"), memberJob("gone", 4, 3), memberJob("other", 9, 9)
			requestCPU(gone, 1)
			requestCPU(other, 1)
			if c.sized {
				sp = cpuPool(4, sp)
			}
			if c.held {
				gone.Finalizers = []string{metav1.FinalizerDeleteDependents}
			}
			b := newBench(t, sp, gone)
			b.turn()
			if err := b.api.Create(context.Background(), other); err != nil {
				t.Fatal(err)
			}
			b.turn()
			if err := b.api.Delete(context.Background(), gone); err != nil {
				t.Fatal(err)
			}
			if c.again {
				gone = memberJob("gone", 1, 1)
				gone.UID = "another"
				if err := b.api.Create(context.Background(), gone); err != nil {
					t.Fatal(err)
				}
			}
			name := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(gone)}
			for left := 3; left >= 0; left-- {
				if c.restart {
					b.restart()
				}
				for range 3 {
					b.clock = b.clock.Add(patience)
					if _, err := b.Reconcile(context.Background(), name); err != nil {
						t.Fatal(err)
					}
					if err := b.around(); err != nil {
						t.Fatal(err)
					}
				}
				var old []corev1.Pod
				for _, p := range b.live() {
					if p.OwnerReferences[0].UID == "gone-uid" {
						old = append(old, p)
					}
				}
				if n := len(b.live()); n != 4 || len(old) != left {
					t.Fatalf("%d pods in 4 slots, %d of them of the Job that is deleted, want %d", n, len(old), left)
				}
				if left > 0 {
					if err := b.api.Delete(context.Background(), &old[0]); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// A pod that was made and that the watch has not shown yet keeps its slot when its Job comes to be complete or suspended, or is to have no pods: it is
// there, and nobody has deleted it.
func TestSlotsOfUnseenPods(t *testing.T) {
	for _, c := range []struct {
		name  string
		sized bool
		edit  func(*batchv1.Job) // nil to let it be complete
	}{
		{name: "complete"}, {name: "complete, by cpu", sized: true},
		{name: "suspended", edit: func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }},
		{name: "no pods at once", edit: func(job *batchv1.Job) { job.Spec.Parallelism = ptr.To[int32](0) }},
		{name: "no pods at once, by cpu", sized: true, edit: func(job *batchv1.Job) { job.Spec.Parallelism = ptr.To[int32](0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			sp, job, other := testPool(2, "srew:slot=0s"), memberJob("job", 1, 2), memberJob("other", 9, 9)
			requestCPU(job, 2)
			requestCPU(other, 1)
			each := 1 // pods of the other Job that fit into the slot of one
			if c.sized {
				sp, each = cpuPool(4, sp), 2
			}
			b := newBench(t, sp, job)
			around := func(want, others int) {
				t.Helper()
				for range 3 {
					b.clock = b.clock.Add(time.Second)
					if err := b.around(); err != nil {
						t.Fatal(err)
					}
				}
				if n, m := len(b.jobPods("job")), len(b.jobPods("other")); n != want || m != others {
					t.Fatalf("%d pods of the Job and %d of the other, want %d and %d", n, m, want, others)
				}
			}
			around(1, 0)
			b.startPod(&b.jobPods("job")[0])
			b.hidden = func(p *corev1.Pod) bool { return podtemplate.IsClone(p.Labels) }
			around(2, 0)
			if err := b.api.Create(context.Background(), other); err != nil {
				t.Fatal(err)
			}
			if c.edit != nil {
				b.edit(c.edit)
			} else {
				b.exitPod(&b.jobPods("job")[0], 0)
			}
			around(1, each)
			b.hidden = nil
			around(0, 2*each)
		})
	}
}
