package kube

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A node is avoided when more of its attempts were slow than not, two at least. That is forgotten by and by, and outlives
// the controller.
func TestLedger(t *testing.T) {
	var l ledger
	for range 5 {
		l.note("good", false, epoch)
		l.note("mixed", false, epoch)
	}
	l.note("mixed", true, epoch)
	l.note("once", true, epoch)
	l.note("", true, epoch)
	if l.note("bad", true, epoch) || !l.note("bad", true, epoch) || l.note("bad", true, epoch) {
		t.Error("it is news with the second attempt, and only then")
	}
	l.note("bad", false, epoch)
	if got := l.slow(epoch.Add(time.Hour)); !slices.Equal(got, []string{"bad"}) {
		t.Errorf("slow are %v", got)
	}
	text := l.text(epoch.Add(time.Hour))
	again := ledger{nodes: map[string]*pace{}}
	again.read(text + "damaged,x\ndamaged,NaN,1,true,2020-01-01T00:00:00Z\n")
	if got := again.text(epoch.Add(time.Hour)); got != text || !strings.Contains(text, "\nbad,2.67,0.89,true,") {
		t.Errorf("%s\nis read as\n%s", text, got)
	}
	if got := again.slow(epoch.Add(12 * time.Hour)); len(got) != 0 {
		t.Errorf("twelve hours later slow are %v", got)
	}
	if got := again.text(epoch.Add(100 * time.Hour)); got != "node,slow,normal,avoided,at\n" {
		t.Errorf("in the end there is %s", got)
	}
}

// onNode has the pods that have none on nodes, and started.
func (b *bench) onNode(nodes ...string) {
	b.t.Helper()
	for i, p := range b.live() {
		if p.Spec.NodeName == "" {
			p.Spec.NodeName = nodes[i%len(nodes)]
			b.startPod(&p)
		}
	}
}

// What one Job has learned of nodes the pods of the next one know, even of another controller.
func TestNextJobAvoidsSlowNodes(t *testing.T) {
	first := testJob(9)
	first.Annotations, first.Spec.Parallelism = map[string]string{PolicyAnnotation: "fifo"}, first.Spec.Completions
	b := newBench(t, first)
	told := events.NewFakeRecorder(100)
	b.events = told
	b.settle()
	b.onNode("a", "b", "slow")
	for _, wait := range []time.Duration{10, 90} {
		b.clock = b.clock.Add(wait * time.Second)
		for _, p := range b.live() {
			if (p.Spec.NodeName == "slow") == (wait == 90) {
				b.exitPod(&p, 0)
			}
		}
		b.settle()
	}
	if !finished(b.job()) {
		t.Fatalf("%+v", b.job().Status)
	}
	close(told.Events)
	n := 0
	for e := range told.Events {
		n += strings.Count(e, "SlowNode")
	}
	if n != 1 {
		t.Errorf("%d events of a slow node", n)
	}
	if err := b.saveNodes(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.restart()
	second := testJob(2)
	second.Name, second.UID = "job", "second-uid"
	if err := b.api.Delete(context.Background(), b.job()); err != nil {
		t.Fatal(err)
	}
	second.ResourceVersion = ""
	if err := b.api.Create(context.Background(), second); err != nil {
		t.Fatal(err)
	}
	b.settle()
	avoids := 0
	for _, p := range b.live() {
		if a := p.Spec.Affinity; a != nil && strings.Contains(a.String(), "slow") {
			avoids++
		}
	}
	if avoids != 2 {
		t.Errorf("%d of 2 pods avoid the slow node", avoids)
	}
}

// A clone prefers another zone than its original's, and any node but its original's to both.
func TestCloneElsewhere(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{corev1.LabelTopologyZone: "west"}}}
	job := testJob(4)
	job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.5,multiplier=1.5"}
	b := newBench(t, job, node)
	b.settle()
	b.onNode("a")
	b.clock = b.clock.Add(10 * time.Second)
	for _, p := range b.live()[1:] {
		b.exitPod(&p, 0)
	}
	b.settle()
	b.clock = b.clock.Add(time.Hour)
	b.settle()
	clones := &corev1.PodList{}
	if err := b.api.List(context.Background(), clones, client.MatchingLabels{"tailcut.dev/kind": "clone"}); err != nil || len(clones.Items) != 1 {
		t.Fatalf("%d clones, %v", len(clones.Items), err)
	}
	zone, name := int32(0), int32(0)
	for _, term := range clones.Items[0].Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		for _, r := range term.Preference.MatchExpressions {
			if r.Key == corev1.LabelTopologyZone && r.Values[0] == "west" {
				zone = term.Weight
			}
		}
		for _, r := range term.Preference.MatchFields {
			if r.Values[0] == "a" {
				name = term.Weight
			}
		}
	}
	if zone == 0 || name <= zone {
		t.Errorf("weights: zone %d, node %d: %v", zone, name, clones.Items[0].Spec.Affinity)
	}
}
