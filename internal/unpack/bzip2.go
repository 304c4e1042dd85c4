package unpack

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"
)

// bzip2 is a sequence of streams: a header of four bytes, blocks, an end with a checksum, and bits up to the next
// byte. A block begins at any bit, with 48 bits that no other place has but by chance, and the checksum of what it
// holds. Where it ends is not written down. So a block is taken to end where the next such mark is, and given to the
// library as a stream of its own. Unless the library finds that the block ends just there and has its checksum, the
// mark was a look-alike, and the block is tried with the next.

// mark is a pattern of 48 bits.
type mark uint64

const (
	blockMagic mark = 0x314159265359 // begins a block
	endMagic   mark = 0x177245385090 // begins the end of a stream
	markBits        = 48
)

func (m mark) is(head []byte) bool {
	return len(head) >= 6 && uint64(binary.BigEndian.Uint16(head))<<32|uint64(binary.BigEndian.Uint32(head[2:])) == uint64(m)
}

func isStreamHeader(head []byte) bool {
	return len(head) >= 4 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9'
}

const (
	// maxBlock bounds a block, in compressed bytes: 900,000 symbols of 20 bits, and what stands in front of them.
	maxBlock  = 5 << 19
	blockRead = 256 << 10 // what is read of the file at once
	// mostKept is what is kept of what a block holds, in bytes; a block of zeros holds 46 MB, and is unpacked twice.
	mostKept = 4 << 20
)

// blocks unpacks the blocks of a bzip2 file that begin in a stretch.
type blocks struct {
	window
	bit     int64 // of the file, where the next block or the end of a stream begins; -1: to be looked for
	to      int64 // byte
	whole   bool  // the stream is read from its beginning
	sum     uint32
	plain   bytes.Buffer // of the block that was unpacked last; or, if that holds much,
	again   io.Reader    // what unpacks it once more; else nil
	library []byte       // a block as a stream of its own
}

func newBlocks(in io.ReaderAt, size, from, to int64) *blocks {
	b := &blocks{window: window{in: in, size: size, first: from}, bit: -1, to: to}
	if from == 0 {
		b.bit, b.whole = 4*8, true // behind the header, which Detect has seen
	}
	return b
}

func (b *blocks) at() int64 {
	if b.bit < 0 {
		return b.first
	}
	return b.bit / 8
}

func (b *blocks) close() {}

func (b *blocks) Read(p []byte) (int, error) {
	if b.again != nil {
		n, err := b.again.Read(p)
		if err == io.EOF {
			b.again, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	for b.plain.Len() == 0 && b.again == nil {
		var err error
		if b.bit < 0 {
			err = b.enter()
		} else {
			err = b.next()
		}
		if err != nil {
			return 0, err
		}
	}
	if b.again != nil {
		return b.again.Read(p)
	}
	return b.plain.Read(p)
}

// enter goes to the first block that begins in the stretch, and unpacks it.
func (b *blocks) enter() error {
	for at := b.first * 8; at < b.to*8; {
		far := min(at+8*maxBlock, b.to*8)
		begin, err := b.find(at, far, &blockMarks)
		if err != nil {
			return err
		}
		if begin < 0 {
			at = far
			b.forget(at / 8)
			continue
		}
		end, err := b.unpack(begin)
		if err == nil {
			b.bit = end
			return nil
		}
		if _, bad := err.(*Damage); !bad {
			return err
		}
		at = begin + 1 // a look-alike; if it is a damaged block, whoever reads the stretch before finds that
	}
	return io.EOF
}

// next unpacks the next block of the stretch, or goes over the end of a stream.
func (b *blocks) next() error {
	if b.bit == b.size*8 {
		return io.EOF
	}
	b.forget(b.bit / 8)
	if err := b.load(b.bit/8 + 16); err != nil {
		return err
	}
	if b.bit+markBits > b.size*8 {
		return b.damage(b.size*8, cutShort)
	}
	switch b.bits(b.bit, markBits) {
	case uint64(blockMagic):
		if b.bit >= b.to*8 {
			return io.EOF
		}
		end, err := b.unpack(b.bit)
		if err != nil {
			return err
		}
		b.bit = end
		return nil
	case uint64(endMagic):
		return b.endStream()
	}
	return b.damage(b.bit, damaged)
}

// endStream goes over the end of a stream and the header of the next. Streams of no blocks are gone over with it.
func (b *blocks) endStream() error {
	if b.bit+markBits+32 > b.size*8 {
		return b.damage(b.size*8, cutShort)
	}
	if uint32(b.bits(b.bit+markBits, 32)) != b.sum && b.whole {
		return b.damage(b.bit, damaged)
	}
	end := (b.bit + markBits + 32 + 7) / 8
	b.whole, b.sum = true, 0
	if end == b.size {
		b.bit = end * 8
		return nil
	}
	if err := b.load(end + 4); err != nil {
		return err
	}
	if !isStreamHeader(b.text[end-b.first:]) {
		return b.damage(end*8, followed)
	}
	b.bit = (end + 4) * 8
	return nil
}

// unpack unpacks the block that begins at a bit, and returns where it ends.
func (b *blocks) unpack(begin int64) (end int64, err error) {
	b.forget(begin / 8)
	most := begin + 8*maxBlock
	for from := begin + markBits + 32; ; from = end + 1 {
		end, err = b.find(from, most, &allMarks)
		if err != nil {
			return 0, err
		}
		if end < 0 {
			if most > b.size*8 {
				return 0, b.damage(begin, "cut short or damaged in the block")
			}
			return 0, b.damage(begin, "damaged in the block")
		}
		sum := uint32(b.bits(begin+markBits, 32))
		b.alone(begin, end, sum)
		if b.check() == nil {
			b.sum = bits.RotateLeft32(b.sum, 1) ^ sum
			return end, nil
		}
		b.plain.Reset()
	}
}

// check unpacks the block that stands alone, and returns an error unless all of it is right.
func (b *blocks) check() error {
	b.plain.Reset()
	unpacked := bzip2.NewReader(bytes.NewReader(b.library))
	_, err := io.CopyN(&b.plain, unpacked, mostKept)
	if err == io.EOF {
		return nil
	}
	if err == nil {
		_, err = io.Copy(io.Discard, unpacked)
	}
	if err == nil {
		b.plain.Reset()
		b.again = bzip2.NewReader(bytes.NewReader(b.library))
	}
	return err
}

// alone makes a block a stream of its own.
func (b *blocks) alone(begin, end int64, sum uint32) {
	b.library = append(b.library[:0], "BZh9"...)
	at := begin
	for ; at+56 <= end; at += 56 {
		b.library = append(b.library, binary.BigEndian.AppendUint64(nil, b.bits(at, 56))[1:]...)
	}
	var left uint64
	room := 64
	put := func(value uint64, n int) {
		for ; n > 0; n-- {
			room--
			left |= value >> (n - 1) & 1 << room
			if room == 0 {
				b.library = binary.BigEndian.AppendUint64(b.library, left)
				left, room = 0, 64
			}
		}
	}
	put(b.bits(at, int(end-at)), int(end-at))
	put(uint64(endMagic), markBits)
	put(uint64(sum), 32)
	b.library = binary.BigEndian.AppendUint64(b.library, left)
	b.library = b.library[:len(b.library)-room/8]
}

func (b *blocks) damage(bit int64, what string) error {
	return &Damage{Format: Bzip2, At: bit / 8, What: what}
}

// window is a part of a file that is in memory.
type window struct {
	in    io.ReaderAt
	size  int64
	first int64 // where in the file the text begins
	text  []byte
}

// forget drops what is in front of a byte.
func (w *window) forget(at int64) {
	n := min(at-w.first, int64(len(w.text)))
	if n < blockRead && n < int64(len(w.text)) {
		return
	}
	w.text = w.text[:copy(w.text, w.text[n:])]
	w.first = at
}

// load reads the file at least up to a byte, or to its end.
func (w *window) load(upTo int64) error {
	for end := w.first + int64(len(w.text)); end < min(upTo, w.size); end = w.first + int64(len(w.text)) {
		had := len(w.text)
		want := int(min(blockRead, w.size-end))
		w.text = append(w.text, make([]byte, want)...)
		n, err := w.in.ReadAt(w.text[had:], end)
		w.text = w.text[:had+n]
		if n < want {
			if err == io.EOF { // the file has become shorter
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// bits returns n bits, 56 at most, from a bit that is in memory; behind the end of the file are zeros.
func (w *window) bits(at int64, n int) uint64 {
	i := at/8 - w.first
	var word uint64
	if i+8 <= int64(len(w.text)) {
		word = binary.BigEndian.Uint64(w.text[i:])
	} else {
		var tail [8]byte
		if i < int64(len(w.text)) {
			copy(tail[:], w.text[i:])
		}
		word = binary.BigEndian.Uint64(tail[:])
	}
	return word << (at % 8) >> (64 - n)
}

// find returns the first of the marks that begins in [at, before), counted in bits, -1 if there is none.
func (w *window) find(at, before int64, marks *marks) (int64, error) {
	before = min(before, w.size*8-markBits+1)
	for at < before {
		if err := w.load(at/8 + blockRead); err != nil {
			return 0, err
		}
		stop := min(before, (w.first+int64(len(w.text)))*8-markBits+1)
		for ; at < stop; at = (at/8 + 1) * 8 {
			for shifts := marks.second[w.text[at/8-w.first+1]]; shifts != 0; shifts &= shifts - 1 {
				bit := at/8*8 + int64(bits.TrailingZeros8(shifts))
				if bit >= at && bit < stop && slices.Contains(marks.all, mark(w.bits(bit, markBits))) {
					return bit, nil
				}
			}
		}
		at = min(at, stop)
	}
	return -1, nil
}

// marks are looked for together. For each byte there are the bits of the byte before at which one of them may begin.
type marks struct {
	all    []mark
	second [256]uint8
}

var blockMarks, allMarks = newMarks(blockMagic), newMarks(blockMagic, endMagic)

func newMarks(all ...mark) marks {
	set := marks{all: all}
	for _, m := range all {
		for shift := range 8 {
			set.second[uint8(uint64(m)<<16>>shift>>48)] |= 1 << shift
		}
	}
	return set
}
