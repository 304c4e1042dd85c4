package kube

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/sched"
)

// Which attempt won a task, and so whose result is the task's, is written where whoever reads the results finds it:
// into ConfigMaps beside the Job, which live as long as it does. A pod that has won keeps its finalizer until it is in
// there, so no winner is missed, whatever becomes of controllers and pods.

// winnersPerMap bounds a ConfigMap: with the longest names that pods and nodes can have, so many lines are below the
// mebibyte that an object may have.
const winnersPerMap = 3000

// mostInMap is how many bytes there may be in one, for the rest of the object has to fit in, too.
const mostInMap = 1<<20 - 8<<10

// winnersEvery is how often at most what is won is written, until the Job ends: the more there is to write the less
// often.
func winnersEvery(job *batchv1.Job) time.Duration {
	return min(time.Second+time.Duration(tasksOf(job))*time.Millisecond, 10*time.Second)
}

// Keys of the data: CSVs with a header. Where nothing was cut off there is only the first.
const (
	winnersKey = "winners.csv"
	cutKey     = "cut.csv" // how long attempts ran that were ended: their pods are gone when the history is written
)

var (
	winnersHeader = []string{"index", "attempt", "pod", "node"}
	cutHeader     = []string{"index", "attempt", "seconds"}
)

// winner is an attempt that has won.
type winner struct {
	ref
	pod, node string
	uid       types.UID // of its pod; "" if an earlier controller has written it
}

// winners are those of a Job, in order of index and number.
type winners struct {
	all     []winner
	loaded  bool          // what an earlier controller has written is among them
	dirty   sets.Set[int] // parts that are to be written
	written time.Time     // last
	off     bool          // they cannot be written, and the Job does not wait for it
	unsaved sets.Set[types.UID]
}

func (w *winners) find(r ref) (at int, known bool) {
	return slices.BinarySearchFunc(w.all, r, func(a winner, b ref) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
}

// has tells whether an index has a winner.
func (w *winners) has(index int) bool {
	at, _ := w.find(ref{index, 0})
	return at < len(w.all) && w.all[at].index == index
}

func (w *winners) add(x winner) (fresh bool) {
	at, known := w.find(x.ref)
	if !known {
		w.all = slices.Insert(w.all, at, x)
	}
	return !known
}

// crown notes who has won since it was called last, tells of clones, and keeps winners from being released that are not
// written yet.
func (c *reconciler) crown(job *batchv1.Job, s *state, t *tally, sights []sight) {
	w := &s.winners
	var fresh []*sight
	for i := range sights {
		x := &sights[i]
		if _, known := w.find(x.ref); known || x.phase != succeeded || !t.counts(job, x) {
			continue
		}
		fresh = append(fresh, x)
	}
	slices.SortStableFunc(fresh, func(a, b *sight) int { // sights are in order of index and number
		return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
	for _, x := range fresh {
		if isIndexed(job) && w.has(x.index) || !w.add(winner{x.ref, x.pod.Name, x.node, x.pod.UID}) {
			continue
		}
		w.mark(x.index)
		w.unsaved.Insert(x.pod.UID)
		if x.clone {
			c.events.Eventf(job, x.pod, corev1.EventTypeNormal, "CloneWon", "Commit", "attempt %d of %s, a clone, finished first", x.number, nameOfTask(job, x.index))
		}
	}
	if c.winners && !w.off {
		t.release = slices.DeleteFunc(t.release, func(p *corev1.Pod) bool { return w.unsaved.Has(p.UID) })
	}
}

// mark notes that there is something to be written of an index.
func (w *winners) mark(index int) {
	if w.dirty == nil {
		w.dirty, w.unsaved = sets.New[int](), sets.New[types.UID]()
	}
	w.dirty.Insert(index / winnersPerMap)
}

// counts tells whether a success is one of those that the status counts.
func (t *tally) counts(job *batchv1.Job, x *sight) bool {
	if isIndexed(job) {
		return t.completed.has(x.index)
	}
	return slices.Contains(t.status.UncountedTerminatedPods.Succeeded, x.pod.UID)
}

// saveWinners writes what is won and what was cut off: at once, or not all the time. What the API server refuses for
// good is told once, and not tried again.
func (c *reconciler) saveWinners(ctx context.Context, job *batchv1.Job, s *state, atOnce bool, now time.Time) error {
	w := &s.winners
	if !c.winners || w.off || w.dirty.Len() == 0 {
		return nil
	}
	if next := w.written.Add(winnersEvery(job)); !atOnce && next.After(now) {
		s.comeBack(next)
		return nil
	}
	for _, part := range sets.List(w.dirty) {
		err := c.writeWinners(ctx, job, s, part)
		switch {
		case apierrors.IsForbidden(err), apierrors.IsInvalid(err), errors.Is(err, errNotOurs):
			w.off = true
			c.events.Eventf(job, nil, corev1.EventTypeWarning, "WinnersNotKept", "Update", "which attempts won is not kept: %v", err)
			return nil
		case err != nil:
			return err
		}
		w.dirty.Delete(part)
	}
	w.written = now
	w.unsaved.Clear()
	s.comeBack(now) // to release them
	return nil
}

// errNotOurs is about a ConfigMap that somebody else has made.
var errNotOurs = errors.New("somebody else has made a ConfigMap of that name")

// winnersName is the name of the ConfigMap of a part of the indexes.
func winnersName(job *batchv1.Job, part int) string {
	name := job.Name[:min(len(job.Name), 200)] + "-winners"
	if part > 0 {
		name += "-" + strconv.Itoa(part)
	}
	return name
}

func (c *reconciler) writeWinners(ctx context.Context, job *batchv1.Job, s *state, part int) error {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: winnersName(job, part)}}
	err := c.client.Get(ctx, client.ObjectKeyFromObject(m), m)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil && m.Labels[WinnersLabel] == "" {
		return fmt.Errorf("configmap %s: %w", m.Name, errNotOurs)
	}
	m.Labels = with(m.Labels, WinnersLabel, job.Name)
	m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	m.OwnerReferences[0].BlockOwnerDeletion = nil // nobody needs to wait for it
	m.Data = map[string]string{winnersKey: s.winners.csv(part)}
	if text := s.cutCSV(part, mostInMap-len(m.Data[winnersKey])); text != "" {
		m.Data[cutKey] = text
	}
	if err != nil {
		return c.client.Create(ctx, m)
	}
	return c.client.Update(ctx, m)
}

// csv returns the lines of a part.
func (w *winners) csv(part int) string {
	var text strings.Builder
	out := csv.NewWriter(&text)
	_ = out.Write(winnersHeader)
	first, _ := w.find(ref{part * winnersPerMap, 0})
	for _, x := range w.all[first:] {
		if x.index/winnersPerMap != part {
			break
		}
		_ = out.Write([]string{strconv.Itoa(x.index), strconv.Itoa(x.number), x.pod, x.node})
	}
	out.Flush()
	return text.String()
}

// loadWinners reads what an earlier controller has written, once. A Job that has not started has nothing.
func (c *reconciler) loadWinners(ctx context.Context, job *batchv1.Job, s *state) error {
	w := &s.winners
	if !c.winners || w.loaded || w.off {
		return nil
	}
	parts := 0
	if job.Status.StartTime != nil {
		parts = (tasksOf(job) + winnersPerMap - 1) / winnersPerMap
	}
	for part := range parts {
		m := &corev1.ConfigMap{}
		err := c.client.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: winnersName(job, part)}, m)
		if apierrors.IsForbidden(err) {
			break // saveWinners tells
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if owner := metav1.GetControllerOf(m); owner == nil || owner.UID != job.UID {
			continue
		}
		for r, row := range rowsOf(m.Data[winnersKey], winnersHeader, part) {
			w.add(winner{ref: r, pod: row[2], node: row[3]})
		}
		for r, row := range rowsOf(m.Data[cutKey], cutHeader, part) {
			if ran, err := strconv.ParseFloat(row[2], 64); err == nil && ran > 0 && ran <= longestCut {
				s.cutAt(cutOff{r, sched.FromSeconds(ran)})
			}
		}
	}
	w.loaded = true
	return nil
}

// rowsOf returns the rows of a CSV that are about attempts of a part. What somebody has damaged is written anew.
func rowsOf(text string, header []string, part int) iter.Seq2[ref, []string] {
	return func(yield func(ref, []string) bool) {
		rows, _ := csv.NewReader(strings.NewReader(text)).ReadAll()
		for _, row := range rows[min(1, len(rows)):] {
			if len(row) != len(header) {
				return
			}
			index, err := strconv.ParseUint(row[0], 10, 31)
			number, err2 := strconv.ParseUint(row[1], 10, 31)
			if errors.Join(err, err2) == nil && int(index)/winnersPerMap == part && !yield(ref{int(index), int(number)}, row) {
				return
			}
		}
	}
}
