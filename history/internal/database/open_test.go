package database

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/sched"
)

// Whatever a file is, it is refused with one line that says what it is, and stays as it was.
func TestRefusedFilesStay(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.db")
	d := open(t, whole, DefaultLimits)
	for i := range 50 {
		if err := d.Add(t.Context(), job("nightly", i, 40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE jobs (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	other, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	later := bytes.Clone(good)
	later[63] = 99 // user_version
	damaged := bytes.Clone(good)
	for i := 4096 * 2; i < len(damaged)-4096; i++ {
		damaged[i] ^= 0x5a
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"text", []byte("# my notes\n"), "is not a database"},
		{"another program's", other, "is a database of another program"},
		{"of a later version", later, "a later version of Tailcut wrote it (form 99; this program knows 2): update tailcut-history"},
		{"cut short", good[:4096*3], "is damaged"},
		{"damaged in the middle", damaged, "is damaged"},
		{"damaged at its beginning", append([]byte("x"), good[1:]...), "is not a database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := Open(t.Context(), path, DefaultLimits)
			if err == nil {
				err = errors.Join(d.Add(t.Context(), job("nightly", 99, 40)), d.Close())
			}
			var useless past.Useless
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &useless) || !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %s: ... %q", err, path, c.want)
			}
			if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, c.data) {
				t.Errorf("the file has changed: %d bytes of %d, %v", len(data), len(c.data), err)
			}
		})
	}
}

// Every form that a release had is brought to the present one with all that it holds. There was one so far: a file of
// that form is made by the steps themselves, up to it.
func TestMigrate(t *testing.T) {
	defer func(saved []string) { steps = saved }(steps)
	path := filepath.Join(t.TempDir(), "history.db")
	d := open(t, path, DefaultLimits)
	if err := errors.Join(d.Add(t.Context(), job("nightly", 0, 3)), d.Close()); err != nil {
		t.Fatal(err)
	}
	steps = append(steps[:len(steps):len(steps)], "ALTER TABLE jobs ADD COLUMN color TEXT NOT NULL DEFAULT 'red'", "CREATE INDEX by_color ON jobs (color)")
	d = open(t, path, DefaultLimits)
	var color string
	var version int
	if err := d.reader.QueryRow("SELECT color FROM jobs").Scan(&color); err != nil || color != "red" {
		t.Error(color, err)
	}
	if err := d.reader.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != len(steps) {
		t.Error(version, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	steps = append(steps, "CREATE TABLE broken (a INTEGER); INSERT INTO nowhere VALUES (1)")
	if _, err := Open(t.Context(), path, DefaultLimits); err == nil {
		t.Fatal("a step that fails is not told")
	}
	steps = steps[:len(steps)-1]
	d = open(t, path, DefaultLimits) // as it was before
	defer d.Close()
	if err := d.reader.QueryRow("SELECT count(*) FROM broken").Scan(&version); err == nil {
		t.Error("half a step was taken")
	}
}

// A file of the first form, which did not know what is read of results, keeps all that it holds.
func TestFirstForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	later := steps
	defer func() { steps = later }()
	steps = later[:1]
	d := open(t, path, Limits{})
	for _, line := range []string{
		`INSERT INTO jobs VALUES (1,'r','old','succeeded','spark',8,1000000,NULL,3000000,NULL,0,'','','{"Stages":[{"Tasks":2}]}',2,0,5,0,2000000)`,
		`INSERT INTO stages VALUES (1,0,'map',2,'map',77,'{"stage":"map","durations_seconds":[1,2]}')`,
		`INSERT INTO attempts VALUES (1,0,0,0,0,1000000,1,0,0), (1,0,1,0,0,2000000,1,0,0)`,
	} {
		if _, err := d.writer.Exec(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	steps = later
	d = open(t, path, Limits{})
	defer d.Close()
	jobs, err := d.Jobs(t.Context(), &past.Query{Attempts: true})
	if err != nil || len(jobs) != 1 || jobs[0].Stages[0].ShuffleBytes != 77 || jobs[0].Stages[0].Lives.Len() != 2 || jobs[0].Stages[0].Lives.Bytes != nil {
		t.Fatalf("%v, %+v", err, jobs)
	}
	next := job("old", 1, 2)
	next.Stages[0].Lives.Bytes = []int64{7, 9}
	if err := d.Add(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if jobs, err = d.Jobs(t.Context(), &past.Query{Attempts: true}); err != nil || len(jobs) != 2 || jobs[0].Stages[0].Lives.Bytes[1] != 9 {
		t.Errorf("%v, %+v", err, jobs)
	}
}

// What is too old goes; what is too much goes with the oldest, its attempts before itself.
func TestLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	d := open(t, path, Limits{Size: 400_000})
	const jobs = 40
	for i := range jobs {
		if err := d.Add(t.Context(), job("nightly", i, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := d.Jobs(t.Context(), &past.Query{Attempts: true})
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for i, j := range kept {
		if j.Stages[0].Lives != nil {
			if with++; with != i+1 {
				t.Errorf("job %d of %d has attempts, one after it has none", i, len(kept))
			}
		}
	}
	if len(kept) < 15 || len(kept) > jobs-1 || with >= len(kept) || kept[0].Run != "nightly-39" {
		t.Errorf("%d jobs are kept, %d with attempts, the latest is %s", len(kept), with, kept[0].Run)
	}
	var used int64
	if err := d.reader.QueryRow("SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&used); err != nil || used > 400_000 {
		t.Errorf("%d bytes are used, %v", used, err)
	}
	d.Close()
	d = open(t, path, Limits{Age: time.Hour})
	defer d.Close()
	recent := job("nightly", 0, 3)
	recent.Run, recent.Submitted, recent.Ended = "recent", time.Now().Add(-time.Minute), time.Now()
	if err := d.Add(t.Context(), recent); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"jobs", "stages", "attempts", "promises"} {
		var n, want int
		if err := d.reader.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if want = map[string]int{"jobs": 1, "stages": 1, "attempts": 4, "promises": 2}[table]; time.Since(noon) > 100*time.Hour && n != want {
			t.Errorf("%d rows of %s, want %d", n, table, want)
		}
	}
}

// The files of durations are taken in once, also those that change later, and what a database knows better stays.
func TestImport(t *testing.T) {
	files := past.Files{Folder: t.TempDir()}
	add := func(name, id string, seconds float64) {
		p, err := past.ReadFile(t.Context(), files.FileOf(name))
		if err != nil {
			t.Fatal(err)
		}
		p.Add(name, id, []string{"map"}, [][]sched.Time{{sched.FromSeconds(seconds)}}, [][]sched.Time{{sched.FromSeconds(2 * seconds)}})
		if err := past.WriteFile(t.Context(), files.FileOf(name), p); err != nil {
			t.Fatal(err)
		}
	}
	add("a/b", "", 1)
	add("a/b", "", 2)
	add("c", "run-1", 3)
	if err := os.WriteFile(files.FileOf("bad"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, filepath.Join(files.Folder, past.DatabaseName), DefaultLimits)
	defer d.Close()
	known := job("c", 0, 3)
	known.Run = "run-1"
	told := 0
	for round := range 3 {
		if err := d.Import(t.Context(), files, func(error) { told++ }); err != nil {
			t.Fatal(err)
		}
		switch round {
		case 0:
			if err := d.Add(t.Context(), known); err != nil { // more is known of it now
				t.Fatal(err)
			}
			add("c", "run-2", 4)
		}
	}
	if told != 3 {
		t.Errorf("%d files could not be read, want one each time", told)
	}
	for name, want := range map[string]int{"a/b": 2, "c": 2} {
		jobs, err := d.Jobs(t.Context(), &past.Query{Name: name})
		if err != nil || len(jobs) != want {
			t.Errorf("%s: %d jobs, %v", name, len(jobs), err)
		}
	}
	p, err := d.Past(t.Context(), "c", 0)
	if err != nil || len(p.Runs) != 2 {
		t.Fatal(p, err)
	}
	mean := func(r live.PastRun) int { return len(r.Stages[0].Durations) }
	if mean(p.Runs[0])+mean(p.Runs[1]) != 4 { // three of the job as it is known now, one of the file
		t.Errorf("%+v", p.Runs)
	}
}

// Two processes, or as here two connections that know nothing of each other, use one file at once. An empty one is new.
func TestTwoAtOnce(t *testing.T) {
	for _, name := range []string{"new", "empty"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name, "history.db")
			if name == "empty" {
				if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			twoAtOnce(t, path)
		})
	}
}

// An empty file whose log may hold what it had is left alone.
func TestEmptyBesideALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.WriteFile(path+"-wal", []byte("x"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, DefaultLimits); err == nil || !strings.Contains(err.Error(), "is not a database") {
		t.Error(err)
	}
	if log, err := os.ReadFile(path + "-wal"); err != nil || string(log) != "x" {
		t.Errorf("the log is %q, %v", log, err)
	}
}

func twoAtOnce(t *testing.T, path string) {
	errs := make(chan error, 2)
	const each = 30
	for k := range 2 {
		go func() {
			d, err := Open(context.Background(), path, DefaultLimits)
			if err != nil {
				errs <- err
				return
			}
			for i := range each {
				err = errors.Join(err, d.Add(context.Background(), job([]string{"a", "b"}[k], i, 5)))
			}
			errs <- errors.Join(err, d.Close())
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	d := open(t, path, DefaultLimits)
	defer d.Close()
	if jobs, err := d.Jobs(t.Context(), &past.Query{}); err != nil || len(jobs) != 2*each {
		t.Error(len(jobs), err)
	}
	var mode string
	var vacuum int // 2 is incremental
	err := errors.Join(d.reader.QueryRow("PRAGMA journal_mode").Scan(&mode), d.reader.QueryRow("PRAGMA auto_vacuum").Scan(&vacuum))
	if err != nil || mode != "wal" || vacuum != 2 {
		t.Errorf("journal_mode %s, auto_vacuum %d, %v", mode, vacuum, err)
	}
}
