package kube

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

// cloneGate bounds the clones of all Jobs together, and how fast they come. A clone that is not let through waits: the
// core has decided about it, and it is made when there is room, unless its sibling is done by then.
type cloneGate struct {
	most int
	rate *rate.Limiter

	mu   sync.Mutex
	live map[types.UID]int // by Job
}

// cloneRetry is how long a clone waits at the gate before it knocks again.
const cloneRetry = 250 * time.Millisecond

// refusedRetry is how long a clone waits whose pod the API server has refused.
const refusedRetry = 30 * time.Second

// newCloneGate lets through most clones at once, and perSecond of them in a second.
func newCloneGate(most int, perSecond float64) *cloneGate {
	return &cloneGate{most: most, rate: rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond))), live: map[types.UID]int{}}
}

// hold says how many clones of a Job there are.
func (g *cloneGate) hold(job types.UID, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live[job] = n
}

// drop forgets a Job.
func (g *cloneGate) drop(job types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, job)
}

// take lets one clone through if there is room.
func (g *cloneGate) take(job types.UID, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := 0
	for _, n := range g.live {
		all += n
	}
	if all >= g.most || !g.rate.AllowN(now, 1) {
		return false
	}
	g.live[job]++
	return true
}
