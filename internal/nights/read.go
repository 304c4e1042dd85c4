package nights

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// Query says what to read of logs.
type Query struct {
	Paths []string  // logs, and folders of logs
	Since time.Time // leaves out what began before
	Slots int       // that they ran on; 0 for as they say
	Each  func() diagnosis.Request
	Log   durations.Log // what to take of each
	Tell  func(line string)
}

// Application is the runs of one, in order of time.
type Application struct {
	Runs  []diagnosis.Request
	Began []sched.Time
}

// Folder tells whether a path is a folder of logs, and not one log.
func Folder(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	log, err := history.Open(path, nil, "")
	if err == nil {
		log.Close()
	}
	return err != nil
}

// Read reads the logs, and sorts them by application.
func Read(ctx context.Context, q Query) ([]*Application, error) {
	logs, err := q.logs()
	if err != nil {
		return nil, err
	}
	byName := map[string]*Application{}
	var all []*Application
	left := map[string]int{}
	for _, path := range logs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, why, err := q.read(path)
		if err != nil {
			return nil, err
		}
		if why != "" {
			left[why]++
			continue
		}
		name := withoutDigits(r.Application)
		a := byName[name]
		if a == nil {
			a = &Application{}
			byName[name] = a
			all = append(all, a)
		}
		at, _ := slices.BinarySearch(a.Began, r.Again.Began()+1)
		a.Runs, a.Began = slices.Insert(a.Runs, at, *r), slices.Insert(a.Began, at, r.Again.Began())
	}
	for _, why := range []string{tooOld, timeless, running} {
		if left[why] > 0 {
			q.Tell(fmt.Sprintf("left out %s %s", show.Count(left[why], "log"), why))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: expected logs that tell when tasks started, found none%s", strings.Join(q.Paths, ", "), q.since())
	}
	return all, nil
}

// Why a log is left out.
const (
	tooOld   = "of runs that began earlier"
	timeless = "that do not tell when tasks started, or in which none succeeded"
	running  = "of runs that have not ended"
)

func (q *Query) since() string {
	if q.Since.IsZero() {
		return ""
	}
	return " that began since " + q.Since.UTC().Format("2006-01-02 15:04 UTC")
}

// logs are the paths of the logs. Of a folder they are what a format is recognised of that can be replayed.
func (q *Query) logs() (all []string, err error) {
	for _, path := range q.Paths {
		if !Folder(path) {
			all = append(all, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if name := filepath.Join(path, entry.Name()); !strings.HasPrefix(entry.Name(), ".") && readable(name) {
				all = append(all, name)
			}
		}
	}
	return all, nil
}

func readable(path string) bool {
	log, err := history.OpenWithin(path)
	if err != nil {
		return false
	}
	log.Close()
	return replay.Readable(log.Format)
}

// read reads a log; why says why it is left out.
func (q *Query) read(path string) (r *diagnosis.Request, why string, err error) {
	info, err := os.Stat(path)
	var p *fs.PathError
	switch {
	case errors.As(err, &p):
		return nil, "", fmt.Errorf("%s: %w", p.Path, p.Err)
	case err != nil:
		return nil, "", err
	case strings.HasSuffix(path, ".inprogress"):
		return nil, running, nil
	case !info.IsDir() && info.ModTime().Before(q.Since):
		return nil, tooOld, nil
	}
	from := q.Log
	from.Path = path
	request := q.Each()
	r = &request
	r.Log = from.Name()
	if r.Stages, r.Hosts, err = from.Stages(); err != nil {
		return nil, "", err
	}
	if r.Application = from.Course.Application; from.Course.System == "tailcut" {
		r.Application = "" // what a journal has is another for each run
	}
	r.Again = replay.New(r.Log, r.Stages, from.Course, q.Slots)
	switch {
	case r.Again == nil:
		return nil, timeless, nil
	case !q.Since.IsZero() && int64(r.Again.Began()) < q.Since.UnixNano():
		return nil, tooOld, nil
	}
	return r, "", nil
}

// withoutDigits leaves out what differs between the names of runs: dates and numbers.
func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}
