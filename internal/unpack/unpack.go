// Package unpack reads what may be compressed, told by how it begins: as one stream, or stretch by stretch.
package unpack

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Stream is what may be compressed, unpacked if it is.
type Stream struct {
	io.Reader
	Packed bool   // it was compressed
	Done   func() // releases what reading it holds
}

// Open looks at the next bytes and unpacks gzip and zstd; of zstd, a frame that needs more than a number of bytes of
// memory is an error, 0 for the library's bound. Anything else is read as it is. An error is that of a header; one of
// reading comes back when the stream is read.
func Open(b *bufio.Reader, memory uint64) (Stream, error) {
	head, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return Stream{}, err
		}
		return Stream{z, true, func() { _ = z.Close() }}, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		options := []zstd.DOption{zstd.WithDecoderConcurrency(1)}
		if memory > 0 {
			options = append(options, zstd.WithDecoderMaxMemory(memory))
		}
		z, err := zstd.NewReader(b, options...)
		if err != nil {
			return Stream{}, err
		}
		return Stream{z, true, z.Close}, nil
	}
	return Stream{b, false, func() {}}, nil
}
