package kit

import "github.com/tailcut/tailcut/sched"

// Lists are doubly linked lists of running attempts, threaded through one table by row. An attempt is in one
// list at most, so its memory is bounded by the attempts that run at once. A policy keeps those it watches in order of
// their start: the oldest is the first that can be late.
type Lists struct{ Rows []Link }

// Link is half a cache line.
type Link struct {
	list       *List // nil for none
	Started    sched.Time
	prev, Next int32 // rows, -1 at the ends
	gen        uint32
	Task       sched.TaskID
}

// List is one of the lists. Its zero value is not ready: empty says what an empty one is.
type List struct{ First, Last int32 }

// EmptyList is a list without attempts.
var EmptyList = List{First: -1, Last: -1}

// ListOf returns the list that the attempt is in, nil for none.
func (l *Lists) ListOf(a sched.AttemptID) *List {
	if row := a.Row(); row < len(l.Rows) && l.Rows[row].gen == a.Generation() {
		return l.Rows[row].list
	}
	return nil
}

// Append adds an attempt that is in no list at the end of one.
func (l *Lists) Append(to *List, a sched.AttemptID, t sched.TaskID, started sched.Time) {
	row := int32(a.Row())
	l.Rows = Grown(l.Rows, int(row))
	l.Rows[row] = Link{gen: a.Generation(), Task: t, Started: started}
	l.insert(to, row, to.Last)
}

// InsertByStart adds an attempt that is in no list to one that is sorted by start, then task. It searches from the end
// of the list, where a new attempt belongs; what is left of a pair after one of the two ended without result may belong
// anywhere.
func (l *Lists) InsertByStart(to *List, a sched.AttemptID, t sched.TaskID, started sched.Time) {
	row := int32(a.Row())
	l.Rows = Grown(l.Rows, int(row))
	l.Rows[row] = Link{gen: a.Generation(), Task: t, Started: started}
	after := to.Last
	for after >= 0 && (l.Rows[after].Started > started || l.Rows[after].Started == started && l.Rows[after].Task > t) {
		after = l.Rows[after].prev
	}
	l.insert(to, row, after)
}

// Move takes an attempt from its list to the end of another.
func (l *Lists) Move(row int32, to *List) {
	l.Unlink(row)
	l.insert(to, row, to.Last)
}

// Remove takes an attempt out of its list, if it is in one, which it returns.
func (l *Lists) Remove(a sched.AttemptID) *List {
	from := l.ListOf(a)
	if from != nil {
		l.Unlink(int32(a.Row()))
	}
	return from
}

func (l *Lists) insert(to *List, row, after int32) {
	n := &l.Rows[row]
	n.list, n.prev = to, after
	if after >= 0 {
		n.Next = l.Rows[after].Next
		l.Rows[after].Next = row
	} else {
		n.Next, to.First = to.First, row
	}
	if n.Next >= 0 {
		l.Rows[n.Next].prev = row
	} else {
		to.Last = row
	}
}

// Unlink takes the attempt of a row out of its list.
func (l *Lists) Unlink(row int32) {
	n := &l.Rows[row]
	if n.prev >= 0 {
		l.Rows[n.prev].Next = n.Next
	} else {
		n.list.First = n.Next
	}
	if n.Next >= 0 {
		l.Rows[n.Next].prev = n.prev
	} else {
		n.list.Last = n.prev
	}
	n.list = nil
}
