package kube

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// pool is a core and the Jobs whose pods have its seats: those of a SlotPool, or a single one that has its seats alone.
// All that it keeps of a Job is what the Job saw last, so that the core can be made anew at any time.
//
// A pool of several Jobs is visited by one at a time, for as long as the core takes and never during a request. When a
// visit changes what there should be of other Jobs, they are woken.
type pool struct {
	name string // of the SlotPool, "" for a Job alone
	kind poolKind

	mu       sync.Mutex
	run      *run
	entries  map[types.UID]*entry
	expected sets.Set[types.UID] // Jobs that have not come since the controller started: the past is theirs, too
	latest   time.Time           // when one came
	came     []arrived           // the latest, by their starts
	slots    taken
	active   taken                // what pods take that count
	guests   map[types.UID]taken  // what pods take of Jobs that the core does not know any more
	held     map[types.UID]*entry // those whose pods wait for others to end

	contest *contest   // nil for one policy
	turns   []PoolTurn // of several
}

// entry is a Job of a pool as it was last.
type entry struct {
	name   types.NamespacedName
	want   settings
	sights []sight
	over   indexSet
	past   *live.Past // of earlier runs; nil for none
	cut    []cutOff
	m      *member
	active taken // what pods take that run, come to run, or were made and not seen yet
}

// patience is how long a pool waits for the next of the Jobs that it expects.
const patience = 30 * time.Second

func newPool(name string) *pool {
	p := &pool{name: name, expected: sets.New[types.UID]()}
	p.become(poolKind{})
	return p
}

// become makes a pool one of a kind, without Jobs.
func (p *pool) become(k poolKind) {
	p.kind, p.active, p.slots = k, make(taken, len(k.names())), make(taken, len(k.names()))
	p.run, p.entries, p.guests, p.held = nil, map[types.UID]*entry{}, map[types.UID]taken{}, map[types.UID]*entry{}
}

func (p *pool) shared() bool { return p.name != "" }

// visit lets a Job see its pool: the core hears what is new of it and decides. m is nil as long as Jobs are expected
// whose past belongs to the core's. wake are other Jobs that are to have a look.
func (p *pool) visit(uid types.UID, seen *entry, how rules, slots taken, newPolicy func(spec string) (sched.Policy, error), now time.Time) (m *member, wake []types.NamespacedName, err error) {
	e := p.entries[uid]
	if e == nil {
		p.note(uid, seen)
		e = &entry{name: seen.name}
		p.entries[uid], p.latest = e, now
		p.expected.Delete(uid)
	}
	p.active.add(p.guests[uid], -1)
	delete(p.guests, uid)
	changed := e.m != nil && e.want != seen.want
	e.want, e.sights, e.over, e.past, e.cut = seen.want, seen.sights, seen.over, seen.past, seen.cut
	wake, p.slots = p.count(e, seen.active), slots
	if p.run == nil && p.expected.Len() > 0 && now.Sub(p.latest) < patience {
		return nil, wake, nil
	}
	p.hear(now)
	switch {
	case p.run == nil || p.run.rules != how || changed:
		p.compete(how.policy, newPolicy, now)
		if err := p.remake(how, newPolicy); err != nil {
			return nil, wake, err
		}
		for _, x := range p.entries {
			p.run.touch(x.m)
		}
	case e.m == nil:
		if err := p.join(e); err != nil {
			p.run = nil
			return nil, wake, err
		}
	default:
		e.m.look(e.sights, e.over)
		e.m.cut = e.cut
	}
	p.run.came = p.came
	if err := p.run.step(now, p.seats()); err != nil {
		p.run = nil // and the next one is made from what there is
		return nil, wake, err
	}
	return e.m, append(wake, p.touched(e.m)...), nil
}

// seats are what the core has to give: not those of Jobs that it does not know any more.
func (p *pool) seats() taken {
	n := slices.Clone(p.slots)
	for _, guest := range p.guests {
		n.add(guest, -1)
	}
	for z := range n {
		n[z] = max(0, n[z])
	}
	return n
}

// remake makes the core anew, which lives through the past of all Jobs.
func (p *pool) remake(how rules, newPolicy func(spec string) (sched.Policy, error)) error {
	all := make([]*entry, 0, len(p.entries))
	for _, e := range p.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(a.want.start.Compare(b.want.start), cmp.Compare(a.name.Namespace, b.name.Namespace), cmp.Compare(a.name.Name, b.name.Name))
	})
	decides, turns := p.turnsFrom(how.policy, all[0].want.start)
	policy, err := newPolicy(decides)
	if err != nil {
		return fmt.Errorf("%w%w", errAnnotation, err)
	}
	if p.run, err = newRun(how, policy, all[0].want.start); err != nil {
		p.run = nil
		return err
	}
	p.expected = sets.New[types.UID]()
	p.run.newPolicy, p.run.decides, p.run.turns = newPolicy, decides, turns
	for _, e := range all {
		if err := p.join(e); err != nil {
			p.run = nil
			return err
		}
	}
	return nil
}

func (p *pool) join(e *entry) error {
	e.m = newMember(e.name, e.want)
	e.m.look(e.sights, e.over)
	e.m.past, e.m.cut = e.past, e.cut
	return p.run.join(e.m)
}

// touched returns the Jobs of which there should be other attempts now, but for the one that is there.
func (p *pool) touched(here *member) (wake []types.NamespacedName) {
	for _, m := range p.run.touched {
		if m.touched = false; m != here {
			wake = append(wake, m.name)
		}
	}
	p.run.touched = p.run.touched[:0]
	return wake
}

// count notes what the pods of a Job take that count, and returns the Jobs that have waited for one to end.
func (p *pool) count(e *entry, n taken) (wake []types.NamespacedName) {
	fewer := make(taken, len(p.active))
	fewer.add(e.active, 1)
	fewer.add(n, -1)
	p.active.add(fewer, -1)
	e.active = n
	if fewer.any() {
		for uid, x := range p.held {
			wake = append(wake, x.name)
			delete(p.held, uid)
		}
	}
	return wake
}

// take lets a Job make one more pod if its part of the pool has a slot for it. Where a slot was given to another Job,
// the pod that had it has to end first.
func (p *pool) take(uid types.UID, part int) bool {
	e := p.entries[uid]
	if p.full(uid, part) {
		p.held[uid] = e
		return false
	}
	e.active[part] += e.size()
	p.active[part] += e.size()
	return true
}

// full tells whether no pod of a Job may be made in a part of the pool now.
func (p *pool) full(uid types.UID, part int) bool {
	return p.shared() && p.active[part]+p.entries[uid].size() > p.slots[part]
}

// size is what a pod takes.
func (e *entry) size() int64 { return max(1, e.want.size) }

// giveBack is for a pod that could not be made in a part of the pool.
func (p *pool) giveBack(uid types.UID, part string) {
	z := partIn(p.kind.names(), part)
	if e := p.entries[uid]; e != nil && z >= 0 {
		e.active[z] -= e.size()
		p.active[z] -= e.size()
	}
}

// expects tells whether a Job has not come since the controller started.
func (p *pool) expects(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.expected.Has(uid)
}

// guest returns what pods of a Job take that the core does not know any more.
func (p *pool) guest(uid types.UID) taken {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.guests[uid]
}

// leave lets a Job go, whose pods may still take so much. It returns a Job that has to have a look, if there are
// others: nobody else may ask the core.
func (p *pool) leave(uid types.UID, still taken) (wake []types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected.Delete(uid)
	if len(still) != len(p.active) { // the pool has come to be of another kind meanwhile
		still = nil
	}
	p.active.add(p.guests[uid], -1)
	p.active.add(still, 1)
	if p.guests[uid] = still; !still.any() {
		delete(p.guests, uid)
	}
	e := p.entries[uid]
	if e != nil {
		wake = p.count(e, nil)
		delete(p.entries, uid)
		delete(p.held, uid)
		if p.run != nil && e.m != nil && e.m.run == p.run {
			p.run.leave(e.m)
		}
	}
	if len(p.entries) == 0 {
		p.run = nil
		return nil
	}
	var first *entry
	for _, x := range p.entries {
		if first == nil || x.name.String() < first.name.String() {
			first = x
		}
	}
	return append(wake, first.name)
}
