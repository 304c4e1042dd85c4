//go:build linux

package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// mapping is what a map attempt did, as journal and account have it. Offsets are in bytes of its split.
type mapping struct {
	live.Record
	from  int64   // where it began
	bytes int64   // that it mapped
	saves []int64 // the points that it saved, in order
}

// segments returns the stretches between the points at which a map attempt saved, and the one behind the last, which is lost if it did not win.
func (m *mapping) segments() (all []int64) {
	at := m.from
	for _, x := range append(slices.Clone(m.saves), m.from+m.bytes) {
		if x > at {
			all = append(all, x-at)
			at = x
		}
	}
	return all
}

// mappings returns the map attempts of the story's run in the order of their starts, and how many bytes each task has.
func (s *story) mappings() (all []mapping, sizes []int64) {
	s.t.Helper()
	folders := proc.Folders{Root: filepath.Join(s.out, "_tailcut")}
	r, err := trace.OpenJournalReader(folders.Journal())
	if err != nil {
		s.t.Fatal(err)
	}
	folders.Run = r.Header.Folder()
	sizes = splitSizes(s.t, &r.Header)
	account, err := mapreduce.ReadAccount(folders.Account())
	if err != nil {
		s.t.Fatal(err)
	}
	mapped := map[string]mapreduce.Mapped{}
	for _, m := range account {
		mapped[m.Attempt] = m
	}
	policies := func(h *trace.JournalHeader) (sched.Policy, error) { return policy.New(h.Policy, h.Seed) }
	saved := map[sched.AttemptID][]float64{}
	lives, err := live.Lives(r, policies, func(_ *sched.Core, b *trace.Batch) {
		for _, f := range b.Facts {
			if f.Kind == sched.AttemptProgress {
				saved[f.Attempt] = append(saved[f.Attempt], f.Progress)
			}
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, l := range lives {
		if l.Stage > 0 {
			continue
		}
		m := mapping{Record: l}
		x := mapped[proc.AttemptName(l.Attempt)]
		m.from, m.bytes = x.From, x.Bytes
		for _, f := range saved[l.ID] {
			m.saves = append(m.saves, int64(math.Round(f*float64(sizes[l.Index]))))
		}
		all = append(all, m)
	}
	return all, sizes
}

// splitSizes returns the bytes of each map task's split.
func splitSizes(t *testing.T, h *trace.JournalHeader) (sizes []int64) {
	var work jobfile.Work
	if err := json.Unmarshal(h.Work, &work); err != nil {
		t.Fatal(err)
	}
	for _, split := range work.MapReduce.Stages[0].Splits {
		sizes = append(sizes, split.Bytes())
	}
	return sizes
}

// Every byte is mapped once, but for less than a segment for each attempt that ended without result: attempts are slow, preempted, killed at
// random, and engines die. What attempts had saved outlives their engine.
func TestMappedOnceThroughDeaths(t *testing.T) {
	t.Parallel() // most attempts are stopped
	input := prose(t, 24<<20)
	sort := []string{"run", "sort", input, "--reducers", "1", "--split-size", "8MiB"}
	whole := filepath.Join(t.TempDir(), "whole")
	if out, err := exec.Command(tailcut, append(sort, "--output", whole, "--policy", "fifo")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	resumed := 0
	for seed := 1; seed <= accounts; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStory(t)
			stop := make(chan struct{})
			if seed%3 > 0 { // in one story of three only engines die
				go s.hunt(uint64(seed), 6, stop)
			}
			s.window = 3 * time.Second
			s.run(seed%2, append(slices.Clone(sort), "--policy", "srew:preempt=true,slot=600ms", "--slots", "3", "--max-attempts", "1", "--retries", "9",
				"--disturb", "slow=1,factor=6", "--seed", strconv.Itoa(seed))...)
			close(stop)
			s.check()
			if got, err := os.ReadFile(filepath.Join(s.out, "part-00000")); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of lines, %v; want %d that are the same", len(got), err, len(want))
			}
			resumed += s.mappedOnce()
		})
	}
	if resumed < leastResumed {
		t.Errorf("%d attempts in %d stories went on in the middle, expected %d at least", resumed, accounts, leastResumed)
	}
}

// mappedOnce holds the bytes that were mapped against those of the input, and returns how many attempts went on in the middle.
func (s *story) mappedOnce() (resumed int) {
	all, sizes := s.mappings()
	mapped, attempts := map[int]int64{}, map[int]int64{}
	var total, input, longest int64
	for i := range all {
		m := &all[i]
		mapped[m.Index] += m.bytes
		attempts[m.Index]++
		total += m.bytes
		if m.From > 0 {
			resumed++
			if begin := int64(math.Round(m.From * float64(sizes[m.Index]))); m.bytes > 0 && m.from != begin {
				s.t.Errorf("task %d: attempt %d goes on at byte %d, and %d was saved", m.Index, m.Number, m.from, begin)
			}
		}
		longest = max(longest, slices.Max(append(m.segments(), 0)))
	}
	for task, size := range sizes {
		// a line that a range's end cuts belongs to the task in which it begins
		const line = 1 << 10
		input += size
		if twice := mapped[task] - size; twice < -line || twice > line+(attempts[task]-1)*longest {
			s.t.Errorf("task %d: %d bytes in %d attempts, and it has %d; the longest segment has %d", task, mapped[task], attempts[task], size, longest)
		}
	}
	s.t.Logf("%d attempts mapped %d bytes of %d, %+.1f %%; %d went on in the middle; the longest segment has %d", len(all), total, input,
		100*float64(total-input)/float64(input), resumed, longest)
	return resumed
}

// A slow map task that Shed clones in the middle: the clone goes on at a positive offset. Whatever it repeats of what the original had done when the
// clone began is less than a segment.
func TestShedClonesInTheMiddle(t *testing.T) {
	t.Parallel() // most attempts are stopped
	input := prose(t, 32<<20)
	s := newStory(t)
	for seed := 1; ; seed++ {
		if seed > 20 {
			t.Fatal("in 20 runs no clone went on in the middle")
		}
		s.out = filepath.Join(t.TempDir(), "out")
		s.run(0, "run", "sort", input, "--reducers", "1", "--split-size", "8MiB", "--slots", "4", "--max-attempts", "2", "--clone-budget", "none",
			"--policy", "shed:interval=200ms", "--deadline", "20s", "--law", "pareto:alpha=1.5,xm=0.2", "--disturb", "slow=0.4,factor=20", "--seed", strconv.Itoa(seed))
		s.check()
		all, sizes := s.mappings()
		clones := 0
		for i := range all {
			clone := &all[i]
			if !clone.Clone || clone.From == 0 {
				continue
			}
			clones++
			source := &all[slices.IndexFunc(all, func(m mapping) bool { return m.Index == clone.Index && m.Number == clone.Source })]
			t.Logf("task %d of %d bytes: attempt %d went on from attempt %d at byte %d and mapped %d", clone.Index, sizes[clone.Index], clone.Number, source.Number,
				clone.from, clone.bytes)
			if !slices.Contains(source.saves, clone.from) && clone.bytes > 0 {
				t.Errorf("attempt %d saved at %v", source.Number, source.saves)
			}
		}
		if clones > 0 {
			return
		}
	}
}
