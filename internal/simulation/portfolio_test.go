package simulation

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/trace"
)

// TestPortfolio: where a policy is certainly worse, a portfolio that begins with it comes near the better one, and says
// so. The result does not depend on which run began first.
func TestPortfolio(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=60;tasks=pareto:alpha=1.3,xm=2;law=exp:mean=20;arrivals=poisson:rate=0.05", 1)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for range 2 {
		res, err := (&Request{Workload: w, Policies: []string{"fifo", "fifo+srpt", "srpt"}, Runs: 3, Seed: 1, Machines: 8, Service: "law"}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		flow := func(policy int) (sum float64) {
			for _, c := range res.Of(policy) {
				sum += c.MeanFlow / 3
			}
			return sum
		}
		p := res.Portfolios[1]
		if res.Portfolios[0] != nil || p == nil || p.Verdicts == 0 || p.Changes == 0 || len(p.Members) != 2 {
			t.Fatalf("%+v", p)
		}
		if fifo, both, srpt := flow(0), flow(1), flow(2); both > srpt+(fifo-srpt)/2 {
			t.Errorf("fifo %.1f s, fifo+srpt %.1f s, srpt %.1f s", fifo, both, srpt)
		}
		var text bytes.Buffer
		if err := res.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text.String())
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], "as played at each verdict: fifo ") {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
	if _, err := (&Request{Workload: w, Policies: []string{"fifo+nobody"}, Machines: 8}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a policy that nobody knows: %v", err)
	}
}
