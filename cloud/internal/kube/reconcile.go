package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// reconciler makes Jobs and their pods what they should be. All it keeps it could compute anew from the API server.
type reconciler struct {
	client    client.Client
	events    events.EventRecorder
	newPolicy func(spec, law string, resumable bool, at Place) (sched.Policy, error)
	chance    func(v *sched.View, job sched.JobID, law string) (p float64, ok bool)
	atRisk    float64
	past      string        // namespace where histories are kept; "" for none
	winners   bool          // to be written beside each Job
	policy    string        // of Jobs that name none
	class     string        // priority class of clones
	grace     time.Duration // of losers; 0 for that of their pods
	nodeLost  time.Duration // after which a node that is not ready has no say any more; 0 for never
	clones    *cloneGate
	plays     playGate
	now       func() time.Time
	everyone  bool                       // Jobs of all namespaces are reconciled, so that they may be in pools
	pooling   atomic.Bool                // there are SlotPools
	wake      func(types.NamespacedName) // has a Job looked at; nil where nobody does
	look      atomic.Pointer[door]       // has the status of a SlotPool written; likewise
	nodes     ledger
	zones     zones

	mu    sync.Mutex
	jobs  map[types.NamespacedName]*state
	late  map[types.NamespacedName][]*state // of Jobs that are gone and whose pods still have slots
	pools map[string]*pool
}

// state is what is kept of a Job. One call of Reconcile at a time has it.
type state struct {
	uid     types.UID
	pool    *pool               // that it is in; nil as long as it starts nothing
	guestOf *pool               // that it has left, and of whose slots its pods still have some
	size    int64               // of one of its pods, as the pool counts
	member  *member             // that it is in the pool's core
	unseen  map[ref]unseen      // pods that were made and have not come by the watch
	wrong   string              // annotation that was complained about
	free    sets.Set[types.UID] // pods whose finalizers were removed, until the watch tells
	ending  sets.Set[types.UID] // likewise, pods that were deleted
	spared  indexSet            // interchangeable tasks that are over
	past    *live.Past          // of earlier runs; nil as long as it was not asked for
	winners winners
	clones  verdictOnClones
	cut     []cutOff  // attempts that were ended before they were done, in order of index and number
	warned  bool      // of the deadline that is at risk
	judged  bool      // its attempts count for their nodes
	told    int       // successes that the status has counted, of a Job of Kueue's
	room    int       // for pods that may be made now within its quota
	next    time.Time // when to come back if nothing happens; zero for never
}

// unseen is when a pod was made, and for which part of its pool.
type unseen struct {
	made time.Time
	part string
}

// unseenFor bounds the wait for the watch to show a pod that was made. Making it again does no harm: its name exists.
const unseenFor = 10 * time.Second

// parallelRequests bounds the requests for one Job at a time.
const parallelRequests = 16

// mostTasks bounds the memory that one Job can take: the API server lets it ask for two billion tasks, and that
// would be the end of the controller, for all Jobs and again at each start.
const mostTasks = 1_000_000

// ownerIndex is the name of the cache's index of pods by the name of their Job.
const ownerIndex = "job"

// Reconcile brings one Job forward. Whatever it could not do, it does when it is called again.
func (c *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c.loadNodes(ctx)
	job := &batchv1.Job{}
	if err := c.client.Get(ctx, req.NamespacedName, job); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	pods, strangers, err := c.podsOf(ctx, req.NamespacedName, job.UID)
	if err != nil {
		return reconcile.Result{}, err
	}
	if job.UID == "" || ptr.Deref(job.Spec.ManagedBy, "") == ManagedBy {
		if err := c.releaseAll(ctx, strangers); err != nil { // of a Job that is gone
			return reconcile.Result{}, err
		}
	}
	late := c.mourn(req.NamespacedName, job.UID, strangers, c.now())
	if job.UID == "" || ptr.Deref(job.Spec.ManagedBy, "") != ManagedBy {
		c.forget(req.NamespacedName, job.UID)
		return c.comeBackAt(late), nil
	}
	next, err := c.job(ctx, job.DeepCopy(), pods)
	if !late.IsZero() && (next.IsZero() || late.Before(next)) {
		next = late
	}
	if apierrors.IsConflict(err) { // what was seen is older than what is there: the watch brings it
		return reconcile.Result{RequeueAfter: 50 * time.Millisecond}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return c.comeBackAt(next), nil
}

// comeBackAt asks for a visit at a time, for none at the zero time.
func (c *reconciler) comeBackAt(next time.Time) reconcile.Result {
	if next.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(next.Sub(c.now()), time.Millisecond)}
}

// podsOf returns the pods of a Job and those of other Jobs that had its name. They are the cache's: to copy thousands
// for each change of one would be most of the work. So nobody may change them.
func (c *reconciler) podsOf(ctx context.Context, name types.NamespacedName, uid types.UID) (own, strangers []*corev1.Pod, err error) {
	list := &corev1.PodList{}
	if err := c.client.List(ctx, list, client.InNamespace(name.Namespace), client.MatchingFields{ownerIndex: name.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, err
	}
	for i := range list.Items {
		p := &list.Items[i]
		if owner := metav1.GetControllerOf(p); owner != nil && owner.UID == uid {
			own = append(own, p)
		} else {
			strangers = append(strangers, p)
		}
	}
	slices.SortFunc(own, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return own, strangers, nil
}

// job brings a Job of ours forward and returns when to come back, the zero time for when something happens.
func (c *reconciler) job(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (next time.Time, err error) {
	name := client.ObjectKeyFromObject(job)
	switch {
	case job.DeletionTimestamp != nil: // whoever deletes it has said whether the pods are to go too
		s := c.state(name, job.UID)
		s.next = next
		c.clones.drop(job.UID)
		c.leave(s, c.takenBy(s, pods, c.now()))
		return s.next, c.releaseAll(ctx, pods)
	case finished(job):
		err := c.end(ctx, alive(pods), lostOver, 0)
		if err == nil { // else its pods have their slots
			next = c.finish(name, job.UID, pods)
		}
		return next, errors.Join(err, c.releaseAll(ctx, pods))
	}
	s := c.state(name, job.UID)
	s.next = time.Time{}
	err = c.proceed(ctx, job, s, pods)
	return s.next, err
}

// proceed does what there is to do for a Job that is neither over nor being deleted.
func (c *reconciler) proceed(ctx context.Context, job *batchv1.Job, s *state, pods []*corev1.Pod) error {
	if n := tasksOf(job); n > mostTasks {
		c.leave(c.state(client.ObjectKeyFromObject(job), job.UID), nil)
		c.complain(job, "size", "TooManyTasks", fmt.Sprintf("%d tasks, and %d are the most that the controller takes on", n, mostTasks))
		return nil
	}
	now := c.now()
	sc := sceneOf(job, pods)
	s.meet(sc.sights, now)
	t, err := tallyOf(job, sc, len(s.unseen), s.member != nil && s.member.gaveUp.Load(), now)
	if err != nil {
		return fmt.Errorf("status.completedIndexes or failedIndexes: %w", err)
	}
	s.keepQuota(job, t, sc)
	if at := deadlineOf(job, &t.status); at != nil && !t.ended {
		s.comeBack(*at)
	}
	if err := c.loadWinners(ctx, job, s); err != nil {
		return err
	}
	s.cutBefore(sc.sights)
	c.crown(job, s, t, sc.sights)
	queue := isQueue(job) && t.successes() > 0
	if t.ended || suspended(job) || queue { // else when it is known who has lost to whom
		if err := c.saveWinners(ctx, job, s, t.ended, now); err != nil {
			return err
		}
	}
	if !equality.Semantic.DeepEqual(&t.status, &job.Status) {
		if conditionOf(&t.status, batchv1.JobComplete) != nil {
			if err := c.remember(ctx, job, s, sc.sights); err != nil {
				return err
			}
		}
		before := job.Status
		job.Status = t.status
		if err := c.client.Status().Update(ctx, job); err != nil {
			return err
		}
		c.announce(job, &before)
	}
	if err := c.release(ctx, s, t.release); err != nil {
		return err
	}
	if err := c.removeLosers(ctx, job, s, t, sc, now); err != nil {
		return err
	}
	if t.ended || suspended(job) {
		c.depart(job, s, pods)
	}
	if err := c.conclude(ctx, job, s, t, sc, queue, now); err != nil || queue {
		return err
	}
	if t.ended || suspended(job) {
		c.leave(s, c.madeBy(s)) // its other pods are being deleted
		return nil
	}
	return c.drive(ctx, job, s, t, sc, now)
}

// conclude ends the pods of a Job that is over or suspended. Of a queue whose end has begun it ends none.
func (c *reconciler) conclude(ctx context.Context, job *batchv1.Job, s *state, t *tally, sc *scene, queue bool, now time.Time) error {
	pods := sc.pods
	switch {
	case t.ended && t.success:
		c.cutting(job, s, sc.sights, alive(pods), now)
		if err := c.saveWinners(ctx, job, s, true, now); err != nil {
			return err
		}
		return c.endLosers(ctx, job, t, pods)
	case t.ended: // as with Kubernetes' own controller, what a failed Job was still running counts as failed
		return c.delete(ctx, alive(pods))
	case suspended(job):
		c.clones.drop(job.UID)
		return c.end(ctx, alive(pods), lostPaused, 0)
	case queue: // who shares a queue ends by himself
		var wrong unusable
		if s.pool == nil && s.guestOf == nil { // the controller has just started
			if _, _, _, err := c.place(ctx, job, s); err != nil && !errors.As(err, &wrong) {
				return err
			}
		}
		c.depart(job, s, pods)
	}
	return nil
}

// drive asks the policy and carries out what it wants.
func (c *reconciler) drive(ctx context.Context, job *batchv1.Job, s *state, t *tally, sc *scene, now time.Time) error {
	over := t.completed.or(t.failed)
	if !isIndexed(job) {
		over = slices.Clone(s.spare(tasksOf(job), t)) // which changes, and other Jobs of the pool may read it
	}
	for i := range sc.sights { // a success that the status does not count, or not any more, leaves its task to be done
		if x := &sc.sights[i]; x.phase == succeeded && !over.has(x.index) {
			x.phase = gone
		}
	}
	want, err := c.visit(ctx, job, s, over, sc, now)
	var wrong unusable
	switch {
	case errors.As(err, &wrong):
		s.comeBack(now.Add(patience))
		return c.stand(ctx, job, s, sc, "PoolUnusable", err, now)
	case errors.Is(err, errAnnotation):
		return c.stand(ctx, job, s, sc, "InvalidAnnotation", err, now)
	case err != nil:
		return err
	}
	s.wrong = ""
	if want == nil {
		return nil
	}
	atOnce := c.cutting(job, s, sc.sights, podsOf(sc.sights, slices.Concat(want.losers, want.others)), now)
	if err := c.saveWinners(ctx, job, s, atOnce, now); err != nil {
		return err
	}
	if err := c.endAttempts(ctx, job, s, want, sc); err != nil {
		return err
	}
	return c.create(ctx, job, s, sc.sights, now)
}

// stand leaves a Job as it is for something that its user has to mend: what runs of it goes on.
func (c *reconciler) stand(ctx context.Context, job *batchv1.Job, s *state, sc *scene, reason string, err error, now time.Time) error {
	c.complain(job, err.Error(), reason, err.Error())
	c.depart(job, s, sc.pods)
	return c.saveWinners(ctx, job, s, false, now)
}

// wanted is what should end of a Job's attempts.
type wanted struct{ losers, others []*attempt }

// visit asks the core of the Job's pool. It returns nil if it does not know yet, or has given up the Job.
func (c *reconciler) visit(ctx context.Context, job *batchv1.Job, s *state, over indexSet, sc *scene, now time.Time) (*wanted, error) {
	p, how, slots, err := c.place(ctx, job, s)
	if err != nil {
		return nil, err
	}
	want, err := c.settingsOf(ctx, job, s, how)
	if err != nil {
		return nil, fmt.Errorf("%w%w", errAnnotation, err)
	}
	atOnce := int(ptr.Deref(job.Spec.Parallelism, 1))
	if how == nil {
		alone := want.alone()
		how = &alone
		// more seats than there can be attempts would only take memory
		slots = taken{int64(min(atOnce, tasksOf(job)*cmp.Or(want.attempts, sched.DefaultLimits().Attempts)))}
	} else if want.most = atOnce; atOnce == 0 {
		err := c.end(ctx, alive(sc.pods), lostSurplus, 0)
		if err == nil { // else its pods have their slots
			c.leave(s, c.madeBy(s))
		}
		return nil, err
	}
	law, resumable, at := how.law, how.resumable, how.place()
	newPolicy := func(spec string) (sched.Policy, error) { return c.newPolicy(spec, law, resumable, at) }
	if how.shared {
		want.size = sizeOf(job, how.unit)
	}
	seen := &entry{name: client.ObjectKeyFromObject(job), want: want, sights: sc.sights, over: over, past: s.past, cut: slices.Clone(s.cut)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kind != how.poolKind { // another Job has just seen that the pool has changed
		s.comeBack(now)
		return nil, nil
	}
	s.size = seen.size()
	seen.active = s.counted(sc, p.kind.names())
	m, wake, err := p.visit(job.UID, seen, *how, slots, newPolicy, now)
	c.wakeAll(wake)
	c.wakePool(p.name)
	switch s.member = m; {
	case err != nil:
		return nil, err
	case m == nil:
		s.comeBack(now.Add(patience))
		return nil, nil
	case m.gaveUp.Load():
		s.comeBack(now)
		return nil, nil
	}
	if p.run.wake != sched.Never {
		s.comeBack(p.run.start.Add(time.Duration(p.run.wake)))
	}
	c.watchDeadline(job, s, now)
	c.contend(p, now)
	losers, others := m.surplus()
	return &wanted{losers, others}, nil
}

// errAnnotation is in errors that the Job's user has to mend. It has no text of its own.
var errAnnotation = errors.New("")

// endAttempts ends the attempts that should end, and says that their slots are free.
func (c *reconciler) endAttempts(ctx context.Context, job *batchv1.Job, s *state, want *wanted, sc *scene) error {
	losers, others, strays := podsOf(sc.sights, want.losers), podsOf(sc.sights, want.others), alive(sc.strays)
	if err := c.end(ctx, strays, lostStray, 0); err != nil {
		return err
	}
	if err := c.end(ctx, losers, lostSurplus, c.graceOf(job)); err != nil {
		return err
	}
	if err := c.end(ctx, others, lostSurplus, 0); err != nil {
		return err
	}
	ended := slices.Concat(strays, losers, others)
	if len(ended) == 0 || s.pool == nil {
		return nil
	}
	for _, p := range ended {
		s.ending.Insert(p.UID)
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if e := s.pool.entries[job.UID]; e != nil {
		c.wakeAll(s.pool.count(e, s.counted(sc, s.pool.kind.names())))
	}
	return nil
}

// counted is what the pods of a Job take in zones: those that run or may come to run and are not about to end, and
// those that were made and have not been seen.
func (s *state) counted(sc *scene, zones []string) taken {
	sum, there := s.made(zones), sets.New[types.UID]()
	for _, p := range sc.pods {
		there.Insert(p.UID)
		if z := partIn(zones, partOf(p)); z >= 0 && !terminal(p) && p.DeletionTimestamp == nil && !s.ending.Has(p.UID) {
			sum[z] += s.size
		}
	}
	s.ending = s.ending.Intersection(there)
	return sum
}

// made is what the pods of a Job take in zones that were made and have not been seen.
func (s *state) made(zones []string) taken {
	sum := make(taken, len(zones))
	for _, x := range s.unseen {
		if z := partIn(zones, x.part); z >= 0 {
			sum[z] += s.size
		}
	}
	return sum
}

// wakePool has the status of a pool written.
func (c *reconciler) wakePool(name string) {
	if pools := c.look.Load(); name != "" && pools != nil {
		pools.knock(types.NamespacedName{Name: name}, statusEvery)
	}
}

// complain tells once what keeps a Job from running.
func (c *reconciler) complain(job *batchv1.Job, what, reason, message string) {
	s := c.state(client.ObjectKeyFromObject(job), job.UID)
	if s.wrong != what {
		s.wrong = what
		c.events.Eventf(job, nil, corev1.EventTypeWarning, reason, "Reconcile", "%s", message)
	}
}

// announce tells of conditions that have come to hold, in the words of Kubernetes' own controller.
func (c *reconciler) announce(job *batchv1.Job, before *batchv1.JobStatus) {
	for _, k := range []struct {
		kind               batchv1.JobConditionType
		event, reason, say string
	}{
		{batchv1.JobComplete, corev1.EventTypeNormal, "Completed", "Job completed"},
		{batchv1.JobSuspended, corev1.EventTypeNormal, "Suspended", "Job suspended"},
		{batchv1.JobFailed, corev1.EventTypeWarning, "", ""},
	} {
		holds := conditionOf(&job.Status, k.kind)
		if holds != nil && conditionOf(before, k.kind) == nil {
			c.events.Eventf(job, nil, k.event, cmp.Or(k.reason, holds.Reason), "Reconcile", "%s", cmp.Or(k.say, holds.Message))
		}
	}
	if conditionOf(before, batchv1.JobSuspended) != nil && conditionOf(&job.Status, batchv1.JobSuspended) == nil {
		c.events.Eventf(job, nil, corev1.EventTypeNormal, "Resumed", "Reconcile", "Job resumed")
	}
	if finished(job) && job.Status.StartTime != nil {
		observeJob(job, c.now())
	}
}

// state returns what is kept of a Job. Another one of the same name has nothing to do with it.
func (c *reconciler) state(name types.NamespacedName, uid types.UID) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.jobs[name]
	if s == nil || s.uid != uid {
		s = &state{uid: uid, unseen: map[ref]unseen{}, free: sets.New[types.UID](), ending: sets.New[types.UID]()}
		c.jobs[name] = s
	}
	return s
}

func (c *reconciler) forget(name types.NamespacedName, uid types.UID) {
	c.mu.Lock()
	s := c.jobs[name]
	delete(c.jobs, name)
	c.mu.Unlock()
	if s != nil {
		c.clones.drop(s.uid)
		c.leave(s, nil)
	} else if uid != "" {
		c.leave(&state{uid: uid}, nil)
	}
}

// comeBack brings forward when to look at the Job again. Who returns without it forgets what was asked for before: a
// pending visit is used up by the next event.
func (s *state) comeBack(at time.Time) {
	if s.next.IsZero() || at.Before(s.next) {
		s.next = at
	}
}

// meet crosses off the pods that the watch has brought, or was given long enough for.
func (s *state) meet(sights []sight, now time.Time) {
	for i := range sights {
		delete(s.unseen, sights[i].ref)
	}
	for r, x := range s.unseen {
		if now.Sub(x.made) >= unseenFor {
			delete(s.unseen, r)
		} else {
			s.comeBack(x.made.Add(unseenFor))
		}
	}
}

// podsOf returns the pods of attempts.
func podsOf(sights []sight, attempts []*attempt) []*corev1.Pod {
	var some []*corev1.Pod
	for i := range sights {
		if slices.ContainsFunc(attempts, func(a *attempt) bool { return a.ref == sights[i].ref }) {
			some = append(some, sights[i].pod)
		}
	}
	return some
}

func alive(pods []*corev1.Pod) []*corev1.Pod {
	var some []*corev1.Pod
	for _, p := range pods {
		if !terminal(p) && p.DeletionTimestamp == nil {
			some = append(some, p)
		}
	}
	return some
}

func finished(job *batchv1.Job) bool {
	return conditionOf(&job.Status, batchv1.JobComplete) != nil || conditionOf(&job.Status, batchv1.JobFailed) != nil
}
