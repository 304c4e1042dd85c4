package overlap

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The constraints of the paper's (1), looked at while jobs are served: no station gives more than its rate, nothing grows, and no job is
// shuffled further than it is mapped.
func TestConstraints(t *testing.T) {
	const slack = 1e-9
	for _, spec := range battery {
		p := mustParse(t, spec)
		t.Run(spec, rapid.MakeCheck(func(t *rapid.T) {
			s := New(p, func(Completion) {})
			sizes := map[int64]Demand{}
			before := map[int64]Left{}
			clock := 0.0
			look := func(to float64) {
				s.Advance(to)
				gone := Left{} // work done in total
				for _, l := range s.Left() {
					b, j := before[l.Index], sizes[l.Index]
					delete(before, l.Index)
					gone.Map += b.Map - l.Map
					gone.Shuffle += b.Shuffle - l.Shuffle
					if l.Map > b.Map+slack || l.Shuffle > b.Shuffle+slack {
						t.Fatalf("at %v the work of a job grows: %+v, %+v", to, b, l)
					}
					if l.Shuffle/j.Shuffle < l.Map/j.Map-slack || math.Abs(l.Backlog-(l.Shuffle-l.Map*j.Shuffle/j.Map)) > slack {
						t.Fatalf("at %v of %+v there is %+v left", to, j, l)
					}
				}
				for _, b := range before {
					gone.Map += b.Map
					gone.Shuffle += b.Shuffle
				}
				if most := (to - clock) * (1 + slack); gone.Map > most+slack || gone.Shuffle > most+slack {
					t.Fatalf("from %v to %v the stations do %v and %v of work", clock, to, gone.Map, gone.Shuffle)
				}
				clear(before)
				for _, l := range s.Left() {
					before[l.Index] = l
				}
				clock = to
			}
			for i, j := range realJobs(t) {
				for clock < j.Arrival {
					look(min(j.Arrival, clock+rapid.Float64Range(0.01, 2).Draw(t, "step")))
				}
				s.Arrive(j)
				sizes[int64(i)], before[int64(i)] = j, Left{Index: int64(i), Map: j.Map, Shuffle: j.Shuffle}
			}
			for s.Present() > 0 {
				look(clock + rapid.Float64Range(0.01, 20).Draw(t, "step"))
			}
		}))
	}
}

func TestAdvanceAndLeft(t *testing.T) {
	s := New(Discipline{Kind: FCFS}, func(Completion) {})
	for _, j := range []Demand{{Map: 1, Shuffle: 2}, {Map: 3, Shuffle: 1}, {Map: 2, Shuffle: 2}} {
		s.Arrive(j)
	}
	s.Advance(2)
	s.Advance(1) // no way back
	got := s.Left()
	want := []Left{{1, 2, 1, 1.0 / 3}, {2, 2, 2, 0}}
	for i := range want {
		if len(got) != len(want) || got[i].Index != want[i].Index || math.Abs(got[i].Map-want[i].Map)+
			math.Abs(got[i].Shuffle-want[i].Shuffle)+math.Abs(got[i].Backlog-want[i].Backlog) > 1e-12 {
			t.Fatalf("at 2 there is %+v left, want %+v", got, want)
		}
	}
}
