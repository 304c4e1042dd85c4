package mapreduce

import (
	"bytes"
	"math/bits"
	"sort"
)

// hashPartition returns the partition, of n, that a key belongs to. Attempts of one job may run under different
// builds of the program, so this function must never change: a test freezes it.
func hashPartition(key []byte, n int) int {
	h := uint64(14695981039346656037) // FNV-1a, 64 bits
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	// FNV leaves the upper bits of short keys poor. These steps, the finaliser of MurmurHash3, spread them.
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	hi, _ := bits.Mul64(h, uint64(n))
	return int(hi)
}

// rangePartition returns the number of boundaries at or below the key. Boundaries ascend strictly; partition i holds
// the keys in [boundaries[i-1], boundaries[i]).
func rangePartition(key []byte, boundaries [][]byte) int {
	return sort.Search(len(boundaries), func(i int) bool { return bytes.Compare(boundaries[i], key) > 0 })
}
