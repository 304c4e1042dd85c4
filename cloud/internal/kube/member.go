package kube

import (
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// member is a Job in a core, with its attempts.
type member struct {
	settings
	name    types.NamespacedName
	run     *run // that it has joined, nil before
	job     sched.JobID
	first   sched.TaskID // of the job in the core
	tasks   []int        // index of each task of the core
	indexes []history    // by index
	tied    map[sched.AttemptID]*attempt
	sights  map[ref]*sight // as they were last
	over    indexSet       // likewise
	idle    []int          // by zone, pods that may go on although no attempt stands for them; nil for none
	touched bool           // it is in run.touched
	gaveUp  atomic.Bool    // by the policy
	past    *live.Past     // of earlier runs; nil for none
	late    lateness
	cut     []cutOff // attempts that were ended before they were done
}

// history is what happened to an index.
type history struct {
	attempts []*attempt // in order of number
	failures int        // told to the core
	lost     []sight    // of pods that are gone, if they matter to whoever goes on from what was saved
}

func newMember(name types.NamespacedName, s settings) *member {
	s.size = max(1, s.size)
	return &member{settings: s, name: name, indexes: make([]history, s.completions), tied: map[sched.AttemptID]*attempt{}}
}

// spec is what the core is told of the Job: what is left to do. Indexes that are over and have no pod to tell how long
// it took are not the core's any more.
func (m *member) spec(r *run) *sched.JobSpec {
	shown := make(indexSet, m.completions)
	for _, s := range m.sights {
		if s.phase == succeeded {
			shown[s.index] = true
		}
	}
	m.tasks = m.tasks[:0]
	for i := range m.completions {
		if !m.over.has(i) || shown[i] {
			m.tasks = append(m.tasks, i)
		}
	}
	spec := m.settings.spec(len(m.tasks), r.shared)
	if !m.deadline.IsZero() {
		spec.Deadline = max(1, r.instant(m.deadline))
	}
	m.locate(spec, m.tasks, &r.rules)
	return spec
}

// spec is what the core is told of a Job of so many tasks, but for its deadline and its zones.
func (s *settings) spec(tasks int, shared bool) *sched.JobSpec {
	spec := &sched.JobSpec{Retries: maxForgiven, Stages: []sched.StageSpec{{Tasks: tasks, Mean: s.mean, SD: s.sd, Resumable: s.resumable, Class: s.class}}}
	if shared {
		spec.MaxLive, spec.MaxAttempts = s.most, s.attempts
	}
	return spec
}

// look notes what the pods show, pods that are new, and the indexes that are over.
func (m *member) look(sights []sight, over indexSet) {
	m.over = over
	before := m.sights
	m.sights = make(map[ref]*sight, len(sights))
	for i := range sights {
		s := &sights[i]
		m.sights[s.ref] = s
		h := &m.indexes[s.index]
		at, known := slices.BinarySearchFunc(h.attempts, s.ref, (*attempt).compare)
		if !known {
			h.attempts = slices.Insert(h.attempts, at, &attempt{ref: s.ref, of: m, clone: s.clone})
		}
		h.attempts[at].seen, h.attempts[at].node = true, s.node
	}
	for key, s := range before {
		if m.sights[key] == nil && (s.offset > 0 || s.resumed && s.phase == failed) {
			h := &m.indexes[s.index]
			h.lost = append(h.lost, sight{ref: s.ref, phase: s.phase, progress: s.progress, offset: s.offset, resumed: s.resumed})
		}
	}
	for _, a := range m.tied {
		m.run.occupy(a, -1)
		m.run.settle(a)
		m.run.occupy(a, 1)
		m.run.ask(a)
	}
}

// saved returns the furthest offset that attempts of a task have reported at or before a fraction of its work, 0 if
// there is none. An attempt that went on from an offset and failed casts doubt on what there was before it.
func (m *member) saved(task int, from float64) int64 {
	h := &m.indexes[task]
	all := slices.Clone(h.lost)
	for _, a := range h.attempts {
		if s := m.sights[a.ref]; s != nil {
			all = append(all, *s)
		}
	}
	doubt := -1
	for i := range all {
		if s := &all[i]; s.resumed && s.phase == failed {
			doubt = max(doubt, s.number)
		}
	}
	best, offset := 0.0, int64(0)
	for i := range all {
		if s := &all[i]; s.number > doubt && s.offset > 0 && s.progress <= from && s.progress > best {
			best, offset = s.progress, s.offset
		}
	}
	return offset
}

// missing returns the attempts that should have a pod and never had one: originals first, by index.
func (m *member) missing() []*attempt {
	var all []*attempt
	for _, a := range m.tied {
		if !a.seen && !m.over.has(a.index) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *attempt) int {
		if a.clone != b.clone {
			return map[bool]int{true: 1, false: -1}[a.clone]
		}
		return a.compare(b.ref)
	})
	return all
}

// promote makes originals of clones that have no pod and nobody to be a clone of: their originals have ended without
// result. Else a task would wait for a clone that may not be made, because of a quota or a gate, or since it is a dry
// run.
func (m *member) promote(made func(*attempt) bool) {
	for _, a := range m.missing() {
		if !a.clone || made(a) {
			continue
		}
		alone := !slices.ContainsFunc(m.indexes[a.index].attempts, func(b *attempt) bool { return b != a && b.id != 0 && (made(b) || !b.clone) })
		if alone {
			a.clone, a.refused = false, time.Time{}
		}
	}
}

// surplus returns the attempts whose pods should end: losers, and those that have no seat. A pod that nothing stands
// for, of an index that is not over, may go on while there is a seat for it: the policy is likely to take it up.
func (m *member) surplus() (losers, others []*attempt) {
	var idle []*attempt
	for key, s := range m.sights {
		h := &m.indexes[key.index]
		at, _ := slices.BinarySearchFunc(h.attempts, key, (*attempt).compare)
		a := h.attempts[at]
		switch {
		case !s.live || s.leaving:
		case m.over.has(a.index), a.fate != open:
			losers = append(losers, a)
		case a.id == 0:
			idle = append(idle, a)
		}
	}
	slices.SortFunc(idle, func(a, b *attempt) int { return a.compare(b.ref) })
	return losers, m.exceed(idle)
}

// exceed returns the pods that no attempt stands for, of those that are live, for which there is no seat.
func (m *member) exceed(idle []*attempt) (others []*attempt) {
	r := m.run
	if m.idle == nil {
		m.idle = make([]int, len(r.seats))
	}
	room, most := make([]int, len(r.seats)), len(idle)
	for z := range room {
		k := &r.seats[z]
		k.idle -= m.idle[z]
		room[z], m.idle[z] = k.up-k.taken-k.idle, 0
	}
	if m.most > 0 {
		most = m.most - int(r.core.View().Job(m.job).Live)
	}
	for _, a := range idle {
		z := partIn(r.names, m.sights[a.ref].part)
		if z < 0 || most <= 0 || room[z] <= 0 {
			others = append(others, a)
			continue
		}
		most--
		room[z]--
		m.idle[z]++
		r.seats[z].idle++
	}
	return others
}
