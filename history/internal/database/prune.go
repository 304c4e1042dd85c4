package database

import (
	"context"
	"database/sql"
	"time"
)

// prune removes what is kept no longer. It is called within a transaction that adds.
func (d *Database) prune(ctx context.Context, tx *sql.Tx) error {
	if d.limits.Age > 0 {
		if _, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ended < ? LIMIT 1000)", time.Now().Add(-d.limits.Age).UnixMicro()); err != nil {
			return err
		}
	}
	if d.limits.Size <= 0 {
		return nil
	}
	for _, drop := range []string{
		"DELETE FROM attempts WHERE job IN (SELECT job FROM attempts ORDER BY job LIMIT 1)",
		"DELETE FROM jobs WHERE id = (SELECT min(id) FROM jobs)",
	} {
		for {
			used, err := used(ctx, tx)
			if err != nil || used <= d.limits.Size {
				return err
			}
			res, err := tx.ExecContext(ctx, drop)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				break
			}
		}
	}
	return nil
}

// used is how many bytes of the file hold something.
func used(ctx context.Context, tx *sql.Tx) (int64, error) {
	var pages, free, size int64
	err := tx.QueryRowContext(ctx, "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&pages, &free, &size)
	return (pages - free) * size, err
}
