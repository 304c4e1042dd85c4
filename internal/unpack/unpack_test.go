package unpack

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestOpen(t *testing.T) {
	const text = "arrival,map,shuffle\n"
	zipped := func(to func(io.Writer) io.WriteCloser) string {
		var b bytes.Buffer
		w := to(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		in, want string
		packed   bool
	}{
		"plain": {text, text, false},
		"short": {"\x1f", "\x1f", false},
		"empty": {"", "", false},
		"gzip":  {zipped(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), text, true},
		"zstd": {zipped(func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}), text, true},
	} {
		s, err := Open(bufio.NewReader(strings.NewReader(c.in)), 1<<20)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(s)
		if s.Done(); err != nil || string(got) != c.want || s.Packed != c.packed {
			t.Errorf("%s: %q, %v, %v", name, got, s.Packed, err)
		}
	}
	if _, err := Open(bufio.NewReader(strings.NewReader("\x1f\x8bno gzip")), 0); err == nil {
		t.Error("a header that is none passes")
	}
}
