package unpack

import "bytes"

// Format is how a file is compressed.
type Format string

// The formats. A Plain file is read as it is; those of the second group are recognised and not read.
const (
	Plain Format = ""
	Gzip  Format = "gzip"
	Zstd  Format = "zstd"
	Bzip2 Format = "bzip2"

	XZ  Format = "xz"
	LZ4 Format = "lz4"
)

// HeadSize is how many bytes of a file Detect looks at, at most.
const HeadSize = 10

// Detect tells a file's format by its first bytes, never by its name.
func Detect(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		return Zstd
	case len(head) >= HeadSize && isStreamHeader(head) && (blockMagic.is(head[4:]) || endMagic.is(head[4:])):
		return Bzip2
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return XZ
	case bytes.HasPrefix(head, []byte{0x04, 0x22, 0x4d, 0x18}):
		return LZ4
	}
	return Plain
}

// Readable tells whether Sections reads the format.
func (f Format) Readable() bool {
	return f == Plain || f == Gzip || f == Zstd || f == Bzip2
}

// isSkippable tells a zstd frame that holds no data: pzstd begins a file with one.
func isSkippable(head []byte) bool {
	return len(head) >= 8 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}
