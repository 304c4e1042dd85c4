package mapreduce

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// tally counts byte strings. It is a table with open addressing whose keys lie one after the other in an arena: a
// string that was seen before costs no allocation, and the memory in use is known exactly. A full table goes to the
// sorter, which sums up what was counted in several fillings. The hash is seeded anew each time, so that no input can
// be made to collide; nobody can notice, for the order of slots never reaches the output.
type tally struct {
	sorter *sorter
	limit  int // bytes
	seed   uint64
	slots  []tallySlot // a power of two of them
	used   int
	arena  []byte
	drains int // how often the table was emptied into the sorter
}

type tallySlot struct {
	prefix uint64 // the first eight bytes of the key; a key that is no longer is not looked up in the arena
	count  uint64 // 0: the slot is free
	off    uint32 // of the key in the arena
	keyLen uint32
}

const (
	tallySlots    = 1 << 14 // at first
	tallySlotSize = 24
)

// newTally returns a tally that shares the attempt's memory with its sorter, half and half.
func (a *worker) newTally() *tally {
	half := a.spec.memoryLimit() / 2
	return &tally{
		sorter: a.newSorter(half, true),
		limit:  int(min(half, math.MaxUint32-maxRecord)), // offsets fit, though the last key crosses the limit
		seed:   rand.Uint64(),
		slots:  make([]tallySlot, tallySlots),
	}
}

// count adds one to a key's count.
func (t *tally) count(key []byte) error {
	prefix := shortPrefix(key)
	mask := uint64(len(t.slots) - 1)
	i := t.hash(prefix, key) & mask
	for ; t.slots[i].count > 0; i = (i + 1) & mask {
		slot := &t.slots[i]
		if slot.prefix == prefix && int(slot.keyLen) == len(key) &&
			(len(key) <= 8 || string(t.key(slot)) == string(key)) {
			slot.count++
			return nil
		}
	}
	t.slots[i] = tallySlot{prefix: prefix, count: 1, off: uint32(len(t.arena)), keyLen: uint32(len(key))}
	t.arena = append(double(t.arena, len(key)), key...)
	t.used++
	if len(t.arena)+2*tallySlotSize*t.used >= t.limit {
		return t.drain()
	}
	if 2*t.used > len(t.slots) {
		t.grow()
	}
	return nil
}

// shortPrefix packs the first eight bytes of a key into a number, a shorter key with zeros behind.
func shortPrefix(key []byte) uint64 {
	n := len(key)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(key)
	case n >= 4: // two halves that overlap where they agree
		return uint64(binary.LittleEndian.Uint32(key)) | uint64(binary.LittleEndian.Uint32(key[n-4:]))<<(8*(n-4))
	case n > 0:
		return uint64(key[0]) | uint64(key[n/2])<<(8*(n/2)) | uint64(key[n-1])<<(8*(n-1))
	}
	return 0
}

// hash folds a key eight bytes at a time.
func (t *tally) hash(prefix uint64, key []byte) uint64 {
	h := fold(prefix^t.seed, uint64(len(key)))
	for len(key) > 8 {
		key = key[8:]
		h = fold(h^shortPrefix(key), t.seed)
	}
	return h
}

// fold mixes all bits of a into all bits of the result, differently for each salt.
func fold(a, salt uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, salt^0xe7037ed1a0b428db)
	return hi ^ lo
}

func (t *tally) key(slot *tallySlot) []byte { return t.arena[slot.off:][:slot.keyLen] }

func (t *tally) grow() {
	old := t.slots
	t.slots = make([]tallySlot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, slot := range old {
		if slot.count == 0 {
			continue
		}
		i := t.hash(slot.prefix, t.key(&slot)) & mask
		for t.slots[i].count > 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
}

// drain hands all counts to the sorter and empties the table.
func (t *tally) drain() error {
	var value [binary.MaxVarintLen64]byte
	for i := range t.slots {
		slot := &t.slots[i]
		if slot.count == 0 {
			continue
		}
		key := t.key(slot)
		partition := hashPartition(key, t.sorter.a.spec.Segments)
		n := binary.PutUvarint(value[:], slot.count)
		if err := t.sorter.add(partition, key, value[:n]); err != nil {
			return err
		}
		*slot = tallySlot{}
	}
	t.used, t.arena = 0, t.arena[:0]
	t.drains++
	return nil
}

// writeSegments ends the count and writes the attempt's segments.
func (t *tally) writeSegments() error {
	if err := t.drain(); err != nil {
		return err
	}
	t.slots, t.arena = nil, nil
	t.sorter.sum = t.drains > 1 || len(t.sorter.spilled) > 0 // a single filling has no key twice
	return t.sorter.writeSegments()
}

// wordCutter turns pieces into words: what lies between ASCII white space.
type wordCutter struct {
	carry []byte // the beginning of a word whose end has not come yet
	limit int    // of a word, in bytes
}

var isSpace = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// cut calls word for each word that ends in the piece. The slice is valid during the call only. A piece that ends
// in white space leaves nothing over, and the last piece of a split does.
func (c *wordCutter) cut(piece []byte, word func([]byte) error) error {
	at := 0
	if len(c.carry) > 0 {
		for at < len(piece) && !isSpace[piece[at]] {
			at++
		}
		if err := c.keep(piece[:at], len(piece)); err != nil {
			return err
		}
		if at == len(piece) {
			return nil
		}
		err := word(c.carry)
		c.carry = c.carry[:0]
		if err != nil {
			return err
		}
	}
	for {
		for at < len(piece) && isSpace[piece[at]] {
			at++
		}
		start := at
		for at < len(piece) && !isSpace[piece[at]] {
			at++
		}
		if at == len(piece) {
			return c.keep(piece[start:], at-start)
		}
		if at-start > c.limit {
			return c.tooLong(len(piece) - start)
		}
		if err := word(piece[start:at]); err != nil {
			return err
		}
	}
}

// keep puts more to the word, which goes on where so many bytes of the piece are left.
func (c *wordCutter) keep(text []byte, left int) error {
	if len(c.carry)+len(text) > c.limit {
		return c.tooLong(left)
	}
	c.carry = append(double(c.carry, len(text)), text...)
	return nil
}

func (c *wordCutter) tooLong(left int) error {
	return &tooLong{what: "word", limit: c.limit, carried: len(c.carry), left: left, ends: func(b byte) bool { return isSpace[b] }}
}
