package history

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// lz4Magic begins a frame of LZ4 (lz4_Frame_format.md of its authors, version 1.6.4), in little-endian order. What
// begins with one of the sixteen numbers from lz4Skip on is to be passed over.
const (
	lz4Magic = 0x184d2204
	lz4Skip  = 0x184d2a50
)

// Bits of the byte that follows the magic number.
const (
	lz4Dictionary  = 1 << 0 // no tool writes logs with one
	lz4Reserved    = 1 << 1
	lz4Checksum    = 1 << 2 // of the whole content
	lz4Size        = 1 << 3 // of the whole content
	lz4BlockSum    = 1 << 4
	lz4Independent = 1 << 5 // blocks refer to themselves only
	lz4Version     = 3 << 6
)

// lz4Window is how far back a match reaches.
const lz4Window = 1 << 16

// lz4Frames unpacks frame after frame.
type lz4Frames struct {
	flags byte
	open  bool   // in the middle of a frame
	most  int    // bytes of a block
	size  uint64 // of the content; counted down
	sum   xxh32
}

// next is blocks.next.
func (f *lz4Frames) next(b *blocks) ([]byte, error) {
	for {
		if !f.open {
			if err := f.header(b); err != nil {
				return nil, err
			}
		}
		n, err := b.number()
		if err != nil {
			return nil, unexpected(err)
		}
		if n != 0 {
			return f.block(b, n)
		}
		if err := f.end(b); err != nil {
			return nil, err
		}
	}
}

// header reads what stands before the blocks. io.EOF says that there is no further frame.
func (f *lz4Frames) header(b *blocks) error {
	for {
		magic, err := b.number()
		if err != nil {
			return err
		}
		if magic == lz4Magic {
			break
		}
		if magic&^15 != lz4Skip {
			return errBlock
		}
		n, err := b.number()
		if err == nil {
			_, err = io.CopyN(io.Discard, b.in, int64(n))
		}
		if err != nil {
			return unexpected(err)
		}
	}
	var head [11]byte // flags, size of blocks, size of content, checksum
	n := 3
	if _, err := io.ReadFull(b.in, head[:n]); err != nil {
		return unexpected(err)
	}
	f.flags = head[0]
	f.size = 0
	if f.flags&lz4Size != 0 {
		if _, err := io.ReadFull(b.in, head[n:]); err != nil {
			return unexpected(err)
		}
		n = len(head)
		f.size = binary.LittleEndian.Uint64(head[2:])
	}
	sum, largest := xxh32{}, head[1]>>4
	sum.write(head[:n-1])
	if f.flags&(lz4Version|lz4Dictionary|lz4Reserved) != 1<<6 || head[1]&0x8f != 0 || largest < 4 || head[n-1] != byte(sum.sum()>>8) {
		return errBlock
	}
	f.open, f.most, f.sum, b.plain = true, 1<<(2*largest+8), xxh32{}, b.plain[:0]
	return nil
}

// block unpacks a block, of which the length has been read.
func (f *lz4Frames) block(b *blocks, length uint32) ([]byte, error) {
	n := length &^ (1 << 31)
	if n > uint32(f.most) {
		return nil, errBlock
	}
	packed, err := b.take(n)
	if err != nil {
		return nil, err
	}
	if f.flags&lz4BlockSum != 0 {
		if err := b.check(packed); err != nil {
			return nil, err
		}
	}
	switch over := len(b.plain) - lz4Window; {
	case f.flags&lz4Independent != 0:
		b.plain = b.plain[:0]
	case over > 0:
		b.plain = append(b.plain[:0], b.plain[over:]...)
	}
	before := len(b.plain)
	if length != n {
		b.plain = append(b.plain, packed...)
	} else if b.plain, err = appendLZ4(b.plain, packed, f.most); err != nil {
		return nil, err
	}
	plain := b.plain[before:]
	f.size -= uint64(len(plain))
	if f.flags&lz4Checksum != 0 {
		f.sum.write(plain)
	}
	return plain, nil
}

// end compares what a frame had with what it says it had.
func (f *lz4Frames) end(b *blocks) error {
	f.open = false
	if f.flags&lz4Checksum != 0 {
		want, err := b.number()
		if err != nil {
			return unexpected(err)
		}
		if want != f.sum.sum() {
			return errBlock
		}
	}
	if f.flags&lz4Size != 0 && f.size != 0 {
		return errBlock
	}
	return nil
}

// check compares data with the checksum that follows them.
func (b *blocks) check(data []byte) error {
	want, err := b.number()
	if err != nil {
		return unexpected(err)
	}
	var sum xxh32
	if sum.write(data); sum.sum() != want {
		return errBlock
	}
	return nil
}

// number reads four bytes in little-endian order.
func (b *blocks) number() (uint32, error) {
	var n [4]byte
	_, err := io.ReadFull(b.in, n[:])
	return binary.LittleEndian.Uint32(n[:]), err
}

// unexpected is for an end where more has to follow.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendLZ4 unpacks a block of LZ4 (lz4_Block_format.md) behind what its matches may refer to. It is an error if
// there are more than most bytes in it.
func appendLZ4(to, packed []byte, most int) ([]byte, error) {
	end := len(to) + most
	for len(packed) > 0 {
		token := packed[0]
		literals, rest, ok := lz4Length(int(token>>4), packed[1:])
		if !ok || literals > len(rest) || literals > end-len(to) {
			return to, errBlock
		}
		to, packed = append(to, rest[:literals]...), rest[literals:]
		if len(packed) == 0 { // the last sequence has no match
			break
		}
		if len(packed) < 2 {
			return to, errBlock
		}
		back := int(binary.LittleEndian.Uint16(packed))
		n, rest, ok := lz4Length(int(token&15), packed[2:])
		n += 4
		if !ok || back == 0 || back > len(to) || n > end-len(to) {
			return to, errBlock
		}
		packed = rest
		for from := len(to) - back; n > 0; { // a match may overlap itself: what it has copied comes again
			k := min(n, len(to)-from)
			to, n = append(to, to[from:from+k]...), n-k
		}
	}
	return to, nil
}

// lz4Length reads the rest of a length: 15 means that bytes follow which are added, up to the first below 255.
func lz4Length(n int, packed []byte) (length int, rest []byte, ok bool) {
	if n < 15 {
		return n, packed, true
	}
	for i, b := range packed {
		if n += int(b); b < 255 {
			return n, packed[i+1:], true
		}
	}
	return 0, nil, false
}

// xxh32 is the checksum of frames: xxHash with 32 bits and seed 0 (xxhash_spec.md of its author). The zero value is
// ready.
type xxh32 struct {
	lanes [4]uint32 // less their first values
	tail  [16]byte  // bytes that are no whole round yet
	size  uint64
}

const (
	xxh1 uint32 = 2654435761
	xxh2 uint32 = 2246822519
	xxh3 uint32 = 3266489917
	xxh4 uint32 = 668265263
	xxh5 uint32 = 374761393
)

// xxhFirst is what the lanes begin with.
var xxhFirst = [4]uint32{606290984, 2246822519, 0, 1640531535}

func (x *xxh32) write(data []byte) {
	have := int(x.size % 16)
	x.size += uint64(len(data))
	if have > 0 {
		n := copy(x.tail[have:], data)
		if data = data[n:]; have+n < 16 {
			return
		}
		x.round(x.tail[:])
	}
	for ; len(data) >= 16; data = data[16:] {
		x.round(data)
	}
	copy(x.tail[:], data)
}

func (x *xxh32) round(data []byte) {
	for i := range x.lanes {
		lane := x.lanes[i] + xxhFirst[i] + binary.LittleEndian.Uint32(data[4*i:])*xxh2
		x.lanes[i] = bits.RotateLeft32(lane, 13)*xxh1 - xxhFirst[i]
	}
}

func (x *xxh32) sum() uint32 {
	h := xxh5
	if x.size >= 16 {
		h = 0
		for i, by := range []int{1, 7, 12, 18} {
			h += bits.RotateLeft32(x.lanes[i]+xxhFirst[i], by)
		}
	}
	h += uint32(x.size)
	tail := x.tail[:x.size%16]
	for ; len(tail) >= 4; tail = tail[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(tail)*xxh3, 17) * xxh4
	}
	for _, b := range tail {
		h = bits.RotateLeft32(h+uint32(b)*xxh5, 11) * xxh1
	}
	h = (h ^ h>>15) * xxh2
	h = (h ^ h>>13) * xxh3
	return h ^ h>>16
}
