package mapreduce

import (
	"encoding/binary"
	"hash/maphash"
)

// tally counts byte strings. It is a table with open addressing whose keys lie one after the other in an arena: a
// string that was seen before costs no allocation, and the memory in use is known exactly. A full table goes to the
// sorter, which sums up what was counted in several fillings. Its hash is seeded anew each time, which nobody can
// notice: the order of its slots never reaches the output.
type tally struct {
	sorter *sorter
	limit  int // bytes
	seed   maphash.Seed
	slots  []tallySlot // a power of two of them
	used   int
	arena  []byte
}

type tallySlot struct {
	count  uint64 // 0: the slot is free
	off    int    // of the key in the arena
	hash   uint32 // its upper half: the lower bits chose the slot
	keyLen uint32
}

const (
	tallySlots    = 1 << 10 // at first
	tallySlotSize = 24
)

// newTally returns a tally that shares the attempt's memory with its sorter, half and half.
func (a *attempt) newTally() *tally {
	half := a.spec.memoryLimit() / 2
	return &tally{
		sorter: a.newSorter(half, true),
		limit:  int(min(half, 1<<40)),
		seed:   maphash.MakeSeed(),
		slots:  make([]tallySlot, tallySlots),
	}
}

// count adds one to a key's count.
func (t *tally) count(key []byte) error {
	hash := maphash.Bytes(t.seed, key)
	mask := uint64(len(t.slots) - 1)
	upper := uint32(hash >> 32)
	i := hash & mask
	for ; t.slots[i].count > 0; i = (i + 1) & mask {
		slot := &t.slots[i]
		if slot.hash == upper && int(slot.keyLen) == len(key) && string(t.key(slot)) == string(key) {
			slot.count++
			return nil
		}
	}
	t.slots[i] = tallySlot{count: 1, off: len(t.arena), hash: upper, keyLen: uint32(len(key))}
	t.arena = append(t.arena, key...)
	t.used++
	if len(t.arena)+tallySlotSize*2*t.used >= t.limit {
		return t.drain()
	}
	if 2*t.used > len(t.slots) {
		t.grow()
	}
	return nil
}

func (t *tally) key(slot *tallySlot) []byte { return t.arena[slot.off : slot.off+int(slot.keyLen)] }

func (t *tally) grow() {
	old := t.slots
	t.slots = make([]tallySlot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, slot := range old {
		if slot.count == 0 {
			continue
		}
		i := maphash.Bytes(t.seed, t.key(&slot)) & mask
		for t.slots[i].count > 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
}

// drain hands all counts to the sorter, in the order of the arena's keys only by chance, and empties the table.
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
	return nil
}

// writeSegments ends the count and writes the attempt's segments.
func (t *tally) writeSegments() error {
	if err := t.drain(); err != nil {
		return err
	}
	t.slots, t.arena = nil, nil
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
		if err := c.keep(piece[:at]); err != nil {
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
			return c.keep(piece[start:])
		}
		if err := word(piece[start:at]); err != nil {
			return err
		}
	}
}

func (c *wordCutter) keep(text []byte) error {
	if len(c.carry)+len(text) > c.limit {
		return tooLong("a word", c.limit)
	}
	c.carry = append(c.carry, text...)
	return nil
}
