package report

import (
	"bytes"
	"strings"
	"testing"
)

// A page shows foreign text in none of its forms as anything but text.
func TestForeignTextOnPages(t *testing.T) {
	p := &Page{Name: "p", Title: "t\x1b[2J\u202e", Sections: []Section{{
		Title: "s\n<script>", Text: []string{"\x1b]0;x\x07"},
		Tables: []Table{{Name: "t", Columns: []string{"c\x1b"}, Rows: [][]any{{"=1+1\x1b[2J"}}}},
	}}}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return p.WriteText(b) },
		"html": func(b *bytes.Buffer) error { return p.WriteHTML(b) },
		"csv":  func(b *bytes.Buffer) error { return p.WriteCSV(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.ContainsAny(text, "\x1b\x07\u202e") || name == "html" && strings.Contains(text, "<script>") || name == "csv" && strings.Contains(text, ",=1") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
