package policytest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Forgets lets short jobs go through a policy without end, some thirty alive at a time, and counts the memory that it
// holds. Jobs are retired when they have ended, and then nothing of them may be left. One job in fifty is long, some
// attempts fail and some stand still for a while.
func Forgets(t testing.TB, s *Subject) {
	t.Helper()
	// Jobs that starve are spread over the pages of a table, more of them as time goes on: under auto up to 84 kB more
	// by the 40,000th job, and then no more. A policy that kept 8 bytes of each job would hold 96 kB more at the last.
	const warm, last, alive, spread = 4000, 4000 + 12_000/fewerJobs, 30, 48 << 10
	p := s.New()
	w := NewWorld(t, p, sched.DefaultLimits())
	w.Retires = true
	if s.AtSites {
		w.Connect(4)
	}
	w.Machines(alive)
	w.Fate = func(d *sched.Decision) Fate {
		r := rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number)))
		f := Fate{Lasts: sched.FromSeconds(-10 * math.Log1p(-r.Float64())), Reports: 4 * sched.Second, Fails: r.IntN(20) == 0}
		if r.IntN(10) == 0 {
			f.hang()
			f.Rests = 200 * sched.Second
		}
		return f
	}
	submit := func(n int) {
		tasks := 2 + n%5
		if n%50 == 0 {
			tasks *= 12
		}
		w.Submit(w.Now, &sched.JobSpec{
			Retries: 3, Deadline: w.Now + sched.Time(20+n%100)*sched.Second,
			Stages: []sched.StageSpec{{Tasks: tasks, Resumable: n%3 == 0}, {Tasks: 1 + n%2}}, Edges: []sched.Edge{{From: 0, To: 1}},
		})
	}
	submitted, closed := 0, 0
	for ; submitted < alive; submitted++ {
		submit(submitted)
	}
	w.Seen = func(_ sched.Time, orders []sched.Decision) {
		w.Orders = w.Orders[:0]
		for i := range orders {
			if orders[i].Kind == sched.Close {
				closed++
				submit(submitted)
				submitted++
			}
		}
	}
	until := func(n int) int {
		for closed < n {
			if !w.Step() {
				t.Fatalf("nothing happens after %v, and %d jobs have ended", w.Now, closed)
			}
		}
		return footprint(reflect.ValueOf(p), map[uintptr]bool{})
	}
	before := until(warm)
	if after := until(last); after > before+before/10+spread {
		t.Errorf("%s: the policy holds %d bytes after %d jobs, %d after %d, and %d are alive", s.Name, after, last, before, warm, w.Core.View().Rows().Jobs()-closed)
	}
}

// footprint adds up the memory that a value leads to. What several pointers lead to counts once.
func footprint(v reflect.Value, seen map[uintptr]bool) (bytes int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			bytes = int(v.Type().Elem().Size()) + footprint(v.Elem(), seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			bytes = footprint(v.Elem(), seen)
		}
	case reflect.Slice:
		bytes = v.Cap() * int(v.Type().Elem().Size())
		for i := 0; leads(v.Type().Elem()) && i < v.Len(); i++ {
			bytes += footprint(v.Index(i), seen)
		}
	case reflect.Array:
		for i := 0; leads(v.Type().Elem()) && i < v.Len(); i++ {
			bytes += footprint(v.Index(i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += footprint(v.Field(i), seen)
		}
	case reflect.Map:
		bytes = v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
	}
	return bytes
}

// leads tells whether values of a type lead to more memory.
func leads(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return leads(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if leads(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
