package mapreduce

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A map attempt of most operators works in strides: stretches of its split that end where a line begins. At the end
// of each it leaves all that the stride came to in a file of its own, a sorted run of (partition, key) such as a
// sorter spills, and says so. From there on another attempt of the task can go on: it takes the runs as if it had
// spilled them itself and maps the rest of the split only. In the end an attempt merges its strides' runs, inherited
// and own, into the segments that it would have written in one go, byte for byte: counts of equal keys are summed up,
// and equal lines are equal. So it does not matter where strides end, and they may end when it is time.
//
// In the middle of a compressed file no stride ends: to go on from there, an attempt would have to unpack all that is
// in front, which for most operators is most of the work. Where a split has several files, strides end at the ends of
// the compressed ones, too.

// What saving costs is bounded. After a save that took so much of the processor's time, there is none before
// saveShare times as long is over, by the clock, and before the attempt has used workShare times as much. An attempt
// that runs at full speed gives a fiftieth of its time for saving. One that is stopped ever so often, or gets little
// of the processor, gives up to a tenth of what it gets: it is likely to be the one that another goes on from.
const (
	saveShare = 50
	workShare = 10
)

// Resume is the work of earlier attempts of the same task that a map attempt goes on from.
type Resume struct {
	Offset int64 `json:"offset_bytes"` // in the split, as Saved was told: where the last of the strides ends
	// files of the strides before, in order, as SavedPath named them or linked elsewhere
	Runs []string `json:"runs"`
}

// SavedPath returns the file with what came of the stride that begins at an offset of the split, in the folder of the
// attempt that mapped it. It is whole once Saved has been told of the stride's end and is not changed from then on; it
// is removed when the attempt ends.
func SavedPath(dir string, begin int64) string {
	return filepath.Join(dir, tempName, fmt.Sprintf("saved-%d", begin))
}

// collector is where the records of a map attempt gather.
type collector interface {
	ripen() error // does what is no loss, for there is less to do in the end
	drain() error // into the sorter
	inherit(files []string)
	save(path string) error // what came since the last save, in a file of that name
}

// strides ends strides of a split when it is time to.
type strides struct {
	a     *worker
	into  collector
	begin int64         // of the stride, in the split
	total int64         // bytes of the split
	since time.Time     // the last save, or the start
	rest  time.Duration // time after it before which there is no other
	until time.Duration // processor time before which there is no other
}

// strides begins the first stride of an attempt and takes in what it inherits. It returns nil if none are wanted.
func (a *worker) strides(into collector) *strides {
	if from := a.spec.Resume; from != nil {
		into.inherit(from.Runs)
	}
	if a.spec.SaveEvery == 0 || into == nil {
		return nil
	}
	s := &strides{a: a, into: into, total: a.spec.Split.Bytes(), since: time.Now()}
	if from := a.spec.Resume; from != nil {
		s.begin = from.Offset
	}
	return s
}

// due cuts the piece that the reader has just returned behind its last line, if the stride should end there.
func (s *strides) due(r *splitReader, piece []byte) ([]byte, bool) {
	if s == nil || !r.resumable() {
		return piece, false
	}
	every := s.a.spec.SaveEvery
	if every > 0 && (time.Since(s.since) < max(every, s.rest) || processorTime() < s.until) {
		return piece, false
	}
	i := bytes.LastIndexByte(piece, '\n')
	if i < 0 && len(piece) > 0 { // with no piece, a compressed file has ended
		return piece, false
	}
	r.unread(len(piece) - i - 1)
	return piece[:i+1], true
}

// end saves the stride that ends at an offset of the split. The split's end ends no stride: the attempt is done there.
func (s *strides) end(offset int64) error {
	if offset <= s.begin || offset >= s.total {
		return nil
	}
	if err := s.into.ripen(); err != nil {
		return err
	}
	began := processorTime()
	if err := s.into.drain(); err != nil {
		return err
	}
	if err := s.into.save(SavedPath(s.a.spec.Dir, s.begin)); err != nil {
		return err
	}
	ended := processorTime()
	s.begin, s.since, s.rest, s.until = offset, time.Now(), saveShare*(ended-began), ended+workShare*(ended-began)
	if s.a.spec.Saved != nil {
		s.a.spec.Saved(offset, float64(offset)/float64(s.total))
	}
	return nil
}

// processorTime returns what the process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// save makes all records that were added since the last save one run, in a file of that name.
func (s *sorter) save(path string) error {
	if len(s.refs) > 0 || s.saved == len(s.spilled) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	fresh, err := s.a.narrow(s.spilled[s.saved:], nil, s.sum)
	if err != nil {
		return err
	}
	run := fresh[0]
	if len(fresh) > 1 {
		if run, err = s.a.mergeOnce(fresh, nil, s.sum); err != nil {
			return err
		}
	}
	if err := os.Rename(run, path); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	s.spilled = append(s.spilled[:s.saved], path)
	s.saved = len(s.spilled)
	return nil
}

// ripen spills: to merge runs that are sorted takes no longer than to sort all in the end.
func (s *sorter) ripen() error { return s.flush() }
func (s *sorter) drain() error { return nil }

func (s *sorter) inherit(runs []string) {
	s.spilled = append(s.spilled, runs...)
	s.saved = len(s.spilled)
}

func (t *tally) ripen() error           { return nil }
func (t *tally) inherit(runs []string)  { t.sorter.inherit(runs) }
func (t *tally) save(path string) error { return t.sorter.save(path) }

// from returns what is left of the split behind its first bytes.
func (s Split) from(offset int64) Split {
	for i, r := range s {
		if offset < r.Length {
			r.Offset, r.Length = r.Offset+offset, r.Length-offset
			return append(Split{r}, s[i+1:]...)
		}
		offset -= r.Length
	}
	return nil
}
