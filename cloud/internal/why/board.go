package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/kube"
)

// boardSchema names the form of a Board.
const boardSchema = "tailcut.pools/v1"

// Board is all pools of a cluster that a user may see.
type Board struct {
	Schema  string     `json:"schema"`
	At      time.Time  `json:"at"`
	Context string     `json:"context"` // of the kubeconfig file
	Pools   []PoolLook `json:"pools"`
}

// PoolLook is what a SlotPool says of itself.
type PoolLook struct {
	Name      string            `json:"name"`
	Policy    string            `json:"policy"`
	Decides   string            `json:"decides,omitempty"` // of several policies
	Ready     *bool             `json:"ready"`             // nil: no controller has seen it
	Message   string            `json:"message,omitempty"` // why not
	Unit      string            `json:"unit"`              // slots, or the resource that it counts
	Used      float64           `json:"used"`
	Total     float64           `json:"total"`
	Says      string            `json:"says"` // the three, as Kubernetes writes them
	Pods      int32             `json:"pods"`
	Clones    int32             `json:"clones"`
	Jobs      int32             `json:"jobs"`
	Waiting   int32             `json:"waiting"`
	Zones     []kube.PartStatus `json:"zones,omitempty"`
	Classes   []kube.PartStatus `json:"classes,omitempty"`
	Portfolio string            `json:"portfolio,omitempty"`
	Turns     []kube.PoolTurn   `json:"turns,omitempty"`
	Members   []kube.PoolMember `json:"members"`
}

// Bounds of what a page costs the API server.
const (
	lookEvery = time.Second      // at most, however many look
	lookTime  = 10 * time.Second // to answer
)

// board asks for pools when somebody wants to see them.
type board struct {
	api     client.Reader
	context string
	now     func() time.Time

	mu    sync.Mutex // held while the API server is asked, so that others wait for its answer
	asked time.Time
	last  *Board
	err   error
}

// look returns what there is, or was less than a second ago.
func (b *board) look(ctx context.Context) (*Board, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked.IsZero() && b.now().Sub(b.asked) < lookEvery {
		return b.last, b.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime) // the answer is for others, too
	defer cancel()
	b.last, b.err = b.ask(ctx)
	b.asked = b.now()
	return b.last, b.err
}

// ask lists the pools as the API server has them in memory.
func (b *board) ask(ctx context.Context) (*Board, error) {
	list := &kube.SlotPoolList{}
	if err := b.api.List(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
		return nil, err
	}
	all := &Board{Schema: boardSchema, At: b.now(), Context: b.context, Pools: []PoolLook{}}
	for i := range list.Items {
		all.Pools = append(all.Pools, lookOf(&list.Items[i]))
	}
	slices.SortFunc(all.Pools, func(a, b PoolLook) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// lookOf reads a SlotPool.
func lookOf(sp *kube.SlotPool) PoolLook {
	st := &sp.Status
	p := PoolLook{
		Name: sp.Name, Policy: policies(sp), Decides: decides(sp), Pods: st.Used, Clones: st.Clones, Jobs: st.Jobs, Waiting: st.Waiting,
		Zones: st.Zones, Classes: st.Classes, Portfolio: st.Portfolio, Turns: st.Turns, Members: append([]kube.PoolMember{}, st.Members...),
	}
	if ready := meta.FindStatusCondition(st.Conditions, "Ready"); ready != nil {
		is := ready.Status == metav1.ConditionTrue
		p.Ready = &is
		if !is {
			p.Message = ready.Message
		}
	}
	p.count(sp)
	return p
}

// count fills in how much of the pool there is and has been given out.
func (p *PoolLook) count(sp *kube.SlotPool) {
	total := sp.Spec.TotalSlots()
	p.Unit, p.Used, p.Total = "slots", float64(p.Pods), float64(total)
	p.Says = fmt.Sprintf("%d of %d slots", p.Pods, total)
	for name, has := range sp.Spec.Resources {
		taken := sp.Status.Requested[name]
		p.Unit, p.Used, p.Total = string(name), taken.AsApproximateFloat64(), has.AsApproximateFloat64()
		p.Says = fmt.Sprintf("%s of %s %s", taken.String(), has.String(), name)
	}
}
