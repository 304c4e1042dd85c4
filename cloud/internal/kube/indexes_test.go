package kube

import "testing"

func TestIndexes(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string // what it is written as, or the error
	}{
		{"", 5, ""},
		{"0", 1, "0"},
		{"1,3-5,7", 8, "1,3-5,7"},
		{"0,1", 2, "0,1"}, // the Job API writes two neighbours with a comma
		{"0-1", 2, "0,1"},
		{"0,1,2", 9, "0-2"},
		{"3-9", 5, "3,4"}, // the Job was made smaller
		{"7", 5, ""},
		{"a", 5, `"a" is neither an index nor a range of indexes`},
		{"1-", 5, `"1-" is neither an index nor a range of indexes`},
		{"3-1", 5, `"3-1" is neither an index nor a range of indexes`},
		{"-1", 5, `"-1" is neither an index nor a range of indexes`},
	} {
		s, err := parseIndexes(c.text, c.n)
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q of %d: %s, want %s", c.text, c.n, got, c.want)
		}
	}
}

func FuzzIndexes(f *testing.F) {
	f.Add("1,3-5,7", 8)
	f.Add("0-2147483647", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n &= 1<<12 - 1
		s, err := parseIndexes(text, n)
		if err != nil {
			return
		}
		again, err := parseIndexes(s.String(), n)
		if err != nil || again.String() != s.String() || again.count() != s.count() {
			t.Errorf("%q reads as %v, and that as %v, %v", text, s, again, err)
		}
	})
}
