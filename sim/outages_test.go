package sim

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestOutages: an attempt is lost with its machine and begins anew when the machine is back; outages that touch are one.
func TestOutages(t *testing.T) {
	all, err := readOutages(strings.NewReader("machine,down_seconds,up_seconds\n0,4,5\n0,5,7.5\n"), "x.csv", 1)
	if err != nil {
		t.Fatal(err)
	}
	w := load(t, `{"arrival_seconds":100,"stages":[{"durations_seconds":[10]}]}`)
	if r := simulate(t, w, greedy{}, Options{Machines: 1, Outages: all, Check: true}); r.End != 117500*sched.Second/1000 || r.Jobs[0].Attempts != 2 {
		t.Errorf("over at %v after %d attempts, want 117.5 s and 2", r.End, r.Jobs[0].Attempts)
	}
	if _, err := Run(t.Context(), w, greedy{}, Options{Machines: 1, Outages: all, Faults: Faults{MTBF: 1, MTTR: 1}, Limits: sched.NoLimits()}); err == nil {
		t.Error("outages were accepted beside failures by chance")
	}
	for _, text := range []string{"", "machine\n", "1,2,3\n"} {
		if _, err := readOutages(strings.NewReader(text), "x.csv", 1); err == nil || !strings.HasPrefix(err.Error(), "x.csv:1: expected ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, row := range []string{"1,2,3", "-1,2,3", "0,x,3", "0,2,2", "0,2,Inf", "0,2", `"0`, `0",1,2`, "0,1,2\""} {
		if _, err := readOutages(strings.NewReader("machine,down_seconds,up_seconds\n"+row+"\n"), "x.csv", 1); err == nil ||
			!strings.HasPrefix(err.Error(), "x.csv:2: ") || !strings.Contains(err.Error(), "expected ") {
			t.Errorf("%q: %v", row, err)
		}
	}
}

func FuzzReadOutages(f *testing.F) {
	f.Add("machine,down_seconds,up_seconds\n0,4,5\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := readOutages(strings.NewReader(text), "x.csv", 3)
		if err != nil {
			return
		}
		if _, err := newOutagePlan(&Options{Machines: 3, Outages: all}, 0); err != nil {
			t.Errorf("read and refused: %v", err)
		}
	})
}

// TestRacks: machines of a rack go and come back at once.
func TestRacks(t *testing.T) {
	p := newFaultPlan(Faults{MTBF: sched.Second, MTTR: sched.Second, Rack: 2}, 5, 0, 1)
	racks := map[sched.MachineID]int{}
	for range 100 {
		back, gone := p.due(p.next.next(), nil, nil)
		for _, m := range append(back, gone...) {
			racks[m]++
		}
	}
	if len(racks) != 5 || racks[0] != racks[1] || racks[2] != racks[3] {
		t.Errorf("changes by machine: %v", racks)
	}
}
