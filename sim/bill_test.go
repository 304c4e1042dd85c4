package sim

import (
	"context"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// twoPrices is twoSites with prices: 1 for 1000 bytes from a to b, half of it back, 1 for a second of a slot at a, 2 at b.
func twoPrices() *Cluster {
	c := twoSites()
	c.Network.Price = []sched.Money{0, 1e6 * sched.Unit, 5e5 * sched.Unit, 0}
	c.Network.Rent = []sched.Money{3600 * sched.Unit, 7200 * sched.Unit}
	return c
}

// TestBill: in the world of TestAttemptsFetchAndWork a task at b fetches 1000 bytes from a, and one at a 200 bytes from b. Slots are used for 5 + 7 s at a and for 23 s at b.
func TestBill(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10,10],"inputs":[[{"site":"a","bytes":1000}]]},`+
		`{"durations_seconds":[4],"after":[{"stage":"0","bytes":[500,200]}]}]}`)
	for _, shared := range []bool{false, true} {
		c := twoPrices()
		c.Network.Shared = shared
		res := runGeo(t, w, Options{Cluster: c})
		if got, want := res.Jobs[0].Bill, (Bill{Bytes: 1200, Moved: 1.1e9, Slots: (12 + 46) * sched.Unit}); got != want {
			t.Errorf("shared links %v: the bill is %+v, want %+v", shared, got, want)
		}
		if got := res.Stats().Bill; got != res.Jobs[0].Bill || got.Money() != 59.1e9 {
			t.Errorf("shared links %v: in all %+v", shared, got)
		}
	}
}

// cloner starts each task at a and a clone of it at b.
type cloner struct{}

func (cloner) Observe(*sched.View, *sched.Event) {}
func (cloner) Decide(v *sched.View, act *sched.Actions) {
	for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s) {
		t, _ := v.PendingTask(s, 0)
		for m := range sched.MachineID(2) {
			if _, err := act.Launch(t, m, 0, sched.Cloning); err != nil {
				return
			}
		}
	}
}

// TestBillOfClones: the task is done at a after 5 s, when its clone at b has fetched from a for 2 s after the latency, at 100 bytes per second; or for 5 s, where links are shared and the latency comes
// behind the last byte.
func TestBillOfClones(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10],"inputs":[[{"site":"a","bytes":1000}]]}]}`)
	for _, c := range []struct {
		shared bool
		bytes  int64
	}{{false, 200}, {true, 500}} {
		cluster := twoPrices()
		cluster.Network.Shared = c.shared
		res, err := Run(context.Background(), w, cloner{}, Options{Cluster: cluster, Limits: sched.NoLimits()})
		if err != nil {
			t.Fatal(err)
		}
		moved := sched.Money(c.bytes) * 1e6
		if got, want := res.Jobs[0].Bill, (Bill{Bytes: c.bytes, Moved: moved, Slots: 15 * sched.Unit, Clones: moved + 10*sched.Unit}); got != want {
			t.Errorf("shared links %v: the bill is %+v, want %+v", c.shared, got, want)
		}
	}
}

// TestReadPrices: the price of a link is that of links.between, or else what leaves its site, or else that of all links.
func TestReadPrices(t *testing.T) {
	c, err := ReadCluster("c.yaml", []byte(pricedText))
	if err != nil {
		t.Fatal(err)
	}
	if c.Money != "EUR" || len(c.Network.Rent) != 3 || c.Network.Rent[1] != 15e6 || c.Network.Rent[0] != 0 {
		t.Errorf("rents %v in %s, want 0.015 EUR at b", c.Network.Rent, c.Money)
	}
	for _, l := range []struct {
		from, to sched.SiteID
		want     sched.Money
	}{{0, 1, 20e6}, {0, 2, 20e6}, {1, 0, 90e6}, {1, 2, 0}, {2, 1, 0}, {2, 0, 20e6}, {0, 0, 0}} {
		if got := c.Network.Toll(l.from, l.to, 1e9); got != l.want {
			t.Errorf("a GB from %d to %d costs %d, want %d", l.from, l.to, got, l.want)
		}
	}
	one, err := ReadCluster("c.yaml", []byte(strings.NewReplacer("money: EUR\n", "", ", egress: 0.09, rent: 0.015", "", "  price: 0.02\n", "").Replace(pricedText)))
	if err != nil {
		t.Fatal(err)
	}
	if got := one.Network.Toll(1, 2, 1e9) + one.Network.Toll(0, 1, 1e9); got != 0 || !one.Network.Priced() {
		t.Errorf("with a single price that is 0, others are %d", got)
	}
	if free, err := ReadCluster("c.yaml", []byte(clusterText)); err != nil || free.Network.Priced() {
		t.Errorf("a file without prices has some: %v", err)
	}
}

// pricedText is a cluster with prices.
const pricedText = `money: EUR
sites:
  - {name: a, machines: 1}
  - {name: b, machines: 1, egress: 0.09, rent: 0.015}
  - {name: c, machines: 1}
links:
  bandwidth: 1MB/s
  price: 0.02
  between:
    - {sites: [b, c], price: 0}
`

func TestPriceErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"price: 0.02", "price: -1", `c.yaml:8: field links.price: expected a price between 0 and 1000000 with at most nine decimals, such as 0.02, got "-1"`},
		{"price: 0.02", "price: 0.0000000001", `c.yaml:8: field links.price: expected a price between 0 and 1000000`},
		{"price: 0.02", "price: 1000001", `c.yaml:8: field links.price: expected a price between 0 and 1000000`},
		{"price: 0.02", "price: 2e-2", `c.yaml:8: field links.price: expected a price`},
		{"egress: 0.09", "egress: 9 ct", `c.yaml:4: field sites[1].egress: expected a price between 0 and 1000000 with at most nine decimals, such as 0.02, got "9 ct"`},
		{"rent: 0.015", "rent: .5", `c.yaml:4: field sites[1].rent: expected a price`},
		{"price: 0}", "price: free}", `c.yaml:10: field links.between[0].price: expected a price`},
		{"money: EUR", "money: Euro cents", `c.yaml:1: field money: expected the name of a unit of money such as EUR, at most 12 letters, got "Euro cents"`},
		{"money: EUR", "money: []", `c.yaml:1: field money: expected a value`},
	} {
		text := strings.Replace(pricedText, c.from, c.to, 1)
		if _, err := ReadCluster("c.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q instead of %q gives\n%v\nwant\n%s", c.to, c.from, err, c.want)
		}
	}
}

// TestNowhereToRun: a job is refused before the run if a task may run nowhere.
func TestNowhereToRun(t *testing.T) {
	const job = `{"datasets":[{"name":"p","allow":["a"]},{"name":"q","deny":["a"]}],"stages":[` +
		`{"name":"x","durations_seconds":[1],"inputs":[[{"site":"a","bytes":1,"dataset":"p"}]]},` +
		`{"name":"y","durations_seconds":[1,1],"inputs":[[],[{"site":"b","bytes":1,"dataset":"q"}]],"after":["x"]}]}`
	for _, c := range []struct{ from, to, want string }{
		{"", "", `test:1: on two: stages[1]: task 1: expected a site where all that it holds may be, p, q have none in common`},
		{`"deny":["a"]`, `"deny":["a"],"allow":["c","b"]`, `test: a job names site "c", which two does not have`},
		{`"after":["x"]`, `"after":[]`, "the policy does not choose sites"},
		{`[{"site":"b","bytes":1,"dataset":"q"}]]`, `[{"site":"b","bytes":1}]]`, `test:1: field datasets[1]: expected an input that names it`},
	} {
		text := strings.Replace(job, c.from, c.to, 1)
		w, err := trace.Read(strings.NewReader(text), "test", 1)
		if err == nil {
			_, err = Run(context.Background(), w, greedy{}, Options{Cluster: twoSites(), Limits: sched.NoLimits()})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q gives\n%v\nwant\n%s", c.to, c.from, err, c.want)
		}
	}
	released := load(t, strings.Replace(job, `"dataset":"p"}]]`, `"dataset":"p"}]],"releases":["p"]`, 1))
	if _, err := Run(context.Background(), released, first{}, Options{Cluster: twoSites(), Limits: sched.NoLimits(), Check: true}); err != nil {
		t.Error(err)
	}
}

// first starts tasks at the first site where they may run.
type first struct{ greedy }

func (first) Confines() bool { return true }
func (first) Decide(v *sched.View, act *sched.Actions) {
	for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			for m, ok := v.FreeMachine(0); ok; m, ok = v.FreeMachine(m + 1) {
				if v.Sites().Allows(t, v.Machine(m).Site) {
					_, _ = act.Launch(t, m, 0, sched.Original)
					break
				}
			}
		}
	}
}
