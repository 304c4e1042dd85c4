package sizing

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
)

// again reads a log.
func again(t *testing.T, path, text string, slots int) Request {
	t.Helper()
	log, err := history.Open(path, strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	stages, _, err := history.Stages(log.Attempts(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return Request{Log: "log", Stages: stages, Again: replay.New("log", stages, log.Course(), slots), Seed: 1}
}

// equal is the log of GNU parallel of 12 tasks of 10 s, four at a time.
func equal() string {
	var b strings.Builder
	b.WriteString("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n")
	for i := range 12 {
		fmt.Fprintf(&b, "%d\t:\t%d.000\t10.000\t0\t0\t0\t0\tx\n", i+1, 1000+10*(i/4))
	}
	return b.String()
}

// Twelve tasks of 10 s take 120, 60, 30, 20 and 10 s on 1, 2, 4, 6 and 12 slots, and 10 s on 24. Time × slot time is
// 14400, 7200, 3600, 2400, 1200 and 2400: the knee is at 12.
func TestPlan(t *testing.T) {
	r := again(t, "-", equal(), 0)
	r.Sizes = []int{1, 2, 4, 6, 12, 24}
	a, err := Plan(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if a.Wall != 30 || math.Abs(a.Replay-30) > 1e-6 || a.Slots != 4 || a.Source != replay.Seen || a.SlotTime != 120 {
		t.Errorf("the log: %+v", a)
	}
	want := map[int]float64{1: 120, 2: 60, 4: 30, 6: 20, 12: 10, 24: 10}
	for _, row := range a.Rows {
		if math.Abs(row.Seconds-want[row.Slots]) > 1e-6 || math.Abs(row.SlotTime-float64(row.Slots)*want[row.Slots]) > 1e-3 || !(row.Busy <= 1+1e-9) {
			t.Errorf("%+v: expected %v s", row, want[row.Slots])
		}
	}
	for _, k := range a.Knees {
		if k.Slots != 12 || !k.Sure {
			t.Errorf("knee %+v, expected 12 slots", k)
		}
	}
}

// The knee is open where an interval reaches it.
// Tasks that take no time, as a clock of whole seconds sees short ones, keep no slot busy: their share of nothing is 0.
func TestTasksWithoutTime(t *testing.T) {
	text := "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
	r := again(t, "-", text+strings.Repeat("1\t:\t1000.000\t0.000\t0\t0\t0\t0\tx\n", 12), 2)
	a, err := Plan(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	var js strings.Builder
	if err := a.WriteJSON(&js); err != nil || !json.Valid([]byte(js.String())) || a.Rows[0].Busy != 0 {
		t.Errorf("%v: %s", err, js.String())
	}
}

func TestKnee(t *testing.T) {
	a := Answer{Rows: []Row{
		{Slots: 2, Policy: "x", Seconds: 10, Low: 10, High: 10}, {Slots: 4, Policy: "x", Seconds: 7, Low: 6, High: 8}, {Slots: 8, Policy: "x", Seconds: 6, Low: 6, High: 6},
	}}
	if k := a.knee("x"); k.Slots != 4 || k.Sure {
		t.Errorf("%+v", k)
	}
	a.Rows[1].Low, a.Rows[1].High = 6.9, 7.05
	if k := a.knee("x"); k.Slots != 4 || !k.Sure {
		t.Errorf("%+v", k)
	}
}

func TestSizes(t *testing.T) {
	if got := fmt.Sprint(around(4), around(1), around(200)); got != "[1 2 4 8 16] [1 2 4] [25 50 100 200 400 800]" {
		t.Error(got)
	}
}

func TestWrite(t *testing.T) {
	a, err := Plan(context.Background(), again(t, "-", equal(), 4))
	if err != nil {
		t.Fatal(err)
	}
	var text, csv, doc strings.Builder
	for _, err := range []error{a.WriteText(&text), a.WriteCSV(&csv), a.WriteJSON(&doc)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(text.String(), "log took 30.00s on 4 slots (2m00s of slot time); its replay takes 30.00s.\n") ||
		!strings.Contains(text.String(), "is at 16 slots, the most that were tried.") {
		t.Error(text.String())
	}
	if rows := strings.Count(csv.String(), "\n"); rows != 1+len(a.Rows) {
		t.Errorf("%d rows", rows)
	}
	var back Answer
	if err := json.Unmarshal([]byte(doc.String()), &back); err != nil || back.Schema != Schema || len(back.Rows) != len(a.Rows) {
		t.Errorf("%v %+v", err, back)
	}
}

// Of real logs the time falls with the number of slots, but for what the order of tasks is worth.
func TestRealLogs(t *testing.T) {
	folder := os.Getenv("TAILCUT_TRACES")
	if folder == "" {
		t.Skip("TAILCUT_TRACES names no folder of traces")
	}
	for _, name := range []string{"sparklint/application_1472176676028_407508_1.gz", "spark-rapids-tools/eventlog_4nodes_8cores_dynamic_alloc.gz", "dr-elephant/event_log_1.gz"} {
		t.Run(name, func(t *testing.T) {
			a, err := Plan(context.Background(), again(t, filepath.Join(folder, "spark-eventlogs", name), "", 0))
			if err != nil {
				t.Fatal(err)
			}
			last := map[string]float64{}
			for _, row := range a.Rows {
				if before, ok := last[row.Policy]; ok && row.Seconds > 1.05*before {
					t.Errorf("%s on %d slots takes %.1f s, with fewer %.1f s", row.Policy, row.Slots, row.Seconds, before)
				}
				last[row.Policy] = row.Seconds
			}
		})
	}
}
