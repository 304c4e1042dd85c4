package kube

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// Eight equal tasks of 4 s begin together, and their ends come to be known late and not together. What has ended is not cloned; what runs on is, once its end would be known.
func TestLateEnds(t *testing.T) {
	job := testJob(8)
	job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.5,multiplier=1.5,min_runtime=0s"}
	job.Spec.Parallelism = ptr.To[int32](8)
	b := newBench(t, job)
	b.settle()
	b.clock = epoch.Add(time.Second)
	pods := b.live()
	for i := range pods {
		b.startPod(&pods[i])
	}
	b.settle()
	known := func(pods []corev1.Pod, at time.Duration) {
		b.clock = epoch.Add(5 * time.Second)
		for i := range pods {
			b.exitPod(&pods[i], 0)
		}
		b.clock = epoch.Add(at)
		b.settle()
	}
	clones := func(want int) {
		t.Helper()
		n := 0
		for _, p := range b.pods() {
			if podtemplate.IsClone(p.Labels) {
				n++
			}
		}
		if n != want {
			t.Errorf("at %v: %d clones instead of %d", b.clock.Sub(epoch), n, want)
		}
	}
	known(pods[:4], 7500*time.Millisecond)
	clones(0)
	known(pods[4:7], 8*time.Second)
	clones(0)
	b.clock = epoch.Add(12 * time.Second)
	b.settle()
	clones(1)
}

// The longest of the last delays counts, within the bound.
func TestLateness(t *testing.T) {
	var l lateness
	if l.most() != 0 {
		t.Errorf("%v before any end", l.most())
	}
	l.add(time.Hour, time.Minute)
	if l.most() != mostLate {
		t.Errorf("%v after an hour", l.most())
	}
	for range len(l.last) {
		l.add(time.Second, 4*time.Second)
	}
	if l.most() != time.Second || l.longest != time.Minute {
		t.Errorf("%v after many of a second, the longest %v", l.most(), l.longest)
	}
}

// A clone waits for what may have ended as others have, not for what has run for longer than that already.
func TestSure(t *testing.T) {
	l := lateness{longest: 5 * time.Second}
	l.add(2*time.Second, 4*time.Second)
	at := func(s time.Duration) time.Time { return epoch.Add(s * time.Second) }
	for _, c := range []struct{ asked, want time.Duration }{
		{3, 5}, {7, 8}, {8, 8}, {20, 8},
	} {
		if got := l.sure(at(c.asked), at(0)); !got.Equal(at(c.want)) {
			t.Errorf("asked for at %d s: %v instead of %d s", c.asked, got.Sub(epoch), c.want)
		}
	}
}
