package trace

import (
	"fmt"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// parseSeconds reads a number of seconds, at least 0, to the nearest nanosecond. Plain decimals of at most nine digits
// on either side of the point, which is nearly all there is, are read exactly and without floating point.
func parseSeconds(s string) (sched.Time, error) {
	var whole, fraction, scale int64 = 0, 0, 1e9
	i := 0
	for ; i < len(s) && i < 9 && s[i]-'0' <= 9; i++ {
		whole = whole*10 + int64(s[i]-'0')
	}
	if digits := i; digits > 0 && i < len(s) && s[i] == '.' {
		for i++; i < len(s) && scale > 1 && s[i]-'0' <= 9; i++ {
			scale /= 10
			fraction += int64(s[i]-'0') * scale
		}
	}
	if i > 0 && i == len(s) {
		return sched.Time(whole*1e9 + fraction), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a number of seconds, got %q", abridged(s))
	}
	return checkSeconds(x)
}

// checkSeconds rounds a number of seconds to nanoseconds.
func checkSeconds(x float64) (sched.Time, error) {
	if t := sched.FromSeconds(x); x >= 0 && t <= maxInstant {
		return t, nil
	}
	return 0, fmt.Errorf("expected between 0 and %.0f seconds, got %v", sched.Time(maxInstant).Seconds(), x)
}

// appendSeconds writes t in seconds with as many decimals as it needs, so that parseSeconds reads the same t.
func appendSeconds(b []byte, t sched.Time) []byte {
	b = strconv.AppendInt(b, int64(t/sched.Second), 10)
	fraction := int64(t % sched.Second)
	if fraction == 0 {
		return b
	}
	b = append(b, '.')
	for digit := int64(1e8); fraction > 0; digit /= 10 {
		b = append(b, byte('0'+fraction/digit))
		fraction %= digit
	}
	return b
}

// abridged shortens text for a message.
func abridged(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
