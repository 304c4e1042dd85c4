package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/reproduce"
)

// readOverlapJobs reads a file of jobs, "-" for standard input. When it sorts, rows has each job's place in the file,
// from 0.
func readOverlapJobs(stdin io.Reader, path string, f *overlapFlags) (jobs []overlap.Job, rows []int64, err error) {
	r, name := stdin, "standard input"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		r, name = file, path
	}
	plain, err := unzipped(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if bytes.ContainsRune(firstLine(plain), '\t') { // a trace with sizes in bytes, and not a CSV file
		jobs, err = reproduce.FluidJobs(plain, name)
		if err == nil {
			err = f.scale(jobs, f.load)
		}
		return jobs, nil, err
	}
	comma := ','
	if head := firstLine(plain); !bytes.ContainsRune(head, comma) && bytes.ContainsRune(head, ';') {
		comma = ';'
	}
	jobs, rows, err = readOverlapCSV(plain, comma, name, f.sort, f.batch)
	if err == nil && f.loadGiven {
		err = f.scale(jobs, f.load)
	}
	return jobs, rows, err
}

// unzipped reads what may be compressed with gzip.
func unzipped(r io.Reader) (*bufio.Reader, error) {
	plain := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := plain.Peek(2); string(magic) != "\x1f\x8b" {
		return plain, nil
	}
	unzip, err := gzip.NewReader(plain)
	return bufio.NewReaderSize(unzip, 1<<16), err
}

// firstLine looks at what is to come.
func firstLine(r *bufio.Reader) []byte {
	head, _ := r.Peek(1 << 12)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line
}

// scale gives the jobs a load, with the ratios that the user asked for.
func (f *overlapFlags) scale(jobs []overlap.Job, load float64) error {
	if f.ratio.value == cubeRoot {
		if err := overlap.ScaleToLoad(jobs, load); err != nil {
			return fmt.Errorf("--load: %w", err)
		}
		overlap.CubeRootRatios(jobs)
	}
	if err := overlap.ScaleToLoad(jobs, load); err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	for i, j := range jobs {
		if err := j.Validate(); err != nil {
			return fmt.Errorf("--load: job %d: %w", i, err)
		}
	}
	return nil
}

// readOverlapCSV reads the columns of [overlapNames].
func readOverlapCSV(r io.Reader, comma rune, name string, sort, batch bool) (jobs []overlap.Job, rows []int64, err error) {
	in := csv.NewReader(r)
	in.Comma, in.ReuseRecord = comma, true
	columns, err := overlapHeader(in, name)
	if err != nil {
		return nil, nil, err
	}
	last := 0 // line of the job before
	for {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, badCSV(name, err)
		}
		line, _ := in.FieldPos(0)
		j, err := overlapJob(record, columns)
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if n := len(jobs); n > 0 && j.Arrival < jobs[n-1].Arrival && !sort && !batch {
			return nil, nil, fmt.Errorf("%s:%d: arrival: expected at least %v as on line %d, not %v; --sort accepts any order",
				name, line, jobs[n-1].Arrival, last, j.Arrival)
		}
		last = line
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 {
		return nil, nil, fmt.Errorf("%s:2: arrival: expected a job, not the end of the file", name)
	}
	if sort && !batch {
		jobs, rows = byArrival(jobs)
	}
	return jobs, rows, nil
}

// byArrival sorts jobs by arrival, then place in the file.
func byArrival(jobs []overlap.Job) (sorted []overlap.Job, rows []int64) {
	rows = make([]int64, len(jobs))
	for i := range rows {
		rows[i] = int64(i)
	}
	slices.SortStableFunc(rows, func(a, b int64) int {
		switch {
		case jobs[a].Arrival < jobs[b].Arrival:
			return -1
		case jobs[a].Arrival > jobs[b].Arrival:
			return 1
		}
		return 0
	})
	sorted = make([]overlap.Job, len(jobs))
	for i, row := range rows {
		sorted[i] = jobs[row]
	}
	return sorted, rows
}

// overlapColumns are the places of arrival, map, shuffle and weight in a record; -1 for no weight.
type overlapColumns [4]int

var overlapNames = [...]string{"arrival", "map", "shuffle", "weight"}

func overlapHeader(in *csv.Reader, name string) (columns overlapColumns, err error) {
	header, err := in.Read()
	if err == io.EOF {
		return columns, fmt.Errorf("%s:1: header: expected arrival,map,shuffle, not an empty file", name)
	}
	if err != nil {
		return columns, badCSV(name, err)
	}
	for i, field := range overlapNames {
		columns[i] = slices.IndexFunc(header, func(h string) bool { return strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")) == field })
		if columns[i] < 0 && field != "weight" {
			return columns, fmt.Errorf("%s:1: %s: expected a column of this name in the header", name, field)
		}
	}
	return columns, nil
}

func overlapJob(record []string, columns overlapColumns) (j overlap.Job, err error) {
	for i, to := range []*float64{&j.Arrival, &j.Map, &j.Shuffle, &j.Weight} {
		if columns[i] < 0 {
			continue
		}
		text := strings.TrimSpace(record[columns[i]])
		if *to, err = strconv.ParseFloat(text, 64); err != nil {
			return j, fmt.Errorf("%s: expected a number, not %q", overlapNames[i], text)
		}
	}
	return j, j.Validate()
}

// badCSV names file and line of what is not CSV, or has the wrong number of fields.
func badCSV(name string, err error) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s:%d: field %d: %w", name, bad.Line, bad.Column, bad.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
