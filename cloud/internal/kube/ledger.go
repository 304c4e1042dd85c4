package kube

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// ledger remembers of each node how many attempts were slow there, of all Jobs together. A Job learns within itself
// which nodes are slow (slow.go); the next Job need not learn it again. What is old counts less and less, so a node
// that was mended, or that nothing runs on because it was slow, is tried again.
type ledger struct {
	mu     sync.Mutex
	nodes  map[string]*pace
	loaded bool
	dirty  bool // there is something to write
}

// pace is how attempts went on a node, as of an instant.
type pace struct {
	slow, normal float64
	at           time.Time
	avoided      bool // an event said so
}

const (
	// paceHalf is the time in which what is known of a node loses half of its weight.
	paceHalf = 6 * time.Hour
	// leastSlow is what slow attempts of a node must weigh for others to keep away: two of the last two hours.
	leastSlow = 1.5
	// mostNodes bounds what is kept.
	mostNodes = 5000
	// nodesEvery is how often it is written.
	nodesEvery = 10 * time.Second
	// nodesMap is the ConfigMap that holds it, in the namespace of histories, and nodesFile its key.
	nodesMap  = "tailcut-nodes"
	nodesFile = "nodes.csv"
)

// age lets time pass for what is known of a node.
func (p *pace) age(now time.Time) {
	if d := now.Sub(p.at); d > 0 {
		half := math.Exp2(-float64(d) / float64(paceHalf))
		p.slow, p.normal, p.at = p.slow*half, p.normal*half, now
	}
}

// avoid tells whether pods should rather go elsewhere.
func (p *pace) avoid() bool { return p.slow >= leastSlow && p.slow > p.normal }

// note counts an attempt. It tells whether the node is one to avoid from now on.
func (l *ledger) note(node string, slow bool, now time.Time) (news bool) {
	if node == "" {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.nodes[node]
	if p == nil {
		p = &pace{at: now}
		if l.nodes == nil {
			l.nodes = map[string]*pace{}
		}
		l.nodes[node] = p
	}
	p.age(now)
	if slow {
		p.slow++
	} else {
		p.normal++
	}
	l.dirty = true
	news = p.avoid() && !p.avoided
	p.avoided = p.avoid()
	nodeSlowness.WithLabelValues(node).Set(p.slow / (p.slow + p.normal))
	nodeAvoided.WithLabelValues(node).Set(map[bool]float64{true: 1}[p.avoided])
	return news
}

// slow returns the nodes to avoid, the worst first.
func (l *ledger) slow(now time.Time) (nodes []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for node, p := range l.nodes {
		if p.age(now); p.avoid() {
			nodes = append(nodes, node)
		} else if p.avoided {
			p.avoided = false
			nodeAvoided.WithLabelValues(node).Set(0)
		}
	}
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Or(cmp.Compare(l.nodes[b].slow, l.nodes[a].slow), cmp.Compare(a, b)) })
	return nodes
}

// text writes the ledger, the slowest nodes first.
func (l *ledger) text(now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for node, p := range l.nodes {
		if p.age(now); p.slow+p.normal < 0.05 {
			delete(l.nodes, node)
			nodeSlowness.DeleteLabelValues(node)
			nodeAvoided.DeleteLabelValues(node)
		}
	}
	all := slices.SortedFunc(maps.Keys(l.nodes), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.nodes[b].slow, l.nodes[a].slow), cmp.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("node,slow,normal,avoided,at\n")
	for _, node := range all[:min(len(all), mostNodes)] {
		p := l.nodes[node]
		fmt.Fprintf(&b, "%s,%.2f,%.2f,%v,%s\n", node, p.slow, p.normal, p.avoid(), p.at.UTC().Format(time.RFC3339))
	}
	l.dirty = false
	return b.String()
}

// read takes over what an earlier controller has written. A line that is none is left out.
func (l *ledger) read(text string) {
	rows := csv.NewReader(strings.NewReader(text))
	rows.FieldsPerRecord = -1
	all, _ := rows.ReadAll()
	for _, row := range all {
		if len(row) != 5 {
			continue
		}
		slow, err := strconv.ParseFloat(row[1], 64)
		normal, err2 := strconv.ParseFloat(row[2], 64)
		at, err3 := time.Parse(time.RFC3339, row[4])
		if err != nil || err2 != nil || err3 != nil || !(slow >= 0 && normal >= 0 && slow+normal < 1e9) {
			continue
		}
		p := &pace{slow: slow, normal: normal, at: at, avoided: row[3] == "true"}
		l.nodes[row[0]] = p
		nodeSlowness.WithLabelValues(row[0]).Set(slow / max(slow+normal, 0.01))
		nodeAvoided.WithLabelValues(row[0]).Set(map[bool]float64{true: 1}[p.avoided])
	}
}

// loadNodes reads once what is kept of nodes. What cannot be read is as if there was nothing.
func (c *reconciler) loadNodes(ctx context.Context) {
	l := &c.nodes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded || c.past == "" {
		return
	}
	m := &corev1.ConfigMap{}
	err := c.client.Get(ctx, client.ObjectKey{Namespace: c.past, Name: nodesMap}, m)
	if client.IgnoreNotFound(err) != nil {
		log.FromContext(ctx).Error(err, "which nodes were slow is not known")
		return
	}
	l.loaded = true
	if l.nodes == nil {
		l.nodes = map[string]*pace{}
	}
	l.read(m.Data[nodesFile])
}

// saveNodes writes what is new of nodes.
func (c *reconciler) saveNodes(ctx context.Context) error {
	c.nodes.mu.Lock()
	due := c.nodes.dirty && c.past != ""
	c.nodes.mu.Unlock()
	if !due {
		return nil
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.past, Name: nodesMap}}
	err := c.client.Get(ctx, client.ObjectKeyFromObject(m), m)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	m.Data = map[string]string{nodesFile: c.nodes.text(c.now())}
	if apierrors.IsNotFound(err) {
		return c.client.Create(ctx, m)
	}
	return c.client.Update(ctx, m)
}

// keepNodes writes what is new of nodes from time to time, until ctx is cancelled. It is for manager.RunnableFunc.
func (c *reconciler) keepNodes(ctx context.Context) error {
	for ticks := time.NewTicker(nodesEvery); ; {
		select {
		case <-ctx.Done():
			ticks.Stop()
			return nil
		case <-ticks.C:
			if err := c.saveNodes(ctx); err != nil && !apierrors.IsConflict(err) {
				log.FromContext(ctx).Error(err, "which nodes were slow is not kept")
			}
		}
	}
}

// judge counts an attempt for its node, and tells of a node that is to be avoided from now on.
func (c *reconciler) judge(node string, slow bool, now time.Time) {
	if c.nodes.note(node, slow, now) {
		c.events.Eventf(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, nil, corev1.EventTypeNormal, "SlowNode", "Judge",
			"more than half of the attempts on node %s have lately taken more than twice the median of their Jobs: pods prefer other nodes", node)
	}
}

// judgeAll counts the attempts of a Job that is about to be complete, once.
func (c *reconciler) judgeAll(s *state, sights []sight, now time.Time) {
	if s.judged {
		return
	}
	s.judged = true
	limit := tooLong(slices.Values(sights))
	for i := range sights {
		if d := took(&sights[i]); d > 0 && limit < math.MaxInt64 {
			c.judge(sights[i].node, d > limit, now)
		}
	}
}
