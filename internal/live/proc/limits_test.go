//go:build linux

package proc

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/sched"
)

func TestMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m median
		var all []time.Duration
		if n, middle := m.get(); n != 0 || middle != 0 {
			t.Fatalf("of none: %d, %v", n, middle)
		}
		for _, x := range rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "durations") {
			m.add(time.Duration(x))
			all = append(all, time.Duration(x))
			slices.Sort(all)
			if n, middle := m.get(); n != len(all) || middle != all[(len(all)-1)/2] {
				t.Fatalf("of %v: %d, %v", all, n, middle)
			}
		}
	})
}

// An attempt is over once it has taken twice the median of three that have won, and not before there are three.
func TestTimeoutOfMedian(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Limits = []jobfile.Limits{{Timeout: jobfile.Timeout{Percent: 200}}}
	}, `sleep 100`)
	a := r.begin(0, 0, 0)
	eventually(t, "the start", patience, func() bool { return len(r.running()) == 1 })
	p := r.running()[0]
	r.Won(0, 10*time.Minute)
	r.Won(0, time.Minute)
	if why := r.overtime(p, time.Now().Add(time.Hour)); why != "" {
		t.Errorf("with two: %s", why)
	}
	r.Won(0, time.Second)
	if why := r.overtime(p, p.startedAt.Add(2*time.Minute)); why != "" {
		t.Errorf("in time: %s", why)
	}
	want := "timed out after 2m01s: more than 200% of 1m00s, the median of 3 attempts"
	if why := r.overtime(p, p.startedAt.Add(121*time.Second)); why != want {
		t.Errorf("got %s, want %s", why, want)
	}
	for range 4 {
		r.Won(0, time.Millisecond)
	}
	if rep := r.end(a); rep.Kind != sched.AttemptFailed || rep.Exit != 137 || !strings.HasPrefix(rep.Note, "timed out after ") {
		t.Errorf("report %+v", rep)
	}
}

// Stages have limits of their own; one without has none.
func TestLimitsOfStages(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Limits = []jobfile.Limits{{}, {Timeout: jobfile.Timeout{After: 50 * time.Millisecond}, Nice: 7}}
	}, `sleep 0.2; nice`, `nice >&2; sleep 100`)
	free, bound := r.begin(0, 0, 0), r.begin(1, 0, 0)
	if rep := r.end(bound); rep.Note != "timed out after 50ms" {
		t.Errorf("report %+v", rep)
	}
	if rep := r.end(free); rep.Kind != sched.AttemptDone {
		t.Errorf("report %+v", rep)
	}
	if got := strings.TrimSpace(string(r.output[free.ID])); got == "7" {
		t.Error("a stage has the niceness of another")
	}
}

func TestNice(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits = []jobfile.Limits{{Nice: 7}} }, `sleep 0.1; nice; sh -c nice`)
	a := r.begin(0, 0, 0)
	if rep := r.end(a); rep.Kind != sched.AttemptDone {
		t.Fatalf("report %+v", rep)
	}
	if got := string(r.output[a.ID]); got != "7\n7\n" {
		t.Errorf("niceness %q", got)
	}
}
