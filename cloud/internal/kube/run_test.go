package kube

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// world is a cluster that shows what it likes, when it likes.
type world struct {
	t     *rapid.T
	spec  string
	n     int
	seats int
	now   time.Time
	run   *run
	m     *member
	pods  map[ref]*sight // as they are
	shown map[ref]sight  // as the controller saw them last: of any pod, something that it once was
	done  indexSet       // that the status knows
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newWorld(t *rapid.T, spec string) *world {
	w := &world{
		t: t, spec: spec, n: rapid.IntRange(1, 12).Draw(t, "completions"), seats: rapid.IntRange(1, 8).Draw(t, "parallelism"), now: epoch,
		pods: map[ref]*sight{}, shown: map[ref]sight{},
	}
	w.done = make(indexSet, w.n)
	w.restart()
	return w
}

// restart is a new controller: it knows the status and lists the pods.
func (w *world) restart() {
	p, err := policy.New(w.spec, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	clear(w.shown)
	var sights []sight
	for r, s := range w.pods {
		w.shown[r] = *s
		sights = append(sights, *s)
	}
	w.run, w.m = alone(settings{policy: w.spec, completions: w.n, start: epoch, deadline: epoch.Add(100 * time.Hour)}, p)
	w.m.look(sights, w.done)
	if err := w.run.join(w.m); err != nil {
		w.t.Fatal(err)
	}
}

// alone returns a core and the only Job that is to join it.
func alone(s settings, p sched.Policy) (*run, *member) {
	r, err := newRun(s.alone(), p, s.start)
	if err != nil {
		panic(err)
	}
	return r, newMember(types.NamespacedName{Namespace: "ns", Name: "job"}, s)
}

// refs returns the attempts in a map in order, so that a failure can be repeated.
func refs[T any](m map[ref]T) []ref {
	return slices.SortedFunc(maps.Keys(m), func(a, b ref) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number)) })
}

// watch lets some of what has changed become known.
func (w *world) watch(all bool) {
	for _, r := range refs(w.pods) {
		if all || rapid.Bool().Draw(w.t, "seen") {
			w.shown[r] = *w.pods[r]
		}
	}
	for _, r := range refs(w.shown) {
		if w.pods[r] == nil && (all || rapid.Bool().Draw(w.t, "gone")) {
			delete(w.shown, r)
		}
	}
}

// step is one round of the controller.
func (w *world) step() {
	var sights []sight
	for _, s := range w.shown {
		sights = append(sights, s)
		if s.phase == succeeded {
			w.done[s.index] = true
		}
	}
	w.m.look(sights, w.done)
	if err := w.run.step(w.now, taken{int64(w.seats)}); err != nil {
		w.t.Fatal(err)
	}
	if n := len(w.run.byID); n > w.seats {
		w.t.Fatalf("%d attempts in %d seats", n, w.seats)
	}
	for id, a := range w.run.byID { // also if its seat was lost and the policy has launched it anew
		s, seen := w.shown[a.ref]
		if seen && w.run.core.View().Rows().Waiting(id) == !s.begun.IsZero() && s.progress == 0 && a.told == 0 { // progress told is a beginning, of a pod that went since too
			w.t.Fatalf("attempt %d of index %d began at %v, to the core it waits: %v", a.number, a.index, s.begun, w.run.core.View().Rows().Waiting(id))
		}
	}
	for _, a := range w.m.missing() {
		if w.done[a.index] {
			w.t.Fatalf("index %d is over and gets attempt %d", a.index, a.number)
		}
		if w.pods[a.ref] == nil { // else its name exists, and the watch has not told yet
			w.pods[a.ref] = &sight{ref: a.ref, clone: a.clone, live: true}
		}
	}
	losers, others := w.m.surplus()
	for _, a := range append(losers, others...) {
		if !w.done[a.index] && a.id != 0 {
			w.t.Fatalf("attempt %d of index %d is wanted and ended", a.number, a.index)
		}
		delete(w.pods, a.ref) // its finalizer is gone, so it may vanish at once
	}
}

func (w *world) live() (all []*sight) {
	for _, r := range refs(w.pods) {
		if s := w.pods[r]; s.live {
			all = append(all, s)
		}
	}
	return all
}

// happen changes one pod.
func (w *world) happen() {
	all := w.live()
	if len(all) == 0 {
		return
	}
	s := all[rapid.IntRange(0, len(all)-1).Draw(w.t, "pod")]
	switch rapid.IntRange(0, 7).Draw(w.t, "what") {
	case 0, 1, 2:
		if s.phase == waiting {
			s.phase, s.begun = running, w.now.Truncate(time.Second)
		}
	case 3, 4:
		if s.begun.IsZero() && rapid.Bool().Draw(w.t, "begun") {
			s.begun = w.now.Truncate(time.Second)
		}
		s.phase, s.live, s.ended = succeeded, false, w.now.Truncate(time.Second)
	case 5:
		s.phase, s.live, s.ended = failed, false, w.now
	case 6:
		s.phase, s.live = gone, false
	case 7:
		s.progress = rapid.Float64Range(0, 1).Draw(w.t, "progress")
	}
}

// policiesOfJobs are those that a Job may be run under.
func policiesOfJobs() (all []string) {
	for _, e := range policy.Entries() {
		all = append(all, e.Name)
	}
	return all
}

// Under every policy, whatever the watch loses, repeats and delays, and however often the controller is killed, no wanted attempt is ended, there are
// never more attempts than seats, an index that is over gets no more, and once the storm is over the Job completes.
func TestRunThroughStorms(t *testing.T) {
	all := policiesOfJobs()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.SampledFrom(all).Draw(t, "policy"))
		for range rapid.IntRange(0, 60).Draw(t, "rounds") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				w.restart()
			case 1:
				w.seats = rapid.IntRange(0, 8).Draw(t, "parallelism")
			case 2:
				if all := w.live(); len(all) > 0 { // removed by force
					delete(w.pods, all[rapid.IntRange(0, len(all)-1).Draw(t, "removed")].ref)
				}
			default:
				w.happen()
			}
			w.watch(false)
			w.step()
		}
		w.calm()
	})
}

// calm lets everything that runs succeed, and fails if the Job does not complete.
func (w *world) calm() {
	w.seats = max(1, w.seats)
	for range 40 + 10*w.n {
		w.watch(true)
		w.step()
		if w.done.count() == w.n {
			return
		}
		w.now = w.now.Add(10 * time.Second)
		for _, s := range w.live() {
			s.phase, s.live, s.begun, s.ended = succeeded, false, w.now.Add(-5*time.Second), w.now
		}
	}
	w.t.Fatalf("%s: only %v of %d indexes complete; %s", w.spec, w.done, w.n, w.picture())
}

func (w *world) picture() string {
	text := fmt.Sprintf("%d seats, wake %v, now %v", w.seats, w.run.wake, w.run.now())
	for r, s := range w.pods {
		text += fmt.Sprintf("\n%v: %+v", r, *s)
	}
	for _, a := range w.run.byID {
		text += fmt.Sprintf("\ntied %+v", *a)
	}
	return text
}
