package proc

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// The name of a stride's file says all there is to know of it, so that a later engine finds it: where it begins and
// ends, which attempt made it, which made the one before, the fraction of the work, and a checksum of the bytes.
const strideName = "%d-%d.%d.%d.%016x.%08x"

func (s *stride) name() string {
	before := s.number
	if s.before != nil {
		before = s.before.number
	}
	return fmt.Sprintf(strideName, s.begin, s.end, s.number, before, math.Float64bits(s.fraction), s.sum)
}

// parseStride reads the name of a file. Of the stride before it knows the number alone.
func parseStride(name string) (s *stride, before int, ok bool) {
	s = &stride{left: true}
	var bits uint64
	n, err := fmt.Sscanf(name, strideName, &s.begin, &s.end, &s.number, &before, &bits, &s.sum)
	s.fraction = math.Float64frombits(bits)
	return s, before, n == 6 && err == nil && 0 <= s.begin && s.begin < s.end && s.fraction > 0 && s.fraction < 1
}

// leftStrides reads the strides that earlier engines have left in the folder of a task. One whose predecessor is gone
// is of no use.
func leftStrides(dir string) map[place]*stride {
	type end struct {
		number int
		at     int64
	}
	type orphan struct {
		*stride
		before int
	}
	entries, _ := os.ReadDir(dir) // none if it cannot be read: then the task begins anew
	var found []orphan
	for _, e := range entries {
		if s, before, ok := parseStride(e.Name()); ok && e.Type().IsRegular() {
			s.path = filepath.Join(dir, e.Name())
			found = append(found, orphan{s, before})
		}
	}
	slices.SortFunc(found, func(a, b orphan) int { return cmp.Compare(a.begin, b.begin) })
	all, ends := map[place]*stride{}, map[end]*stride{}
	for _, s := range found {
		if s.begin > 0 {
			if s.stride.before = ends[end{s.before, s.begin}]; s.stride.before == nil {
				continue
			}
		}
		all[place{s.number, s.fraction}], ends[end{s.number, s.end}] = s.stride, s.stride
	}
	return all
}

// sound returns a stride if it and all before it are as they were saved; else the last before the damage, nil for none.
func (s *stride) sound() *stride {
	for _, x := range s.chain() {
		if !x.left {
			continue
		}
		if sum, err := checksum(x.path); err != nil || sum != x.sum {
			return x.before
		}
	}
	return s
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the CRC-32C of a file.
func checksum(path string) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	_, err = io.Copy(sum, f)
	return sum.Sum32(), err
}
