package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/sched"
)

// endings are the ends of attempts, as the column of that name has them.
var endings = []live.End{live.Running, live.Won, live.Lost, live.Failed, live.Killed, live.Refused, live.Crashed}

// addition is a job that waits to be written.
type addition struct {
	job  *past.JobRecord
	done chan error // takes one value without anybody waiting
}

// most jobs that share a transaction: what waits meanwhile should not wait long.
const mostTogether = 256

// Add implements past.History.
func (d *Database) Add(ctx context.Context, j *past.JobRecord) error {
	if err := check(j); err != nil {
		return err
	}
	a := &addition{j, make(chan error, 1)}
	select {
	case d.adds <- a:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-a.done:
		return d.explain(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check finds what is wrong with a job.
func check(j *past.JobRecord) error {
	switch {
	case j.Run == "":
		return errors.New("field run: expected the name of a run")
	case j.Name == "":
		return errors.New("field name: expected the name of a job")
	case !slices.Contains([]string{past.Succeeded, past.Failed, past.Cancelled}, j.State):
		return fmt.Errorf("field state: expected succeeded, failed or cancelled, not %q", j.State)
	}
	for i := range j.Stages {
		c := j.Stages[i].Lives
		if c == nil {
			continue
		}
		n := c.Len()
		for _, other := range []int{len(c.Number), len(c.Began), len(c.Ran), len(c.End), len(c.Clone), max(len(c.From), n*min(1, 1-len(c.From)))} {
			if other != n {
				return fmt.Errorf("field stages[%d].attempts: expected columns of one length", i)
			}
		}
		for k, end := range c.End {
			if !slices.Contains(endings, end) {
				return fmt.Errorf("field stages[%d].attempts.end[%d]: unknown end %q", i, k, end)
			}
		}
	}
	return nil
}

// write writes jobs as they come, those that have come together in one transaction, and tidies now and then.
func (d *Database) write() {
	defer close(d.over)
	for first := range d.adds {
		some := []*addition{first}
	together:
		for len(some) < mostTogether {
			select {
			case a, ok := <-d.adds:
				if !ok {
					break together
				}
				some = append(some, a)
			default:
				break together
			}
		}
		err := d.insert(some)
		if err != nil && len(some) > 1 { // it is the fault of one of them, perhaps
			for _, a := range some {
				a.done <- d.insert([]*addition{a})
			}
			continue
		}
		for _, a := range some {
			a.done <- err
		}
	}
}

// insert adds jobs in one transaction.
func (d *Database) insert(some []*addition) error {
	ctx := context.Background()
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, a := range some {
		if err := insertJob(ctx, tx, a.job); err != nil {
			return err
		}
	}
	if err := d.prune(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func insertJob(ctx context.Context, tx *sql.Tx, j *past.JobRecord) error {
	if !j.Submitted.IsZero() { // it failed and was tried again, or less was known of it
		if _, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE run = ? AND (state <> ? OR submitted IS NULL)", j.Run, past.Succeeded); err != nil {
			return err
		}
	}
	var spec sql.NullString
	if j.Spec != nil {
		lean := *j.Spec
		lean.Stages = slices.Clone(lean.Stages)
		for i := range lean.Stages {
			lean.Stages[i].Inputs = nil // as large as the job, and of one night only
		}
		text, err := json.Marshal(&lean)
		if err != nil {
			return err
		}
		spec = sql.NullString{String: string(text), Valid: true}
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO jobs (run, name, state, policy, slots, submitted, started, ended, deadline, broken, output, command, spec,
		attempts, clones, fruitful, fruitless, flow, class_slots) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (run) DO NOTHING`,
		j.Run, j.Name, j.State, j.Policy, j.Slots, instant(j.Submitted), instant(j.Started), instant(j.Ended), instant(j.Deadline), j.Broken, j.Output, j.Command, spec,
		j.Attempts, j.Clones, micros(j.Fruitful), micros(j.Fruitless), j.Flow().Microseconds(), j.ClassSlots)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // it is kept already
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for i := range j.Stages {
		if err := insertStage(ctx, tx, id, i, &j.Stages[i]); err != nil {
			return err
		}
	}
	for i := range j.Promises {
		p := &j.Promises[i]
		if !p.Known() {
			continue
		}
		ends := make([]int64, len(p.Ends))
		for k, at := range p.Ends {
			ends[k] = at.UnixMicro()
		}
		text, err := json.Marshal(ends)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO promises VALUES (?,?,?)", id, p.Made.UnixMicro(), string(text)); err != nil {
			return err
		}
	}
	return nil
}

func insertStage(ctx context.Context, tx *sql.Tx, job int64, number int, st *past.StageRecord) error {
	sample, err := json.Marshal(&st.PastStage)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO stages VALUES (?,?,?,?,?,?,?)", job, number, st.Name, st.Tasks, st.Class, st.ShuffleBytes, string(sample)); err != nil {
		return err
	}
	c := st.Lives
	if c.Len() == 0 {
		return nil
	}
	add, err := tx.PrepareContext(ctx, "INSERT OR REPLACE INTO attempts VALUES (?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return err
	}
	defer add.Close()
	for i := range c.Len() {
		done, bytes := 0.0, int64(0)
		if len(c.Bytes) > 0 {
			bytes = c.Bytes[i]
		}
		if len(c.From) > 0 {
			done = c.From[i]
		}
		_, err := add.ExecContext(ctx, job, number, c.Task[i], c.Number[i], c.Began[i]/1000, c.Ran[i]/1000, slices.Index(endings, c.End[i]), c.Clone[i], done, bytes)
		if err != nil {
			return err
		}
	}
	return nil
}

// instant is a time as a column has it.
func instant(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

func timeOf(at sql.NullInt64) time.Time {
	if !at.Valid {
		return time.Time{}
	}
	return time.UnixMicro(at.Int64).UTC()
}

func micros(seconds float64) int64   { return int64(sched.FromSeconds(seconds)) / 1000 }
func secondsOf(micros int64) float64 { return float64(micros) / 1e6 }
func spanOf(micros int64) sched.Time { return sched.Time(micros) * 1000 }
