package sizing

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
)

// WriteJSON writes the answer for programs.
func (a *Answer) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(a) }

// WriteCSV writes a row for each number of slots and policy.
func (a *Answer) WriteCSV(out io.Writer) error {
	w := show.NewCSV(out)
	_ = w.Write([]string{"slots", "policy", "seconds", "low_seconds", "high_seconds", "slot_seconds", "busy_ratio"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, r := range a.Rows {
		_ = w.Write([]string{strconv.Itoa(r.Slots), r.Policy, number(r.Seconds), number(r.Low), number(r.High), number(r.SlotTime), number(r.Busy)})
	}
	w.Flush()
	return w.Error()
}

// WriteText writes the answer for people.
func (a *Answer) WriteText(out io.Writer) error {
	upTo := ""
	if a.Source == replay.Told {
		upTo = "up to "
	}
	fmt.Fprintf(out, "%s took %s on %s%s (%s of slot time); its replay takes %s.\n", a.Log, show.Seconds(a.Wall), upTo, show.Count(a.Slots, "slot"),
		show.Seconds(a.SlotTime), show.Seconds(a.Replay))
	if a.Arranged {
		fmt.Fprintln(out, "The log does not say when its tasks started: that is what they take in the order of the log.")
	}
	if a.Source == replay.Seen {
		fmt.Fprintln(out, "The log does not tell its slots: that is the most attempts that ran at once. --slots says how many there were.")
	}
	fmt.Fprintln(out)
	t := show.NewTable("slots", "policy", "time", "95 % of replays", "slot time", "busy", "")
	last := 0
	for _, r := range a.Rows {
		slots, mark, spread := "", "", ""
		if r.Slots != last {
			slots, last = strconv.Itoa(r.Slots), r.Slots
		}
		if slices.ContainsFunc(a.Knees, func(k Knee) bool { return k.Policy == r.Policy && k.Slots == r.Slots }) {
			mark = "knee"
		}
		if r.High > r.Low {
			spread = show.Seconds(r.Low) + " to " + show.Seconds(r.High)
		}
		t.Row(slots, r.Policy, show.Seconds(r.Seconds), spread, show.Seconds(r.SlotTime), fmt.Sprintf("%.0f %%", 100*r.Busy), mark)
	}
	fmt.Fprintf(out, "%s\n\n", t)
	fmt.Fprintln(out, "The knee has the least product of time and slot time. First attempts last as recorded; what chance adds to clones is drawn.")
	for _, k := range a.Knees {
		if !k.Sure {
			fmt.Fprintf(out, "The intervals leave open whether the knee of %s is at %s.\n", k.Policy, show.Count(k.Slots, "slot"))
		}
	}
	k := a.Knees[0]
	edge := ""
	switch k.Slots {
	case a.Rows[0].Slots:
		edge = ", the fewest that were tried"
	case last:
		edge = ", the most that were tried"
	}
	_, err := fmt.Fprintf(out, "The knee of what the log did (%s) is at %s%s.\n", k.Policy, show.Count(k.Slots, "slot"), edge)
	return err
}
