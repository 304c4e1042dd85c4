package pods

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/store"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Config says how attempts become pods.
type Config struct {
	Client    kubernetes.Interface
	Namespace string
	Run       string
	Image     string                 // "": the template's, or else DefaultImage
	Template  *corev1.Pod            // never nil; its first container is the attempt's
	Limits    []jobfile.Limits       // of attempts, by stage
	Owner     *metav1.OwnerReference // with which Kubernetes deletes the pods; nil for none
	Log       io.Writer              // for what the user should know
}

// Results is what the executor needs of a store: *store.Results.
type Results interface {
	Prepare(context.Context, live.Attempt) (store.Assignment, error)
	Commit(live.Attempt, []byte) error
	Clean() error
	Publish() error
	URL() string
}

// Executor runs attempts as pods. It implements live.Executor.
type Executor struct {
	Results
	cfg     Config
	reports chan live.Report
	room    chan struct{} // to ask the API server for something: some at a time
	ctx     context.Context
	stop    context.CancelFunc
	workers sync.WaitGroup
	watch   informers.SharedInformerFactory
	listed  cache.InformerSynced

	mu    sync.Mutex
	pods  map[string]*launched // by name of the pod, from its start until its end is known
	names map[sched.AttemptID]string
	past  map[[2]int]*memory
	told  string // the last reason why pods have no node
}

var _ live.Executor = (*Executor)(nil)

// launched is an attempt that has not ended, as far as the executor knows.
type launched struct {
	live.Attempt
	made  bool // the pod has been there
	begun bool // it has been reported that its container has started
}

// memory is what is remembered of a task's attempts.
type memory struct {
	nodes  []string
	losses int // in a row
}

const (
	requests       = 16 // at once
	requestTimeout = 30 * time.Second
	lookAgain      = 10 * time.Second // at each pod, for what only time tells
)

// New begins to watch the pods of a run.
func New(r Results, cfg Config) (*Executor, error) {
	ctx, stop := context.WithCancel(context.Background())
	e := &Executor{
		Results: r, cfg: cfg, reports: make(chan live.Report, 1024), room: make(chan struct{}, requests), ctx: ctx, stop: stop,
		pods: map[string]*launched{}, names: map[sched.AttemptID]string{}, past: map[[2]int]*memory{},
	}
	e.watch = informers.NewSharedInformerFactoryWithOptions(cfg.Client, lookAgain, informers.WithNamespace(cfg.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = e.selector() }))
	informer := e.watch.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    e.seen,
		UpdateFunc: func(_, now any) { e.seen(now) },
		DeleteFunc: e.deleted,
	}); err != nil {
		stop()
		return nil, err
	}
	e.listed = informer.HasSynced
	e.watch.Start(ctx.Done())
	return e, nil
}

func (e *Executor) selector() string { return e.cfg.selector() }

func (cfg *Config) selector() string { return RunLabel + "=" + cfg.Run }

// Reports returns the channel of reports.
func (e *Executor) Reports() <-chan live.Report { return e.reports }

// Start has the attempt's pod made.
func (e *Executor) Start(a live.Attempt) {
	e.mu.Lock()
	name := podName(e.cfg.Run, a)
	e.pods[name], e.names[a.ID] = &launched{Attempt: a}, name
	t := e.past[[2]int{a.Stage, a.Index}]
	if t == nil {
		t = &memory{}
		e.past[[2]int{a.Stage, a.Index}] = t
	}
	losses, before := t.losses, slices.Clone(t.nodes)
	e.mu.Unlock()
	e.workers.Go(func() {
		if losses > 1 { // a cluster that turns pods away need not be asked all the time
			e.sleep(min(time.Second<<min(losses-2, 5), 30*time.Second))
		}
		if err := e.make(a, name, before); err != nil && e.ctx.Err() == nil {
			e.end(name, live.Report{Kind: sched.AttemptFailed, Exit: 1, Note: err.Error()})
		}
	})
}

// make makes the pod of an attempt, unless that has been ended.
func (e *Executor) make(a live.Attempt, name string, before []string) error {
	t, err := e.Prepare(e.ctx, a)
	if err != nil {
		return err
	}
	pod := e.podFor(a, append([]string{"attempt", e.URL()}, t.Args()...), before)
	err = e.insist(func(ctx context.Context) error {
		if !e.wanted(name) {
			return nil
		}
		_, err := e.cfg.Client.CoreV1().Pods(e.cfg.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // by a request whose answer was lost
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the pod cannot be made: %s", oneLine(err.Error()))
	}
	if !e.wanted(name) { // ended meanwhile
		e.remove(name)
	}
	return nil
}

func (e *Executor) wanted(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pods[name] != nil
}

// insist asks the API server for something until it answers for good, or the executor is closed. A request that is on
// its way then is waited for: the pod that it makes has to be deleted.
func (e *Executor) insist(ask func(context.Context) error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		e.room <- struct{}{}
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		err := ask(ctx)
		cancel()
		<-e.room
		if err == nil || final(err) || e.ctx.Err() != nil {
			return err
		}
		e.sleep(wait/2 + rand.N(wait))
	}
}

// final tells whether the same request would be answered the same later. A full quota empties, and a namespace's
// account is made a moment after it.
func final(err error) bool {
	if apierrors.IsForbidden(err) {
		return !strings.Contains(err.Error(), "exceeded quota") && !strings.Contains(err.Error(), "serviceaccount")
	}
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err)
}

func (e *Executor) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-e.ctx.Done():
	}
}

// Kill ends an attempt: nothing is reported of it any more, and its pod is deleted, with its grace period.
func (e *Executor) Kill(id sched.AttemptID) {
	e.mu.Lock()
	name, ok := e.names[id]
	delete(e.names, id)
	delete(e.pods, name)
	e.mu.Unlock()
	if ok {
		e.workers.Go(func() { e.remove(name) })
	}
}

// remove deletes a pod. One that is there although it should not be goes with the run's others in the end.
func (e *Executor) remove(name string) {
	_ = e.insist(func(ctx context.Context) error {
		err := e.cfg.Client.CoreV1().Pods(e.cfg.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// seen looks at a pod.
func (e *Executor) seen(x any) {
	pod, ok := x.(*corev1.Pod)
	if !ok {
		return
	}
	e.mu.Lock()
	a := e.pods[pod.Name]
	if a != nil {
		a.made = true
		if t := e.past[[2]int{a.Stage, a.Index}]; pod.Spec.NodeName != "" && !slices.Contains(t.nodes, pod.Spec.NodeName) {
			t.nodes = append(t.nodes, pod.Spec.NodeName)
		}
	}
	why := unschedulable(pod)
	tell := a != nil && why != "" && why != e.told
	if tell {
		e.told = why
	}
	at := begunAt(pod)
	begins := a != nil && !a.begun && !at.IsZero()
	if begins {
		a.begun = true
	}
	e.mu.Unlock()
	if tell {
		fmt.Fprintf(e.cfg.Log, "tailcut: a pod waits for a node: %s\n", why)
	}
	if a == nil {
		return
	}
	if begins { // here and not beside, so that it comes before the report of the end
		select {
		case e.reports <- live.Report{Kind: sched.AttemptBegan, At: at, Attempt: a.ID}:
		case <-e.ctx.Done():
		}
	}
	if end, over := endOf(pod, time.Now()); over {
		e.end(pod.Name, end)
	}
}

// deleted hears of a pod that is gone. Its last look may never have been seen.
func (e *Executor) deleted(x any) {
	if late, ok := x.(cache.DeletedFinalStateUnknown); ok {
		x = late.Obj
	}
	pod, ok := x.(*corev1.Pod)
	if !ok {
		return
	}
	if _, over := endOf(pod, time.Now()); !over {
		pod = pod.DeepCopy()
		pod.DeletionTimestamp = ptr.To(metav1.Now())
	}
	e.seen(pod)
}

// end reports the end of an attempt, once, and deletes its pod.
func (e *Executor) end(name string, r live.Report) {
	e.mu.Lock()
	a := e.pods[name]
	if a == nil {
		e.mu.Unlock()
		return
	}
	delete(e.pods, name)
	delete(e.names, a.ID)
	t := e.past[[2]int{a.Stage, a.Index}]
	if t.losses++; r.Kind != sched.MachineLost {
		t.losses = 0
	}
	e.mu.Unlock()
	r.At, r.Attempt = time.Now(), a.ID
	e.workers.Go(func() {
		select {
		case e.reports <- r:
		case <-e.ctx.Done():
			return
		}
		e.remove(name)
	})
}

// Clean deletes the pods that a dead engine of the run has left, and what their attempts have written.
func (e *Executor) Clean() error {
	if !cache.WaitForCacheSync(e.ctx.Done(), e.listed) {
		return e.ctx.Err()
	}
	if err := Sweep(e.ctx, e.cfg); err != nil {
		return err
	}
	return e.Results.Clean()
}

// Sweep deletes all pods of a run, of which nothing but the client, the namespace and the name matters.
func Sweep(ctx context.Context, cfg Config) error {
	api := cfg.Client.CoreV1().Pods(cfg.Namespace)
	list, err := api.List(ctx, metav1.ListOptions{LabelSelector: cfg.selector()})
	if err == nil {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(requests)
		for i := range list.Items {
			group.Go(func() error {
				err := api.Delete(ctx, list.Items[i].Name, metav1.DeleteOptions{})
				if apierrors.IsNotFound(err) {
					return nil
				}
				return err
			})
		}
		err = group.Wait()
	}
	if err != nil {
		return fmt.Errorf("the pods of the run cannot be deleted: %s", oneLine(err.Error()))
	}
	return nil
}

// Close deletes all pods of the run.
func (e *Executor) Close() error {
	e.stop()
	e.workers.Wait()
	e.watch.Shutdown()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return Sweep(ctx, e.cfg)
}

// oneLine makes one line of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lastLine returns the last line of a text.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return oneLine(text[strings.LastIndex(text, "\n")+1:])
}
