package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Log is a log that has been recognised. Close it after use.
type Log struct {
	Name   string // as it was asked for
	Format string // what it is, in words

	reader reader
	first  *lines   // of the first file, which is open
	rest   []string // files that belong to the same log
	closer func()
	notes  notes
	tick   func(bytes int) // nil if nobody watches
}

// Watch says whom to tell of bytes that are read from files from now on, as they are on the disk. It is for before
// [Log.Attempts].
func (l *Log) Watch(tick func(bytes int)) { l.tick = tick }

// Size is how many bytes the files of the log have; 0 for what is no file.
func (l *Log) Size() (bytes int64) {
	for _, path := range append([]string{l.first.name}, l.rest...) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes
}

// watched is a reader that tells what is read.
type watched struct {
	io.Reader
	log *Log
}

func (w watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if w.log.tick != nil {
		w.log.tick(n)
	}
	return n, err
}

// reader reads the files of one log, one after the other.
type reader interface {
	read(in *lines, emit emit) error
	finish(emit emit) error // tells of what is only known at the end
}

// emit takes an attempt, which the caller may change afterwards. Its errors end the reading.
type emit func(*Record) error

// errEnough ends the reading without a complaint.
var errEnough = errors.New("enough")

// Open opens a log and tells its format from its beginning. path is a file, "-" for stdin, a folder with a rolling
// Spark log (eventlog_v2_...), or the output folder of a run of Tailcut. With a column, a name or a number from 1, the
// log is a CSV that has durations in seconds there.
func Open(path string, stdin io.Reader, column string) (*Log, error) {
	if path == "-" {
		return Read(stdin, "stdin", column)
	}
	l := &Log{Name: path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, plain(err)
	}
	if info.IsDir() {
		files, err := folder(path)
		if err != nil {
			return nil, err
		}
		path, l.rest = files[0], files[1:]
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	if err := l.open(f, column); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// Read is [Open] of what a stream has, by a name for messages.
func Read(in io.Reader, name, column string) (*Log, error) {
	l := &Log{Name: name}
	if err := l.open(io.NopCloser(in), column); err != nil {
		return nil, err
	}
	return l, nil
}

// OpenWithin is [Open] of what a folder holds: a file or a folder, but no pipe, which might never have a writer.
func OpenWithin(path string) (*Log, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, plain(err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: expected a file or a folder", path)
	}
	return Open(path, nil, "")
}

// plain drops the name of the system call from an error.
func plain(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// open unpacks the first file and looks at its beginning.
func (l *Log) open(r io.ReadCloser, column string) error {
	name := l.Name
	if f, ok := r.(*os.File); ok {
		name = f.Name()
	}
	in, done, err := decompress(watched{r, l})
	if err != nil {
		return fmt.Errorf("%s:1: %w", name, unreadable(err))
	}
	l.closer = func() { done(); r.Close() }
	l.first = &lines{name: name, in: bufio.NewReaderSize(in, 1<<18), notes: &l.notes}
	if mark, _ := l.first.in.Peek(3); string(mark) == "\ufeff" {
		_, _ = l.first.in.Discard(3)
	}
	head, err := l.first.in.Peek(1 << 16)
	if err != nil && !errors.Is(err, io.EOF) && (len(head) == 0 || !errors.Is(err, io.ErrUnexpectedEOF)) {
		return fmt.Errorf("%s:1: %w", name, unreadable(err))
	}
	if column != "" {
		l.Format, l.reader = "column of a CSV", &csvColumn{column: column, comma: separator(head)}
		return nil
	}
	for _, f := range formats {
		if f.recognise(head) {
			if f.refused != "" {
				return fmt.Errorf("%s:1: %s", name, f.refused)
			}
			l.Format, l.reader = f.name, f.reader()
			return nil
		}
	}
	return fmt.Errorf("%s:1: unknown format of log", name)
}

// Close releases the files.
func (l *Log) Close() {
	if l.closer != nil {
		l.closer()
		l.closer = nil
	}
}

// Attempts streams the attempts of the log, once. An attempt is valid until the next; after an error there is no more.
func (l *Log) Attempts() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		emit := func(a *Record) error {
			l.notes.told++
			if !yield(a, nil) {
				return errEnough
			}
			return nil
		}
		err := l.notes.forgive(l.reader.read(l.first, emit))
		for _, path := range l.rest {
			if err == nil {
				err = l.notes.forgive(l.readFile(path, emit))
			}
		}
		if err == nil {
			err = l.reader.finish(emit)
		}
		if err == nil {
			err = l.notes.nothing()
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// readFile reads one of the later files of a log.
func (l *Log) readFile(path string, emit emit) error {
	f, err := os.Open(path)
	if err != nil {
		return plain(err)
	}
	defer f.Close()
	in, done, err := decompress(watched{f, l})
	if err != nil {
		return fmt.Errorf("%s:1: %w", path, unreadable(err))
	}
	defer done()
	return l.reader.read(&lines{name: path, in: bufio.NewReaderSize(in, 1<<18), notes: &l.notes}, emit)
}

// folder returns the files of a log that is a folder, in the order in which they were written.
func folder(path string) ([]string, error) {
	journal := filepath.Join(path, "_tailcut", "journal")
	if _, err := os.Stat(journal); err == nil {
		return []string{journal}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, plain(err)
	}
	var rolled []rolledFile
	for _, e := range entries {
		if n, compact, ok := rolledNumber(e.Name()); ok {
			rolled = append(rolled, rolledFile{filepath.Join(path, e.Name()), n, compact})
		}
	}
	if len(rolled) == 0 {
		return nil, fmt.Errorf("%s: expected a file, a rolling Spark log with files events_N_..., or the output folder of a run, but the folder "+
			"is neither", strings.TrimSuffix(path, "/"))
	}
	if of := applicationsOf(rolled); len(of) > 1 {
		return nil, fmt.Errorf("%s: expected the files of one application, found those of %s and %s; name one file", strings.TrimSuffix(path, "/"), of[0], of[1])
	}
	return inOrder(rolled), nil
}
