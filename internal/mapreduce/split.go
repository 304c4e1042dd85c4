package mapreduce

import (
	"fmt"
	"math"
)

// DefaultSplitSize is the size of a split in bytes when the job names none.
const DefaultSplitSize = 8 << 20

// mostFiles is how many files a split has pieces of at most. To open a file takes as long as to map some 10 KB of it,
// so hundreds of thousands of tiny files are work for many tasks, however few bytes they have.
const mostFiles = 4096

// Range is a stretch of a file. The records of a range are the lines whose first byte lies in it.
type Range struct {
	File
	Offset int64 `json:"offset_bytes"`
	Length int64 `json:"length_bytes"`
}

// Split is the input of one map task: ranges in the order in which they are read.
type Split []Range

// Bytes returns the number of bytes in the split's ranges.
func (s Split) Bytes() int64 {
	var n int64
	for _, r := range s {
		n += r.Length
	}
	return n
}

// CutSplits cuts the files, taken one after the other, every size bytes, and sooner where a split would have pieces of
// more than mostFiles files. All splits but those and the last hold exactly size bytes, so that tasks are alike: small
// files share a split, large ones (and small ones that lie across a cut) are divided. Empty files are in no split;
// without any byte there is no split at all. The result is a function of the arguments; size must be at least 1.
func CutSplits(files []File, size int64) []Split {
	var splits []Split
	var split Split
	room := size
	for _, f := range files {
		for offset := int64(0); offset < f.Size; {
			n := min(room, f.Size-offset)
			split = append(split, Range{File: f, Offset: offset, Length: n})
			offset += n
			room -= n
			if room == 0 || len(split) == mostFiles {
				splits, split, room = append(splits, split), nil, size
			}
		}
	}
	if len(split) > 0 {
		splits = append(splits, split)
	}
	return splits
}

// validate reports a range that no planner made, so that arithmetic on offsets cannot overflow later.
func (s Split) validate() error {
	var total int64
	for i, r := range s {
		if r.Path == "" {
			return fmt.Errorf("range %d: no path", i)
		}
		if r.Offset < 0 || r.Length < 1 || r.Offset > r.Size-r.Length {
			return fmt.Errorf("range %d: %s: offset %d and length %d are not within %d bytes",
				i, r.Path, r.Offset, r.Length, r.Size)
		}
		if total > math.MaxInt64-r.Length {
			return fmt.Errorf("range %d: the split is larger than %d bytes", i, int64(math.MaxInt64))
		}
		total += r.Length
	}
	return nil
}
