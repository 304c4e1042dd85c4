package kit

import "github.com/tailcut/tailcut/sched"

// Lists are doubly linked lists of running attempts. An attempt is in one list at most, so that all lists of a policy
// share one table, whose memory is bounded by the attempts that run at once. A policy keeps those it watches in order
// of their start: the oldest is the first that can be late.
//
// Everything costs O(1), but for InsertByStart.
type Lists struct{ rows []Link }

// List is one of the lists; its zero value is empty.
type List struct{ first, last int32 } // rows plus 1, 0 for none

// Link is an attempt in a list. A pointer to one stands until the next attempt is added.
type Link struct {
	list       *List      // nil for none
	Started    sched.Time // of the attempt, or by what else the list is sorted
	prev, next int32      // as in List
	gen        uint32
	Task       sched.TaskID
}

// Empty tells whether there is nothing in a list.
func (l *List) Empty() bool { return l.first == 0 }

// First returns what is first in a list, nil if it is empty.
func (l *Lists) First(of *List) *Link { return l.at(of.first) }

// Next returns what comes after an attempt in its list, nil if it is the last.
func (l *Lists) Next(x *Link) *Link { return l.at(x.next) }

func (l *Lists) at(place int32) *Link {
	if place == 0 {
		return nil
	}
	return &l.rows[place-1]
}

// place returns the row of what is in a list, plus 1.
func (l *Lists) place(x *Link) int32 {
	if x.prev == 0 {
		return x.list.first
	}
	return l.rows[x.prev-1].next
}

// Attempt returns the attempt of a link.
func (l *Lists) Attempt(v *sched.View, x *Link) sched.AttemptID {
	return v.Rows().AttemptIn(int(l.place(x) - 1))
}

// ListOf returns the list that an attempt is in, nil for none.
func (l *Lists) ListOf(a sched.AttemptID) *List {
	if row := a.Row(); row < len(l.rows) && l.rows[row].gen == a.Generation() {
		return l.rows[row].list
	}
	return nil
}

// Append adds an attempt that is in no list at the end of one.
func (l *Lists) Append(to *List, a sched.AttemptID, t sched.TaskID, started sched.Time) {
	l.insert(to, l.add(a, t, started), to.last)
}

// InsertByStart adds an attempt that is in no list to one that is sorted by start, then task. It searches from the
// end of the list, where a new attempt belongs; what is left of a pair after one of the two ended without result may
// belong anywhere.
func (l *Lists) InsertByStart(to *List, a sched.AttemptID, t sched.TaskID, started sched.Time) {
	place, after := l.add(a, t, started), to.last
	for x := l.at(after); x != nil && (x.Started > started || x.Started == started && x.Task > t); x = l.at(after) {
		after = x.prev
	}
	l.insert(to, place, after)
}

// Stack adds an attempt that is in no list to the beginning of one, or behind an attempt of it that was stacked before.
func (l *Lists) Stack(to *List, behind *Link, a sched.AttemptID, t sched.TaskID, started sched.Time) *Link {
	after := int32(0)
	if behind != nil {
		after = l.place(behind)
	}
	place := l.add(a, t, started)
	l.insert(to, place, after)
	return l.at(place)
}

// Watch adds the only attempt of a task to a list in order of start, unless it is in one. One that waits is left out
// until it begins.
func (l *Lists) Watch(v *sched.View, to *List, t sched.TaskID) {
	a, ok := Survivor(v, t)
	if !ok || l.ListOf(a) != nil {
		return
	}
	if started := v.Rows().Started(a); started < v.Now() {
		l.InsertByStart(to, a, t, started)
	} else {
		l.Append(to, a, t, started)
	}
}

// Remove takes an attempt out of its list, if it is in one, which it returns.
func (l *Lists) Remove(a sched.AttemptID) *List {
	from := l.ListOf(a)
	if from != nil {
		l.Unlink(&l.rows[a.Row()])
	}
	return from
}

// Move takes an attempt from its list to the end of another, or of the same.
func (l *Lists) Move(x *Link, to *List) {
	place := l.place(x)
	l.Unlink(x)
	l.insert(to, place, to.last)
}

// Unlink takes an attempt out of its list.
func (l *Lists) Unlink(x *Link) {
	if before := l.at(x.prev); before != nil {
		before.next = x.next
	} else {
		x.list.first = x.next
	}
	if after := l.at(x.next); after != nil {
		after.prev = x.prev
	} else {
		x.list.last = x.prev
	}
	x.list = nil
}

func (l *Lists) add(a sched.AttemptID, t sched.TaskID, started sched.Time) (place int32) {
	l.rows = Grown(l.rows, a.Row())
	l.rows[a.Row()] = Link{gen: a.Generation(), Task: t, Started: started}
	return int32(a.Row()) + 1
}

func (l *Lists) insert(to *List, place, after int32) {
	x := l.at(place)
	x.list, x.prev = to, after
	if before := l.at(after); before != nil {
		x.next, before.next = before.next, place
	} else {
		x.next, to.first = to.first, place
	}
	if behind := l.at(x.next); behind != nil {
		behind.prev = place
	} else {
		to.last = place
	}
}
