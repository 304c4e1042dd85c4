package run

import (
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
)

func TestDeadlineAt(t *testing.T) {
	start := time.Date(2026, 11, 30, 17, 50, 0, 0, time.UTC)
	for _, c := range []struct {
		text string
		want sched.Time // 0 for a mistake
	}{
		{"10m", sched.Time(10 * time.Minute)},
		{"1ns", 1},
		{"2026-11-30T18:00:00Z", sched.Time(10 * time.Minute)},
		{"2026-11-30T19:00:00+01:00", sched.Time(10 * time.Minute)},
		{"2026-11-30T17:50:00Z", 0}, {"2026-11-30T17:00:00Z", 0}, {"0s", 0}, {"-10m", 0}, {"10", 0}, {"", 0}, {"18:00", 0}, {"3000000h", 0},
	} {
		got, err := deadlineAt(c.text, start)
		if (err == nil) != (c.want > 0) || got != c.want {
			t.Errorf("%q: %d, %v; want %d", c.text, got, err, c.want)
		}
	}
}

// A deadline is after the start, whatever is given and whenever that is.
func FuzzDeadlineAt(f *testing.F) {
	for _, s := range []string{"10m", "1h2m3.5s", "-1s", "2026-11-30T18:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "9223372036.854775807s"} {
		f.Add(s, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		start := time.Unix(seconds%(1<<36), 0)
		if at, err := deadlineAt(text, start); (err == nil) != (at > 0) {
			t.Errorf("%q from %v: %d, %v", text, start, at, err)
		}
	})
}
