package suite

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

const frozen = "../../bench/suite/cells.csv"

// The suite was declared before a policy was tuned on it; whoever changes the axes changes what was promised.
func TestFrozen(t *testing.T) {
	want, err := os.ReadFile(frozen)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := WriteCells(&got, Declare()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("the axes declare other cells than bench/suite/cells.csv has frozen")
	}
	cells, err := ReadCells(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for i := range cells {
		if cells[i].HeldOut() {
			held++
		}
	}
	if part := float64(held) / float64(len(cells)); part < 0.28 || part > 0.39 {
		t.Errorf("%d of %d cells are held out, want about a third", held, len(cells))
	}
}

// Every cell that needs no trace can be built, with the load that it says.
func TestWorlds(t *testing.T) {
	for _, c := range Declare() {
		if !generated(c.Family) || c.Size == "10000" {
			continue
		}
		w, err := c.World("")
		if err != nil {
			t.Fatal(err)
		}
		if w.Slots < 2 || w.Workload.Tasks() == 0 {
			t.Errorf("%s: %d slots, %d tasks", c.ID(), w.Slots, w.Workload.Tasks())
		}
		var last sched.Time
		for j := range w.Workload.Jobs {
			if at := w.Workload.Jobs[j].Arrival; at < last {
				t.Fatalf("%s: job %d arrives before the one before it", c.ID(), j)
			} else {
				last = at
			}
		}
	}
}

// A cell is run, and of the published one is the best.
func TestRun(t *testing.T) {
	c := Cell{Family: "array", Size: "10", Service: "law:heavy", Reports: "persistent:0.5", Load: "0.5", Slots: "by load", Scale: "1s", Told: "unknown", Stations: "two"}
	out, err := c.Run(t.Context(), "", []string{"fifo", "spark", "late-short"}, 2, Runs{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := 0
	for i, r := range out.Rows {
		if r.Best {
			best++
		}
		if r.Stuck || r.Flow <= 0 || r.MachineHours <= 0 || i < 2 && r.Ratio.Mean < 1-1e-9 {
			t.Errorf("%+v", r)
		}
	}
	if best != 1 || out.Rows[2].Best {
		t.Errorf("%d best: %+v", best, out.Rows)
	}
	var table, rows bytes.Buffer
	if err := WriteTable(&table, []*Outcome{out}, "spark", nil); err != nil {
		t.Fatal(err)
	}
	if err := WriteCSV(&rows, "at commit 1", []*Outcome{out}); err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(table.Bytes(), []byte("\n")); lines != 2+3 {
		t.Errorf("%d lines:\n%s", lines, &table)
	}
	if lines := bytes.Count(rows.Bytes(), []byte("\n")); lines != 2+3 {
		t.Errorf("%d lines:\n%s", lines, &rows)
	}

	checkEarlier(t, &c, out, &rows)
}

// checkEarlier: what was written is taken from there, and only what is new is run, with the same ratios.
func checkEarlier(t *testing.T, c *Cell, out *Outcome, written *bytes.Buffer) {
	t.Helper()
	all, err := ReadCSV(written)
	if err != nil {
		t.Fatal(err)
	}
	if all.Note != "at commit 1" {
		t.Errorf("note %q", all.Note)
	}
	earlier := all.Outcomes[*c]
	earlier.Rows = slices.DeleteFunc(earlier.Rows, func(r Row) bool { return r.Policy == "spark" })
	earlier.Rows[0].Clones = 17 // a mark: fifo makes no clones
	again, err := c.Run(t.Context(), "", []string{"fifo", "spark", "late-short"}, 2, Runs{}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range again.Rows {
		was := out.Rows[i]
		if math.Abs(r.Ratio.Mean-was.Ratio.Mean) > 1e-8 || math.Abs(r.Ratio.Half-was.Ratio.Half) > 1e-8 || r.Best != was.Best || len(r.Flows) != len(was.Flows) {
			t.Errorf("again %+v, before %+v", r, was)
		}
	}
	if again.Rows[0].Clones != 17 {
		t.Error("fifo was run again")
	}
}

// TestDeep: policies that may be best run more often, and those that do not compete. What the others show stands beside
// the same runs of the best.
func TestDeep(t *testing.T) {
	c := Cell{Family: "array", Size: "10", Service: "law:heavy", Reports: "every", Load: "0.5", Slots: "by load", Scale: "1s", Told: "unknown", Stations: "two"}
	names := []string{"grass", "power-of-two", "srew:slot=0s", Reference, "auto"}
	out, err := c.Run(t.Context(), "", names, 4, Runs{Each: 5, Deep: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := WriteCSV(&written, "", []*Outcome{out}); err != nil {
		t.Fatal(err)
	}
	read, err := ReadCSV(&written)
	if err != nil {
		t.Fatal(err)
	}
	known := Known([]Cell{c}, read.Outcomes, names, 4)[0]
	most := 0
	for i, r := range out.Rows {
		most = max(most, r.Runs)
		if (r.Policy == "auto" || r.Policy == Reference || r.Best) && r.Runs != 20 || r.Policy == "power-of-two" && r.Runs != 5 || len(r.Flows) != r.Runs {
			t.Errorf("%s: %d runs, %d flow times", r.Policy, r.Runs, len(r.Flows))
		}
		if was := known.Rows[i]; was.Runs != r.Runs || was.Best != r.Best || math.Abs(was.Ratio.Mean-r.Ratio.Mean) > 1e-6 {
			t.Errorf("read %+v, written %+v", was, r)
		}
	}
	earlier := read.Outcomes[c]
	for i := range earlier.Rows {
		earlier.Rows[i].Clones = 17 // a mark
	}
	again, err := c.Run(t.Context(), "", names, 4, Runs{Each: 5, Deep: 4}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range again.Rows {
		if (r.Clones == 17) != (r.Policy != "auto") {
			t.Errorf("%s: %v clones, all but auto are known", r.Policy, r.Clones)
		}
	}
}

// TestPublishedHolds: what is kept of published policies is what they do today. If that is meant to have changed, remove
// the lines of the policies that have, and run: go run ./bench/suite -against ” -csv bench/suite/published.csv.gz
func TestPublishedHolds(t *testing.T) {
	f, err := os.Open("../../bench/suite/published.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := ReadCSV(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Declare() {
		was := kept.Outcomes[c]
		if was != nil && c.HeldOut() {
			t.Errorf("%s is held out", c.ID())
		}
		if was == nil || c.Family != "array" || c.Size != "10" && c.Size != "40" {
			continue
		}
		names, err := Published()
		if err != nil {
			t.Fatal(err)
		}
		now, err := c.Run(t.Context(), "", names, len(names), Runs{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range now.Rows {
			if had := was.Of(r.Policy); had == nil || math.Abs(had.Flow/r.Flow-1) > 1e-5 {
				t.Errorf("%s, %s: mean flow %g s, the file has %+v", c.ID(), r.Policy, r.Flow, had)
			}
		}
	}
}

// What a file has is compared in cells that have all policies, and shown: as a table, and as the cells where a policy fails.
func TestKnown(t *testing.T) {
	cells := Declare()[:3]
	known := map[Cell]*Outcome{}
	row := func(name string, flows ...float64) Row {
		return Row{Policy: name, Runs: len(flows), Flow: flows[0], MachineHours: 1, Flows: flows}
	}
	known[cells[0]] = &Outcome{Cell: cells[0], Rows: []Row{row("own", 2, 2, 2), row("fifo", 4, 4, 4), row("spark", 2, 2, 2)}}
	known[cells[1]] = &Outcome{Cell: cells[1], Rows: []Row{row("own", 3, 3.3, 2.7), row("fifo", 1, 1, 1), row("spark", 2, 2, 2)}}
	known[cells[2]] = &Outcome{Cell: cells[2], Rows: []Row{row("own", 1, 1, 1), row("spark", 2, 2, 2)}}
	all := Known(cells, known, []string{"fifo", "spark", "own"}, 2)
	if len(all) != 2 || !all[0].Rows[1].Best || !all[1].Rows[0].Best || all[0].Of("own").Ratio.Mean != 1 || all[1].Of("own").Ratio.Mean != 3 {
		t.Fatalf("%+v", all)
	}
	var table, failing bytes.Buffer
	if err := WriteTable(&table, all, "spark", []string{"own"}); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); strings.Contains(text, "fifo") || !strings.Contains(text, "`own` | 1.73 |") {
		t.Error(text)
	}
	if err := WriteFailing(&failing, all, "own", 1.02); err != nil {
		t.Fatal(err)
	}
	if text := failing.String(); strings.Count(text, "\n") != 3 || !strings.Contains(text, "`fifo` | 3.00 ± 0.75 | yes") {
		t.Error(text)
	}
	if WriteFailing(&failing, all, "nobody", 1.02) == nil {
		t.Error("no error for a policy of which nothing is known")
	}
}
