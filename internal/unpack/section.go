package unpack

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MaxWindow bounds the memory that unpacking a zstd frame takes, in bytes. It is what the zstd program takes without
// being asked to take more.
const MaxWindow = 128 << 20

// Section reads what unpacks from a stretch of a compressed file, and then, if it is asked to, what follows.
//
// A compressed file is a sequence of units, each of which can be unpacked without the others: the members of gzip,
// the frames of zstd, the blocks of bzip2. The stretch [from, to) holds the units that begin in it. So stretches that
// tile a file hold each unit once. Read returns io.EOF where the last of them ends. After Beyond, it returns what the
// units behind the stretch hold, and io.EOF at the end of the file.
//
// In gzip and zstd, from and to must be 0, the file's size, or a place that Units has returned; bzip2 takes any. A
// place that is none, and a damaged file, never go unnoticed by a reader that reads all stretches, each to its end
// and, but for the last, one byte beyond: bzip2's blocks are told from look-alikes by their checksums, and a member
// or a frame that does not end where the stretch ends is an error.
type Section struct {
	in       io.ReaderAt
	format   Format
	size     int64
	to       int64
	beyond   bool
	unpacked interface {
		io.Reader
		at() int64 // how far in the file reading has come
		close()
	}
}

// NewSection begins to read a stretch of a compressed file of so many bytes.
func NewSection(in io.ReaderAt, size int64, format Format, from, to int64) *Section {
	s := &Section{in: in, format: format, size: size, to: to}
	s.open(from, to)
	return s
}

func (s *Section) open(from, to int64) {
	part := &source{in: s.in, next: from, end: to}
	switch s.format {
	case Gzip:
		s.unpacked = &members{source: part, buffered: bufio.NewReaderSize(part, 1<<16)}
	case Zstd:
		s.unpacked = &frames{source: part, buffered: bufio.NewReaderSize(part, 1<<16)}
	case Bzip2:
		s.unpacked = newBlocks(s.in, s.size, from, to)
	default:
		panic(fmt.Sprintf("unpack: a section of format %q", s.format))
	}
}

// Beyond lets the section go on behind its end.
func (s *Section) Beyond() {
	if s.beyond {
		return
	}
	s.beyond = true
	if b, ok := s.unpacked.(*blocks); ok {
		b.to = s.size
		return
	}
	s.Close()
	s.open(s.to, s.size)
}

// At returns how far in the file reading has come, in bytes; it may be ahead of what Read has returned.
func (s *Section) At() int64 { return s.unpacked.at() }

// Close releases what reading holds.
func (s *Section) Close() { s.unpacked.close() }

// Read implements io.Reader. Errors that are not those of reading the file are of type *Damage.
func (s *Section) Read(p []byte) (int, error) { return s.unpacked.Read(p) }

// Damage is what is wrong with a compressed file.
type Damage struct {
	Format Format
	At     int64 // byte of the file at which it was noticed
	What   string
}

// Error implements error.
func (d *Damage) Error() string {
	return fmt.Sprintf("the %s data is %s at byte %d", d.Format, d.What, d.At)
}

const (
	cutShort = "cut short"
	damaged  = "damaged"
	followed = "followed by something else"
)

// source reads a stretch of a file, and remembers what went wrong with that.
type source struct {
	in        io.ReaderAt
	next, end int64
	err       error // nil, or why the file could not be read
}

func (s *source) Read(p []byte) (int, error) {
	if s.next >= s.end {
		return 0, io.EOF
	}
	n, err := s.in.ReadAt(p[:min(int64(len(p)), s.end-s.next)], s.next)
	s.next += int64(n)
	if n > 0 {
		return n, nil
	}
	if err == io.EOF { // the file has become shorter
		err = io.ErrUnexpectedEOF
	}
	s.err = err
	return 0, err
}

// judge says what an error of a library means.
func (s *source) judge(format Format, at int64, err error) error {
	var what string
	switch {
	case err == io.EOF:
		return err
	case s.err != nil:
		return s.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = cutShort
	case errors.Is(err, zstd.ErrMagicMismatch):
		what, at = followed, max(0, at-4)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		what = "unreadable: it needs more than 128 MiB to be unpacked (compress it again with --long=27 or less)"
	default:
		what = damaged
	}
	return &Damage{Format: format, At: at, What: what}
}

// members unpacks gzip, member by member.
type members struct {
	*source
	buffered *bufio.Reader
	z        *gzip.Reader
	inside   bool
}

func (m *members) at() int64 { return m.next - int64(m.buffered.Buffered()) }
func (m *members) close()    {}

func (m *members) Read(p []byte) (int, error) {
	for {
		if !m.inside {
			if err := m.begin(); err != nil {
				return 0, err
			}
		}
		n, err := m.z.Read(p)
		if err == io.EOF {
			m.inside, err = false, nil
		}
		if n > 0 {
			return n, nil // an error comes again
		}
		if err != nil {
			return 0, m.judge(Gzip, m.at(), err)
		}
	}
}

// begin goes to the next member.
func (m *members) begin() (err error) {
	at := m.at()
	head, _ := m.buffered.Peek(3)
	switch {
	case m.err != nil:
		return m.err
	case len(head) == 0:
		return io.EOF
	case Detect(head) != Gzip:
		return &Damage{Format: Gzip, At: at, What: followed}
	case m.z == nil:
		m.z, err = gzip.NewReader(m.buffered)
	default:
		err = m.z.Reset(m.buffered)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return m.judge(Gzip, at, err)
	}
	m.z.Multistream(false)
	m.inside = true
	return nil
}

// frames unpacks zstd.
type frames struct {
	*source
	buffered *bufio.Reader
	z        *zstd.Decoder
}

func (f *frames) at() int64 { return f.next - int64(f.buffered.Buffered()) }

func (f *frames) close() {
	if f.z != nil {
		f.z.Close()
	}
}

func (f *frames) Read(p []byte) (int, error) {
	if f.z == nil {
		z, err := zstd.NewReader(f.buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(MaxWindow))
		if err != nil {
			return 0, f.judge(Zstd, f.at(), err)
		}
		f.z = z
	}
	n, err := f.z.Read(p)
	if n > 0 || err == nil {
		return n, nil // an error comes again
	}
	return 0, f.judge(Zstd, f.at(), err)
}
