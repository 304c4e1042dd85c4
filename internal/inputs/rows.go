package inputs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
)

// Rows are the values that the tasks of a stage are given, a row each, in the order of the tasks. A value is any bytes
// but NUL, which no argument of a program can hold: names of files need not be UTF-8. A million rows are kept as one
// piece of memory, and in JSON as one text.
type Rows struct {
	Count   int      `json:"rows"`
	Columns int      `json:"columns"`         // of the widest row; a narrower one lacks the last
	Names   []string `json:"names,omitempty"` // of columns, where a header gives them
	Digest  string   `json:"digest"`          // SHA-256 of Packed, in hexadecimal

	// For each row the number of its values as a varint, then each value and a NUL. Nil where nobody needs the values:
	// a request is compared by its digest.
	Packed []byte `json:"packed,omitempty"`

	// How the command takes them.
	Replace string `json:"replace,omitempty"` // stands for {} in the command; {} if empty
	Plus    bool   `json:"plus,omitempty"`    // {..}, {+.} and others of --plus are replaced as well

	index  sync.Once
	starts []uint32 // where each row begins in Packed
}

// MostBytes bounds what the values of a stage take, so that a slip of the pen does not fill the memory, nor the journal
// that keeps them.
const MostBytes = 256 << 20

// Pack packs rows.
func Pack(rows [][]string) (*Rows, error) {
	var p packer
	var row [][]byte
	for _, values := range rows {
		row = row[:0]
		for _, v := range values {
			row = append(row, []byte(v))
		}
		if err := p.add(row); err != nil {
			return nil, err
		}
	}
	return p.rows(), nil
}

// packer packs row after row.
type packer struct {
	packed         []byte
	count, columns int
}

var errTooLarge = fmt.Errorf("the values take more than %d MiB; cut them into several runs, or give each task a file that lists its own", MostBytes>>20)

func (p *packer) add(row [][]byte) error {
	p.packed = binary.AppendUvarint(p.packed, uint64(len(row)))
	for _, v := range row {
		if i := bytes.IndexByte(v, 0); i >= 0 {
			return fmt.Errorf("value %.60q has a NUL byte, which no argument can hold; if NUL ends each value, add --null", v)
		}
		p.packed = append(append(p.packed, v...), 0)
	}
	p.count, p.columns = p.count+1, max(p.columns, len(row))
	if len(p.packed) > MostBytes {
		return errTooLarge
	}
	return nil
}

func (p *packer) rows() *Rows {
	sum := sha256.Sum256(p.packed)
	return &Rows{Count: p.count, Columns: p.columns, Digest: hex.EncodeToString(sum[:]), Packed: p.packed}
}

// Outline returns the rows without their values.
func (r *Rows) Outline() *Rows {
	if r == nil {
		return nil
	}
	return &Rows{Count: r.Count, Columns: r.Columns, Names: r.Names, Digest: r.Digest, Replace: r.Replace, Plus: r.Plus}
}

// Check tells whether the values are there, as many as there should be.
func (r *Rows) Check() error {
	if r.Count < 1 || len(r.Packed) > MostBytes {
		return fmt.Errorf("%d rows in %d bytes are not between 1 and what fits %d bytes", r.Count, len(r.Packed), MostBytes)
	}
	rest := r.Packed
	for range r.Count {
		row, after, ok := cutRow(nil, rest)
		if !ok || len(row) > r.Columns {
			return errors.New("the values do not match their number")
		}
		rest = after
	}
	if len(rest) > 0 {
		return errors.New("there are more values than rows")
	}
	return nil
}

// Row returns the values of a task, nil if they are not kept. It may be called by several goroutines; the values are
// not to be changed.
func (r *Rows) Row(i int) [][]byte {
	r.index.Do(r.findRows)
	if i < 0 || i >= len(r.starts) {
		return nil
	}
	row, _, _ := cutRow(nil, r.Packed[r.starts[i]:])
	return row
}

func (r *Rows) findRows() {
	if len(r.Packed) == 0 || len(r.Packed) > MostBytes {
		return
	}
	r.starts = make([]uint32, 0, min(max(0, r.Count), len(r.Packed)))
	for at := 0; at < len(r.Packed); {
		_, rest, ok := cutRow(nil, r.Packed[at:])
		if !ok {
			return
		}
		r.starts = append(r.starts, uint32(at))
		at = len(r.Packed) - len(rest)
	}
}

// cutRow appends the values of the first row to row, and returns what follows it.
func cutRow(row [][]byte, packed []byte) (values [][]byte, rest []byte, ok bool) {
	n, size := binary.Uvarint(packed)
	if size <= 0 || n > uint64(len(packed)) {
		return row, nil, false
	}
	packed = packed[size:]
	for range n {
		end := bytes.IndexByte(packed, 0)
		if end < 0 {
			return row, nil, false
		}
		row, packed = append(row, packed[:end:end]), packed[end+1:]
	}
	return row, packed, true
}
