package proc

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The last lines are those that a reader who splits the text into lines finds last.
func TestLastLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 30, -1).Draw(t, "text")
		n := rapid.IntRange(-1, 6).Draw(t, "lines")
		var all []string
		for line := range strings.Lines(text) {
			all = append(all, line)
		}
		want := text
		if n >= 0 && n < len(all) {
			want = strings.Join(all[len(all)-n:], "")
		}
		if got := string(LastLines([]byte(text), n)); got != want {
			t.Errorf("last %d of %q: got %q, want %q", n, text, got, want)
		}
		if from := lastLines(bytes.NewReader([]byte(text)), int64(len(text)), max(0, n)); n >= 0 && text[from:] != want {
			t.Errorf("last %d of the file %q: got %q, want %q", n, text, text[from:], want)
		}
	})
}
