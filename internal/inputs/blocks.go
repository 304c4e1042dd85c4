package inputs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Pipe says how a stream becomes blocks, one per task, cut where records end.
type Pipe struct {
	File     string `json:"file,omitempty"`     // that the blocks are parts of; "" for standard input
	Size     int64  `json:"size,omitempty"`     // bytes of a block at most, but for a longer record
	Records  int    `json:"records,omitempty"`  // of a block, instead of a size; 0: by size
	RecEnd   []byte `json:"recend,omitempty"`   // what a record ends with,
	RecStart []byte `json:"recstart,omitempty"` // and begins with: a cut is between the two; neither: anywhere
	Header   int    `json:"header,omitempty"`   // lines that are put in front of every block
}

// Blocks are the parts of a stream.
type Blocks struct {
	Count   int       `json:"blocks"`
	Bytes   int64     `json:"bytes"`            // of the stream
	Header  []byte    `json:"header,omitempty"` // in front of each
	Sizes   []byte    `json:"sizes"`            // of each as a varint; the first begins behind the header
	Digest  string    `json:"digest,omitempty"` // SHA-256 of the stream, in hexadecimal, of standard input
	File    string    `json:"file,omitempty"`   // that has the bytes; "" for what the run has kept
	Changed time.Time `json:"changed,omitzero"` // the file, last

	index sync.Once
	ends  []int64
}

// Range returns where the block of a task begins and how long it is.
func (b *Blocks) Range(i int) (offset, size int64, err error) {
	b.index.Do(func() {
		end := int64(len(b.Header))
		for rest := b.Sizes; len(rest) > 0; {
			n, used := binary.Uvarint(rest)
			if used <= 0 || n > uint64(b.Bytes-end) {
				return
			}
			end, rest = end+int64(n), rest[used:]
			b.ends = append(b.ends, end)
		}
	})
	if i < 0 || i >= len(b.ends) || len(b.ends) != b.Count {
		return 0, 0, fmt.Errorf("there is no block %d", i)
	}
	if offset = int64(len(b.Header)); i > 0 {
		offset = b.ends[i-1]
	}
	return offset, b.ends[i] - offset, nil
}

// mostHeader bounds the bytes of the lines that are put in front of every block.
const mostHeader = 1 << 20

// Cutter finds the blocks of a stream that is written to it.
type Cutter struct {
	pipe   *Pipe
	blocks Blocks
	lines  int    // of the header that are still to come
	tail   []byte // the last bytes, which may begin what separates records
	start  int64  // of the block that is open
	last   int64  // the last place in it where it can be cut; start if there is none
	full   int    // records up to there
}

// NewCutter returns the cutter of a stream.
func NewCutter(p *Pipe) *Cutter { return &Cutter{pipe: p, lines: p.Header} }

// Write takes in what comes next of the stream.
func (c *Cutter) Write(data []byte) (int, error) {
	n := len(data)
	for c.lines > 0 && len(data) > 0 {
		i := bytes.IndexByte(data, '\n') + 1
		if i > 0 {
			c.lines--
		} else {
			i = len(data)
		}
		c.blocks.Header = append(c.blocks.Header, data[:i]...)
		c.blocks.Bytes += int64(i)
		c.start, c.last = c.blocks.Bytes, c.blocks.Bytes
		if data = data[i:]; len(c.blocks.Header) > mostHeader {
			return 0, fmt.Errorf("--header: the lines are over %d bytes", mostHeader)
		}
	}
	if len(data) == 0 {
		return n, nil
	}
	sep := append(append([]byte{}, c.pipe.RecEnd...), c.pipe.RecStart...)
	if len(sep) == 0 {
		c.blocks.Bytes += int64(len(data))
		for c.blocks.Bytes-c.start > c.pipe.Size {
			c.end(c.start + c.pipe.Size)
		}
		return n, nil
	}
	text := append(c.tail, data...)
	at := c.blocks.Bytes - int64(len(c.tail)) // of text in the stream
	c.blocks.Bytes += int64(len(data))
	searched := 0
	if len(sep) == 1 && c.pipe.Records == 0 && c.blocks.Bytes <= c.start+c.pipe.Size { // only the last can become a cut
		searched = max(0, bytes.LastIndexByte(text, sep[0]))
	}
	for {
		i := bytes.Index(text[searched:], sep)
		if i < 0 {
			break
		}
		searched += i + len(sep)
		c.candidate(at + int64(searched-len(c.pipe.RecStart)))
	}
	keep := max(searched, len(text)-len(sep)+1)
	c.tail = append(c.tail[:0:0], text[keep:]...)
	return n, nil
}

// candidate takes in a place between two records.
func (c *Cutter) candidate(at int64) {
	if at <= c.start {
		return
	}
	if c.pipe.Records > 0 {
		if c.full++; c.full == c.pipe.Records {
			c.end(at)
		}
		return
	}
	if at-c.start > c.pipe.Size && c.last > c.start {
		c.end(c.last)
	}
	if at-c.start > c.pipe.Size { // one record that is longer than a block
		c.end(at)
		return
	}
	c.last = at
}

// end ends the block that is open.
func (c *Cutter) end(at int64) {
	c.blocks.Sizes = binary.AppendUvarint(c.blocks.Sizes, uint64(at-c.start))
	c.blocks.Count++
	c.start, c.last, c.full = at, at, 0
}

// Blocks ends the stream.
func (c *Cutter) Blocks(most int) (*Blocks, error) {
	b := &c.blocks
	if b.Bytes-c.start > c.pipe.Size && c.last > c.start && c.pipe.Records == 0 {
		c.end(c.last)
	}
	if b.Bytes > c.start {
		c.end(b.Bytes)
	}
	switch {
	case c.lines > 0 && b.Bytes > 0:
		return nil, errors.New("--header: the input has fewer lines")
	case b.Count == 0:
		return nil, ErrNothing
	case b.Count > most:
		return nil, fmt.Errorf("the input has %d blocks, and a run has at most %d tasks; choose a larger --block or -N", b.Count, most)
	}
	return b, nil
}
