package mapreduce

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/tailcut/tailcut/internal/unpack"
)

const (
	chunkSize = 256 << 10 // what one read of the input asks for
	overread  = 4 << 10   // how far a read looks past the end of its range for the end of the last line

	maxRecord = 1 << 30 // bytes of a key or a value at most
)

// splitReader reads the lines of a split.
//
// Let S(x) be the first line start at or after x: S(0) = 0, and S(x) for x > 0 follows the first "\n" at or after
// x-1, or is the end of the file. A range [a, b) owns the bytes [S(a), S(b)), so ranges that tile a file own each
// of its lines once. Where no line starts in the range, both ends fall together.
type splitReader struct {
	ctx   context.Context
	files Files
	split Split // the ranges not yet opened
	buf   []byte
	most  int64 // bytes that one read of the input asks for, up to chunkSize

	file     Input // open while a range is being read
	cur      Range
	before   int64        // bytes of the split in front of cur
	pos      int64        // the next byte to read
	begin    int64        // offset in the file of the piece that was returned last; of a compressed one see readPacked
	skipping bool         // S(a) is not found yet
	packed   *packedRange // nil: the range is of a file that is not compressed
}

func newSplitReader(ctx context.Context, files Files, split Split) *splitReader {
	return &splitReader{ctx: ctx, files: files, split: split, buf: make([]byte, chunkSize+1), most: chunkSize}
}

// next returns the next piece of the split's lines, valid until the next call, and io.EOF after the last. A piece may
// end inside a line, but the last line of every file ends with "\n", written or not. Where a compressed file ends,
// the piece may be empty.
func (r *splitReader) next() ([]byte, error) {
	for {
		if err := context.Cause(r.ctx); err != nil {
			return nil, err
		}
		if r.file == nil {
			if len(r.split) == 0 {
				return nil, io.EOF
			}
			if err := r.open(); err != nil {
				return nil, err
			}
		}
		read, packed := r.read, r.packed != nil
		if packed {
			read = r.readPacked
		}
		data, done, err := read()
		if err != nil {
			return nil, err
		}
		if done {
			if err := r.finish(); err != nil {
				return nil, err
			}
		}
		if len(data) > 0 || done && packed {
			return data, nil
		}
	}
}

func (r *splitReader) open() error {
	r.before += r.cur.Length
	r.cur, r.split = r.split[0], r.split[1:]
	f, err := r.files.Open(r.ctx, r.cur.File)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("input: %s: %w: it is gone", r.cur.Path, ErrInputChanged)
	}
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	r.file = f
	r.pos, r.skipping = r.cur.Offset, r.cur.Offset > 0
	if r.cur.Packed != unpack.Plain {
		r.packed = &packedRange{Section: unpack.NewSection(f, r.cur.Size, r.cur.Packed, r.pos, r.pos+r.cur.Length)}
	} else if r.skipping {
		r.pos--
	}
	return r.unchanged()
}

// resumable tells whether an attempt can be taken up at offset: not in the middle of a compressed file.
func (r *splitReader) resumable() bool { return r.packed == nil }

// unread takes back the last n bytes of the piece that next has just returned; what is left of it ends with "\n". It
// is for places that are resumable.
func (r *splitReader) unread(n int) { r.pos -= int64(n) }

// offset returns how many bytes of the split precede the next line, right behind a piece that ends with "\n"; in the
// middle of a compressed file, how many have been read.
func (r *splitReader) offset() int64 {
	if r.file == nil {
		return r.before + r.cur.Length
	}
	return r.before + r.pos - r.cur.Offset
}

// finish checks once more, for a change while the range was read, and closes the file.
func (r *splitReader) finish() error {
	return cmp.Or(r.unchanged(), r.close())
}

func (r *splitReader) close() error {
	if r.file == nil {
		return nil
	}
	if r.packed != nil {
		r.packed.Close()
		r.packed = nil
	}
	err := r.file.Close()
	r.file = nil
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

func (r *splitReader) unchanged() error {
	if err := r.file.Unchanged(); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

// read returns the next bytes of the current range and whether they are its last.
func (r *splitReader) read() (data []byte, done bool, err error) {
	end := r.cur.Offset + r.cur.Length
	want := r.most
	switch {
	case r.skipping:
		want = min(want, end-1-r.pos) // a line that starts at end or later is another range's
		if want <= 0 {
			return nil, true, nil
		}
	case r.pos < end:
		want = min(want, end-r.pos+overread)
	}
	want = min(want, r.cur.Size-r.pos)
	n, err := r.file.ReadAt(r.buf[:want], r.pos)
	if int64(n) < want {
		if err == io.EOF {
			err = ErrInputChanged
		}
		return nil, false, fmt.Errorf("%s: read at byte %d: %w", r.cur.Path, r.pos, err)
	}
	data = r.buf[:n]
	start := r.pos
	r.pos += int64(n)
	if r.skipping {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return nil, false, nil
		}
		r.skipping = false
		data = data[i+1:]
		start += int64(i) + 1
	}
	r.begin = start
	if r.pos >= end { // the first "\n" at or after end-1 is the end of what this range owns
		from := max(0, end-1-start)
		if i := bytes.IndexByte(data[from:], '\n'); i >= 0 {
			return data[:from+int64(i)+1], true, nil
		}
	}
	if r.pos == r.cur.Size { // a line without its "\n": the buffer has room for one
		return append(data, '\n'), true, nil
	}
	return data, false, nil
}

// lineCutter turns pieces into lines.
type lineCutter struct {
	carry []byte // the beginning of a line whose end has not come yet
	limit int    // of a line, in bytes
}

// cut calls line for each line that ends in the piece, without its "\n". The slice is valid during the call only.
func (c *lineCutter) cut(piece []byte, line func([]byte) error) error {
	for {
		i := bytes.IndexByte(piece, '\n')
		if len(c.carry)+max(i, 0) > c.limit || i < 0 && len(c.carry)+len(piece) > c.limit {
			return &tooLong{what: "line", limit: c.limit, carried: len(c.carry), left: len(piece), ends: endsLine}
		}
		if i < 0 {
			c.carry = append(double(c.carry, len(piece)), piece...)
			return nil
		}
		text := piece[:i]
		if len(c.carry) > 0 {
			c.carry = append(c.carry, text...)
			text = c.carry
		}
		piece = piece[i+1:]
		err := line(text)
		c.carry = c.carry[:0]
		if err != nil {
			return err
		}
	}
}

func endsLine(b byte) bool { return b == '\n' }

// tooLong is the error of a line or a word, found in a piece of the input before its end was.
type tooLong struct {
	what    string
	limit   int             // bytes that it may have
	carried int             // bytes of it in the pieces before
	left    int             // bytes of the piece from where it goes on
	ends    func(byte) bool // the byte that follows it
}

func (t *tooLong) Error() string {
	return fmt.Sprintf("a %s is longer than %d bytes; %s", t.what, t.limit, t.advice(int64(t.limit)+1))
}

// advice says what to do about a length, of which at least so many bytes are known.
func (t *tooLong) advice(length int64) string {
	if length > MaxLine {
		return fmt.Sprintf("cut it, or leave the file out: no %s may be longer than 1GiB", t.what)
	}
	return "if it is meant to be so long, raise --max-line"
}

// located adds to the error of what was done with the piece that next has returned last where in the input it is. Of
// what is too long it finds out how long it is, but keeps nothing of it.
func (r *splitReader) located(piece []byte, err error) error {
	var long *tooLong
	if !errors.As(err, &long) {
		return err
	}
	at, length := r.cur, int64(long.carried)
	where := fmt.Sprintf("byte %d", r.begin+int64(len(piece)-long.left-long.carried))
	if at.Packed != unpack.Plain {
		where += fmt.Sprintf(" of what unpacks from byte %d on", at.Offset)
	}
	for rest := piece[len(piece)-long.left:]; ; {
		if i := slices.IndexFunc(rest, long.ends); i >= 0 {
			length += int64(i)
			break
		}
		length += int64(len(rest))
		if rest, err = r.next(); err != nil {
			return err
		}
	}
	return hopeless{fmt.Errorf("input: %s: the %s at %s has %d bytes, more than %d; %s",
		at.Path, long.what, where, length, long.limit, long.advice(length))}
}

func countLines(text []byte) int64 { return int64(bytes.Count(text, []byte{'\n'})) }
