package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/internal/unpack"
)

// Compressed files are told by how they begin, when the job is planned. The planner counts their compressed bytes, and
// cuts them where their format allows: see unpack.Units, and unpack.Section for what a range of one holds.
//
// A range owns the lines of the data unpacked from it in almost the sense of splitReader. Let U(a) be where in the
// unpacked file the first unit at or after a begins, and S(x) the line start that follows the first "\n" at or after x,
// with S = 0 for a = 0. A range [a, b) owns the bytes [S(U(a)), S(U(b))). A line that begins right at U(a) belongs to
// the range before, for only that range has seen the byte in front of it.

// lookAbreast is how many files of a store are looked into at once.
const lookAbreast = 32

// lookInto finds out how the files are compressed that their listing did not look into.
func lookInto(ctx context.Context, in Files, files []File) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookAbreast)
	var bad atomic.Bool
	for i := range files {
		f := &files[i]
		if f.Local || f.Size < 2 {
			continue
		}
		if bad.Load() {
			break
		}
		group.Go(func() error {
			err := f.look(ctx, in)
			if err != nil {
				bad.Store(true)
			}
			return err
		})
	}
	return group.Wait()
}

func (f *File) look(ctx context.Context, in Files) error {
	open, err := in.Open(ctx, *f)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	defer open.Close()
	return f.detect(open)
}

// detect tells how a file is compressed. One that cannot be unpacked is refused: to take its bytes for lines is never
// what is meant.
func (f *File) detect(in io.ReaderAt) error {
	var head [unpack.HeadSize]byte
	n, err := in.ReadAt(head[:min(int64(len(head)), f.Size)], 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("input: %w", err)
	}
	if f.Packed = unpack.Detect(head[:n]); !f.Packed.Readable() {
		return fmt.Errorf("input: %s is compressed with %s, which is not read; unpack it first: %s -dk %s", f.Path, f.Packed, f.Packed, f.Path)
	}
	return nil
}

// packedRange is a range of a compressed file while it is being read.
type packedRange struct {
	*unpack.Section
	beyond bool  // what the range holds has been read; what follows is the end of its last line
	owned  bool  // something was returned
	last   byte  // that was returned
	read   int64 // unpacked bytes
}

// readPacked does what read does, for a range of a compressed file.
func (r *splitReader) readPacked() (data []byte, done bool, err error) {
	p := r.packed
	n, err := p.Read(r.buf[:chunkSize])
	data = r.buf[:n]
	r.pos = max(r.pos, min(p.At(), r.cur.Offset+r.cur.Length))
	switch {
	case err != nil && err != io.EOF:
		return nil, false, r.spoilt(err)
	case err == io.EOF && !p.beyond && !r.skipping:
		p.beyond = true
		p.Beyond()
		return nil, false, nil
	case err == io.EOF:
		if p.owned && p.last != '\n' { // the end of the file; the buffer has room for one more byte
			return append(data, '\n'), true, nil
		}
		return nil, true, nil
	}
	r.begin = p.read
	p.read += int64(n)
	i := bytes.IndexByte(data, '\n')
	switch {
	case r.skipping && i < 0:
		return nil, false, nil
	case r.skipping:
		r.skipping = false
		data = data[i+1:]
		r.begin += int64(i) + 1
	case p.beyond && i >= 0:
		return data[:i+1], true, nil
	}
	if len(data) > 0 {
		p.owned, p.last = true, data[len(data)-1]
	}
	return data, false, nil
}

// spoilt is the error of a compressed file that cannot be unpacked, unless the file is another by now.
func (r *splitReader) spoilt(err error) error {
	if changed := r.unchanged(); changed != nil {
		return changed
	}
	if errors.As(err, new(*unpack.Damage)) {
		return hopeless{fmt.Errorf("input: %s: %w; to check the file: %s -t %s", r.cur.Path, err, r.cur.Packed, r.cur.Path)}
	}
	return fmt.Errorf("input: %s: %w", r.cur.Path, err)
}
