package mapreduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/unpack"
)

// DefaultSplitSize is the size of a split in bytes when the job names none.
const DefaultSplitSize = 8 << 20

// mostFiles is how many files a split has pieces of at most. To open a file takes as long as to map some 10 KB of it,
// so hundreds of thousands of tiny files are work for many tasks, however few bytes they have.
const mostFiles = 4096

// Range is a stretch of a file. The records of a range are the lines whose first byte lies in it; in a compressed
// file, those that packed.go says.
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
// more than mostFiles files, or of two files that are apart (nil: none are). All splits but those and the last hold
// exactly size bytes, so that tasks are alike: small files share a split, large ones (and small ones that lie across a
// cut) are divided. Empty files are in no split; without any byte there is no split at all. The result is a function of
// the arguments; size must be at least 1.
//
// Of a compressed file the compressed bytes count. One that can be cut only at some places, or not at all, is cut
// where the split would become larger than size; a piece of it that is larger than that is a split of its own.
func CutSplits(ctx context.Context, in Files, files []File, size int64, apart func(a, b File) bool) ([]Split, error) {
	c := cutter{size: size, room: size}
	for i, f := range files {
		if i > 0 && apart != nil && apart(files[i-1], f) {
			c.close()
		}
		if err := c.add(ctx, in, f); err != nil {
			return nil, err
		}
	}
	c.close()
	return c.splits, nil
}

// cutter is CutSplits at work.
type cutter struct {
	size   int64
	splits []Split
	split  Split // not yet full
	room   int64 // bytes that it has left
}

func (c *cutter) add(ctx context.Context, in Files, f File) error {
	var units *unpack.Units
	if f.Size > c.room && (f.Packed == unpack.Gzip || f.Packed == unpack.Zstd) {
		open, err := in.Open(ctx, f)
		if err != nil {
			return fmt.Errorf("input: %w", err)
		}
		defer open.Close()
		units = unpack.NewUnits(open, f.Size, f.Packed, !f.Local)
	}
	f.Local = false // a matter of the listing, and not of the plan
	for offset := int64(0); offset < f.Size; {
		end := offset + min(c.room, f.Size-offset)
		if units != nil && end < f.Size {
			if end = lastUnit(units, offset, end); end == offset {
				c.close()
				end = lastUnit(units, offset, offset+min(c.room, f.Size-offset))
				if end == offset {
					end = units.Next()
				}
			}
		}
		c.split = append(c.split, Range{File: f, Offset: offset, Length: end - offset})
		c.room -= end - offset
		offset = end
		if c.room <= 0 || len(c.split) == mostFiles {
			c.close()
		}
	}
	if units != nil && units.Err() != nil {
		return fmt.Errorf("input: %s: %w", f.Path, units.Err())
	}
	return nil
}

// lastUnit advances to the last place in (offset, end] where the file can be cut, and returns it; offset if there is
// none.
func lastUnit(units *unpack.Units, offset, end int64) int64 {
	last := offset
	for units.Next() <= end {
		last = max(last, units.Next())
		if last == end {
			break // there is no place behind the end of a file
		}
		units.Advance()
	}
	return last
}

// close ends a split, unless nothing is in it.
func (c *cutter) close() {
	if len(c.split) > 0 {
		c.splits = append(c.splits, c.split)
	}
	c.split, c.room = nil, c.size
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
		if !r.Packed.Readable() {
			return fmt.Errorf("range %d: %s: packed: %q is not read", i, r.Path, r.Packed)
		}
		if total > math.MaxInt64-r.Length {
			return fmt.Errorf("range %d: the split is larger than %d bytes", i, int64(math.MaxInt64))
		}
		total += r.Length
	}
	return nil
}
