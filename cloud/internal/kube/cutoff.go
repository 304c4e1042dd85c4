package kube

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/sched"
)

// Why the controller ends attempts, in LostLabel.
const (
	lostSibling = "sibling-won" // enough others have succeeded
	lostSurplus = "not-needed"  // another attempt of its task has succeeded, or the policy has ended it
	lostOver    = "job-over"
	lostPaused  = "suspended"
	lostStray   = "no-such-task" // it was one before the Job was made smaller
)

// LostBecause explains a value of LostLabel; one that it does not know it returns.
func LostBecause(label string) string {
	switch label {
	case lostSibling:
		return "enough other attempts have succeeded"
	case lostSurplus:
		return "another attempt of its task has succeeded, or its slot went to others"
	case lostOver:
		return "the Job is over"
	case lostPaused:
		return "the Job was suspended"
	case lostStray:
		return "the Job has no such task any more"
	}
	return label
}

// cutOff is what is known of an attempt that was ended before it was done: it would have run for longer than that.
type cutOff struct {
	ref
	ran sched.Time // 0 if its containers had not started
}

// cutting notes for how long attempts have run that are about to be ended, and tells of clones. Their pods are soon
// gone, and without them a history would know no stragglers but those that no clone has overtaken. So that is
// written beside the Job before the pods are ended, for the controller that remembers may be another one: at once, but
// for Jobs so large that it would be much to write, which lose up to ten seconds of it if a controller dies. It tells
// whether it is to be at once.
func (c *reconciler) cutting(job *batchv1.Job, s *state, sights []sight, ending []*corev1.Pod, now time.Time) (atOnce bool) {
	limit := tooLong(slices.Values(sights))
	for i := range sights {
		x := &sights[i]
		if !slices.Contains(ending, x.pod) {
			continue
		}
		ran := time.Duration(0)
		if !x.begun.IsZero() {
			ran = max(0, now.Sub(x.begun))
		}
		fresh := s.cutAt(cutOff{x.ref, sched.Time(ran)})
		if fresh && ran > 0 {
			if ran > limit {
				c.judge(x.node, true, now)
			}
			s.winners.mark(x.index)
			atOnce = tasksOf(job) <= winnersPerMap
		}
		if fresh && x.clone {
			why := "the policy has ended it"
			if at, _ := s.winners.find(ref{x.index, 0}); at < len(s.winners.all) && s.winners.all[at].index == x.index {
				why = fmt.Sprintf("attempt %d finished first", s.winners.all[at].number)
			} else if !isIndexed(job) {
				why = "it is not needed any more"
			}
			c.events.Eventf(job, x.pod, corev1.EventTypeNormal, "CloneLost", "Delete", "attempt %d of %s, a clone, is ended after %v: %s",
				x.number, nameOfTask(job, x.index), ran.Round(time.Second), why)
		}
	}
	return atOnce
}

// cutAt notes one, the first time that it is told to end.
func (s *state) cutAt(c cutOff) (fresh bool) {
	at, known := slices.BinarySearchFunc(s.cut, c.ref, func(a cutOff, b ref) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
	if !known {
		s.cut = slices.Insert(s.cut, at, c)
	}
	return !known
}

// cutBefore notes what an earlier controller has ended and whose pods are still there.
func (s *state) cutBefore(sights []sight) {
	for i := range sights {
		x := &sights[i]
		why, p := x.pod.Labels[LostLabel], x.pod
		if why != lostSibling && why != lostSurplus || p.DeletionTimestamp == nil || x.begun.IsZero() {
			continue
		}
		told := p.DeletionTimestamp.Add(-time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
		if told.After(x.begun) && s.cutAt(cutOff{x.ref, sched.Time(told.Sub(x.begun))}) {
			s.winners.mark(x.index)
		}
	}
}

const longestCut = 1e9 // seconds

// cutCSV returns the lines of a part, as many as there is room for in bytes, "" if there are none.
func (s *state) cutCSV(part, room int) string {
	var text strings.Builder
	out := csv.NewWriter(&text)
	_ = out.Write(cutHeader)
	lines := 0
	for _, x := range s.cut {
		if x.index/winnersPerMap != part || x.ran == 0 || (lines+2)*longestCutLine > room {
			continue
		}
		lines++
		_ = out.Write([]string{strconv.Itoa(x.index), strconv.Itoa(x.number), strconv.FormatFloat(x.ran.Seconds(), 'f', 3, 64)})
	}
	if out.Flush(); lines == 0 {
		return ""
	}
	return text.String()
}

// longestCutLine is the length of a line: an index below mostTasks, an attempt's number, and seconds.
const longestCutLine = len("999999,2147483647,1000000000.000\n")
