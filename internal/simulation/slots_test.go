package simulation

import (
	"strings"
	"testing"
)

func TestParseSlots(t *testing.T) {
	for _, c := range []struct {
		text     string
		machines int
		slots    int    // of all
		wrong    string // instead
	}{
		{"3", 50, 150, ""},
		{"map=4,shuffle=2", 50, 300, ""},
		{"40x2,10x16", 50, 240, ""},
		{"50x1", 50, 50, ""},
		{"40x2", 50, 0, "expected sizes of 50 machines, not \"40x2\", which are 40"},
		{"40x2,20x1", 50, 0, "such as 40x2,10x16, which add up to 50 machines, not"},
		{"40x2,10x0", 50, 0, "such as 40x2,10x16"},
		{"x", 50, 0, "such as 40x2,10x16"},
		{"2x3x4", 2, 0, "such as 40x2,10x16"},
		{"32768x65536", 32768, 0, "such as 40x2,10x16"},
		{"0", 50, 0, "expected a number between 1 and 65536"},
	} {
		s, err := parseSlots(c.text, c.machines)
		if err != nil {
			if c.wrong == "" || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if got := s.of(c.machines); got != c.slots || c.wrong != "" {
			t.Errorf("%s: %d slots, expected %d, %s", c.text, got, c.slots, c.wrong)
		}
	}
}
