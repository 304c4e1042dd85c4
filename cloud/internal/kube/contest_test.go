package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// remembered is what is kept of an earlier Job of that name, whose tasks took 10 s.
func remembered(t *testing.T, name string) *corev1.ConfigMap {
	job := memberJob(name, 1, 1)
	past := &live.Past{}
	past.Add(name, "earlier", []string{pastStage}, [][]sched.Time{slices.Repeat([]sched.Time{10 * sched.Second}, 20)}, [][]sched.Time{nil})
	text, err := json.Marshal(past)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: pastKey(job)}, Data: map[string]string{live.PastFile: string(text)}}
}

// A pool of two policies plays both. It goes on under the one under which Jobs end sooner, ends no pod for that, and so
// does the next controller.
func TestPoolContest(t *testing.T) {
	const spec = "fifo+srpt"
	sizes := []int32{40, 20, 4, 4, 8}
	objects := []client.Object{testPool(4, spec)}
	for i, n := range sizes {
		name := fmt.Sprint("job", i)
		objects = append(objects, memberJob(name, n, 4), remembered(t, name))
	}
	b := newBench(t, objects...)
	look := func() (*SlotPool, *pool) {
		if err := b.around(); err != nil {
			t.Fatal(err)
		}
		request := reconcile.Request{NamespacedName: types.NamespacedName{Name: "pool"}}
		if _, err := (poolReconciler{b.reconciler}).Reconcile(context.Background(), request); err != nil {
			t.Fatal(err)
		}
		sp := &SlotPool{}
		if err := b.api.Get(context.Background(), request.NamespacedName, sp); err != nil {
			t.Fatal(err)
		}
		return sp, b.pools["pool"]
	}
	b.beat()
	sp, p := look()
	before := podNames(b.live())
	for begin := time.Now(); p.run.decides == "fifo"; sp, _ = look() {
		if time.Since(begin) > time.Minute {
			t.Fatalf("nobody has won: %+v", sp.Status)
		}
	}
	if after := podNames(b.live()); len(before) != 4 || before[0][:4] != "job0" || !slices.Equal(before, after) {
		t.Fatalf("%v run and %v did", after, before)
	}
	if st := &sp.Status; len(st.Turns) != 2 || st.Turns[0].Policy != "fifo" || st.Turns[1].Policy != "srpt" || st.Portfolio == "" {
		t.Fatalf("%+v", st)
	}
	b.restart()
	sp, p = look()
	if after := podNames(b.live()); p == nil || p.run.decides != "srpt" || len(sp.Status.Turns) != 2 || !slices.Equal(before, after) {
		t.Fatalf("after a restart: %v run and %v did: %+v", after, before, sp.Status)
	}
	for range 2 { // the first four pods end, and small Jobs are next
		b.clock = b.clock.Add(10 * time.Second)
		b.beat()
		look()
	}
	if after := podNames(b.live()); len(after) != 4 || slices.ContainsFunc(after, func(name string) bool { return name[:4] == "job0" }) {
		t.Errorf("%v run", after)
	}
}

// Clones of a policy outlive its turn, and that the core lives through the past again.
func TestTurnsEndNothing(t *testing.T) {
	const spec = "srew:slot=0s+srpt"
	p := newPool("pool")
	limits := sched.DefaultLimits()
	limits.Clones = sched.CloneBudget{Floor: sched.Unlimited}
	how := rules{policy: spec, shared: true, limits: limits}
	newPolicy := func(spec string) (sched.Policy, error) { return policy.New(spec, 1) }
	now := epoch
	visit := func(name string, tasks int) *member {
		now = now.Add(time.Second)
		e := &entry{
			name: types.NamespacedName{Namespace: "ns", Name: name}, over: make(indexSet, tasks),
			want: settings{policy: spec, completions: tasks, most: 8, start: now, mean: 10 * sched.Second, sd: 10 * sched.Second},
		}
		if x := p.entries[types.UID(name)]; x != nil {
			e.want.start = x.want.start
			for _, h := range x.m.indexes {
				for _, a := range h.attempts {
					e.sights = append(e.sights, sight{ref: a.ref, clone: a.clone, live: true, phase: running, begun: x.want.start})
				}
			}
		}
		m, _, err := p.visit(types.UID(name), e, how, taken{8}, newPolicy, now)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := visit("job", 2)
	if len(m.tied) <= 2 {
		t.Fatalf("%d attempts, no clones", len(m.tied))
	}
	n := len(m.tied)
	visit("job", 2)
	p.contest.playing = make(chan *portfolio.Verdict, 1)
	p.contest.playing <- &portfolio.Verdict{Jobs: 1, Flow: []float64{2, 1}, Gain: []float64{0, 1}, Half: []float64{0, 0}, Best: 1, Change: true}
	if m = visit("job", 2); p.run.decides != "srpt" || len(m.tied) != n {
		t.Fatalf("%s decides, and of %d attempts %d are left", p.run.decides, n, len(m.tied))
	}
	// A Job that is larger comes, and its tasks find no slot that a clone has.
	if other := visit("other", 4); len(other.tied) != 8-n {
		t.Errorf("the other Job has %d attempts beside %d", len(other.tied), n)
	}
	p.run = nil // as the rules may change
	if m = visit("job", 2); p.run.decides != "srpt" || len(m.tied) != n {
		t.Errorf("once more: %s decides, and of %d attempts %d are left", p.run.decides, n, len(m.tied))
	}
	fresh := newPool("pool") // a new controller, which has read the status
	fresh.turns, fresh.entries = p.turns, p.entries
	p = fresh
	if m = visit("job", 2); p.run.decides != "srpt" || len(m.tied) != n {
		t.Errorf("after a restart: %s decides, and of %d attempts %d are left", p.run.decides, n, len(m.tied))
	}
}

// Who decides at the start of the oldest Job, and who later, is by the turns; those of other policies do not count.
func TestTurnsFrom(t *testing.T) {
	at := func(s int) metav1.MicroTime { return metav1.NewMicroTime(epoch.Add(time.Duration(s) * time.Second)) }
	newPolicy := func(spec string) (sched.Policy, error) { return policy.New(spec, 1) }
	turns := []PoolTurn{{"fifo", at(0)}, {"srpt", at(10)}, {"fair", at(20)}}
	for _, c := range []struct {
		spec  string
		start int
		first string
		later int
	}{
		{"fifo+srpt+fair", -5, "fifo", 2},
		{"fifo+srpt+fair", 10, "fifo", 2}, // nobody knows who came first
		{"fifo+srpt+fair", 11, "srpt", 1},
		{"fifo+srpt+fair", 30, "fair", 0},
		{"fair+srpt+fifo", 12, "srpt", 1},
		{"srpt+late", 12, "srpt", 0}, // fifo is not one of them any more
		{"srpt", 12, "srpt", 0},
	} {
		p := newPool("pool")
		p.turns = slices.Clone(turns)
		p.compete(c.spec, newPolicy, epoch)
		if first, later := p.turnsFrom(c.spec, at(c.start).Time); first != c.first || len(later) != c.later {
			t.Errorf("%+v: %s, %v", c, first, later)
		}
	}
}
