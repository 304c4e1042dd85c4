// Package database keeps the past of jobs in a file of SQLite. It implements past.History.
//
// A file is whole or not there, and nothing is ever written into one that is not Tailcut's, is damaged, or comes from a
// later version. What was added is on the disk when it is acknowledged (WAL, synchronous=FULL); jobs that come together
// share one wait for the disk. Several processes may use one file.
package database

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tailcut/tailcut/internal/past"
)

// applicationID is in the head of our files: "Tail" in ASCII.
const applicationID = 0x5461696c

// Limits say what is kept. What is older, or too much, goes with the oldest first: the attempts of a job before the job
// itself.
type Limits struct {
	Age  time.Duration // since a job ended; 0 keeps all
	Size int64         // bytes of the file, about; 0 keeps all
}

// DefaultLimits keep a year and a month, so that a job of the same day last year can be looked at, and a gigabyte,
// which is about 35 million attempts.
var DefaultLimits = Limits{Age: 400 * 24 * time.Hour, Size: 1 << 30}

// Database is an open file.
type Database struct {
	path   string
	limits Limits
	writer *sql.DB // one connection
	reader *sql.DB
	adds   chan *addition
	over   chan struct{} // closed when the writer has ended
}

var _ past.History = (*Database)(nil)

// Open opens the file at path, or makes it.
func Open(ctx context.Context, path string, limits Limits) (*Database, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := look(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(ctx, path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	} else if err != nil {
		return nil, err
	}
	d := &Database{path: path, limits: limits, adds: make(chan *addition), over: make(chan struct{})}
	if d.writer, err = connect(path, 1, "journal_mode(WAL)"); err == nil {
		d.reader, err = connect(path, 4)
	}
	if err == nil {
		err = migrate(ctx, d.writer)
	}
	if err != nil {
		return nil, errors.Join(d.explain(err), d.closeFiles())
	}
	go d.write()
	return d, nil
}

// look tells whether there is a file of ours; fs.ErrNotExist if there is none, or one without any content, and what is
// wrong with another.
func look(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 100)
	n, err := io.ReadFull(f, head)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w", path, err)
	case n == 0 && empty(path):
		return fs.ErrNotExist
	case n < len(head) || !bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return past.MakeUseless(fmt.Errorf("%s: is not a database, or its beginning is damaged; Tailcut leaves it as it is: move it away to begin a new history", path))
	case binary.BigEndian.Uint32(head[68:]) != applicationID:
		return past.MakeUseless(fmt.Errorf("%s: is a database of another program; name another folder for the history", path))
	}
	return nil
}

// empty tells whether nothing is in a file, nor in the logs of SQLite beside it, in which may be what a database had.
func empty(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	for _, log := range []string{path + "-wal", path + "-journal"} {
		if info, err := os.Lstat(log); err == nil && info.Size() > 0 {
			return false
		}
	}
	return true
}

// dropEmpty removes a file if it is empty. Its lock keeps two processes from it, of which the second would remove what
// the first has put in its place.
func dropEmpty(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) || !empty(path) {
		return nil
	}
	return os.Remove(path)
}

// connect returns connections to a file. They wait for other processes that write.
func connect(path string, most int, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{"busy_timeout(30000)", "synchronous(FULL)", "foreign_keys(1)"}, pragmas...)}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	return db, nil
}

// create makes a file elsewhere and then links it to its place, where it appears whole. If another process was quicker,
// its file stays. It appears with a write-ahead log: of two who change to that at once, one is refused and does not
// wait.
func create(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	unborn := filepath.Join(folder, "history.db")
	db, err := connect(unborn, 1, "auto_vacuum(INCREMENTAL)", "journal_mode(WAL)")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	if err == nil {
		err = migrate(ctx, db)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Chmod(unborn, 0o600); err != nil {
		return err
	}
	if err := dropEmpty(path); err != nil {
		return err
	}
	if err := os.Link(unborn, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// migrate brings a file to the form of this version, in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of no effect after Commit
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > len(steps):
		return past.MakeUseless(fmt.Errorf("a later version of Tailcut wrote it (form %d; this program knows %d): update %s", version, len(steps), past.Program))
	case version == len(steps):
		return nil
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps))); err != nil {
		return err
	}
	return tx.Commit()
}

// explain puts the file before an error, and says what to do about one that is damaged.
func (d *Database) explain(err error) error {
	if err == nil {
		return nil
	}
	var s *sqlite.Error
	if errors.As(err, &s) {
		switch s.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return past.MakeUseless(fmt.Errorf("%s: is damaged (%w); Tailcut leaves it as it is: move it away to begin a new history, or rescue it with: sqlite3 %s .recover", d.path, err, d.path))
		}
	}
	var useless past.Useless
	if errors.As(err, &useless) {
		return past.MakeUseless(fmt.Errorf("%s: %w", d.path, err))
	}
	return fmt.Errorf("%s: %w", d.path, err)
}

// Close writes what was asked for and closes the file.
func (d *Database) Close() error {
	close(d.adds)
	<-d.over
	return d.closeFiles()
}

func (d *Database) closeFiles() (err error) {
	for _, db := range []*sql.DB{d.reader, d.writer} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}
