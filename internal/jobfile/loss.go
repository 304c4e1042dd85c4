package jobfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// Loss says how many tasks may fail for good before the job is given up, and what happens to the others then. The zero
// value gives the job up with the first, and ends what runs.
type Loss struct {
	All     bool    `json:"all,omitempty"`     // any number: the job runs whatever can run
	Tasks   int     `json:"tasks,omitempty"`   // so many may fail
	Percent float64 `json:"percent,omitempty"` // of all tasks of the job, instead of a number
	Reached bool    `json:"reached,omitempty"` // the share may not even be reached
	Soon    bool    `json:"soon,omitempty"`    // attempts that run then run to their ends
}

// Allowed returns how many of so many tasks may fail for good, sched.Unlimited for all.
func (l *Loss) Allowed(tasks int) int {
	const slack = 1e-9 // of a task: 10 % of 30 tasks are 3
	switch share := l.Percent / 100 * float64(tasks); {
	case l.All:
		return sched.Unlimited
	case l.Percent == 0:
		return l.Tasks
	case l.Reached:
		return max(0, int(math.Ceil(share-slack))-1)
	default:
		return int(share + slack)
	}
}

// String returns the flag of run that says so.
func (l *Loss) String() string {
	amount, halt := strconv.Itoa(l.Tasks), l.Soon || l.Reached
	if l.Percent > 0 {
		amount = strconv.FormatFloat(l.Percent, 'f', -1, 64) + "%"
	} else if halt {
		amount = strconv.Itoa(l.Tasks + 1)
	}
	switch {
	case l.All:
		return "--keep-going"
	case l.Soon:
		return "--halt soon,fail=" + amount
	case l.Reached:
		return "--halt now,fail=" + amount
	}
	return "--max-failed " + amount
}

// ParseMaxFailed reads a number of tasks that may fail, or a share such as 10%.
func ParseMaxFailed(text string) (Loss, error) {
	tasks, percent, err := parseAmount(text)
	if err != nil {
		return Loss{}, fmt.Errorf("expected a number of tasks such as 3, or a share such as 10%%, not %q", text)
	}
	return Loss{Tasks: tasks, Percent: percent}, nil
}

// ParseHalt reads when to give the job up as GNU parallel's --halt has it: never, now,fail=1, soon,fail=10%, and the
// numbers that stand for the first ones.
func ParseHalt(text string) (Loss, error) {
	switch text {
	case "never", "0":
		return Loss{All: true}, nil
	case "1":
		text = "soon,fail=1"
	case "2":
		text = "now,fail=1"
	}
	when, why, _ := strings.Cut(text, ",")
	what, amount, _ := strings.Cut(why, "=")
	wrong := fmt.Errorf("expected never, now,fail=N or soon,fail=N, where N may be a share such as 10%%, not %q", text)
	switch {
	case when != "now" && when != "soon":
		return Loss{}, wrong
	case what == "success" || what == "done":
		return Loss{}, fmt.Errorf("%s= is not supported: a result is complete or there is none, so a job ends early only when tasks fail; "+
			"run fewer tasks, or stop the job with Ctrl-C and read what is done with: tailcut results OUT --partial", what)
	case what != "fail":
		return Loss{}, wrong
	}
	tasks, percent, err := parseAmount(amount)
	if err != nil || tasks == 0 && percent == 0 {
		return Loss{}, wrong
	}
	l := Loss{Soon: when == "soon", Percent: percent, Reached: percent > 0}
	if percent == 0 {
		l.Tasks = tasks - 1
	}
	return l, nil
}

// mostLost bounds the number of a Loss: a job has no more tasks.
const mostLost = math.MaxInt32

func parseAmount(text string) (tasks int, percent float64, err error) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, err = strconv.ParseFloat(share, 64)
		if err == nil && !(percent >= 0 && percent <= 100) || strings.ContainsAny(share, "xXpP_+-") {
			err = errors.New("out of range")
		}
		return 0, percent, err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err == nil && n > mostLost {
		err = errors.New("out of range")
	}
	return int(n), 0, err
}
