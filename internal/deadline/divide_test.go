package deadline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

func request() Request {
	job := func(name string, tasks int, deadline float64) Entry {
		return Entry{Name: name, Work: plan.Work{Law: laws.Pareto{Xm: 60, Alpha: 1.5}, Tasks: tasks, Deadline: deadline}}
	}
	return Request{
		Jobs:  []Entry{job("etl", 10, 600), job("hopeless", 10, 50), job("huge", 1000, 600)},
		Slots: 50, Lambda: 1, MaxAttempts: 5, Utility: plan.UtilitySum,
	}
}

// A job gets clones of the slots that originals leave; one that cannot make it, or finds none, waits, and is told why.
func TestDivide(t *testing.T) {
	a := Divide(request())
	etl, hopeless, huge := a.Jobs[0], a.Jobs[1], a.Jobs[2]
	if etl.Clones == 0 || etl.Attempts != etl.Clones+1 || etl.PoCD <= etl.Without || etl.Queued || a.Used > 50 {
		t.Errorf("%+v", etl)
	}
	if !hopeless.AtRisk || !strings.HasPrefix(hopeless.Reason, "cannot meet its deadline") || hopeless.PoCD != 0 {
		t.Errorf("%+v", hopeless)
	}
	if !huge.Queued || huge.Attempts != 0 || huge.Reason != "waits for slots" {
		t.Errorf("%+v", huge)
	}
	if a.Min != 0 || a.Total != etl.PoCD {
		t.Errorf("%g of the jobs are in time, and the worst with %g", a.Total, a.Min)
	}
	var js, csv, table bytes.Buffer
	if a.WriteJSON(&js) != nil || a.WriteCSV(&csv) != nil || a.WriteText(&table) != nil {
		t.Error("not written")
	}
	if !json.Valid(js.Bytes()) || strings.Count(csv.String(), "\n") != 4 || !strings.Contains(table.String(), "of 50 slots used") {
		t.Errorf("%s\n%s\n%s", &js, &csv, &table)
	}
}

// Jobs that do not fit run in waves: what is exact is told as a number, what was simulated as an interval.
func TestDivideInWaves(t *testing.T) {
	r := request()
	r.Jobs = r.Jobs[:1]
	r.Jobs = append(r.Jobs, Entry{Name: "constant", Work: plan.Work{Law: laws.Deterministic{Value: 17}, Tasks: 1000, Deadline: 3600}},
		Entry{Name: "simulated", Work: plan.Work{Law: laws.Lognormal{Mu: 2.7, Sigma: 0.5}, Tasks: 200, Deadline: 300}})
	r.Slots = 60
	a := Divide(r)
	constant, simulated := a.Jobs[1], a.Jobs[2]
	if constant.AtOnce != 5 || constant.PoCD != 1 || constant.Low != nil || constant.AtRisk {
		t.Errorf("%+v", constant)
	}
	if simulated.AtOnce >= 200 || simulated.AtRisk || simulated.Low == nil || !(*simulated.Low <= simulated.PoCD && *simulated.High >= simulated.PoCD) {
		t.Errorf("%+v", simulated)
	}
	var table bytes.Buffer
	if a.WriteText(&table) != nil || !strings.Contains(table.String(), "at once") || !strings.Contains(table.String(), "In brackets") && !strings.Contains(table.String(), ">99.") {
		t.Errorf("%s", &table)
	}
}

// A chance that was simulated is never told as certain, nor as impossible.
func TestShownChance(t *testing.T) {
	for _, c := range []struct {
		chance plan.Chance
		want   string
	}{
		{plan.Chance{P: 1, Low: 0.9962, High: 1, Samples: 1000}, ">99.6 %"},
		{plan.Chance{P: 0, Low: 0, High: 0.0038, Samples: 1000}, "<0.4 %"},
		{plan.Chance{P: 0.5, Low: 0.469, High: 0.531, Samples: 1000}, "50.0 % (46.9 to 53.1)"},
		{plan.Chance{P: 0.999, Low: 0.9943, High: 0.9999, Samples: 1000}, "99.9 % (99.4 to 100.0)"},
		{plan.Chance{P: 0.999999, Low: 0.999999, High: 1}, ">99.99 %"},
		{plan.Chance{P: 0.5, Low: 0.5, High: 0.5}, "50.0 %"},
	} {
		if got := shownChance(c.chance, true); got != c.want {
			t.Errorf("%+v: %s, want %s", c.chance, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(r *Request){
		"capacity: expected the number of slots": func(r *Request) { r.Slots = 0 },
		"capacity: expected a number from 1 to ": func(r *Request) { r.Slots = -1 },
		"lambda: ":                               func(r *Request) { r.Lambda = 0 },
		"max-attempts: ":                         func(r *Request) { r.MaxAttempts = 0 },
	} {
		r := request()
		change(&r)
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected an error that begins with %q", err, want)
		}
	}
	if r := request(); r.Check() != nil {
		t.Error(r.Check())
	}
}
