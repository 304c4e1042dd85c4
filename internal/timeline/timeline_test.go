package timeline

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func policies(h *trace.JournalHeader) (sched.Policy, error) { return policy.New(h.Policy, h.Seed) }

// a run of three tasks on one slot, two of which are done when its engine was killed
func TestFromJournal(t *testing.T) {
	r, err := trace.OpenJournalReader("../../cmd/tailcut/testdata/journals/v3")
	if err != nil {
		t.Fatal(err)
	}
	got, err := FromJournal(r, policies, "three")
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "three" || got.Policy != "fifo" || len(got.Jobs) != 1 || got.Jobs[0].State != "running" || got.Jobs[0].Tasks != 3 || got.Jobs[0].Done != 2 {
		t.Errorf("%+v", got.Jobs)
	}
	if len(got.Slots) != 1 || got.Attempts.Len() != 3 {
		t.Fatalf("%d slots, %d attempts", len(got.Slots), got.Attempts.Len())
	}
	for i, want := range []live.End{live.Won, live.Won, Running} {
		if r := got.Attempts.Row(i); r.End != want || r.Reason != sched.Original || int(r.Task) != i || r.Start > r.Stop {
			t.Errorf("attempt %d: %+v", i, r)
		}
	}
	if got.Attempts.Row(2).Stop != sched.Time(got.Until) {
		t.Error("a running attempt does not end with the journal")
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		var b bytes.Buffer
		if err := want.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "null") {
			t.Fatalf("a list is null: %s", b.String())
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Attempts.all(), got.Attempts.all()); diff != "" {
			t.Fatal(diff)
		}
		want.Attempts, got.Attempts = Columns{}, Columns{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func (c *Columns) all() (rows []Row) {
	for i := range c.Len() {
		rows = append(rows, c.Row(i))
	}
	return rows
}

// draw makes a timeline of any attempts.
func draw(t *rapid.T) *Timeline {
	w := empty()
	w.Name, w.Policy, w.Started = "w", "srpt", time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	w.Until = Seconds(rapid.Int64Range(0, 1e18).Draw(t, "until"))
	w.Jobs = append(w.Jobs, JobRow{ID: 7, Name: "a", State: "failed", Ended: 3, Tasks: 2})
	w.Stages = append(w.Stages, StageRow{Name: "map", Tasks: 2})
	w.Slots = append(w.Slots, SlotRow{Machine: "m"}, SlotRow{Machine: "m", Number: 1, Site: "east"})
	at := rapid.Int64Range(0, 1e18)
	for range rapid.IntRange(0, 5).Draw(t, "attempts") {
		w.Attempts.Add(&Row{
			Task: rapid.Uint32().Draw(t, "task"), Slot: rapid.Uint32Range(0, 1).Draw(t, "slot"), Launched: sched.Time(at.Draw(t, "launched")),
			Start: sched.Time(at.Draw(t, "start")), Stop: sched.Time(at.Draw(t, "stop")), End: live.Lost, Clone: rapid.Bool().Draw(t, "clone"),
			From: rapid.Float64Range(0, 1).Draw(t, "from"), Reason: sched.Reason(rapid.IntRange(0, int(sched.MachineGone)).Draw(t, "reason")),
		})
	}
	return &w
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":         {"{", "unexpected EOF"},
		"another schema":  {`{"schema":"tailcut.jobs/v1"}`, `schema is "tailcut.jobs/v1", expected "tailcut.timeline/v1"`},
		"a short column":  {`{"schema":"tailcut.timeline/v1","attempts":{"job":[0]}}`, "has 0 entries, expected 1"},
		"no such job":     {`{"schema":"tailcut.timeline/v1","stages":[{"job":1}]}`, "stages[0].job: 1 is not in the table"},
		"too many digits": {`{"schema":"tailcut.timeline/v1","until":0.1234567891}`, "at most nine decimals"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
}

func TestBetween(t *testing.T) {
	w := empty()
	w.Jobs, w.Stages, w.Slots = []JobRow{{}}, []StageRow{{}}, []SlotRow{{}}
	for i := range sched.Time(10) {
		w.Attempts.Add(&Row{Task: uint32(i), Launched: i * 10, Stop: i*10 + 9})
	}
	var got []uint32
	for _, r := range w.Between(19, 40).Attempts.all() {
		got = append(got, r.Task)
	}
	if diff := cmp.Diff([]uint32{1, 2, 3, 4}, got); diff != "" {
		t.Error(diff)
	}
}
