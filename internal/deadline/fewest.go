package deadline

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// sooner is by how much earlier a deadline is whose price is told, in seconds.
const sooner = 60

// Needs are the fewest slots for a chance, for programs.
type Needs struct {
	Schema   string  `json:"schema"`
	Chance   float64 `json:"chance"`
	Capacity int     `json:"capacity"` // of a cluster on which each job that can have the chance has it
	Jobs     []Need  `json:"jobs"`
	Short    int     `json:"short_at_once,omitempty"` // jobs that have less if all tasks run at once, see shortAtOnce
	needed   int     // slots of these jobs, with masters
}

// Need are the fewest slots of a job.
type Need struct {
	Name     string   `json:"name"`
	Slots    int      `json:"slots"` // without the master's; 0 of a job that cannot have the chance
	AtOnce   int      `json:"tasks_at_once"`
	Attempts int      `json:"attempts_per_task"`
	PoCD     float64  `json:"pocd"` // of a job that cannot have the chance: the most it can have
	Low      *float64 `json:"pocd_low,omitempty"`
	High     *float64 `json:"pocd_high,omitempty"`
	Sooner   *int     `json:"slots_for_a_minute_earlier"` // more; nil if none are enough
	Reason   string   `json:"reason,omitempty"`           // why it cannot have the chance
	job      Entry
	chance   plan.Chance
}

// ParseChance reads a chance, as 99% or 0.99.
func ParseChance(text string) (float64, error) {
	number, scale := text, 1.0
	if n := len(text); n > 0 && text[n-1] == '%' {
		number, scale = text[:n-1], 100
	}
	p, err := strconv.ParseFloat(number, 64)
	if p /= scale; err != nil || !(p > 0 && p < 1) {
		return 0, fmt.Errorf("expected a probability between 0 and 1, such as 99%% or 0.99, got %q", text)
	}
	return p, nil
}

// Named returns the jobs of a name; it is an error if there are none.
func Named(jobs []Entry, name string) (found []Entry, err error) {
	var names []string
	for _, j := range jobs {
		if names = append(names, j.Name); j.Name == name {
			found = append(found, j)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, fmt.Errorf("expected one of the jobs %s, not %q", show.Trim(strings.Join(names, ", "), 100), name)
}

// Fewest answers how many slots give each job a chance. Of the request it does not look at the slots of the cluster and
// at the utility.
func Fewest(r Request, chance float64) *Needs {
	a := &Needs{Schema: "tailcut.plan.deadline.slots/v1", Chance: chance}
	for _, j := range r.Jobs {
		n := needOf(j, chance, r.MaxAttempts)
		if n.Slots > 0 {
			a.needed += n.Slots + r.MasterSlots
		}
		a.Jobs = append(a.Jobs, n)
	}
	a.Capacity = int(math.Ceil(float64(a.needed)/r.Lambda - 1e-9))
	a.Short = a.shortAtOnce(r)
	return a
}

// shortAtOnce returns how many jobs have less than the chance, though they can have it, where the slots that were found
// are divided: [Divide] runs all tasks at once if all originals fit, which may leave too few clones for each.
func (a *Needs) shortAtOnce(r Request) (short int) {
	need := 0
	for _, j := range r.Jobs {
		if need += j.Tasks + r.MasterSlots; len(j.Stages) > 0 || j.Slots > 0 {
			return 0
		}
	}
	if float64(need) > float64(a.Capacity)*r.Lambda {
		return 0
	}
	r.Slots, r.Earliest = a.Capacity, 0
	for i, f := range Divide(r).Jobs {
		if a.Jobs[i].Slots > 0 && f.PoCD < a.Chance {
			short++
		}
	}
	return short
}

func needOf(j Entry, chance float64, attempts int) Need {
	s, ok := j.FewestSlots(chance, attempts)
	early := j.Work
	early.Deadline -= sooner
	e, earlier := plan.Seats{}, false
	if early.Deadline > 0 {
		e, earlier = early.FewestSlots(chance, attempts)
	}
	if earlier && (!ok || e.Slots < s.Slots) { // what is enough a minute earlier is enough
		s, ok = e, true
		s.Chance = j.Waves(s.Clones, s.AtOnce, 0)
	}
	n := Need{Name: j.Name, PoCD: s.Chance.P, job: j, chance: s.Chance}
	n.Low, n.High = interval(s.Chance)
	if !ok {
		n.Reason = "cannot: past its deadline"
		if j.Elapsed < j.Deadline {
			n.Reason = fmt.Sprintf("cannot with %s of each task", show.Count(attempts, "attempt"))
		}
		if j.Elapsed < j.Deadline && j.Hopeless() {
			n.Reason = "cannot: no attempt can be that fast"
		}
		return n
	}
	n.Slots, n.AtOnce, n.Attempts = s.Slots, s.AtOnce, s.Clones+1
	if earlier {
		more := e.Slots - s.Slots
		n.Sooner = &more
	}
	return n
}

// interval returns what holds a chance; nil if it is exact.
func interval(c plan.Chance) (low, high *float64) {
	if c.Low < c.High {
		return &c.Low, &c.High
	}
	return nil, nil
}

// WriteJSON writes the answer for programs.
func (a *Needs) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(a) }

// WriteCSV writes a row for each job.
func (a *Needs) WriteCSV(out io.Writer) error { return show.WriteRecords(out, a.Jobs) }

// WriteText writes the answer for people.
func (a *Needs) WriteText(out io.Writer) error {
	t := show.NewTable("job", "tasks", "time left", "slots", "at once", "attempts of each task", "on time", "a minute earlier", "")
	t.AlignRight(2, 8)
	cannot := 0
	for _, n := range a.Jobs {
		row := []any{show.Trim(n.Name, 32), n.job.Tasks, show.Seconds(max(0, n.job.Deadline-n.job.Elapsed)), n.Slots, n.AtOnce, n.Attempts, shownChance(n.chance, true), "cannot", n.Reason}
		if n.Sooner != nil {
			row[7] = fmt.Sprintf("+%d", *n.Sooner)
		}
		if n.Slots == 0 {
			row[3], row[4], row[5], row[7] = "-", "-", "-", "-"
			cannot++
		}
		t.Row(row...)
	}
	who := "Every job has"
	if cannot > 0 {
		who = fmt.Sprintf("%d of %s can have", len(a.Jobs)-cannot, show.Count(len(a.Jobs), "job"))
	}
	_, err := fmt.Fprintf(out, "%s\n\n%s at least %s %% on %s.\n", t, who, strconv.FormatFloat(100*a.Chance, 'g', 10, 64), show.Count(a.Capacity, "slot"))
	if err == nil && a.Short > 0 {
		_, err = fmt.Fprintf(out, "--capacity %d runs all tasks at once, since all fit, and %s less then.\n", a.Capacity, shortOf(a.Short))
	}
	var jobs []Entry
	var chances []plan.Chance
	for _, n := range a.Jobs {
		jobs, chances = append(jobs, n.job), append(chances, n.chance)
	}
	if text := inBrackets(jobs, chances); err == nil && text != "" {
		_, err = fmt.Fprintln(out, text)
	}
	return err
}

func shortOf(jobs int) string {
	if jobs == 1 {
		return "1 job has"
	}
	return fmt.Sprintf("%d jobs have", jobs)
}
