package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/trace"
)

// durationsFrom says where durations come from: a file, "-" for standard input, and what to take from it.
type durationsFrom struct {
	path   string
	column string // of a CSV: its name or its number from 1; "" is one number per line
	job    int    // of a workload: the number of the job from 0; -1 is the only one
}

// read returns the durations, in seconds. An error is one line that names file, line and what was expected.
func (d durationsFrom) read(stdin io.Reader) ([]float64, error) {
	if d.job >= 0 || strings.HasSuffix(strings.TrimSuffix(d.path, ".gz"), ".tr") {
		return d.readJob(stdin)
	}
	in, name := stdin, "stdin"
	if d.path != "-" {
		f, err := os.Open(d.path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in, name = f, d.path
	}
	var values []float64
	var err error
	if d.column != "" {
		values, err = readColumn(in, name, d.column)
	} else {
		values, err = readNumbers(in, name)
	}
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("%s: no durations in it", name)
	}
	return values, err
}

// readNumbers reads one duration per line; what follows a # is a comment, and blank lines are nothing.
func readNumbers(r io.Reader, name string) ([]float64, error) {
	var values []float64
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		v, err := parseSeconds(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		values = append(values, v)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: expected one duration per line, got a line of more than 1 MiB", name, number+1)
	}
	return values, lines.Err()
}

// parseSeconds reads a duration in seconds.
func parseSeconds(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		if len(text) > 40 {
			text = text[:40] + "..."
		}
		return 0, fmt.Errorf("expected a duration in seconds, a finite number of at least 0, got %q", text)
	}
	return v, nil
}

// readColumn reads a column of a CSV, by its name in the first line or by its number from 1; in the latter case the
// first line may be a header or not.
func readColumn(r io.Reader, name, column string) ([]float64, error) {
	in := csv.NewReader(r)
	in.Comment = '#'
	in.TrimLeadingSpace = true
	in.ReuseRecord = true
	index := -1
	if n, err := strconv.Atoi(column); err == nil {
		if n < 1 {
			return nil, fmt.Errorf("--csv-column counts from 1, got %d", n)
		}
		index = n - 1
	}
	var values []float64
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			return nil, fmt.Errorf("%s:%d: %w", name, bad.Line, bad.Err)
		case err != nil:
			return nil, err
		}
		if index < 0 { // the header
			if index = slices.Index(record, column); index < 0 {
				return nil, fmt.Errorf("%s:1: no column %q; there are: %s", name, column, strings.Join(record, ", "))
			}
			continue
		}
		if index >= len(record) {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: no column %d; there are %d", name, line, index+1, len(record))
		}
		v, err := parseSeconds(strings.TrimSpace(record[index]))
		if err != nil && first {
			continue // a header
		}
		if err != nil {
			line, _ := in.FieldPos(index)
			return nil, fmt.Errorf("%s:%d: column %s: %w", name, line, column, err)
		}
		values = append(values, v)
	}
}

// readJob reads the task durations of one job of a workload.
func (d durationsFrom) readJob(stdin io.Reader) ([]float64, error) {
	w, err := trace.Load(d.path, stdin, 0)
	if err != nil {
		return nil, err
	}
	if d.job < 0 && len(w.Jobs) > 1 {
		return nil, fmt.Errorf("%s: there are %d jobs in it; choose one with --job, counted from 0", d.path, len(w.Jobs))
	}
	for i := range w.Jobs {
		job := &w.Jobs[i]
		if d.job >= 0 && job.Number != uint32(d.job) {
			continue
		}
		var values []float64
		for _, st := range w.Stages[job.FirstStage : job.FirstStage+job.Stages] {
			for _, v := range w.Durations[st.FirstTask : st.FirstTask+st.Tasks] {
				values = append(values, v.Seconds())
			}
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("%s: job %d has no tasks", d.path, job.Number)
		}
		return values, nil
	}
	return nil, fmt.Errorf("%s: no job %d in it", d.path, d.job)
}
