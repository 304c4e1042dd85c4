package main

import (
	"fmt"
	"strconv"
	"strings"
)

// size is a flag in bytes: 8MiB, 64KiB, 1GiB or a plain number. Its zero value stands for the verb's default.
type size int64

var sizeUnits = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}, {"", 1}}

// Type names the kind of value for --help.
func (s *size) Type() string { return "size" }

// String prints the size in the largest unit that divides it.
func (s *size) String() string {
	if *s == 0 {
		return "8MiB"
	}
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; int64(*s)%u.factor == 0 {
			return strconv.FormatInt(int64(*s)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set reads a size of at least one byte.
func (s *size) Set(text string) error {
	for _, u := range sizeUnits {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n < 1 || n > (1<<62)/u.factor {
				break
			}
			*s = size(n * u.factor)
			return nil
		}
	}
	return fmt.Errorf("expected a size such as 8MiB, not %q", text)
}
