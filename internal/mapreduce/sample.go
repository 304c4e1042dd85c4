package mapreduce

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/tailcut/tailcut/internal/unpack"
)

// The sample that boundaries are chosen from: bounded in bytes read, in lines kept and in the bytes of a line.
const (
	sampleWindows = 128
	sampleWindow  = 32 << 10
	sampleLines   = 1 << 10 // of a window
	sampleKey     = 256
)

// sampleBoundaries returns boundaries of at most n ranges of about equal numbers of lines. It reads the beginning of
// each of up to sampleWindows equal stretches of the input, so the same input gives the same boundaries. Of a
// compressed file that cannot be cut, it reads no more than the beginning: the ranges are uneven if the rest is
// different. There are fewer than n-1 where the sample has too few different lines; the last partitions are empty
// then.
func sampleBoundaries(ctx context.Context, in Files, files []File, n int) ([]Key, error) {
	if n == 1 {
		return nil, nil
	}
	var total int64
	for _, f := range files {
		total += f.Size
	}
	var sample []Key
	stretches, err := CutSplits(ctx, in, files, max(1, (total+sampleWindows-1)/sampleWindows), nil)
	if err != nil {
		return nil, err
	}
	// A compressed file may be a single stretch; then more of its beginning is read.
	windows := sampleWindows / max(1, min(sampleWindows, len(stretches)))
	for _, stretch := range stretches {
		if sample, err = sampleSplit(ctx, in, sample, stretch, windows); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(sample, bytes.Compare)
	var boundaries []Key
	var last Key // below it nothing can lie, hence no boundary
	for i := 1; i < n && len(sample) > 0; i++ {
		key := sample[int(int64(i)*int64(len(sample))/int64(n))]
		if bytes.Compare(last, key) < 0 {
			boundaries, last = append(boundaries, key), key
		}
	}
	return boundaries, nil
}

// sampleSplit appends the beginnings of the split's lines. It reads little more than so many windows, however long the
// last line is.
func sampleSplit(ctx context.Context, in Files, sample []Key, split Split, windows int) ([]Key, error) {
	split = split.head(int64(windows) * sampleWindow)
	r := newSplitReader(ctx, in, split)
	defer r.close()
	cutter := lineCutter{limit: maxRecord}
	lines, bytesLeft := windows*sampleLines, int64(windows)*sampleWindow
	keep := func(line []byte) error {
		if lines > 0 {
			lines--
			sample = append(sample, bytes.Clone(line[:min(len(line), sampleKey)]))
		}
		return nil
	}
	for bytesLeft > 0 && lines > 0 {
		piece, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		bytesLeft -= int64(len(piece))
		if err := cutter.cut(piece, keep); err != nil {
			return nil, err
		}
	}
	if len(cutter.carry) >= sampleKey {
		return sample, keep(cutter.carry)
	}
	return sample, nil
}

// head returns the first n bytes of a split, and the rest of a compressed file that begins in them.
func (s Split) head(n int64) Split {
	var head Split
	for _, r := range s {
		if n <= 0 {
			break
		}
		if r.Packed == unpack.Plain {
			r.Length = min(r.Length, n)
		}
		n -= r.Length
		head = append(head, r)
	}
	return head
}
