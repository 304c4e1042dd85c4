//go:build unix

package sim_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// A long trace takes the memory of what is alive: beside the trace and a result for each job, which are there from the
// beginning, nothing grows from a fifth of the run to its end.
func TestSimulatorForgets(t *testing.T) {
	if sim.Checked || testing.Short() {
		t.Skip("an audit is most of the cost")
	}
	const jobs, tasks, machines = 100_000, 5, 200
	w := workload(t, jobs, tasks, machines)
	for _, spec := range known("fifo", "srpt", "spark", "late", "srew", "hadoop2", "fork", "laxity") {
		t.Run(spec, func(t *testing.T) {
			p, err := policy.New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			var heaps []uint64
			done, due := 0, jobs*tasks/5
			tick := func(more int) {
				if done += more; done < due {
					return
				}
				due += jobs * tasks * 3 / 10
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				heaps = append(heaps, m.HeapAlloc)
			}
			o := sim.Options{Machines: machines, Limits: sched.DefaultLimits(), Progress: sim.Progress{Every: 20 * sched.Second}, Tick: tick}
			if _, err := sim.Run(context.Background(), w, p, o); err != nil {
				t.Fatal(err)
			}
			t.Logf("the heap has %v bytes", heaps)
			if first, last := heaps[0], heaps[len(heaps)-1]; len(heaps) < 3 || last > first+512<<10 {
				t.Errorf("the heap has %v bytes after a fifth, half and four fifths of the tasks", heaps)
			}
		})
	}
}
