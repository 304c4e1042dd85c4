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

// A job gets clones of the slots that originals leave; one that cannot make it, or does not fit, waits, and is told why.
func TestDivide(t *testing.T) {
	a := Divide(request())
	etl, hopeless, huge := a.Jobs[0], a.Jobs[1], a.Jobs[2]
	if etl.Clones == 0 || etl.Attempts != etl.Clones+1 || etl.PoCD <= etl.Without || etl.Queued || a.Used > 50 {
		t.Errorf("%+v", etl)
	}
	if !hopeless.AtRisk || !strings.HasPrefix(hopeless.Reason, "cannot meet its deadline") || hopeless.PoCD != 0 {
		t.Errorf("%+v", hopeless)
	}
	if !huge.Queued || huge.Attempts != 0 || huge.Reason != "waits: its originals need 1000 slots" {
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
