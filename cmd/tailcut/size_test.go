package main

import (
	"testing"
)

func TestSize(t *testing.T) {
	for _, c := range []struct {
		text, back string // what is given, and how it is printed; "" for a mistake
		want       size
	}{
		{"8MiB", "8MiB", 8 << 20},
		{"64KiB", "64KiB", 64 << 10},
		{"1024KiB", "1MiB", 1 << 20},
		{"17", "17", 17},
		{"17B", "17", 17},
		{"4194304TiB", "4194304TiB", 1 << 62},
		{text: ""}, {text: "0"}, {text: "-1MiB"}, {text: "4194305TiB"}, {text: "MiB"}, {text: "8MB"}, {text: "1.5MiB"}, {text: "8 MiB"},
		{text: "99999999999999999999"},
	} {
		var s size
		err := s.Set(c.text)
		if (err == nil) != (c.back != "") || err == nil && (s != c.want || s.String() != c.back) {
			t.Errorf("%q: %d, printed as %s, %v; want %d as %s", c.text, int64(s), s.String(), err, int64(c.want), c.back)
		}
	}
}

// A size is at least a byte, and printed as something that means the same.
func FuzzSize(f *testing.F) {
	for _, s := range []string{"8MiB", "1", "1B", "9223372036854775807", "4194304TiB", "+1KiB", "0x1KiB", "-8MiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again size
		if s.Set(text) != nil {
			return
		}
		if err := again.Set(s.String()); s < 1 || err != nil || again != s {
			t.Errorf("%q is %d, printed as %s, which is %d, %v", text, int64(s), s.String(), int64(again), err)
		}
	})
}
