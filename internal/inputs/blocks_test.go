package inputs

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cutAll cuts data that comes in pieces.
func cutAll(t interface {
	Helper()
	Fatal(...any)
}, p *Pipe, data []byte, piece int) []string {
	t.Helper()
	c := NewCutter(p)
	for part := range slices.Chunk(data, piece) {
		if _, err := c.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	b, err := c.Blocks(1 << 20)
	if err == ErrNothing {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range b.Count {
		offset, size, err := b.Range(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b.Header)+string(data[offset:offset+size]))
	}
	return all
}

func TestCutter(t *testing.T) {
	nl := []byte("\n")
	for _, c := range []struct {
		name, data string
		pipe       Pipe
		want       string
	}{
		{"by size", "1\n2\n3\n4\n5\n", Pipe{Size: 4, RecEnd: nl}, "1\n2\n|3\n4\n|5\n"},
		{"a long record", "1\nabcdefg\n2\n", Pipe{Size: 4, RecEnd: nl}, "1\n|abcdefg\n|2\n"},
		{"no end at the end", "1\n2", Pipe{Size: 100, RecEnd: nl}, "1\n2"},
		{"a long end", "1\n2345678", Pipe{Size: 4, RecEnd: nl}, "1\n|2345678"},
		{"by records", "1\n2\n3\n4\n5\n", Pipe{Records: 2, RecEnd: nl}, "1\n2\n|3\n4\n|5\n"},
		{"a header", "h\ni\n1\n2\n3\n", Pipe{Records: 2, RecEnd: nl, Header: 2}, "h\ni\n1\n2\n|h\ni\n3\n"},
		{"what begins records", ">a\nx\n>b\ny\n>c\nz\n", Pipe{Records: 2, RecStart: []byte(">")}, ">a\nx\n>b\ny\n|>c\nz\n"},
		{"both", ">a>\nx\n>b\n>c", Pipe{Records: 1, RecEnd: nl, RecStart: []byte(">")}, ">a>\nx\n|>b\n|>c"},
		{"anywhere", "abcdefgh", Pipe{Size: 3}, "abc|def|gh"},
		{"nothing", "", Pipe{Size: 3, RecEnd: nl}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for piece := 1; piece < 12; piece++ {
				if got := strings.Join(cutAll(t, &c.pipe, []byte(c.data), piece), "|"); got != c.want {
					t.Errorf("in pieces of %d: got %q, expected %q", piece, got, c.want)
				}
			}
		})
	}
}

// Nothing is lost, blocks end where records do and are as long as they may be, and it does not matter in which pieces
// the stream comes.
func TestCutterKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(rapid.StringMatching(`([a-c]{0,6}(\n|;;|\n>)){0,30}[a-c]{0,3}`).Draw(t, "data"))
		p := &Pipe{Size: rapid.Int64Range(1, 20).Draw(t, "size"), RecEnd: []byte(rapid.SampledFrom([]string{"\n", ";;", ""}).Draw(t, "end"))}
		if rapid.Bool().Draw(t, "start") {
			p.RecStart = []byte(">")
		}
		if len(p.RecEnd)+len(p.RecStart) > 0 && rapid.Bool().Draw(t, "records") {
			p.Records = rapid.IntRange(1, 4).Draw(t, "n")
		}
		blocks := cutAll(t, p, data, rapid.IntRange(1, 9).Draw(t, "piece"))
		if got := strings.Join(blocks, ""); got != string(data) {
			t.Fatalf("%q became %q", data, blocks)
		}
		for i, b := range blocks[:max(0, len(blocks)-1)] {
			if !bytes.HasSuffix([]byte(b), p.RecEnd) || !bytes.HasPrefix([]byte(blocks[i+1]), p.RecStart) {
				t.Fatalf("%q is cut inside a record", blocks)
			}
			sep := string(p.RecEnd) + string(p.RecStart)
			if sep != "" && p.Records == 0 && int64(len(b)) > p.Size && strings.Contains(b[1:], sep) && strings.Index(b[1:], sep)+1+len(p.RecEnd) < len(b) {
				t.Fatalf("%q is longer than %d and could be cut", b, p.Size)
			}
		}
	})
}

func FuzzCutter(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("\n"), []byte(""), int64(2), 0, 1)
	f.Fuzz(func(t *testing.T, data, end, start []byte, size int64, records, header int) {
		p := &Pipe{Size: max(1, size), Records: max(0, records), RecEnd: end, RecStart: start, Header: max(0, header)}
		c := NewCutter(p)
		if _, err := c.Write(data); err != nil {
			return
		}
		b, err := c.Blocks(1 << 20)
		if err != nil {
			return
		}
		at := int64(len(b.Header))
		for i := range b.Count {
			offset, size, err := b.Range(i)
			if err != nil || offset != at || size < 1 {
				t.Fatalf("block %d is %d bytes at %d, %v; expected it at %d", i, size, offset, err, at)
			}
			at += size
		}
		if at != int64(len(data)) {
			t.Fatalf("the blocks end at %d of %d", at, len(data))
		}
	})
}
