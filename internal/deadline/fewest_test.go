package deadline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

func TestParseChance(t *testing.T) {
	for text, want := range map[string]float64{"99%": 0.99, "0.5": 0.5, "99.9%": 0.999, "1e-3": 0.001} {
		if got, err := ParseChance(text); err != nil || got < want*(1-1e-15) || got > want*(1+1e-15) {
			t.Errorf("%s: %g, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "0", "1", "100%", "-1%", "NaN", "99 percent", "inf", "1%%"} {
		if got, err := ParseChance(text); err == nil {
			t.Errorf("%q is taken for %g", text, got)
		}
	}
}

// Each job that can have the chance gets its slots; for one that cannot the reason is told.
func TestFewest(t *testing.T) {
	r := request()
	r.Lambda, r.MasterSlots = 0.5, 1
	a := Fewest(r, 0.99)
	etl, hopeless, huge := a.Jobs[0], a.Jobs[1], a.Jobs[2]
	if etl.Slots == 0 || etl.Sooner == nil || *etl.Sooner < 0 || etl.Low != nil && *etl.Low < 0.99 || etl.Slots != etl.AtOnce*etl.Attempts {
		t.Errorf("%+v", etl)
	}
	if hopeless.Slots != 0 || hopeless.Reason != "cannot: no attempt can be that fast" {
		t.Errorf("%+v", hopeless)
	}
	if huge.Slots == 0 || a.Capacity != 2*(etl.Slots+huge.Slots+2) {
		t.Errorf("%+v, on a cluster of %d", huge, a.Capacity)
	}
	var js, csv, table bytes.Buffer
	if a.WriteJSON(&js) != nil || a.WriteCSV(&csv) != nil || a.WriteText(&table) != nil {
		t.Error("not written")
	}
	if !json.Valid(js.Bytes()) || strings.Count(csv.String(), "\n") != 4 || !strings.Contains(table.String(), "2 of 3 jobs can have at least 99 % on ") {
		t.Errorf("%s\n%s\n%s", &js, &csv, &table)
	}
}

// Few tasks at once with many clones may need fewer slots than all with few: where all fit, --capacity runs all, and the
// answer says that this is not the same. Where not all fit, or there is nothing to lose, it says nothing.
func TestFewestSaysWhatAllAtOnceLose(t *testing.T) {
	etl := Entry{Name: "etl", Work: plan.Work{Tasks: 10, Law: laws.Pareto{Xm: 120, Alpha: 1.5}, Deadline: 500}}
	sure := Entry{Name: "sure", Work: plan.Work{Tasks: 4, Law: laws.Deterministic{Value: 60}, Deadline: 70}}
	large := Entry{Name: "large", Work: plan.Work{Tasks: 1000, Law: laws.Deterministic{Value: 17}, Deadline: 3600}}
	for _, c := range []struct {
		name  string
		jobs  []Entry
		short int
	}{
		{"fits", []Entry{etl, sure}, 1}, {"does not fit", []Entry{etl, large}, 0}, {"loses nothing", []Entry{sure}, 0},
	} {
		r := Request{Jobs: c.jobs, Slots: 1, Lambda: 1, MaxAttempts: 5}
		a := Fewest(r, 0.99)
		var table bytes.Buffer
		if err := a.WriteText(&table); err != nil || a.Short != c.short || strings.Contains(table.String(), "runs all tasks at once, since all fit, and 1 job has less then") != (c.short == 1) {
			t.Errorf("%s: %d short\n%s", c.name, a.Short, &table)
		}
		r.Slots = a.Capacity
		short := 0
		for _, f := range Divide(r).Jobs {
			if f.High != nil && *f.High < 0.99 || f.High == nil && f.PoCD < 0.99 {
				short++
			}
		}
		if short != c.short {
			t.Errorf("%s: %d jobs have less on %d slots, want %d", c.name, short, a.Capacity, c.short)
		}
	}
}
