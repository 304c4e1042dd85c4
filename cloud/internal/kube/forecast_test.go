package kube

import (
	"fmt"
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// A Job of a pool waits for those before it, and its chance says so. Two tasks of exp(10 s), one after the other, are done
// within 20 s with Erlang's 1-3/e^2; a Job alone with 1-1/e^2. What a Job has told of
// itself counts as much as what earlier ones have; where nothing is known the formula has its say at once.
func TestChanceOfWaitingJob(t *testing.T) {
	const formula = 0.123
	erlang := 1 - 3*math.Exp(-2)
	past := &live.Past{}
	var won []sched.Time
	for i := range 200 {
		won = append(won, sched.FromSeconds(-10*math.Log1p(-(float64(i)+0.5)/200)))
	}
	for k := range 10 {
		past.Add("job", fmt.Sprint(k), []string{pastStage}, [][]sched.Time{won}, [][]sched.Time{nil})
	}
	for _, c := range []struct {
		name   string
		law    string
		past   *live.Past
		within time.Duration
		want   float64
	}{
		{"law", "exp:mean=10", nil, 20 * time.Second, erlang},
		{"earlier Jobs", "", past, 20 * time.Second, erlang},
		{"over", "exp:mean=10", nil, time.Nanosecond, 0},
		{"nothing is known", "", nil, 20 * time.Second, formula},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPool("pool")
			how := rules{policy: "fifo", shared: true, limits: sched.DefaultLimits()}
			newPolicy := func(string) (sched.Policy, error) { return policy.New("fifo", 1) }
			var last *member
			for i := range 2 {
				e := &entry{
					name: types.NamespacedName{Namespace: "ns", Name: fmt.Sprint("job", i)}, over: make(indexSet, 1), past: c.past,
					want: settings{policy: "fifo", law: c.law, completions: 1, most: 1, start: epoch.Add(time.Duration(i)), deadline: epoch.Add(c.within)},
				}
				m, _, err := p.visit(types.UID(e.name.Name), e, how, taken{1}, newPolicy, epoch.Add(time.Duration(i)))
				if err != nil {
					t.Fatal(err)
				}
				last = m
			}
			asked := 0
			r := &reconciler{chance: func(*sched.View, sched.JobID, string) (float64, bool) { asked++; return formula, true }}
			got, ok, again := r.chanceOf(last, epoch)
			if c.want == erlang && (ok || again != lookSoon) {
				t.Errorf("before the first play: %v, %v, again after %v", got, ok, again)
			}
			for begin := time.Now(); !ok && time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
				got, ok, _ = r.chanceOf(last, epoch)
			}
			if math.Abs(got-c.want) > 0.15 { // three standard errors of 39 plays are 0.23 at a half, and of 199 are 0.1
				t.Errorf("%.3f, want %.3f", got, c.want)
			}
			if (asked > 0) != (c.want == formula) {
				t.Errorf("the formula was asked %d times", asked)
			}
		})
	}
}

// What is played keeps to its share of a processor, and nobody plays beside another.
func TestPlayGate(t *testing.T) {
	g := &playGate{}
	if !g.enter() || g.enter() {
		t.Fatal("two play at once")
	}
	g.busy, g.next = false, time.Now().Add(time.Hour)
	if g.enter() {
		t.Error("one plays while another's share is not over")
	}
	if g.next = time.Now(); !g.enter() {
		t.Error("nobody may play")
	}
}

// A pool keeps the latest Jobs that came, those that have left too, so that plays foresee others like them.
func TestPoolKeepsWhoCame(t *testing.T) {
	p := newPool("pool")
	how := rules{policy: "fifo", shared: true, limits: sched.DefaultLimits()}
	newPolicy := func(string) (sched.Policy, error) { return policy.New("fifo", 1) }
	visit := func(i int) *member {
		uid, at := types.UID(fmt.Sprint("job", i)), epoch.Add(time.Duration(i)*time.Second)
		e := &entry{
			name: types.NamespacedName{Namespace: "ns", Name: string(uid)}, over: make(indexSet, 1+i),
			want: settings{policy: "fifo", law: "exp:mean=10", completions: 1 + i, most: 1, start: at, deadline: at.Add(time.Minute)},
		}
		m, _, err := p.visit(uid, e, how, taken{1}, newPolicy, at)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for i := range 60 {
		if visit(i); i%2 == 0 {
			p.leave(types.UID(fmt.Sprint("job", i)), nil)
		}
	}
	last := visit(59) // again, which is no arrival
	came := last.run.state().Came
	if len(came) != promise.MostCame {
		t.Fatalf("%d Jobs came", len(came))
	}
	for i, c := range came {
		if i > 0 && c.At-came[i-1].At != sched.Second || c.Spec.Stages[0].Tasks != 11+i || c.Spec.Deadline != 60*sched.Second || len(c.Known[0].Past) == 0 {
			t.Errorf("%d: %+v", i, c)
		}
	}
}
