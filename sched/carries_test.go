package sched

import "testing"

// TestCarries: what a stage reads of another in all, by hand, before and after a snapshot.
func TestCarries(t *testing.T) {
	c := New(greedy{}, NoLimits())
	spec := &JobSpec{
		Stages: []StageSpec{{Tasks: 2}, {Tasks: 3}, {Tasks: 2}, {Tasks: 2}},
		Edges: []Edge{
			{From: 0, To: 1, Bytes: []int64{5, 7}},                                                    // 3 x 12
			{From: 0, To: 2, Kind: Pointwise, Bytes: []int64{5}},                                      // 2 x 5
			{From: 1, To: 2, Kind: PerTask, Pairs: [][2]uint32{{0, 0}, {2, 1}}, Bytes: []int64{3, 4}}, // 7
			{From: 0, To: 3, Measured: true},
		},
	}
	m, err := c.AddMachineOf(0, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(spec); err != nil {
		t.Fatal(err)
	}
	check := func(c *Core, measured float64) {
		t.Helper()
		at := c.View().Sites()
		for _, x := range []struct {
			from, to StageID
			want     float64
		}{{0, 1, 36}, {0, 2, 10}, {1, 2, 7}, {1, 3, 0}, {0, 3, measured}} {
			if got := at.Carries(x.from, x.to); got != x.want {
				t.Errorf("from stage %d to %d: %v bytes, want %v", x.from, x.to, got, x.want)
			}
		}
	}
	check(c, 0)
	orders, err := c.Advance(0, []Event{{Kind: MachineJoined, Machine: m}, {Kind: JobArrived, Job: 0}})
	if err != nil || len(orders) == 0 {
		t.Fatalf("%v, %v", orders, err)
	}
	if _, err := c.Advance(1, []Event{{At: 1, Kind: AttemptDone, Attempt: orders[0].Attempt, Bytes: 9}}); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.View().Sites().Foretold(0, 1); got != 9*2*3 || !ok { // whatever the edge says
		t.Errorf("%v bytes are foretold from stage 0 to 1, want 54", got)
	}
	check(c, 36) // each of 2 reads 9 of the one result, and as much of the other as far as is known
	again, err := Restore(c.Snapshot(), greedy{}, NoLimits())
	if err != nil {
		t.Fatal(err)
	}
	check(again, 36)
	if got, ok := again.View().Sites().Foretold(0, 2); got != 9*2 || !ok {
		t.Errorf("after a restore %v bytes are foretold from stage 0 to 2, want 18", got)
	}
}
