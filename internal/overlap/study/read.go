package study

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/unpack"
)

// Source says how to read a file of jobs.
type Source struct {
	Load     float64 // that sizes are scaled to; 0 leaves a CSV file's as they are, and is DefaultLoad for SWIM
	CubeRoot bool    // takes the cube root of each job's ratio of shuffle to map size; with Load
	Sort     bool    // accepts arrivals in any order
	Batch    bool    // takes no notice of arrivals
}

// DefaultLoad is the load of both stations if nothing is said.
const DefaultLoad = 0.75

// Jobs are jobs in order of arrival.
type Jobs struct {
	All  []overlap.Demand
	Rows []int64 // each job's place in the file, from 0; nil if it is that of All
}

// Read reads a file of jobs, which errors call name: CSV with columns arrival, map, shuffle and perhaps weight, or a
// trace with sizes in bytes; either perhaps compressed with gzip or zstd.
func (s Source) Read(r io.Reader, name string) (jobs Jobs, err error) {
	unpacked, err := unpack.Open(bufio.NewReaderSize(r, 1<<16), 0)
	if err != nil {
		return jobs, fmt.Errorf("%s: %w", name, err)
	}
	defer unpacked.Done()
	plain := bufio.NewReaderSize(unpacked, 1<<16)
	load := s.Load
	if bytes.ContainsRune(firstLine(plain), '\t') { // a trace with sizes in bytes, and not a CSV file
		jobs.All, err = FluidJobs(plain, name)
		if load == 0 {
			load = DefaultLoad
		}
	} else {
		comma := ','
		if head := firstLine(plain); !bytes.ContainsRune(head, comma) && bytes.ContainsRune(head, ';') {
			comma = ';'
		}
		jobs, err = s.csv(plain, comma, name)
	}
	if err == nil && load > 0 {
		err = s.scale(jobs.All, load)
	}
	return jobs, err
}

// firstLine looks at what is to come.
func firstLine(r *bufio.Reader) []byte {
	head, _ := r.Peek(1 << 12)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line
}

// scale gives the jobs a load, with the ratios that were asked for.
func (s Source) scale(jobs []overlap.Demand, load float64) error {
	if s.CubeRoot {
		if err := overlap.ScaleToLoad(jobs, load); err != nil {
			return grammar.Wrong("load", err)
		}
		overlap.CubeRootRatios(jobs)
	}
	if err := overlap.ScaleToLoad(jobs, load); err != nil {
		return grammar.Wrong("load", err)
	}
	for i, j := range jobs {
		if err := j.Validate(); err != nil {
			return grammar.Wrong("load", fmt.Errorf("job %d: %w", i, err))
		}
	}
	return nil
}

// csv reads the columns of [names].
func (s Source) csv(r io.Reader, comma rune, name string) (jobs Jobs, err error) {
	in := csv.NewReader(r)
	in.Comma, in.ReuseRecord = comma, true
	at, err := header(in, name)
	if err != nil {
		return jobs, err
	}
	last := 0 // line of the job before
	for {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return jobs, badCSV(name, err)
		}
		line, _ := in.FieldPos(0)
		j, err := job(record, at)
		if err != nil {
			return jobs, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if n := len(jobs.All); n > 0 && j.Arrival < jobs.All[n-1].Arrival && !s.Sort && !s.Batch {
			return jobs, fmt.Errorf("%s:%d: arrival: expected at least %v as on line %d, not %v; --sort accepts any order",
				name, line, jobs.All[n-1].Arrival, last, j.Arrival)
		}
		last = line
		jobs.All = append(jobs.All, j)
	}
	if len(jobs.All) == 0 {
		return jobs, fmt.Errorf("%s:2: arrival: expected a job, not the end of the file", name)
	}
	if s.Sort && !s.Batch {
		jobs = byArrival(jobs.All)
	}
	return jobs, nil
}

// byArrival sorts jobs by arrival, then place in the file.
func byArrival(jobs []overlap.Demand) Jobs {
	rows := make([]int64, len(jobs))
	for i := range rows {
		rows[i] = int64(i)
	}
	slices.SortStableFunc(rows, func(a, b int64) int { return cmp.Compare(jobs[a].Arrival, jobs[b].Arrival) })
	sorted := make([]overlap.Demand, len(jobs))
	for i, row := range rows {
		sorted[i] = jobs[row]
	}
	return Jobs{sorted, rows}
}

// columns are the places of arrival, map, shuffle and weight in a record; -1 for no weight.
type columns [4]int

var names = [...]string{"arrival", "map", "shuffle", "weight"}

func header(in *csv.Reader, name string) (at columns, err error) {
	found, err := in.Read()
	if err == io.EOF {
		return at, fmt.Errorf("%s:1: header: expected arrival,map,shuffle, not an empty file", name)
	}
	if err != nil {
		return at, badCSV(name, err)
	}
	for i, field := range names {
		at[i] = slices.IndexFunc(found, func(h string) bool { return strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")) == field })
		if at[i] < 0 && field != "weight" {
			return at, fmt.Errorf("%s:1: %s: expected a column of this name in the header", name, field)
		}
	}
	return at, nil
}

func job(record []string, at columns) (j overlap.Demand, err error) {
	for i, to := range []*float64{&j.Arrival, &j.Map, &j.Shuffle, &j.Weight} {
		if at[i] < 0 {
			continue
		}
		text := strings.TrimSpace(record[at[i]])
		if *to, err = strconv.ParseFloat(text, 64); err != nil {
			return j, fmt.Errorf("%s: expected a number, not %q", names[i], text)
		}
	}
	return j, j.Validate()
}

// badCSV names file and line of what is not CSV, or has the wrong number of fields.
func badCSV(name string, err error) error {
	var bad *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &bad):
		return fmt.Errorf("%s:%d: expected as many fields as the header has", name, bad.Line)
	case errors.As(err, &bad):
		return fmt.Errorf("%s:%d: field %d: %w", name, bad.Line, bad.Column, bad.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
