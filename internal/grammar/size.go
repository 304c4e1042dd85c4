package grammar

import (
	"fmt"
	"strconv"
	"strings"
)

// Sizes are powers of 1024. The single letters are GNU parallel's; MB and GB are left out, because half of their users
// mean powers of 1000.
var sizeUnits = []struct {
	suffix string
	factor int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1}, {"", 1},
}

// ParseSize reads a number of bytes, at least one: 8MiB, 8M or 8388608.
func ParseSize(text string) (int64, error) {
	for _, u := range sizeUnits {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n < 1 || n > (1<<62)/u.factor {
				break
			}
			return n * u.factor, nil
		}
	}
	return 0, fmt.Errorf("expected a size such as 8MiB, not %q", text)
}

// FormatSize writes a number of bytes in the largest unit that divides it.
func FormatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n >= u.factor && n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}
