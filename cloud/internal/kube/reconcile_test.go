package kube

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// bench is a reconciler and an API server without validation, whose time the test sets and whose requests fail when it says.
type bench struct {
	*reconciler
	t       *testing.T
	api     client.Client
	clock   time.Time
	mu      sync.Mutex                // requests of one reconciliation run side by side
	odds    float64                   // to meet the deadline; 0 if not known
	refuse  func(client.Object) error // says why an object is not created
	hidden  func(*corev1.Pod) bool    // says of which pods the watch has not told yet
	wokenMu sync.Mutex
	woken   []types.NamespacedName // that nobody has looked at yet
	left    int                    // requests that succeed before all fail, as if the controller was killed; negative for never
	ending  bool                   // pods of zones that have fewer slots now may run still
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	b := &bench{t: t, clock: epoch, left: -1}
	small := runtime.NewScheme() // the fake looks through all of it at each change
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, addPoolTypes, addWorkloadTypes} {
		if err := add(small); err != nil {
			t.Fatal(err)
		}
	}
	// A tracker that keeps no fields' owners, for nobody asks who wrote what.
	tracker := clienttesting.NewObjectTracker(small, serializer.NewCodecFactory(small).UniversalDecoder())
	b.api = fake.NewClientBuilder().WithScheme(small).WithObjectTracker(tracker).WithObjects(objects...).WithStatusSubresource(&batchv1.Job{}, &SlotPool{}).
		WithIndex(&corev1.Pod{}, ownerIndex, jobName).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if pods, ok := list.(*corev1.PodList); ok {
				return listPods(tracker, pods, opts)
			}
			return c.List(ctx, list, opts...)
		},
	}).Build()
	b.restart()
	return b
}

// listPods is what the fake client does, which writes all pods as JSON and reads them again: half of a storm's time.
func listPods(tracker clienttesting.ObjectTracker, pods *corev1.PodList, opts []client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	all, err := tracker.List(corev1.SchemeGroupVersion.WithResource("pods"), corev1.SchemeGroupVersion.WithKind("Pod"), o.Namespace)
	if err != nil {
		return err
	}
	*pods = *all.(*corev1.PodList) // a copy already
	pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool {
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(p.Labels)) {
			return true
		}
		if o.FieldSelector == nil {
			return false
		}
		owner, is := o.FieldSelector.RequiresExactMatch(ownerIndex)
		return !is || !slices.Contains(jobName(&p), owner)
	})
	return nil
}

// restart is a new controller.
func (b *bench) restart() {
	dead := fmt.Errorf("the controller is dead")
	alive := func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.left == 0 {
			return dead
		}
		b.left--
		return nil
	}
	killable := interceptor.NewClient(b.api.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if pods, ok := list.(*corev1.PodList); ok && b.hidden != nil {
				pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return b.hidden(&p) })
			}
			return err
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := alive(); err != nil {
				return err
			}
			if b.refuse != nil {
				b.mu.Lock()
				err := b.refuse(o)
				b.mu.Unlock()
				if err != nil {
					return err
				}
			}
			o.SetUID(types.UID("uid of " + o.GetName())) // the fake gives none
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := alive(); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := alive(); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if err := alive(); err != nil {
				return err
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})
	b.reconciler = &reconciler{
		client: killable, events: &events.FakeRecorder{}, newPolicy: func(spec, _ string, _ bool, at Place) (sched.Policy, error) {
			return policy.NewPerClass(spec, 1, at.Classes)
		}, chance: func(*sched.View, sched.JobID, string) (float64, bool) { return b.odds, b.odds > 0 }, atRisk: 0.9, past: "ours", winners: true, policy: "spark", grace: time.Second, nodeLost: 30 * time.Second, clones: newCloneGate(100, 100, 100),
		wake: func(name types.NamespacedName) {
			b.wokenMu.Lock()
			defer b.wokenMu.Unlock()
			b.woken = append(b.woken, name)
		},
		now: func() time.Time { return b.clock }, jobs: map[types.NamespacedName]*state{}, late: map[types.NamespacedName][]*state{}, pools: map[string]*pool{},
		everyone: true,
	}
	b.pooling.Store(true)
}

func (b *bench) reconcile() error {
	_, err := b.visit()
	return err
}

func (b *bench) visit() (reconcile.Result, error) {
	return b.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "job"}})
}

func (b *bench) pods() []corev1.Pod {
	list := &corev1.PodList{}
	if err := b.api.List(context.Background(), list); err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

func (b *bench) job() *batchv1.Job {
	job := &batchv1.Job{}
	if err := b.api.Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: "job"}, job); err != nil {
		b.t.Fatal(err)
	}
	return job
}

// edit changes the Job.
func (b *bench) edit(change func(*batchv1.Job)) {
	b.t.Helper()
	job := b.job()
	change(job)
	if err := b.api.Update(context.Background(), job); err != nil {
		b.t.Fatal(err)
	}
}

// settle is long enough for whatever is to follow at once, or after the few milliseconds by which the fake's whole seconds are off.
func (b *bench) settle() {
	b.t.Helper()
	for range 3 {
		again, err := b.visit()
		if err != nil {
			b.t.Fatal(err)
		}
		if d := again.RequeueAfter; d > 0 && d < 50*time.Millisecond {
			b.clock = b.clock.Add(d)
		}
		b.clock = b.clock.Add(time.Millisecond)
	}
}

// live returns the pods that run or will.
func (b *bench) live() (pods []corev1.Pod) {
	for _, p := range b.pods() {
		if !terminal(&p) && p.DeletionTimestamp == nil {
			pods = append(pods, p)
		}
	}
	return pods
}

// finishPod lets a pod end.
func (b *bench) finishPod(p *corev1.Pod, phase corev1.PodPhase) {
	p.Status.Phase = phase
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		StartedAt: metav1.Time{Time: b.clock.Add(-time.Second)}, FinishedAt: metav1.Time{Time: b.clock},
	}}}}
	if err := b.api.Status().Update(context.Background(), p); err != nil {
		b.t.Fatal(err)
	}
}

// A policy that there is not is told of once, and no pod is made before it is corrected.
func TestWrongAnnotation(t *testing.T) {
	job := testJob(2)
	job.Annotations = map[string]string{PolicyAnnotation: "sparc"}
	b := newBench(t, job)
	told := events.NewFakeRecorder(10)
	b.events = told
	for range 3 {
		if err := b.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	if len(told.Events) != 1 || len(b.pods()) != 0 {
		t.Fatalf("%d events, %d pods", len(told.Events), len(b.pods()))
	}
	fixed := b.job()
	fixed.Annotations[PolicyAnnotation] = "late"
	if err := b.api.Update(context.Background(), fixed); err != nil {
		t.Fatal(err)
	}
	if err := b.reconcile(); err != nil || len(b.pods()) != 2 {
		t.Fatalf("%v, %d pods", err, len(b.pods()))
	}
}

// A pod is what Kubernetes' own controller would have made, and says which attempt it is.
func TestPod(t *testing.T) {
	job := testJob(2)
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: "TAILCUT_TASK", Value: "mine"}}}}
	job.Spec.Template.Spec.Priority, job.Spec.Template.Spec.PreemptionPolicy = ptr.To[int32](7), ptr.To(corev1.PreemptLowerPriority)
	a := &attempt{ref: ref{1, 2}, clone: true}
	p := podFor(job, a, []sight{{node: "slow"}, {node: "slow"}, {node: ""}, {node: "other"}}, []string{"sluggish"}, 0, "low")
	terms := p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if len(terms) != 2 || len(terms[0].Preference.MatchFields) != 2 || len(terms[1].Preference.MatchFields) != 1 || p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		t.Errorf("affinity %+v", p.Spec.Affinity)
	}
	env := p.Spec.Containers[0].Env
	if len(env) != 4 || env[0].Value != "mine" || env[1].Name != "JOB_COMPLETION_INDEX" || env[2].Value != "2" {
		t.Errorf("env %+v", env)
	}
	if p.Spec.Hostname != "job-1" || p.Labels[indexLabel] != "1" || p.Annotations[indexLabel] != "1" || !podtemplate.IsClone(p.Labels) ||
		p.Spec.PriorityClassName != "low" || p.Spec.Priority != nil || p.Spec.PreemptionPolicy != nil || !hasFinalizer(p) || !metav1.IsControlledBy(p, job) {
		t.Errorf("%+v", p)
	}
	other := *a
	other.number++
	if p.Name == podName(job, other.ref) || p.Name != podName(job, a.ref) || len(p.Name) != len("job-1-12345") {
		t.Errorf("names %s, %s", p.Name, podName(job, other.ref))
	}
}
