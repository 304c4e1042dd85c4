package history

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
)

// lz4Sample is lz4Text as lz4 1.9.4 packs it with -9 -B4 -BD -BX --content-size: blocks that refer to those before, and every checksum.
const lz4Sample = `
BCJNGFxA8EkCAAAAAADpRQIAAPQFYXR0ZW1wdCAwIHRvb2sgMCBtcwoUABIxFAAYMRQAEjIUABg0FAASMxQAGDkUABM0PAAYNhUAEjUVACgyNRUAEjYVABkzKgATN2cACVQAEjgVABk2
fQASORUAGTimABMxzwAZMxUAA9AAGTJAABQx0gAZNxYAA9QAKTcyFgAD1gAKFQAD1gAaM4IAA9cAGjYsAAPYABk5AgETMdkAGjOvAAPaABk3lAETMtoAGTFYABMy2wAZNUIAEzLbABk5
WwETMtsAGTQHARMy2wAaOe4BA9wAGjRYAAPcABo5QgAD3AAaNbAAA9wAGTgVAAPbABk2BwETM9sAGTKKARMz2wAZOEIAEzPbABo1iQID2wAZMh0BEzPbABk4TQITM9sAGTbxABQzjgIK
mgAD2wAaMSwABNsACV8BFDPcAAkWAA9fA///////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
//////////////////////////////////////////////////////////////////////////////////////////9+UDcgdG9vKDvMewoBAAAPXwP/////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////6FB0dGVtcOTNfO9UAAAAD18D////////////////////////////////////////////////////////////////////////////////
//////////////////8iUDIgdG9vl+y+nwAAAAC4qqKO
`

func lz4Text() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "attempt %d took %d ms\n", i, i*i%97)
	}
	return strings.Repeat(b.String(), 200)[:150000]
}

func unpackLZ4(packed string) (string, error) {
	plain, err := io.ReadAll(&blocks{in: strings.NewReader(packed), next: (&lz4Frames{}).next})
	return string(plain), err
}

func TestLZ4(t *testing.T) {
	sample, err := base64.StdEncoding.DecodeString(lz4Sample)
	if err != nil {
		t.Fatal(err)
	}
	one, skip := string(sample), "\x5f\x2a\x4d\x18\x03\x00\x00\x00abc"
	short := packed(t, "lz4", "a text")
	for name, c := range map[string]struct {
		packed, want string
		err          error
	}{
		"one frame":                {one, lz4Text(), nil},
		"three, and what is none":  {one + skip + short + one, lz4Text() + "a text" + lz4Text(), nil},
		"nothing":                  {packed(t, "lz4", ""), "", nil},
		"cut in a block":           {one[:800], lz4Text()[:65536], io.ErrUnexpectedEOF},
		"cut behind a block":       {short[:len(short)-8], "a text", io.ErrUnexpectedEOF},
		"cut in its checksum":      {short[:len(short)-1], "a text", io.ErrUnexpectedEOF},
		"cut in its head":          {short[:6], "", io.ErrUnexpectedEOF},
		"something behind it":      {short + "more", "a text", errBlock},
		"a head with another flag": {strings.Replace(short, "\x64\x40", "\x60\x40", 1), "", errBlock},
		"another content":          {strings.Replace(short, "a text", "a task", 1), "a task", errBlock},
		"a damaged block":          {strings.Replace(one, "took", "look", 1), "", errBlock},
	} {
		if got, err := unpackLZ4(c.packed); got != c.want || err != c.err {
			t.Errorf("%s: %d bytes, %v; want %d, %v", name, len(got), err, len(c.want), c.err)
		}
	}
}

func TestLZ4Block(t *testing.T) {
	for name, c := range map[string]struct{ packed, want string }{
		"nothing":                         {"", ""},
		"literals":                        {"\x20ab", "ab"},
		"a match that repeats itself":     {"\x24ab\x02\x00\x10c", "ababababab" + "c"},
		"a match into what was before":    {"\x10a\x03\x00\x10c", "a" + "efae" + "c"},
		"a long match":                    {"\x1fa\x01\x00\xff\x01", "a" + strings.Repeat("a", 4+15+255+1)},
		"a match from nowhere":            {"\x10a\x04\x00", "!"},
		"a match without distance":        {"\x10a\x00\x00", "!"},
		"half a distance":                 {"\x10a\x01", "!"},
		"too few literals":                {"\x20a", "!"},
		"a length without end":            {"\xf0\xff", "!"},
		"more literals than may be there": {"\xf0\xff\xff" + "\x00" + strings.Repeat("a", 525), "!"},
		"more copies than may be there":   {"\x1fa\x01\x00\xff\xff\x01", "!"},
	} {
		got, err := appendLZ4([]byte("ef"), []byte(c.packed), 300)
		if want := "ef" + c.want; (err != nil) != (c.want == "!") || err == nil && string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// The numbers are those of the library github.com/pierrec/lz4, version 4.1.33.
func TestXXH32(t *testing.T) {
	text := strings.Repeat("0123456789", 10)
	for n, want := range map[int]uint32{0: 0x2cc5d05, 1: 0x48454cb2, 15: 0xee6827a2, 16: 0x945f2555, 17: 0x6a4d318c, 31: 0x8615d540, 32: 0xfa57b070, 63: 0x97119f4e, 100: 0xf0f82db6} {
		for _, cut := range []int{0, 1, 15, 16, 17} {
			var x xxh32
			x.write([]byte(text[:min(cut, n)]))
			x.write([]byte(text[min(cut, n):n]))
			if got := x.sum(); got != want {
				t.Errorf("%d bytes, cut at %d: %#x, want %#x", n, cut, got, want)
			}
		}
	}
}

// packLZ4 is a simple twin of appendLZ4: what comes again within the window is a match with the last of its kind.
func packLZ4(plain string) []byte {
	var out []byte
	length := func(n int) {
		for n -= 15; n >= 0; n -= 255 {
			out = append(out, byte(min(n, 255)))
		}
	}
	last, done := map[string]int{}, 0
	for i := 0; i+12 <= len(plain); i++ { // the format wants so many bytes behind the last match
		from, seen := last[plain[i:i+4]]
		last[plain[i:i+4]] = i
		if !seen || i-from >= lz4Window || i < done {
			continue
		}
		n := 4
		for i+n < len(plain)-5 && plain[from+n] == plain[i+n] {
			n++
		}
		out = append(out, byte(min(i-done, 15)<<4|min(n-4, 15)))
		length(i - done)
		out = append(out, plain[done:i]...)
		out = binary.LittleEndian.AppendUint16(out, uint16(i-from))
		length(n - 4)
		done = i + n
	}
	out = append(out, byte(min(len(plain)-done, 15)<<4))
	length(len(plain) - done)
	return append(out, plain[done:]...)
}

// frameLZ4 packs a text into a frame of independent blocks of 64 KiB.
func frameLZ4(plain string) []byte {
	var sum, head xxh32
	sum.write([]byte(plain))
	head.write([]byte("\x64\x40"))
	out := append([]byte("\x04\x22\x4d\x18\x64\x40"), byte(head.sum()>>8))
	for ; plain != ""; plain = plain[min(1<<16, len(plain)):] {
		block := plain[:min(1<<16, len(plain))]
		data, raw := packLZ4(block), uint32(0)
		if len(data) >= len(block) {
			data, raw = []byte(block), 1<<31
		}
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(data))|raw), data...)
	}
	out = binary.LittleEndian.AppendUint32(out, 0)
	return binary.LittleEndian.AppendUint32(out, sum.sum())
}
