package unpack

import (
	"encoding/binary"
	"io"
)

// Units tells where a file may be cut: at the members of gzip whose sizes are in their headers, as bgzip writes them,
// and at the frames of zstd. It goes from header to header and unpacks nothing. What is not as it should be ends the
// list; the file's last stretch holds it, and who reads that finds what it is.
type Units struct {
	in     io.ReaderAt
	size   int64
	format Format
	next   int64
	table  []int64 // where frames end, if the file has a table of them, and none has been returned
	err    error
}

// NewUnits begins at the beginning of a file. Where it is dear to go through the headers of a file, only a table of
// all frames, which the seekable format of zstd has, is read.
func NewUnits(in io.ReaderAt, size int64, format Format, dear bool) *Units {
	u := &Units{in: in, size: size, format: format}
	if format == Zstd {
		u.table = u.seekTable()
	}
	if len(u.table) == 0 && dear || format == Bzip2 {
		u.next = size
	} else {
		u.Advance()
	}
	return u
}

// Next returns the least place, above 0 and all that were advanced over, at which the file may be cut; its size if
// there is none.
func (u *Units) Next() int64 { return u.next }

// Err returns why the file could not be read.
func (u *Units) Err() error { return u.err }

// Advance goes on to the place behind Next's.
func (u *Units) Advance() {
	at := u.next
	if len(u.table) > 0 {
		u.next, u.table = u.table[0], u.table[1:]
		if len(u.table) == 0 {
			u.table, u.next = nil, u.size // the last frame ends where the table itself begins
		}
		return
	}
	end := int64(-1)
	switch {
	case at >= u.size:
	case u.format == Gzip:
		end = u.member(at)
	case u.format == Zstd:
		end = u.frame(at)
	}
	if end <= at || end > u.size {
		end = u.size
	}
	u.next = end
}

// read fills a buffer from a place, as far as the file goes.
func (u *Units) read(buf []byte, at int64) []byte {
	n, err := u.in.ReadAt(buf[:max(0, min(int64(len(buf)), u.size-at))], at)
	if err != nil && err != io.EOF && u.err == nil {
		u.err = err
	}
	return buf[:n]
}

// member returns where a gzip member ends that has its size in a field of its header, -1 if it has not.
func (u *Units) member(at int64) int64 {
	var buf [12 + 256]byte
	head := u.read(buf[:], at)
	if len(head) < 12 || Detect(head) != Gzip || head[3]&4 == 0 {
		return -1
	}
	fields := head[12:]
	fields = fields[:min(len(fields), int(binary.LittleEndian.Uint16(head[10:])))]
	for len(fields) >= 4 {
		length := int(binary.LittleEndian.Uint16(fields[2:]))
		if fields[0] == 'B' && fields[1] == 'C' && length == 2 && len(fields) >= 6 {
			return at + int64(binary.LittleEndian.Uint16(fields[4:])) + 1
		}
		fields = fields[min(len(fields), 4+length):]
	}
	return -1
}

// frame returns where a zstd frame ends, and with it the frames in front that hold no data.
func (u *Units) frame(at int64) int64 {
	var buf [18]byte
	for {
		head := u.read(buf[:], at)
		switch {
		case isSkippable(head):
			at += 8 + int64(binary.LittleEndian.Uint32(head[4:]))
			continue
		case len(head) < 5 || Detect(head) != Zstd:
			return -1
		}
		descriptor := head[4]
		at += 5 + int64([]int{0, 1, 2, 4}[descriptor&3]) + int64([]int{0, 2, 4, 8}[descriptor>>6])
		if single := descriptor>>5&1 == 1; !single {
			at++
		} else if descriptor>>6 == 0 {
			at++
		}
		for last := false; !last; {
			block := u.read(buf[:3], at)
			if len(block) < 3 {
				return -1
			}
			word := int64(block[0]) | int64(block[1])<<8 | int64(block[2])<<16
			last = word&1 == 1
			at += 3
			if word>>1&3 == 1 { // one byte, repeated
				at++
			} else {
				at += word >> 3
			}
		}
		if descriptor>>2&1 == 1 {
			at += 4
		}
		return at
	}
}

const (
	seekFooter = 9
	mostSeeks  = 1 << 22 // frames in a table that is believed
)

// seekTable returns where the frames end that the table at the end of a file in zstd's seekable format lists, nil if
// there is none. A table that lies leads to cuts inside frames, and those to errors, not to other data.
func (u *Units) seekTable() []int64 {
	var buf [seekFooter]byte
	foot := u.read(buf[:], max(0, u.size-seekFooter))
	if len(foot) < seekFooter || binary.LittleEndian.Uint32(foot[5:]) != 0x8f92eab1 {
		return nil
	}
	count, entry := int64(binary.LittleEndian.Uint32(foot)), int64(8)
	if foot[4]&0x80 != 0 {
		entry = 12
	}
	begin := u.size - seekFooter - count*entry
	if count < 1 || count > mostSeeks || begin < 8 {
		return nil
	}
	table := u.read(make([]byte, count*entry), begin)
	if int64(len(table)) < count*entry {
		return nil
	}
	ends := make([]int64, count)
	var end int64
	for i := range ends {
		end += int64(binary.LittleEndian.Uint32(table[int64(i)*entry:]))
		ends[i] = end
	}
	if end != begin-8 {
		return nil
	}
	return ends
}
