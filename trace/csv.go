package trace

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// A table of tasks, one row each, under a header line. It is the format that a spreadsheet or a query gives, and what
// is left of a workload in it: arrivals, stages and durations, without what joins stages.
//
// The columns job, arrival_seconds and duration_seconds have to be there, in any order; stage may. Others are ignored.
// Rows of a job are neighbours, and so are those of a stage. The stages of a job do not wait for each other.

// csvHeader is what is written. A job without a name is called by its number.
var csvHeader = []string{"job", "arrival_seconds", "stage", "task", "duration_seconds"}

func isCSV(s *sample) bool {
	return slices.Contains(s.csv, "job") && slices.Contains(s.csv, "arrival_seconds") && slices.Contains(s.csv, "duration_seconds")
}

// csvReader reads row by row.
type csvReader struct {
	in    *reader
	place [4]int // of job, arrival, duration and stage in a row; -1 for none
	seen  map[string]bool
	job   string // the last row's
	stage string
}

// csvTable reads the table.
func (in *reader) csvTable() error {
	head, err := in.csvHeader()
	if err != nil {
		return err
	}
	r := csvReader{in: in, seen: map[string]bool{}}
	for i, name := range []string{"job", "arrival_seconds", "duration_seconds", "stage"} {
		r.place[i] = slices.Index(head, name)
	}
	in.line++
	if err := in.eachRow(head, r.row); err != nil {
		return err
	}
	r.moments()
	return nil
}

// csvHeader returns the fields of the first line that holds something.
func (in *reader) csvHeader() ([]string, error) {
	for ; ; in.line++ {
		text, err := in.next()
		if err != nil {
			return nil, in.wrong("", err)
		}
		if text = strings.TrimSpace(text); text != "" && text[0] != '#' {
			return newSample([]byte(text)).csv, nil
		}
	}
}

func (r *csvReader) row(row []string) error {
	in, w := r.in, r.in.w
	arrival, err := parseSeconds(row[r.place[1]])
	if err != nil {
		return in.wrong("arrival_seconds", err)
	}
	took, err := parseSeconds(row[r.place[2]])
	if err != nil {
		return in.wrong("duration_seconds", err)
	}
	if err := in.room(1); err != nil {
		return in.wrong("", err)
	}
	job, stage := row[r.place[0]], ""
	if r.place[3] >= 0 {
		stage = row[r.place[3]]
	}
	begins := len(w.Jobs) == 0 || job != r.job
	if begins {
		if r.seen[job] {
			return in.wrong("job", fmt.Errorf("expected the rows of job %q one after another, there were others in between", abridged(job)))
		}
		r.job = strings.Clone(job)
		r.seen[r.job] = true
		w.Jobs = append(w.Jobs, JobRow{Arrival: arrival, Number: uint32(len(w.Jobs)), Name: in.names.add(r.job), FirstStage: uint32(len(w.Stages))})
	}
	last := &w.Jobs[len(w.Jobs)-1]
	if arrival != last.Arrival {
		return in.wrong("arrival_seconds", fmt.Errorf("expected %s as in the job's rows before, got %s", appendSeconds(nil, last.Arrival), appendSeconds(nil, arrival)))
	}
	if begins || stage != r.stage {
		if err := r.open(last, stage); err != nil {
			return err
		}
	}
	w.Durations = append(w.Durations, took)
	w.Stages[len(w.Stages)-1].Tasks++
	return nil
}

// open begins a stage.
func (r *csvReader) open(job *JobRow, stage string) error {
	in, w := r.in, r.in.w
	r.stage = strings.Clone(stage)
	name := in.names.add(r.stage)
	if i := slices.IndexFunc(w.Stages[job.FirstStage:], func(s StageRow) bool { return s.Name == name }); i >= 0 {
		return in.wrong("stage", fmt.Errorf("expected the rows of stage %q one after another, there were others in between", abridged(stage)))
	}
	if job.Stages == maxStages {
		return in.wrong("stage", fmt.Errorf("expected at most %d stages in a job", maxStages))
	}
	r.moments()
	job.Stages++
	w.Stages = append(w.Stages, StageRow{FirstTask: uint32(len(w.Durations)), Law: -1, Name: name})
	return nil
}

// moments tells schedulers of the last stage's durations.
func (r *csvReader) moments() {
	if n := len(r.in.w.Stages); n > 0 {
		st := &r.in.w.Stages[n-1]
		st.Mean, st.SD = moments(r.in.w.DurationsOf(st))
	}
}

// WriteCSV writes a workload as a table of tasks. A job whose name an earlier one has gets its number behind it. Edges
// and what else is said of jobs and stages is lost; see [Workload.Lost].
func WriteCSV(out io.Writer, w *Workload) error {
	b := bufio.NewWriterSize(out, 1<<16)
	rows := csv.NewWriter(b)
	if err := rows.Write(csvHeader); err != nil {
		return err
	}
	row, taken := make([]string, len(csvHeader)), make(map[string]bool, len(w.Jobs))
	for j := range w.Jobs {
		row[0] = w.jobName(j)
		for taken[row[0]] {
			row[0] += "#" + strconv.FormatUint(uint64(w.Jobs[j].Number), 10)
		}
		taken[row[0]] = true
		if err := w.writeRows(rows, row, j); err != nil {
			return err
		}
	}
	rows.Flush()
	if err := errors.Join(rows.Error(), b.Flush()); err != nil {
		return err
	}
	return nil
}

// writeRows writes the tasks of job j, whose name is in row already.
func (w *Workload) writeRows(rows *csv.Writer, row []string, j int) error {
	job := &w.Jobs[j]
	row[1] = seconds(job.Arrival)
	names := w.stageNames(j)
	for i, st := range w.StagesOf(j) {
		row[2] = names[i]
		for t, d := range w.DurationsOf(&st) {
			row[3], row[4] = strconv.Itoa(t), seconds(d)
			if err := rows.Write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// jobName returns what job j is called in a table: its name, or its number.
func (w *Workload) jobName(j int) string {
	if name := w.Names[w.Jobs[j].Name]; name != "" {
		return name
	}
	return strconv.FormatUint(uint64(w.Jobs[j].Number), 10)
}

// seconds is appendSeconds as a string.
func seconds(t sched.Time) string { return string(appendSeconds(nil, t)) }
