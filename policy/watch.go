package policy

import "github.com/tailcut/tailcut/sched"

// attemptLists are doubly linked lists of running attempts, threaded through one table by row. An attempt is in one
// list at most, so its memory is bounded by the attempts that run at once. A policy keeps those it watches in order of
// their start: the oldest is the first that can be late.
type attemptLists struct{ rows []link }

// link is half a cache line.
type link struct {
	list       *attemptList // nil for none
	started    sched.Time
	prev, next int32 // rows, -1 at the ends
	gen        uint32
	task       sched.TaskID
}

// attemptList is one of the lists. Its zero value is not ready: empty says what an empty one is.
type attemptList struct{ first, last int32 }

var empty = attemptList{first: -1, last: -1}

// listOf returns the list that the attempt is in, nil for none.
func (l *attemptLists) listOf(a sched.AttemptID) *attemptList {
	if row := a.Row(); row < len(l.rows) && l.rows[row].gen == a.Generation() {
		return l.rows[row].list
	}
	return nil
}

// append adds an attempt that is in no list at the end of one.
func (l *attemptLists) append(to *attemptList, a sched.AttemptID, t sched.TaskID, started sched.Time) {
	row := int32(a.Row())
	l.rows = grown(l.rows, int(row))
	l.rows[row] = link{gen: a.Generation(), task: t, started: started}
	l.insert(to, row, to.last)
}

// insertByStart adds an attempt that is in no list to one that is sorted by start, then task. It searches from the end
// of the list, where a new attempt belongs; what is left of a pair after one of the two ended without result may belong
// anywhere.
func (l *attemptLists) insertByStart(to *attemptList, a sched.AttemptID, t sched.TaskID, started sched.Time) {
	row := int32(a.Row())
	l.rows = grown(l.rows, int(row))
	l.rows[row] = link{gen: a.Generation(), task: t, started: started}
	after := to.last
	for after >= 0 && (l.rows[after].started > started || l.rows[after].started == started && l.rows[after].task > t) {
		after = l.rows[after].prev
	}
	l.insert(to, row, after)
}

// move takes an attempt from its list to the end of another.
func (l *attemptLists) move(row int32, to *attemptList) {
	l.unlink(row)
	l.insert(to, row, to.last)
}

// remove takes an attempt out of its list, if it is in one, which it returns.
func (l *attemptLists) remove(a sched.AttemptID) *attemptList {
	from := l.listOf(a)
	if from != nil {
		l.unlink(int32(a.Row()))
	}
	return from
}

func (l *attemptLists) insert(to *attemptList, row, after int32) {
	n := &l.rows[row]
	n.list, n.prev = to, after
	if after >= 0 {
		n.next = l.rows[after].next
		l.rows[after].next = row
	} else {
		n.next, to.first = to.first, row
	}
	if n.next >= 0 {
		l.rows[n.next].prev = row
	} else {
		to.last = row
	}
}

func (l *attemptLists) unlink(row int32) {
	n := &l.rows[row]
	if n.prev >= 0 {
		l.rows[n.prev].next = n.next
	} else {
		n.list.first = n.next
	}
	if n.next >= 0 {
		l.rows[n.next].prev = n.prev
	} else {
		n.list.last = n.prev
	}
	n.list = nil
}
