package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"

	"github.com/tailcut/tailcut/internal/unpack"
)

// decompress unpacks what begins like a compressed stream: gzip, zstd, LZ4 and Snappy frames, and the streams of blocks
// that Spark writes with its codecs lz4 (the default until Spark 3) and snappy. done releases what it holds.
func decompress(r io.Reader) (plain io.Reader, done func(), err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	done = func() {}
	switch {
	case bytes.HasPrefix(head, []byte{0x04, 0x22, 0x4d, 0x18}):
		return &blocks{in: b, next: (&lz4Frames{}).next}, done, nil
	case bytes.HasPrefix(head, []byte("\xff\x06\x00\x00sNaPpY")):
		source := &ending{Reader: b}
		return &snappyFrames{snappy.NewReader(source), source}, done, nil
	case bytes.HasPrefix(head, []byte(lz4BlockMagic)):
		return &blocks{in: b, next: nextLZ4Block}, done, nil
	case bytes.HasPrefix(head, []byte(xerialMagic)):
		if _, err := io.CopyN(io.Discard, b, int64(len(xerialMagic)+8)); err != nil { // two versions follow
			return nil, nil, io.ErrUnexpectedEOF
		}
		return &blocks{in: b, next: nextXerialBlock}, done, nil
	}
	s, err := unpack.Open(b, maxLine)
	return s.Reader, s.Done, err
}

// ending remembers that a stream has come to its end.
type ending struct {
	io.Reader
	ended bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.ended = e.ended || errors.Is(err, io.EOF)
	return n, err
}

// snappyFrames tells frames that were cut short from damaged ones, which its library does not.
type snappyFrames struct {
	io.Reader
	source *ending
}

func (s *snappyFrames) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, snappy.ErrCorrupt) && s.source.ended {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// blocks unpacks a stream block by block.
type blocks struct {
	in     io.Reader
	next   func(b *blocks) ([]byte, error) // a block, io.EOF after the last
	left   []byte                          // unpacked, not yet read
	packed []byte
	plain  []byte
	err    error
}

func (b *blocks) Read(p []byte) (int, error) {
	for len(b.left) == 0 && b.err == nil {
		b.left, b.err = b.next(b)
	}
	if len(b.left) == 0 {
		return 0, b.err
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// maxBlock bounds a block. Spark's are 32 KiB by default.
const maxBlock = 1 << 28

var errBlock = errors.New("expected compressed data, found a damaged block")

// take reads n bytes into the buffer for packed ones.
func (b *blocks) take(n uint32) ([]byte, error) {
	if n > maxBlock {
		return nil, errBlock
	}
	if uint32(cap(b.packed)) < n {
		b.packed = make([]byte, n)
	}
	b.packed = b.packed[:n]
	_, err := io.ReadFull(b.in, b.packed)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b.packed, err
}

// lz4BlockMagic begins each block of the Java class LZ4BlockOutputStream: magic, a byte with the method and the level,
// then the packed length, the plain length and a checksum in little-endian order. The checksum is not looked at.
const lz4BlockMagic = "LZ4Block"

func nextLZ4Block(b *blocks) ([]byte, error) {
	var head [len(lz4BlockMagic) + 13]byte
	if _, err := io.ReadFull(b.in, head[:]); err != nil {
		return nil, err
	}
	method := head[len(lz4BlockMagic)] & 0xf0
	packed, plain := binary.LittleEndian.Uint32(head[9:]), binary.LittleEndian.Uint32(head[13:])
	if string(head[:len(lz4BlockMagic)]) != lz4BlockMagic || plain > maxBlock || method != 0x10 && method != 0x20 {
		return nil, errBlock
	}
	data, err := b.take(packed)
	if err != nil {
		return nil, err
	}
	if method == 0x10 { // stored as it is
		return data, nil
	}
	if b.plain, err = appendLZ4(b.plain[:0], data, int(plain)); err != nil || uint32(len(b.plain)) != plain {
		return nil, errBlock
	}
	return b.plain, nil
}

// xerialMagic begins a stream of the Java class SnappyOutputStream. Blocks follow, each behind its length in big-endian
// order.
const xerialMagic = "\x82SNAPPY\x00"

func nextXerialBlock(b *blocks) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(b.in, head[:]); err != nil {
		return nil, err
	}
	data, err := b.take(binary.BigEndian.Uint32(head[:]))
	if err != nil {
		return nil, err
	}
	if n, err := snappy.DecodedLen(data); err != nil || n > maxBlock {
		return nil, errBlock
	}
	plain, err := snappy.Decode(b.plain[:cap(b.plain)], data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	b.plain = plain
	return plain, nil
}
