package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
)

// where returns the condition of a query on the table jobs.
func where(q *past.Query) (condition string, args []any) {
	all := []string{"1"}
	add := func(text string, arg any) { all, args = append(all, text), append(args, arg) }
	switch {
	case q.Name == "":
	case strings.ContainsAny(q.Name, "*?["):
		add("name GLOB ?", q.Name)
	default:
		add("name = ?", q.Name)
	}
	if !q.Since.IsZero() {
		add("submitted >= ?", q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		add("submitted < ?", q.Until.UnixMicro())
	}
	if q.State != "" {
		add("state = ?", q.State)
	}
	if q.Run != "" {
		add("run = ?", q.Run)
	}
	return strings.Join(all, " AND "), args
}

// atMost is how many rows a query wants.
func atMost(q *past.Query) int {
	if q.Most == 0 {
		return past.MostJobs
	}
	return q.Most
}

// snapshot reads what belongs together: nothing is added meanwhile, as far as it can see.
func (d *Database) snapshot(ctx context.Context, read func(*sql.Tx) error) error {
	tx, err := d.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err == nil {
		err = read(tx)
		_ = tx.Rollback()
	}
	return d.explain(err)
}

// each calls scan for every row of a query.
func each(ctx context.Context, tx *sql.Tx, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Jobs implements past.History.
func (d *Database) Jobs(ctx context.Context, q *past.Query) (jobs []*past.JobRecord, err error) {
	err = d.snapshot(ctx, func(tx *sql.Tx) error {
		var ids []int64
		condition, args := where(q)
		err := each(ctx, tx, `SELECT id, run, name, state, policy, slots, submitted, started, ended, deadline, broken, output, command, spec, attempts, clones, fruitful, fruitless, flow, class_slots
			FROM jobs WHERE `+condition+` ORDER BY submitted DESC, id DESC LIMIT ?`, append(args, atMost(q)), func(rows *sql.Rows) error {
			j := &past.JobRecord{}
			id, err := scanJob(rows, j)
			jobs, ids = append(jobs, j), append(ids, id)
			return err
		})
		for i := 0; i < len(jobs) && err == nil; i++ {
			err = readJob(ctx, tx, ids[i], jobs[i], q.Attempts)
		}
		return err
	})
	return jobs, err
}

func scanJob(rows *sql.Rows, j *past.JobRecord) (id int64, err error) {
	var submitted, started, ended, deadline sql.NullInt64
	var spec sql.NullString
	var fruitful, fruitless, flow int64
	err = rows.Scan(&id, &j.Run, &j.Name, &j.State, &j.Policy, &j.Slots, &submitted, &started, &ended, &deadline, &j.Broken, &j.Output, &j.Command, &spec,
		&j.Attempts, &j.Clones, &fruitful, &fruitless, &flow, &j.ClassSlots)
	if err != nil {
		return 0, err
	}
	j.Submitted, j.Started, j.Ended, j.Deadline = timeOf(submitted), timeOf(started), timeOf(ended), timeOf(deadline)
	j.Fruitful, j.Fruitless = secondsOf(fruitful), secondsOf(fruitless)
	if j.Submitted.IsZero() {
		j.Spent = secondsOf(flow)
	}
	if spec.Valid {
		if err := json.Unmarshal([]byte(spec.String), &j.Spec); err != nil {
			return 0, fmt.Errorf("run %s: spec: %w", j.Run, err)
		}
	}
	return id, nil
}

// readJob adds to a job its stages and promises, and if they are wanted its attempts.
func readJob(ctx context.Context, tx *sql.Tx, id int64, j *past.JobRecord, attempts bool) error {
	err := each(ctx, tx, "SELECT class, shuffle_bytes, sample FROM stages WHERE job = ? ORDER BY stage", []any{id}, func(rows *sql.Rows) error {
		var st past.StageRecord
		var sample []byte
		if err := rows.Scan(&st.Class, &st.ShuffleBytes, &sample); err != nil {
			return err
		}
		if err := json.Unmarshal(sample, &st.PastStage); err != nil {
			return fmt.Errorf("run %s: sample: %w", j.Run, err)
		}
		j.Stages = append(j.Stages, st)
		return nil
	})
	if err != nil {
		return err
	}
	err = each(ctx, tx, "SELECT made, ends FROM promises WHERE job = ? ORDER BY made", []any{id}, func(rows *sql.Rows) error {
		p, err := scanPromise(rows)
		j.Promises = append(j.Promises, p)
		return err
	})
	if err != nil || !attempts {
		return err
	}
	return each(ctx, tx, "SELECT stage, task, number, began, ran, ending, clone, done, bytes FROM attempts WHERE job = ? ORDER BY stage, task, number", []any{id}, func(rows *sql.Rows) error {
		var stage, task, number, ending int
		var began, ran, bytes int64
		var clone bool
		var done float64
		if err := rows.Scan(&stage, &task, &number, &began, &ran, &ending, &clone, &done, &bytes); err != nil {
			return err
		}
		if stage >= len(j.Stages) || ending >= len(endings) {
			return fmt.Errorf("run %s: attempt %d of task %d: there is no stage %d or no ending %d", j.Run, number, task, stage, ending)
		}
		st := &j.Stages[stage]
		if st.Lives == nil {
			st.Lives = &past.AttemptColumns{}
		}
		c := st.Lives
		c.Task, c.Number, c.Began, c.Ran = append(c.Task, task), append(c.Number, number), append(c.Began, spanOf(began)), append(c.Ran, spanOf(ran))
		c.From, c.End, c.Clone = append(c.From, done), append(c.End, endings[ending]), append(c.Clone, clone)
		c.Note(bytes)
		return nil
	})
}

func scanPromise(rows *sql.Rows, more ...any) (p promise.Promise, err error) {
	var made int64
	var text []byte
	if err := rows.Scan(append([]any{&made, &text}, more...)...); err != nil {
		return p, err
	}
	var ends []int64
	if err := json.Unmarshal(text, &ends); err != nil {
		return p, fmt.Errorf("a promise: %w", err)
	}
	p.Made = time.UnixMicro(made).UTC()
	for _, at := range ends {
		p.Ends = append(p.Ends, time.UnixMicro(at).UTC())
	}
	return p, nil
}

// Past implements past.History.
func (d *Database) Past(ctx context.Context, name string, runs int) (*live.Past, error) {
	if runs <= 0 {
		runs = live.PastRuns
	}
	p := &live.Past{Schema: live.PastSchema, Job: name, Runs: []live.PastRun{}}
	err := d.snapshot(ctx, func(tx *sql.Tx) error {
		var ids []int64
		err := each(ctx, tx, `SELECT id, run, policy, slots, flow * (1 - broken) FROM jobs WHERE name = ? AND state = ?
			ORDER BY submitted DESC, id DESC LIMIT ?`, []any{name, past.Succeeded, runs}, func(rows *sql.Rows) error {
			var id int64
			var r live.PastRun
			var flow int64
			if err := rows.Scan(&id, &r.ID, &r.Policy, &r.Slots, &flow); err != nil {
				return err
			}
			r.Seconds = secondsOf(flow)
			p.Runs, ids = append(p.Runs, r), append(ids, id)
			return nil
		})
		for i := 0; i < len(ids) && err == nil; i++ {
			err = each(ctx, tx, "SELECT sample FROM stages WHERE job = ? ORDER BY stage", []any{ids[i]}, func(rows *sql.Rows) error {
				var sample []byte
				var st live.PastStage
				if err := rows.Scan(&sample); err != nil {
					return err
				}
				if err := json.Unmarshal(sample, &st); err != nil {
					return fmt.Errorf("run %s: sample: %w", p.Runs[i].ID, err)
				}
				p.Runs[i].Stages = append(p.Runs[i].Stages, st)
				return nil
			})
		}
		slices.Reverse(p.Runs)
		return err
	})
	return p, err
}

// Names implements past.History.
func (d *Database) Names(ctx context.Context) (all []past.NameRecord, err error) {
	err = d.snapshot(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, `SELECT name, count(*), sum(state = 'succeeded'), max(submitted),
			coalesce(avg(flow) FILTER (WHERE state = 'succeeded' AND NOT broken AND flow > 0), 0), sum(attempts), sum(clones), sum(fruitful), sum(fruitless)
			FROM jobs GROUP BY name ORDER BY name`, nil, func(rows *sql.Rows) error {
			var n past.NameRecord
			var last sql.NullInt64
			var flow float64
			var fruitful, fruitless int64
			err := rows.Scan(&n.Name, &n.Jobs, &n.Succeeded, &last, &flow, &n.Attempts, &n.Clones, &fruitful, &fruitless)
			n.Last, n.MeanFlow, n.Fruitful, n.Fruitless = timeOf(last), flow/1e6, secondsOf(fruitful), secondsOf(fruitless)
			all = append(all, n)
			return err
		})
	})
	return all, err
}

// Kept implements past.History.
func (d *Database) Kept(ctx context.Context, q *past.Query) (all []promise.Outcome, err error) {
	asked := *q
	asked.State = past.Succeeded // nobody promised when a job would fail
	condition, args := where(&asked)
	err = d.snapshot(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, `SELECT made, ends, name, ended, made = (SELECT min(made) FROM promises WHERE job = id)
			FROM promises JOIN jobs ON id = job WHERE ended NOT NULL AND `+condition+` ORDER BY made DESC, id DESC LIMIT ?`, append(args, atMost(q)), func(rows *sql.Rows) error {
			var o promise.Outcome
			var ended sql.NullInt64
			p, err := scanPromise(rows, &o.Name, &ended, &o.First)
			o.Promised, o.Ended = p, timeOf(ended)
			all = append(all, o)
			return err
		})
	})
	return all, err
}
