package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// said is greedy and remembers what attempts report.
type said struct {
	greedy
	reports []float64
}

func (p *said) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptProgress {
		p.reports = append(p.reports, ev.Progress)
	}
}

// One task of 8 s that reports each second, by hand.
func TestOddReports(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []float64
		ends sched.Time
	}{
		{"1s", []float64{0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875}, 8 * sched.Second},
		{"freeze:at=0.5,interval=1s", []float64{0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 8 * sched.Second},
		{"lie:interval=4s", []float64{0.9375}, 8 * sched.Second},
		{"back:interval=2s", []float64{0.25, 0.5 - 1./3, 0.75 - 2./3}, 8 * sched.Second},
		{"late:delay=3s,interval=2s", []float64{0, 0.125, 0.375}, 8 * sched.Second},
		{"lie:p=0,interval=4s", []float64{0.5}, 8 * sched.Second},
	} {
		progress, err := ParseProgress(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		p := &said{}
		r, err := Run(t.Context(), load(t, "0 1 1 8"), p, Options{Machines: 1, Limits: sched.DefaultLimits(), Progress: progress, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, p.reports, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.spec, diff)
		}
		if got := r.Jobs[0].Completion; got != c.ends {
			t.Errorf("%s: done at %v, want %v", c.spec, got, c.ends)
		}
	}
}

// An attempt that hangs takes as much longer, reports nothing in the meantime, and goes on from where it was.
func TestHangingAttempts(t *testing.T) {
	progress, err := ParseProgress("hang:p=1,lasts=100s,interval=1s")
	if err != nil {
		t.Fatal(err)
	}
	p := &said{}
	r, err := Run(t.Context(), load(t, "0 1 1 8"), p, Options{Machines: 1, Limits: sched.DefaultLimits(), Progress: progress, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Jobs[0].Completion; got != 108*sched.Second {
		t.Errorf("done at %v", got)
	}
	if n := len(p.reports); n < 6 || n > 8 || !slices.IsSorted(p.reports) {
		t.Errorf("reports %v: expected one each second of work", p.reports)
	}
}

func TestParseProgressSaysWhatIsWrong(t *testing.T) {
	for spec, want := range map[string]string{
		"sometimes": "hang, freeze", "hang:p=2": "from 0 to 1", "hang:lasts=-1s": "a duration", "lie:at=1": "valid: p, interval", "late:delay=": "a duration",
	} {
		if _, err := ParseProgress(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}
