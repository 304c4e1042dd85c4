package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// DropList names jobs to leave out, for example because they were killed and their last durations run only up to the
// kill.
//
// It is read from a CSV file beside the workload, with a header. The column line holds the line of a job in the
// workload's file, from 1; or the column job its name. If there is a column end_event, the rows that say FINISH or
// nothing there are not dropped; without it all are. Other columns are ignored.
type DropList struct {
	numbers map[uint32]bool
	names   map[string]bool
}

// LoadDropList reads a file, plain or compressed.
func LoadDropList(path string) (*DropList, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadDropList(f, path)
}

// ReadDropList reads a list. Errors are one line that names the line and the field.
func ReadDropList(r io.Reader, name string) (*DropList, error) {
	plain, done, err := decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer done()
	rows := csv.NewReader(plain)
	rows.ReuseRecord = true
	rows.Comment = '#'
	d := &DropList{numbers: map[uint32]bool{}, names: map[string]bool{}}
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s:1: expected a header with a column line or job", name)
	}
	line, job, end := slices.Index(head, "line"), slices.Index(head, "job"), slices.Index(head, "end_event")
	if line < 0 && job < 0 {
		return nil, fmt.Errorf("%s:1: expected a column line or job, there are %s", name, abridged(strings.Join(head, ", ")))
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("%s:%d: %w", name, bad.Line, bad.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if end >= 0 && (row[end] == "" || row[end] == "FINISH") {
			continue
		}
		if line < 0 {
			d.names[strings.Clone(row[job])] = true
			continue
		}
		n, err := strconv.ParseUint(row[line], 10, 32)
		if err != nil || n == 0 {
			at, _ := rows.FieldPos(line)
			return nil, fmt.Errorf("%s:%d: field line: expected a whole number of at least 1, got %q", name, at, abridged(row[line]))
		}
		d.numbers[uint32(n-1)] = true
	}
}

// has reports whether job j is on the list.
func (d *DropList) has(w *Workload, j int) bool {
	job := &w.Jobs[j]
	return d.numbers[job.Number] || job.Name != 0 && d.names[w.Names[job.Name]]
}
