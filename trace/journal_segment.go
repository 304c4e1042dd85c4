package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The journal of an engine that never ends is a folder of segments, 000001, 000002 and so on. Each can be read by
// itself: between its header and its batches stand records of what there was when it began, which whoever wrote it
// understands. Only the last segment can end in a torn record, because a segment is whole before the next is begun.

// JournalSegment says which part of a journal a file is.
type JournalSegment struct {
	Number int `json:"number"` // from 1
	State  int `json:"state"`  // records between the header and the first batch
	// what runs at its beginning ends by no decision of the policy, see sched.Snapshot.Keep
	Keeps bool `json:"keeps,omitempty"`
}

// SegmentPath returns the name of a segment's file.
func SegmentPath(folder string, number int) string {
	return filepath.Join(folder, fmt.Sprintf("%06d", number))
}

// Segments returns the numbers of the segments in a folder, ascending; none if there is no such folder. What is left of
// one that was being made when its engine died is none.
func Segments(folder string) (all []int, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err == nil && n > 0 && filepath.Base(SegmentPath(folder, n)) == e.Name() && e.Type().IsRegular() {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// SweepSegments removes what is left of segments that were being made when their engine died.
func SweepSegments(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), unborn); ok {
			if _, err := strconv.Atoi(name); err == nil {
				if err := os.Remove(filepath.Join(folder, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readState reads the records between a segment's header and its batches, which are never torn.
func (r *JournalReader) readState() error {
	s := r.Header.Segment
	if s.Number < 1 || s.State < 0 {
		return r.noSegment()
	}
	for range s.State {
		payload, err := r.frame()
		if err == io.EOF {
			return fmt.Errorf("%s: the segment ends before its first batch: %w", r.path, ErrCorrupt)
		}
		if err != nil {
			return err
		}
		r.State = append(r.State, payload)
	}
	return nil
}

func (r *JournalReader) noSegment() error {
	return fmt.Errorf("%s: header: it is of no segment: %w", r.path, ErrCorrupt)
}
