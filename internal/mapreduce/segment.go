package mapreduce

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// ErrCorrupt marks a segment that is torn, damaged or not a segment. The task that committed it has to run again;
// running the reader again cannot help.
var ErrCorrupt = errors.New("corrupt segment")

// A segment is a sorted sequence of records:
//
//	segment = magic frame* end
//	frame   = length:u32 checksum:u32 record+     length bytes of records, at least one
//	end     = 0:u32      checksum:u32 records:u64 nothing follows
//	record  = keylen:uvarint vallen:uvarint key value
//
// Integers are little-endian. A checksum is the CRC-32C of the preceding frame's checksum (0 at first), the length and
// what follows the checksum; so frames that are lost, doubled or exchanged are found as surely as a flipped bit.
const (
	segmentMagic = "tailcut segment\x01"
	frameHeader  = 8
	frameSize    = 64 << 10 // a frame is closed when it has grown to this; a larger record has a frame to itself
	endSize      = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameChecksum covers a frame; header is its first eight bytes, of which the last four are ignored.
func frameChecksum(prev uint32, header, payload []byte) uint32 {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:4], prev)
	copy(head[4:], header[:4])
	return crc32.Update(crc32.Update(0, castagnoli, head[:]), castagnoli, payload)
}

// segmentWriter writes a segment. Keys must come in byte order.
type segmentWriter struct {
	ctx     context.Context
	out     *output
	frame   []byte // header and records of the frame being filled
	sum     uint32 // of the last frame written
	records uint64
}

func newSegmentWriter(ctx context.Context, path string) (*segmentWriter, error) {
	out, err := createOutput(path)
	if err != nil {
		return nil, err
	}
	out.Write([]byte(segmentMagic)) // an error stays in the writer until it is finished
	return &segmentWriter{ctx: ctx, out: out, frame: make([]byte, frameHeader, frameHeader+frameSize+4<<10)}, nil
}

func (w *segmentWriter) add(key, value []byte) error {
	if len(key) > maxRecord || len(value) > maxRecord {
		return fmt.Errorf("%s: a record is longer than %d bytes", w.out.path, maxRecord)
	}
	w.frame = binary.AppendUvarint(w.frame, uint64(len(key)))
	w.frame = binary.AppendUvarint(w.frame, uint64(len(value)))
	w.frame = append(w.frame, key...)
	w.frame = append(w.frame, value...)
	w.records++
	if len(w.frame) < frameSize {
		return nil
	}
	return w.flush()
}

func (w *segmentWriter) flush() error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	if len(w.frame) == frameHeader {
		return nil
	}
	binary.LittleEndian.PutUint32(w.frame, uint32(len(w.frame)-frameHeader))
	return w.emit()
}

func (w *segmentWriter) emit() error {
	w.sum = frameChecksum(w.sum, w.frame, w.frame[frameHeader:])
	binary.LittleEndian.PutUint32(w.frame[4:], w.sum)
	_, err := w.out.Write(w.frame)
	w.frame = w.frame[:frameHeader]
	return err
}

// finish writes the end and closes the file, with durable set only after it has reached the disk.
func (w *segmentWriter) finish(durable bool) error {
	if err := w.flush(); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(w.frame, 0)
	w.frame = binary.LittleEndian.AppendUint64(w.frame, w.records)
	if err := w.emit(); err != nil {
		return err
	}
	return w.out.finish(durable)
}

// abandon closes the file after an error; after finish it does nothing.
func (w *segmentWriter) abandon() { w.out.abandon() }

// segmentReader reads a segment record by record and trusts nothing in it.
type segmentReader struct {
	ctx     context.Context
	in      io.Reader
	name    string
	left    int64 // bytes of the file not read yet
	size    int64
	sum     uint32
	frame   []byte // header and records of the current frame; the buffer is reused
	rest    []byte // records of the current frame not returned yet
	last    []byte // the last key, to see that keys come in order; in frame, or in keep across frames
	keep    []byte
	records uint64
	ended   bool

	file  *os.File // closed by close; nil when the reader was made from an io.Reader
	meter *meter   // told of what was read; may be nil
}

func openSegment(ctx context.Context, path string, m *meter) (*segmentReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("segment: %w", err)
	}
	r, err := newSegmentReader(ctx, bufio.NewReaderSize(f, frameSize/2), info.Size(), path)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file, r.meter = f, m
	return r, nil
}

// largestFrame returns the size in bytes of the largest frame of a segment, or somewhat more. It reads only lengths,
// and believes them.
func largestFrame(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("segment: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("segment: %w", err)
	}
	largest := int64(frameSize)
	var header [frameHeader]byte
	for at := int64(len(segmentMagic)); at+largest < info.Size(); { // until no frame can be larger
		if _, err := f.ReadAt(header[:], at); err != nil {
			return 0, fmt.Errorf("segment: %w", err)
		}
		length := int64(binary.LittleEndian.Uint32(header[:]))
		largest = min(max(largest, length), info.Size())
		if at += frameHeader + length; length == 0 {
			break
		}
	}
	return largest, nil
}

func newSegmentReader(ctx context.Context, in io.Reader, size int64, name string) (*segmentReader, error) {
	r := &segmentReader{ctx: ctx, in: in, name: name, left: size, size: size}
	magic, err := r.read(nil, int64(len(segmentMagic)))
	if err != nil {
		return nil, err
	}
	if string(magic) != segmentMagic {
		return nil, r.corrupt("not a segment of this version")
	}
	return r, nil
}

func (r *segmentReader) corrupt(what string) error {
	return fmt.Errorf("%s: %w: %s before byte %d", r.name, ErrCorrupt, what, r.size-r.left)
}

// read appends n bytes of the file to buf. It asks for no memory that the file does not fill.
func (r *segmentReader) read(buf []byte, n int64) ([]byte, error) {
	if n > r.left {
		return buf, r.corrupt("torn")
	}
	at := len(buf)
	if int64(cap(buf)-at) < n {
		buf = append(make([]byte, 0, max(int64(at)+n, frameHeader+frameSize)), buf...)
	}
	buf = buf[:at+int(n)]
	if _, err := io.ReadFull(r.in, buf[at:]); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return buf, r.corrupt("torn")
		}
		return buf, fmt.Errorf("segment %s: %w", r.name, err)
	}
	r.left -= n
	return buf, nil
}

// next implements stream.
func (r *segmentReader) next() (key, value []byte, err error) {
	if len(r.rest) == 0 {
		if err := r.load(); err != nil {
			return nil, nil, err
		}
	}
	keyLen, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return nil, nil, r.corrupt("bad record")
	}
	valueLen, m := binary.Uvarint(r.rest[n:])
	if m <= 0 {
		return nil, nil, r.corrupt("bad record")
	}
	body := r.rest[n+m:]
	if keyLen > uint64(len(body)) || valueLen > uint64(len(body))-keyLen {
		return nil, nil, r.corrupt("bad record")
	}
	key, value = body[:keyLen:keyLen], body[keyLen:keyLen+valueLen:keyLen+valueLen]
	if bytes.Compare(r.last, key) > 0 {
		return nil, nil, r.corrupt("keys out of order")
	}
	r.last, r.rest = key, body[keyLen+valueLen:]
	r.records++
	return key, value, nil
}

// load reads the next frame, or returns io.EOF at a proper end.
func (r *segmentReader) load() error {
	if r.ended {
		return io.EOF
	}
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	r.keep = append(r.keep[:0], r.last...)
	r.last = r.keep
	before := r.left
	var err error
	if r.frame, err = r.read(r.frame[:0], frameHeader); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(r.frame))
	sum := binary.LittleEndian.Uint32(r.frame[4:])
	if length == 0 {
		return r.end(sum)
	}
	if r.frame, err = r.read(r.frame, length); err != nil {
		return err
	}
	if err := r.check(sum); err != nil {
		return err
	}
	r.rest = r.frame[frameHeader:]
	r.meter.add(before - r.left)
	return nil
}

func (r *segmentReader) check(sum uint32) error {
	if frameChecksum(r.sum, r.frame, r.frame[frameHeader:]) != sum {
		return r.corrupt("checksum mismatch")
	}
	r.sum = sum
	return nil
}

func (r *segmentReader) end(sum uint32) error {
	var err error
	if r.frame, err = r.read(r.frame, endSize); err != nil {
		return err
	}
	if err := r.check(sum); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint64(r.frame[frameHeader:]); n != r.records {
		return r.corrupt(fmt.Sprintf("%d records where %d were written", r.records, n))
	}
	if r.left != 0 {
		return r.corrupt(fmt.Sprintf("%d bytes too many", r.left))
	}
	r.ended = true
	return io.EOF
}

// close implements stream.
func (r *segmentReader) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
