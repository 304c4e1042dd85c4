package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
)

// Import takes in the files of durations in a folder that were not taken in before, or have changed: those of runs
// before there was a database, or while the program was missing. They stay. tell hears of a file that cannot be read.
func (d *Database) Import(ctx context.Context, files past.Files, tell func(error)) error {
	for _, name := range files.ListNames() {
		path := files.FileOf(name)
		info, err := os.Stat(path)
		if err != nil {
			tell(err)
			continue
		}
		var n int
		err = d.reader.QueryRowContext(ctx, "SELECT count(*) FROM imported WHERE file = ? AND size = ? AND modified = ?", path, info.Size(), info.ModTime().UnixMicro()).Scan(&n)
		if err != nil {
			return d.explain(err)
		}
		if n > 0 {
			continue
		}
		p, err := past.ReadFile(ctx, path)
		if err != nil {
			tell(err)
			continue
		}
		if err := d.importPast(ctx, name, p); err != nil {
			return err
		}
		if _, err := d.writer.ExecContext(ctx, "INSERT OR REPLACE INTO imported VALUES (?,?,?)", path, info.Size(), info.ModTime().UnixMicro()); err != nil {
			return d.explain(err)
		}
	}
	return nil
}

func (d *Database) importPast(ctx context.Context, name string, p *live.Past) error {
	for i := range p.Runs {
		r := &p.Runs[i]
		id := r.ID
		if id == "" {
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(fmt.Append(text, name))
			id = hex.EncodeToString(sum[:8])
		}
		if err := d.Add(ctx, past.Imported(name, id, r)); err != nil {
			return err
		}
	}
	return nil
}
