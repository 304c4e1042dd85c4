package jobfile

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

func TestLoss(t *testing.T) {
	for _, c := range []struct {
		flag, text string
		tasks      int
		allowed    int
		shown      string // as a flag; "" for the error
		problem    string
	}{
		{"max-failed", "0", 100, 0, "--max-failed 0", ""},
		{"max-failed", "3", 100, 3, "--max-failed 3", ""},
		{"max-failed", "10%", 30, 3, "--max-failed 10%", ""},
		{"max-failed", "10%", 29, 2, "--max-failed 10%", ""},
		{"max-failed", "0.5%", 1000, 5, "--max-failed 0.5%", ""},
		{"max-failed", "100%", 7, 7, "--max-failed 100%", ""},
		{"max-failed", "-1", 0, 0, "", "expected a number of tasks"},
		{"max-failed", "101%", 0, 0, "", "expected a number of tasks"},
		{"max-failed", "NaN%", 0, 0, "", "expected a number of tasks"},
		{"max-failed", "0x1p3%", 0, 0, "", "expected a number of tasks"},
		{"max-failed", "", 0, 0, "", "expected a number of tasks"},
		{"max-failed", "99999999999", 0, 0, "", "expected a number of tasks"},
		{"halt", "never", 9, sched.Unlimited, "--keep-going", ""},
		{"halt", "0", 9, sched.Unlimited, "--keep-going", ""},
		{"halt", "now,fail=1", 9, 0, "--max-failed 0", ""},
		{"halt", "2", 9, 0, "--max-failed 0", ""},
		{"halt", "soon,fail=1", 9, 0, "--halt soon,fail=1", ""},
		{"halt", "1", 9, 0, "--halt soon,fail=1", ""},
		{"halt", "now,fail=3", 9, 2, "--max-failed 2", ""},
		{"halt", "soon,fail=3", 9, 2, "--halt soon,fail=3", ""},
		{"halt", "soon,fail=10%", 30, 2, "--halt soon,fail=10%", ""},
		{"halt", "now,fail=10%", 29, 2, "--halt now,fail=10%", ""},
		{"halt", "now,fail=1%", 10, 0, "--halt now,fail=1%", ""},
		{"halt", "now,fail=0", 0, 0, "", "expected never, now,fail=N or soon,fail=N"},
		{"halt", "now", 0, 0, "", "expected never"},
		{"halt", "later,fail=1", 0, 0, "", "expected never"},
		{"halt", "now,success=1", 0, 0, "", "success= is not supported: a result is complete or there is none"},
		{"halt", "soon,done=10%", 0, 0, "", "done= is not supported"},
	} {
		t.Run(c.flag+" "+c.text, func(t *testing.T) {
			parse := ParseMaxFailed
			if c.flag == "halt" {
				parse = ParseHalt
			}
			l, err := parse(c.text)
			if c.shown == "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("the error is %v, want %s", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Allowed(c.tasks); got != c.allowed || l.String() != c.shown {
				t.Errorf("%d of %d tasks may fail by %s, want %d by %s", got, c.tasks, l.String(), c.allowed, c.shown)
			}
		})
	}
}

// FuzzLoss: what is read can be shown, and read again as the same.
func FuzzLoss(f *testing.F) {
	for _, text := range []string{"3", "10%", "never", "now,fail=2", "soon,fail=0.5%", "soon,done=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (Loss, error){ParseMaxFailed, ParseHalt} {
			l, err := parse(text)
			if err != nil {
				continue
			}
			for _, tasks := range []int{1, 30, 1000} {
				if n := l.Allowed(tasks); n < sched.Unlimited || l.Percent > 0 && n > tasks {
					t.Errorf("%q allows %d of %d tasks to fail", text, n, tasks)
				}
			}
			flag, value, _ := strings.Cut(l.String(), " ")
			again := Loss{All: true}
			switch flag {
			case "--max-failed":
				again, err = ParseMaxFailed(value)
			case "--halt":
				again, err = ParseHalt(value)
			}
			if err != nil || again != l {
				t.Errorf("%q is %+v, shown as %s, which is %+v (%v)", text, l, l.String(), again, err)
			}
		}
	})
}
