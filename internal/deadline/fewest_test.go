package deadline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
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
