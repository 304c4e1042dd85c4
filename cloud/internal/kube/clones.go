package kube

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cloneGate bounds the clones of all Jobs together and of those of one namespace, and how fast they come. A clone
// that is not let through waits: the core has decided about it, and it is made when there is room, unless its
// sibling is done by then.
type cloneGate struct {
	most, inNamespace int
	rate              *rate.Limiter

	mu   sync.Mutex
	live map[types.UID]holder
}

// holder is a Job's part of the clones.
type holder struct {
	namespace string
	clones    int
}

// cloneRetry is how long a clone waits at the gate before it knocks again.
const cloneRetry = 250 * time.Millisecond

// refusedRetry is how long a clone waits whose pod the API server has refused.
const refusedRetry = 30 * time.Second

// newCloneGate lets through most clones at once, of which inNamespace in one namespace, and perSecond of them in a
// second.
func newCloneGate(most, inNamespace int, perSecond float64) *cloneGate {
	return &cloneGate{
		most: most, inNamespace: inNamespace, live: map[types.UID]holder{},
		rate: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond))),
	}
}

// hold says how many clones of a Job there are.
func (g *cloneGate) hold(job *batchv1.Job, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live[job.UID] = holder{job.Namespace, n}
}

// drop forgets a Job.
func (g *cloneGate) drop(job types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, job)
}

// take lets one clone through if there is room. If there is none, full says of what; it is "" if only too many have
// come of late.
func (g *cloneGate) take(job *batchv1.Job, now time.Time) (ok bool, full string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all, here := 0, 0
	for _, h := range g.live {
		all += h.clones
		if h.namespace == job.Namespace {
			here += h.clones
		}
	}
	switch {
	case all >= g.most:
		return false, fmt.Sprintf("the cluster has its %d clones (--max-clones)", g.most)
	case here >= g.inNamespace:
		return false, fmt.Sprintf("namespace %s has its %d clones (--max-clones-per-namespace)", job.Namespace, g.inNamespace)
	case !g.rate.AllowN(now, 1):
		return false, ""
	}
	h := g.live[job.UID]
	g.live[job.UID] = holder{job.Namespace, h.clones + 1}
	return true, ""
}
