package mapreduce

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/unpack"
)

// Run does an attempt's work, entirely inside spec.Dir, which is made if need be and must not hold the output of
// another attempt. When it returns nil the output is on disk, names included, and the caller may commit the
// folder as the task's result. After an error, or when it was cut short, the folder is rubbish. When ctx ends
// Run stops at the next chunk of data and returns the cause.
//
// Commands of a streaming attempt run in the caller's working directory and process group, so that who
// supervises the attempt reaches them by a signal to the group; an end of ctx kills only the shell.
func Run(ctx context.Context, spec *AttemptSpec) (Counters, error) {
	if err := spec.Validate(); err != nil {
		return Counters{}, err
	}
	op, err := spec.Operator.lookup()
	if err != nil {
		return Counters{}, err
	}
	if err := os.MkdirAll(spec.Dir, 0o777); err != nil {
		return Counters{}, fmt.Errorf("attempt folder: %w", err)
	}
	a := &worker{ctx: ctx, spec: spec, meter: &meter{report: spec.Progress}}
	if err := op.attempt(spec.Kind)(a); err != nil {
		return a.counters, err
	}
	if err := os.RemoveAll(spec.tempDir()); err != nil {
		return a.counters, fmt.Errorf("attempt folder: %w", err)
	}
	if err := disk.SyncFolder(spec.Dir); err != nil {
		return a.counters, err
	}
	if spec.Progress != nil {
		spec.Progress(1)
	}
	return a.counters, nil
}

// worker is an attempt at work; operators are written in terms of its methods.
type worker struct {
	ctx      context.Context
	spec     *AttemptSpec
	counters Counters
	meter    *meter       // of the input
	temps    int          // temporary files made so far
	appetite func() int64 // bytes that the next piece is to have at most; nil for no bound of its own
}

// pieces calls fn for each piece of the split, as splitReader.next returns them, or of what is left of it behind the
// work that the attempt goes on from. Strides end at the ends of pieces; into is where fn's records gather, nil for an
// operator that cannot resume.
func (a *worker) pieces(into collector, fn func([]byte) error) error {
	split, stride := a.spec.Split, a.strides(into)
	a.meter.total = split.Bytes()
	var start int64
	if from := a.spec.Resume; from != nil {
		start = from.Offset
		a.meter.done = start
		split = split.from(start)
	}
	book, err := a.spec.openAccount()
	if err != nil {
		return err
	}
	defer book.close()
	r := newSplitReader(a.ctx, filesOr(a.spec.Files), split)
	defer r.close()
	for {
		if a.appetite != nil {
			r.most = a.appetite()
		}
		at := start + r.offset()
		piece, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		piece, due := stride.due(r, piece)
		read := int64(len(piece))
		if r.cur.Packed != unpack.Plain {
			read = start + r.offset() - at
		}
		if err := book.add(at, read); err != nil {
			return err
		}
		if err := a.pace(len(piece)); err != nil {
			return err
		}
		if err := fn(piece); err != nil {
			return r.located(piece, err)
		}
		a.counters.InputBytes += int64(len(piece))
		a.counters.InputRecords += countLines(piece)
		a.meter.add(read)
		if due {
			if err := stride.end(start + r.offset()); err != nil {
				return err
			}
		}
	}
}

// lines calls fn for each line of the split, without its "\n". The slice is valid during the call only.
func (a *worker) lines(into collector, fn func([]byte) error) error {
	cutter := lineCutter{limit: a.spec.maxLine()}
	return a.pieces(into, func(piece []byte) error { return cutter.cut(piece, fn) })
}

// words calls fn for each word of the split. The slice is valid during the call only.
func (a *worker) words(into collector, fn func([]byte) error) error {
	cutter := wordCutter{limit: a.spec.maxLine()}
	return a.pieces(into, func(piece []byte) error { return cutter.cut(piece, fn) })
}

// upstream returns the segments of a partition of all upstream folders, and adds what is read of them to the meter.
func (a *worker) upstream(partition int) ([]string, error) {
	paths := make([]string, len(a.spec.Upstream))
	bytes := int64(0)
	for i, dir := range a.spec.Upstream {
		paths[i] = segmentPath(dir, partition)
		info, err := os.Stat(paths[i])
		if err != nil {
			return nil, fmt.Errorf("segment: %w", err)
		}
		bytes += info.Size()
	}
	a.meter.total += bytes
	for n := len(paths); n > fanIn; n = (n + fanIn - 1) / fanIn {
		a.meter.total += bytes // what one more pass reads, at most
	}
	return paths, nil
}

// shuffled returns the attempt's partition of all upstream folders. With sum set, values are counts and those of
// equal keys are summed up.
func (a *worker) shuffled(sum bool) (stream, error) {
	paths, err := a.upstream(a.spec.Partition)
	if err != nil {
		return nil, err
	}
	in, err := a.merge(paths, a.meter, sum)
	if err != nil {
		return nil, err
	}
	return &countedStream{stream: in, counters: &a.counters}, nil
}

// each calls fn for each record of a stream and closes it.
func each(in stream, fn func(key, value []byte) error) error {
	defer in.close()
	for {
		key, value, err := in.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(key, value); err != nil {
			return err
		}
	}
}

// part calls fill with the attempt's part and completes it.
func (a *worker) part(fill func(w io.Writer) error) error {
	out, err := createOutput(partPath(a.spec.Dir))
	if err != nil {
		return err
	}
	defer out.abandon()
	if err := fill(&countedWriter{ctx: a.ctx, out: out, counters: &a.counters}); err != nil {
		return err
	}
	return out.finish(true)
}

// temp returns the path of a temporary file that does not exist yet.
func (a *worker) temp() (string, error) {
	if a.temps == 0 {
		if err := os.MkdirAll(a.spec.tempDir(), 0o777); err != nil {
			return "", fmt.Errorf("temporary folder: %w", err)
		}
	}
	a.temps++
	return filepath.Join(a.spec.tempDir(), fmt.Sprintf("run-%06d", a.temps)), nil
}

func (a *worker) isTemp(path string) bool { return filepath.Dir(path) == a.spec.tempDir() }

// countedStream counts the records of a shuffle as the attempt's input.
type countedStream struct {
	stream
	counters *Counters
}

func (s *countedStream) next() (key, value []byte, err error) {
	key, value, err = s.stream.next()
	if err == nil {
		s.counters.InputRecords++
		s.counters.InputBytes += int64(len(key) + len(value))
	}
	return key, value, err
}

// countedWriter writes the part and counts it as the attempt's output.
type countedWriter struct {
	ctx      context.Context
	out      *output
	counters *Counters
	checked  int64 // OutputBytes when ctx was last looked at
}

func (w *countedWriter) Write(p []byte) (int, error) {
	w.counters.OutputBytes += int64(len(p))
	w.counters.OutputRecords += countLines(p)
	if w.counters.OutputBytes-w.checked >= chunkSize {
		w.checked = w.counters.OutputBytes
		if err := context.Cause(w.ctx); err != nil {
			return 0, err
		}
	}
	n, err := w.out.Write(p)
	if err != nil {
		err = fmt.Errorf("output: %w", err)
	}
	return n, err
}

const (
	meterBytes    = 1 << 20
	meterInterval = 100 * time.Millisecond
)

// meter turns bytes read into reports of progress. A nil meter is none.
type meter struct {
	report   func(fraction float64)
	total    int64
	done     int64
	reported int64     // done, at the last report
	at       time.Time // of the last report
}

func (m *meter) add(n int64) {
	if m == nil || m.report == nil {
		return
	}
	m.done += n
	now := time.Now()
	if m.done-m.reported < meterBytes && now.Sub(m.at) < meterInterval {
		return
	}
	m.reported, m.at = m.done, now
	m.report(min(1, float64(m.done)/float64(max(1, m.total))))
}
