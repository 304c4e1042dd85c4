package show

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds writes a span with about four digits: 312ms, 4.21s, 12m22s, 3h25m, 4d03h, 1000y, infinite; - for NaN.
func Seconds(s float64) string {
	const year = 365.25 * 24 * 3600
	d := time.Duration(math.Round(min(s, 9e9) * 1e9))
	switch {
	case math.IsNaN(s):
		return "-"
	case math.IsInf(s, 1):
		return "infinite"
	case s < 1:
		return d.Round(100 * time.Microsecond).String()
	case s < 60:
		return fmt.Sprintf("%.2fs", s)
	case s < 3600:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case s < 48*3600:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case s < 1000*year:
		hours := math.Round(s / 3600)
		return fmt.Sprintf("%.0fd%02.0fh", math.Floor(hours/24), math.Mod(hours, 24))
	}
	return fmt.Sprintf("%.3gy", s/year)
}

// Margin writes a span and half of its interval with two digits: 16.97s ± 0.55s, 4m20s ± 35s, 9h17m ± 3m05s.
func Margin(s, half float64) string {
	margin := Seconds(half)
	if s >= 1 && half < 60 {
		digits := 2
		for x := half; x >= 1 && digits > 0; x /= 10 {
			digits--
		}
		margin = strconv.FormatFloat(half, 'f', digits, 64) + "s"
	}
	return Seconds(s) + " ± " + margin
}

// Number writes a number with at most four digits: 950, 12.3k, 1.25M.
func Number(x float64) string {
	switch {
	case x < 9999.5:
		return fmt.Sprintf("%.0f", x)
	case x < 999_500:
		return fmt.Sprintf("%.1fk", x/1e3)
	case x < 9.995e9:
		return fmt.Sprintf("%.2fM", x/1e6)
	default:
		return fmt.Sprintf("%.1fG", x/1e9)
	}
}

// Count prints a number of things, whose plural has an s.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Bytes prints a number of bytes for people.
func Bytes(bytes int64) string {
	x, unit := float64(bytes), 0
	for x >= 999.5 && unit < 4 {
		x, unit = x/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", x, [...]string{"", "kB", "MB", "GB", "TB"}[unit])
}

// Percent writes a ratio with a digit behind the point: 12.5 %.
func Percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

// Change is Percent of what something has grown by, with its sign; what rounds to 0 has not shrunk.
func Change(ratio float64) string {
	if text := fmt.Sprintf("%+.1f %%", 100*ratio); text != "-0.0 %" {
		return text
	}
	return "+0.0 %"
}

// Chance is a probability for people, rounded towards doubt.
func Chance(p float64) string {
	switch {
	case p == 0:
		return "0 %"
	case p < 0.001:
		return "<0.1 %"
	case p > 0.9999:
		return ">99.99 %"
	case p > 0.99:
		return fmt.Sprintf("%.2f %%", math.Floor(1e4*p)/100)
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// Plain formats a number so that it reads back as the same.
func Plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// PlainOrNone is Plain for a number that may be missing, "" for nil.
func PlainOrNone(x *float64) string {
	if x == nil {
		return ""
	}
	return Plain(*x)
}

// Finite returns a number for JSON, nil if it is not finite.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// OrDash prints a number for people, - if there is none.
func OrDash(v *float64, how func(float64) string) string {
	if v == nil {
		return "-"
	}
	return how(*v)
}

// ShortNumber writes whole numbers as they are, others with three digits.
func ShortNumber(x float64) string {
	if x == math.Trunc(x) || x >= 9999.5 {
		return Number(x)
	}
	return strconv.FormatFloat(x, 'g', max(3, len(strconv.Itoa(int(x)))), 64)
}
