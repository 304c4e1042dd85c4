package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
)

// Hash returns the SHA-256 of what the workload says, in hexadecimal digits: jobs, stages, edges, durations, laws,
// names, data. It is the same for a file and its compressed copy, and does not depend on the file's name or on Notes.
func (w *Workload) Hash() string {
	h := sha256.New()
	hashRows(h, w.Jobs)
	hashRows(h, w.Stages)
	hashRows(h, w.Edges)
	hashRows(h, w.Pairs)
	hashRows(h, w.Durations)
	hashRows(h, w.Inputs)
	hashRows(h, w.Sources)
	hashRows(h, w.Bytes)
	for _, texts := range [][]string{w.Names, w.Classes, w.Sites, specsOf(w)} {
		section(h, len(texts))
		for _, text := range texts {
			section(h, len(text))
			h.Write([]byte(text))
		}
	}
	if len(w.Rules) > 0 { // others have the hash that they had before there were rules
		text, _ := json.Marshal(w.Rules)
		section(h, len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashRows hashes rows of a fixed size, some at a time, since their bytes are made in memory.
func hashRows[T any](h hash.Hash, rows []T) {
	section(h, len(rows))
	for some := range slices.Chunk(rows, 4096) {
		_ = binary.Write(h, binary.LittleEndian, some) // a hash takes all
	}
}

// section begins a part of a known size, so that no two workloads give the same bytes.
func section(h hash.Hash, size int) {
	_ = binary.Write(h, binary.LittleEndian, int64(size))
}

func specsOf(w *Workload) (specs []string) {
	for _, law := range w.Laws {
		specs = append(specs, law.String())
	}
	return specs
}
