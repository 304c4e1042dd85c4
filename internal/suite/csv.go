package suite

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

var results = append(slices.Clone(header), "runs", "policy", "mean_flow_seconds", "p99_flow_seconds", "machine_hours", "clones", "ratio", "ratio_half", "best", "stuck",
	"flow_seconds_of_runs")

// Results are what a file of WriteCSV has.
type Results struct {
	Note     string // says of which state of the program
	Outcomes map[Cell]*Outcome
}

// WriteCSV writes a line for each policy of each cell, behind a comment with the note. Times of runs have nine digits.
func WriteCSV(out io.Writer, note string, all []*Outcome) error {
	if _, err := fmt.Fprintf(out, "# %s\n", note); err != nil {
		return err
	}
	rows := csv.NewWriter(out)
	if err := rows.Write(results); err != nil {
		return err
	}
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, o := range all {
		c := &o.Cell
		for i := range o.Rows {
			r := &o.Rows[i]
			flows := make([]string, len(r.Flows))
			for k, x := range r.Flows {
				flows[k] = strconv.FormatFloat(x, 'g', 9, 64)
			}
			if err := rows.Write([]string{
				c.Family, c.Size, c.Service, c.Reports, c.Load, c.Slots, c.Scale, c.Told, c.Stations, strconv.FormatBool(c.HeldOut()), strconv.Itoa(r.Runs),
				r.Policy, num(r.Flow), num(r.P99), num(r.MachineHours), num(r.Clones), num(r.Ratio.Mean), num(r.Ratio.Half), strconv.FormatBool(r.Best), strconv.FormatBool(r.Stuck),
				strings.Join(flows, " "),
			}); err != nil {
				return err
			}
		}
	}
	rows.Flush()
	return rows.Error()
}

// ReadCSV reads what WriteCSV writes, but for the ratios, which follow from the rest.
func ReadCSV(in io.Reader) (*Results, error) {
	lines := bufio.NewReader(in)
	first, err := lines.ReadString('\n')
	if err != nil {
		return nil, err
	}
	note, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return nil, errors.New("line 1: expected a comment that says what was measured")
	}
	rows, err := csv.NewReader(lines).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], results) {
		return nil, fmt.Errorf("line 2: expected the columns %v", results)
	}
	all := map[Cell]*Outcome{}
	for i, text := range rows[1:] {
		c := Cell{text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7], text[8]}
		f := fields{text: text[len(header):]}
		r := Row{Runs: int(f.number(f.text[0])), Policy: f.text[1], Flow: f.number(f.text[2]), P99: f.number(f.text[3]), MachineHours: f.number(f.text[4]), Clones: f.number(f.text[5]), Stuck: f.text[9] == "true"}
		for part := range strings.FieldsSeq(f.text[10]) {
			r.Flows = append(r.Flows, f.number(part))
		}
		if f.err != nil {
			return nil, fmt.Errorf("line %d: %w", i+3, f.err)
		}
		if !r.Stuck && len(r.Flows) != r.Runs {
			return nil, fmt.Errorf("line %d: flow_seconds_of_runs: expected %d values, got %d", i+3, r.Runs, len(r.Flows))
		}
		if all[c] == nil {
			all[c] = &Outcome{Cell: c}
		}
		all[c].Rows = append(all[c].Rows, r)
	}
	return &Results{strings.TrimSpace(note), all}, nil
}

// fields are the texts of a row, and the first error in reading them.
type fields struct {
	text []string
	err  error
}

func (f *fields) number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if f.err == nil {
		f.err = err
	}
	return x
}
