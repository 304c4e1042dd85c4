package show

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"plain, größer, 数, \u00a0":    "plain, größer, 数, \u00a0",
		"\x1b]0;title\x07\x1b[2J":     `\x1b]0;title\a\x1b[2J`,
		"two\nlines\r\tand\x7f":       `two\nlines\r\tand\x7f`,
		"bad \xff\xc3 utf8 \ufffd":    `bad \xff\xc3 utf8 ` + "\ufffd",
		"c1 \u009b31m":                `c1 \u009b31m`,
		"raw c1 \x9b31m":              `raw c1 \x9b31m`,
		"abc\u202egnp.exe\u2066":      `abc\u202egnp.exe\u2066`,
		"sep\u2028\u2029\u200b\ufeff": `sep\u2028\u2029\u200b\ufeff`,
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("a\x1b[2Jb\n\xff\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got := OneLine(text)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x07\u202e\u2066\u0085") {
			t.Errorf("%q is shown as %q", text, got)
		}
		if OneLine(got) != got {
			t.Errorf("%q changes when it is shown again", got)
		}
	})
}

// No cell is a formula, and numbers stay numbers.
func TestCells(t *testing.T) {
	row := []string{"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\r=x", "-1.5", "+3e2", "-Inf", "=5", "plain", "", "esc\x1b[2J", "two\nlines", `a"b,c`}
	want := []string{"'=1+1", "'+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", `'\tx`, `'\r=x`, "-1.5", "+3e2", "-Inf", "'=5", "plain", "", `esc\x1b[2J`, "two\nlines", `a"b,c`}
	var b bytes.Buffer
	if err := NewCSV(&b).WriteAll([][]string{row}); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&b).Read()
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q is written as %q, want %q", row[i], got[i], want[i])
		}
	}
}
