package unpack

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// words is a bzip2 file of five blocks, and what it unpacks to.
func words(t testing.TB) (packed, plain []byte) {
	t.Helper()
	packed, err := os.ReadFile("testdata/words.bz2")
	if err != nil {
		t.Fatal(err)
	}
	if plain, err = io.ReadAll(bzip2.NewReader(bytes.NewReader(packed))); err != nil {
		t.Fatal(err)
	}
	return packed, plain
}

func zip(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// blocked makes a gzip member with its size in its header, as bgzip does.
func blocked(t testing.TB, text []byte) []byte {
	b := zip(t, text)
	field := []byte{6, 0, 'B', 'C', 2, 0, 0, 0}
	b = append(append(append([]byte{}, b[:10]...), field...), b[10:]...)
	b[3] |= 4
	binary.LittleEndian.PutUint16(b[16:], uint16(len(b)-1))
	return b
}

func frame(t testing.TB, text []byte, options ...zstd.EOption) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<16))...)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(text, nil)
}

func skippable(n int) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, uint32(n)), make([]byte, n)...)
}

// seekable adds the table of zstd's seekable format to frames.
func seekable(frames [][]byte) []byte {
	all := bytes.Join(frames, nil)
	all = append(all, 0x5e, 0x2a, 0x4d, 0x18)
	all = binary.LittleEndian.AppendUint32(all, uint32(8*len(frames)+9))
	for _, f := range frames {
		all = binary.LittleEndian.AppendUint32(all, uint32(len(f)))
		all = binary.LittleEndian.AppendUint32(all, 0)
	}
	all = binary.LittleEndian.AppendUint32(all, uint32(len(frames)))
	return append(all, 0, 0xb1, 0xea, 0x92, 0x8f)
}

// packers make compressed files of pieces of a text.
var packers = map[string]func(t testing.TB, pieces [][]byte) []byte{
	"gzip":    func(t testing.TB, p [][]byte) []byte { return zip(t, bytes.Join(p, nil)) },
	"members": func(t testing.TB, p [][]byte) []byte { return each(t, p, zip) },
	"bgzip":   func(t testing.TB, p [][]byte) []byte { return each(t, p, blocked) },
	"zstd":    func(t testing.TB, p [][]byte) []byte { return frame(t, bytes.Join(p, nil)) },
	"frames": func(t testing.TB, p [][]byte) []byte {
		return each(t, p, func(t testing.TB, b []byte) []byte { return frame(t, b) })
	},
	"checksum": func(t testing.TB, p [][]byte) []byte {
		return each(t, p, func(t testing.TB, b []byte) []byte {
			return frame(t, b, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(len(b)%2 == 0))
		})
	},
	"pzstd": func(t testing.TB, p [][]byte) []byte {
		return each(t, p, func(t testing.TB, b []byte) []byte { return append(skippable(4), frame(t, b)...) })
	},
	"seekable": func(t testing.TB, p [][]byte) []byte {
		var all [][]byte
		for _, b := range p {
			all = append(all, frame(t, b))
		}
		return seekable(all)
	},
}

func each(t testing.TB, pieces [][]byte, pack func(testing.TB, []byte) []byte) (all []byte) {
	for _, p := range pieces {
		all = append(all, pack(t, p)...)
	}
	return all
}

func readSection(packed []byte, format Format, from, to int64, beyond bool) ([]byte, error) {
	s := NewSection(bytes.NewReader(packed), int64(len(packed)), format, from, to)
	defer s.Close()
	text, err := io.ReadAll(s)
	if beyond && err == nil {
		s.Beyond()
		var more []byte
		more, err = io.ReadAll(s)
		text = append(text, more...)
	}
	return text, err
}

// tile reads a file stretch by stretch. One, read beyond its end, gives all that follows.
func tile(t *rapid.T, packed, plain []byte, format Format, cuts []int64) {
	var got []byte
	long := rapid.IntRange(1, len(cuts)-1).Draw(t, "read beyond its end")
	for i := 1; i < len(cuts); i++ {
		if i == long {
			whole, err := readSection(packed, format, cuts[i-1], cuts[i], true)
			if err != nil {
				t.Fatalf("[%d, end): %v", cuts[i-1], err)
			}
			if !bytes.HasSuffix(plain, whole) || len(got)+len(whole) != len(plain) && !(format == Bzip2 && len(whole) == 0) {
				t.Fatalf("[%d, end) has %d bytes behind %d, want %d in all", cuts[i-1], len(whole), len(got), len(plain))
			}
		}
		text, err := readSection(packed, format, cuts[i-1], cuts[i], false)
		if err != nil {
			t.Fatalf("[%d, %d): %v", cuts[i-1], cuts[i], err)
		}
		got = append(got, text...)
	}
	if !bytes.Equal(got, plain) {
		t.Fatalf("cut at %v: %d bytes that are not those of the file, which has %d", cuts, len(got), len(plain))
	}
}

func TestSections(t *testing.T) {
	for name, pack := range packers {
		t.Run(name, func(t *testing.T) {
			most := 0
			rapid.Check(t, func(rt *rapid.T) {
				pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []byte {
					text := bytes.Repeat([]byte("clones and stragglers\n"), rapid.IntRange(0, 200).Draw(t, "repeat"))
					return append(text, rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "noise")...)
				}), 1, 6).Draw(rt, "pieces")
				packed, plain := pack(t, pieces), bytes.Join(pieces, nil)
				format := Detect(packed[:min(len(packed), HeadSize)])
				cuts := []int64{0}
				units := NewUnits(bytes.NewReader(packed), int64(len(packed)), format, name == "seekable")
				n := 0
				for ; units.Next() < int64(len(packed)); units.Advance() {
					if n++; rapid.Bool().Draw(rt, "cut") {
						cuts = append(cuts, units.Next())
					}
				}
				most = max(most, n)
				tile(rt, packed, plain, format, append(cuts, int64(len(packed))))
			})
			if splittable := name != "gzip" && name != "members" && name != "zstd"; splittable != (most > 1) {
				t.Errorf("cut at up to %d places", most)
			}
		})
	}
}

func TestBzip2Sections(t *testing.T) {
	one, text := words(t)
	empty := append([]byte("BZh1"), 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0)
	rapid.Check(t, func(t *rapid.T) {
		var packed, plain []byte
		for range 1 + rapid.IntRange(0, 5).Draw(t, "streams")/5 {
			packed, plain = append(packed, one...), append(plain, text...)
			if rapid.Bool().Draw(t, "empty stream") {
				packed = append(packed, empty...)
			}
		}
		cuts := []int64{0}
		for cuts[len(cuts)-1] < int64(len(packed)) {
			last := cuts[len(cuts)-1]
			cuts = append(cuts, min(int64(len(packed)), last+60_000-rapid.Int64Range(0, 59_999).Draw(t, "less of a stretch")))
		}
		tile(t, packed, plain, Bzip2, cuts)
	})
}

// Where a cut lies between the bytes of a mark, next to it or elsewhere, the block is of the one stretch or of the other.
func TestBzip2AroundMarks(t *testing.T) {
	packed, plain := words(t)
	w := window{in: bytes.NewReader(packed), size: int64(len(packed))}
	var marks []int64
	for at := int64(0); ; {
		bit, err := w.find(at, w.size*8, &allMarks)
		if err != nil {
			t.Fatal(err)
		}
		if bit < 0 {
			break
		}
		marks = append(marks, bit)
		at = bit + 1
	}
	if len(marks) != 6 {
		t.Fatalf("%d marks, want those of five blocks and the end", len(marks))
	}
	for cut := marks[1]/8 - 1; cut < marks[1]/8+8; cut++ {
		first, err := readSection(packed, Bzip2, 0, cut, false)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := readSection(packed, Bzip2, cut, w.size, false)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(append(first, rest...), plain) {
			t.Errorf("cut at %d: %d and %d bytes", cut, len(first), len(rest))
		}
	}
}

// A mark inside of a block, which chance makes once in 2^48 bits, is no place to begin.
func TestBzip2LookAlike(t *testing.T) {
	packed, plain := words(t)
	file := append([]byte{}, packed...)
	file = append(file, bytes.Repeat([]byte{0xa5}, 20)...)
	file = append(file, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 1, 2, 3, 4, 5)
	at := int64(len(packed))
	file = append(file, packed...)
	got, err := readSection(file, Bzip2, at, int64(len(file)), false)
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestDamage: what is wrong with a file is found, and said with its place, whatever stretch of it is read.
func TestDamage(t *testing.T) {
	text := bytes.Repeat([]byte("some lines of text\n"), 5000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		if rng.IntN(5) == 0 {
			text[i] = byte(rng.IntN(256))
		}
	}
	bz, _ := words(t)
	files := map[string][]byte{"gzip": zip(t, text), "zstd": frame(t, text), "bzip2": bz}
	long := frame(t, make([]byte, 1<<20))
	for name, file := range files {
		half := len(file) / 2
		for _, c := range []struct {
			what string
			file []byte
			want string
		}{
			{"cut short", file[:half], "cut short"},
			{"cut at the end", file[:len(file)-1], "cut short"},
			{"garbage", append(append([]byte{}, file...), "garbage that follows"...), "followed by something else at byte"},
			{"middle", append(append(append([]byte{}, file[:half]...), make([]byte, 40)...), file[half+40:]...), "damaged"},
		} {
			_, err := readSection(c.file, Detect(c.file[:HeadSize]), 0, int64(len(c.file)), false)
			var d *Damage
			if !errors.As(err, &d) || !strings.Contains(err.Error(), c.want) || d.At < 0 || d.At > int64(len(c.file)) {
				t.Errorf("%s, %s: got %v, want %q", name, c.what, err, c.want)
			}
			if c.what == "garbage" && errors.As(err, &d) && d.At != int64(len(file)) {
				t.Errorf("%s: garbage at %d, want %d", name, d.At, len(file))
			}
		}
	}
	// 5 is the window descriptor: here one of 2 GiB.
	long[4], long[5] = 0, 0xa8
	if _, err := readSection(long, Zstd, 0, int64(len(long)), false); err == nil || !strings.Contains(err.Error(), "more than 128 MiB") {
		t.Errorf("a window of 2 GiB: %v", err)
	}
}

// A damaged block that a stretch begins with is passed over there, and found by whoever reads up to it.
func TestBzip2DamagedBorder(t *testing.T) {
	packed, _ := words(t)
	w := window{in: bytes.NewReader(packed), size: int64(len(packed))}
	second, err := w.find(40*8, w.size*8, &blockMarks)
	if err != nil || second < 0 {
		t.Fatal(second, err)
	}
	for _, at := range []int64{second/8 + 2, second/8 + 8, second/8 + 500} { // mark, checksum, data
		file := append([]byte{}, packed...)
		file[at] ^= 0x55
		if _, err := readSection(file, Bzip2, 0, second/8, true); !errors.As(err, new(*Damage)) {
			t.Errorf("byte %d: the stretch before finds %v", at, err)
		}
	}
}

// A block that holds much more than it is long is read whole, also beyond the end of a stretch.
func TestBzip2Bomb(t *testing.T) {
	packed, err := os.ReadFile("testdata/zeros.bz2") // 60 MB, and a word
	if err != nil {
		t.Fatal(err)
	}
	want, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []int64{0, int64(len(packed)) / 2, int64(len(packed))} {
		got, err := readSection(packed, Bzip2, 0, to, true)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("[0, %d): %d bytes, %v; want %d", to, len(got), err, len(want))
		}
	}
}

func TestReadError(t *testing.T) {
	bz, _ := words(t)
	for _, file := range [][]byte{zip(t, make([]byte, 100)), frame(t, make([]byte, 100)), bz} {
		broken := errors.New("the disk is broken")
		s := NewSection(failing{broken}, int64(len(file)), Detect(file[:HeadSize]), 0, int64(len(file)))
		if _, err := io.ReadAll(s); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		head string
		want Format
	}{
		{"", Plain}, {"BZh9 is how a line may begin", Plain}, {"\x1f\x8b", Plain}, {"\x1f\x8b\x08", Gzip},
		{"P*M\x18\x04\x00\x00\x00", Zstd}, {"P*M.", Plain}, {"\xfd7zXZ\x00", XZ}, {"\x04\x22\x4d\x18", LZ4},
		{"BZh1\x17rE8P\x90", Bzip2}, {"BZh01AY&SY", Plain},
	} {
		if got := Detect([]byte(c.head)); got != c.want {
			t.Errorf("%q is %q, want %q", c.head, got, c.want)
		}
	}
}

func FuzzSection(f *testing.F) {
	f.Add(zip(f, []byte("a\nb\n")), int64(0), int64(10))
	f.Add(append(blocked(f, []byte("a\n")), blocked(f, []byte("b\n"))...), int64(0), int64(40))
	f.Add(append(frame(f, []byte("a\n")), frame(f, []byte("b\n"))...), int64(0), int64(12))
	f.Add([]byte("BZh91AY&SY\x00\x00\x00\x00\x00"), int64(2), int64(9))
	f.Fuzz(func(t *testing.T, file []byte, from, to int64) {
		format := Detect(file[:min(len(file), HeadSize)])
		if format == Plain || !format.Readable() {
			return
		}
		size := int64(len(file))
		if format != Bzip2 {
			units := NewUnits(bytes.NewReader(file), size, format, false)
			from, to = 0, units.Next()
			for last := int64(-1); units.Next() < size; units.Advance() {
				if units.Next() < last {
					t.Fatalf("cut at %d after %d", units.Next(), last)
				}
				last = units.Next()
			}
		}
		from = max(0, min(from, size))
		to = max(from, min(to, size))
		s := NewSection(bytes.NewReader(file), size, format, from, to)
		defer s.Close()
		_, err := io.CopyN(io.Discard, s, 1<<20)
		if err == io.EOF {
			s.Beyond()
			_, err = io.CopyN(io.Discard, s, 1<<20)
		}
		if err != nil && err != io.EOF && !errors.As(err, new(*Damage)) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}
