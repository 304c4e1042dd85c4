package proc

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/strides"
	"github.com/tailcut/tailcut/sched"
)

// An attempt in a resumable stage works in strides. At the end of each it says, in one line to TAILCUT_PROGRESS, which
// fraction of the work is done and at which offset the stride ends, and what came of it is in a file that it does not
// touch again. The executor links that file into a folder of the task, and only then tells the loop. So whatever the
// journal knows to be saved outlives the attempt that made it, and the engine, and is there for others until the task
// is done. What is damaged when the engine is back, for it was never synced, is known by its checksum and not used.

// place is what an attempt is told to go on from.
type place struct {
	source   int // number of the attempt
	fraction float64
}

// saves are the strides of tasks, by stage and index; nil for a task that is done, of which nothing is kept any more.
type saves struct {
	folders Folders
	left    bool       // an earlier engine has been here
	mu      sync.Mutex // also held while a stride is linked: nothing comes into the folder of a task that is done
	tasks   map[[2]int]map[place]*strides.Stride
}

// of returns the strides of a task, and whether it is done. s.mu is held.
func (s *saves) of(stage, index int) (all map[place]*strides.Stride, done bool) {
	task := [2]int{stage, index}
	all, known := s.tasks[task]
	if known {
		return all, all == nil
	}
	all = map[place]*strides.Stride{}
	if s.left {
		all = leftStrides(s.folders.saved(stage, index))
	}
	s.tasks[task] = all
	return all, false
}

// find returns what an attempt goes on from; nil for the beginning.
func (s *saves) find(a live.Attempt) *strides.Stride {
	if a.From == 0 {
		return nil
	}
	s.mu.Lock()
	all, _ := s.of(a.Stage, a.Index)
	s.mu.Unlock()
	return sound(all[place{a.Source, a.From}])
}

// add links what came of a stride to its path and keeps it, unless the task is done or that cannot be.
func (s *saves) add(a live.Attempt, x *strides.Stride, from string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, done := s.of(a.Stage, a.Index)
	if done {
		return false
	}
	err := os.MkdirAll(filepath.Dir(x.Path), 0o777)
	if err == nil {
		err = os.Link(from, x.Path)
	}
	if err != nil {
		return false
	}
	all[place{a.Number, x.Fraction}] = x
	return true
}

// drop forgets a task that is done and tells whether there was anything.
func (s *saves) drop(stage, index int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, _ := s.of(stage, index)
	s.tasks[[2]int{stage, index}] = nil
	return len(all) > 0
}

// save keeps the stride that an attempt has just ended at an offset. It returns nil if that makes no sense or cannot be
// done; then the attempt's next line may.
func (e *Executor) save(p *process, fraction float64, offset int64) *strides.Stride {
	if offset <= p.last.Offset() || fraction <= p.last.Progress() || fraction >= 1 {
		return nil
	}
	next := &strides.Stride{Before: p.last, Number: p.attempt.Number, Begin: p.last.Offset(), End: offset, Fraction: fraction}
	from := e.work.saved(p.dir, next.Begin)
	var err error
	if next.Sum, err = strides.Sum(from); err != nil {
		return nil
	}
	next.Path = filepath.Join(e.cfg.Folders.saved(p.attempt.Stage, p.attempt.Index), next.Name())
	if !e.saves.add(p.attempt, next, from) {
		return nil
	}
	p.last = next
	return next
}

// Reports of progress are passed on at most this often; those of strides are rarer anyway, unless somebody overdoes it.
const (
	reportEvery = 200 * time.Millisecond
	strideEvery = 50 * time.Millisecond
)

// listener returns what to do with each line of an attempt's progress. A line is a fraction, and in a resumable stage
// an offset behind it; there a line without one says nothing that another attempt could use, and is passed over.
func (e *Executor) listener(p *process) func(line string) {
	resumable := e.resumable[p.attempt.Stage]
	p.teller = &teller{every: reportEvery, last: time.Now(), tell: func(x float64) { e.tell(p, x) }}
	if resumable {
		p.teller.every = strideEvery
	}
	return func(line string) {
		fraction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		x, err := strconv.ParseFloat(fraction, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return
		}
		if resumable {
			offset, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err != nil || e.save(p, x, offset) == nil {
				return
			}
		}
		p.teller.say(x)
	}
}

func (e *Executor) tell(p *process, progress float64) {
	e.report(live.Report{At: time.Now(), Attempt: p.attempt.ID, Kind: sched.AttemptProgress, Progress: progress})
}

// inherit links the strides that an attempt of an array job goes on from into its folder, each under its offset.
func inherit(dir string, from *strides.Stride) error {
	for _, s := range from.Chain() {
		if err := os.Link(s.Path, segmentPath(dir, s.Begin)); err != nil {
			return err
		}
	}
	return nil
}

func segmentPath(dir string, begin int64) string {
	return filepath.Join(dir, strconv.FormatInt(begin, 10))
}

// segments returns the names in a folder that are offsets, in the order of the offsets.
func segments(entries []fs.DirEntry) (names []string) {
	var offsets []int64
	for _, entry := range entries {
		x, err := strconv.ParseInt(entry.Name(), 10, 64)
		if err == nil && x >= 0 && strconv.FormatInt(x, 10) == entry.Name() && entry.Type().IsRegular() {
			offsets = append(offsets, x)
		}
	}
	slices.Sort(offsets)
	for _, x := range offsets {
		names = append(names, strconv.FormatInt(x, 10))
	}
	return names
}
