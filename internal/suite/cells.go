package suite

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

var header = []string{"family", "size", "service", "reports", "load", "slots", "scale", "told", "stations", "held_out"}

// WriteCells writes cells as CSV.
func WriteCells(out io.Writer, cells []Cell) error {
	rows := csv.NewWriter(out)
	if err := rows.Write(header); err != nil {
		return err
	}
	for i := range cells {
		c := &cells[i]
		if err := rows.Write([]string{c.Family, c.Size, c.Service, c.Reports, c.Load, c.Slots, c.Scale, c.Told, c.Stations, strconv.FormatBool(c.HeldOut())}); err != nil {
			return err
		}
	}
	rows.Flush()
	return rows.Error()
}

// ReadCells reads what WriteCells writes.
func ReadCells(in io.Reader) ([]Cell, error) {
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header) {
		return nil, fmt.Errorf("line 1: expected the columns %v", header)
	}
	cells := make([]Cell, 0, len(rows)-1)
	for i, r := range rows[1:] {
		c := Cell{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]}
		if r[9] != strconv.FormatBool(c.HeldOut()) {
			return nil, fmt.Errorf("line %d: field held_out: expected %t", i+2, c.HeldOut())
		}
		cells = append(cells, c)
	}
	return cells, nil
}
