package grammar

import "testing"

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text, back string // what is given, and how it is printed; "" for a mistake
		want       int64
	}{
		{"8MiB", "8MiB", 8 << 20},
		{"64KiB", "64KiB", 64 << 10},
		{"1024KiB", "1MiB", 1 << 20},
		{"2G", "2GiB", 2 << 30},
		{"512M", "512MiB", 512 << 20},
		{"4K", "4KiB", 4 << 10},
		{"1T", "1TiB", 1 << 40},
		{"17", "17", 17},
		{"17B", "17", 17},
		{"4194304TiB", "4194304TiB", 1 << 62},
		{text: ""}, {text: "0"}, {text: "-1MiB"}, {text: "4194305TiB"}, {text: "MiB"}, {text: "8MB"}, {text: "8m"}, {text: "1.5MiB"}, {text: "8 MiB"},
		{text: "99999999999999999999"},
	} {
		n, err := ParseSize(c.text)
		if (err == nil) != (c.back != "") || err == nil && (n != c.want || FormatSize(n) != c.back) {
			t.Errorf("%q: %d, printed as %s, %v; want %d as %s", c.text, n, FormatSize(n), err, c.want, c.back)
		}
	}
}

// A size is at least a byte, and printed as something that means the same.
func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"8MiB", "1", "1B", "2G", "9223372036854775807", "4194304TiB", "+1KiB", "0x1KiB", "-8MiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseSize(text)
		if err != nil {
			return
		}
		if again, err := ParseSize(FormatSize(n)); n < 1 || err != nil || again != n {
			t.Errorf("%q is %d, printed as %s, which is %d, %v", text, n, FormatSize(n), again, err)
		}
	})
}
