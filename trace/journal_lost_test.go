package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// page is what a disk has as a whole, as it was earlier, or not at all.
const page = 4 << 10

// powerless is a journal in a file whose system may lose its power.
type powerless struct {
	dir  string
	j    *Journal
	all  []Batch
	ends []int64 // lengths of the file, beginning with that of a new one
}

func newPowerless(t rapid.TB) *powerless {
	t.Helper()
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		t.Fatal(err)
	}
	p := &powerless{dir: dir}
	if p.j, err = CreateJournal(p.path(), header()); err != nil {
		t.Fatal(err)
	}
	p.ends = []int64{p.j.Size()}
	return p
}

func (p *powerless) path() string { return filepath.Join(p.dir, "journal") }

// grow appends batches of all sizes, and syncs now and then.
func (p *powerless) grow(t *rapid.T) {
	for range rapid.IntRange(20, 100).Draw(t, "records") {
		b := Batch{Now: sched.Time(len(p.all)), Facts: recordOf(0).Facts, Outputs: recordOf(rapid.SampledFrom([]int{0, 10, 10, 100, 100, 3000, 9000}).Draw(t, "output")).Outputs}
		b.Facts[0].At = b.Now
		if rapid.IntRange(0, 9).Draw(t, "a task prints what there is of the journal") == 0 {
			data := readFile(t, p.path())
			b.Outputs[0].Data = data[max(0, len(data)-5000):]
		}
		if err := p.j.Append(&b, false); err != nil {
			t.Fatal(err)
		}
		p.all, p.ends = append(p.all, b), append(p.ends, p.j.Size())
		if rapid.IntRange(0, 60).Draw(t, "sync") == 0 {
			if err := p.j.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// cut takes the power: each page of what was not synced is there as it was at some moment, or lost, or something else
// stands in its place, and the file ends anywhere behind what was. It returns how much was synced.
func (p *powerless) cut(t *rapid.T) (synced int64) {
	data := readFile(t, p.path())
	synced = p.j.Synced()
	die(t, p.j)
	if rapid.Bool().Draw(t, "short") {
		data = data[:rapid.Int64Range(synced, int64(len(data))).Draw(t, "length")]
	}
	for at := synced; at < int64(len(data)); at = (at/page + 1) * page {
		lost := data[at:min((at/page+1)*page, int64(len(data)))]
		switch rapid.IntRange(0, 6).Draw(t, "page") {
		case 0:
			clear(lost)
		case 1:
			for i := range lost {
				lost[i] = byte(i*i>>3) + lost[i]
			}
		case 2: // stale blocks, once of another journal
			copy(lost, another[rapid.IntRange(0, len(another)-page).Draw(t, "of another"):])
		case 3: // as it was before the last records
			if then := rapid.SampledFrom(p.ends).Draw(t, "then") - at; then < int64(len(lost)) {
				clear(lost[max(0, then):])
			}
		}
	}
	if err := os.WriteFile(p.path(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return synced
}

// another is a journal whose records say that the disk had much.
var another = func() (all []byte) {
	j := &Journal{tells: true, seed: 7}
	j.disk.size.Store(1 << 29)
	for range 200 {
		j.begin()
		j.buf = appendBatch(j.buf, recordOf(20))
		payload := j.buf[frameSize:]
		all = binary.LittleEndian.AppendUint32(all, uint32(len(payload)))
		all = binary.LittleEndian.AppendUint32(all, crc32.Checksum(all[len(all)-4:], castagnoli))
		all = append(binary.LittleEndian.AppendUint32(all, crc32.Update(j.seed, castagnoli, payload)), payload...)
	}
	return all
}()

// After a crash of the system a journal has all that was synced, ends with a whole record, and can be taken up, again
// and again. What is lost behind that is never called damage.
func TestLostPages(t *testing.T) {
	cuts, holes := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPowerless(t)
		defer os.RemoveAll(p.dir)
		for range rapid.IntRange(1, 4).Draw(t, "lives") {
			p.grow(t)
			synced := p.cut(t)
			got, r, err := read(readFile(t, p.path()))
			if err != nil {
				t.Fatalf("synced up to %d: %v", synced, err)
			}
			if r.Size() < synced || r.Size() != p.ends[len(got)] {
				t.Fatalf("read up to %d, synced up to %d", r.Size(), synced)
			}
			for i := range got {
				if !bytes.Equal(appendBatch(nil, &got[i]), appendBatch(nil, &p.all[i])) {
					t.Fatalf("batch %d is %+v, written was %+v", i, got[i], p.all[i])
				}
			}
			cuts++
			if wholeBehind(r) {
				holes++
			}
			p.all, p.ends = p.all[:len(got)], p.ends[:len(got)+1]
			if p.j, err = ResumeJournal(p.path(), r); err != nil {
				t.Fatal(err)
			}
		}
		die(t, p.j)
	})
	t.Logf("of %d journals %d had whole records behind a hole", cuts, holes)
	if holes < cuts/10 {
		t.Error("hardly any")
	}
}

// wholeBehind tells whether a whole record stands behind the end of a journal.
func wholeBehind(r *JournalReader) bool {
	for at := r.pos + 1; at < len(r.data); at++ {
		if _, wrong, _ := check(r.data[at:], r.seed); wrong == "" {
			return true
		}
	}
	return false
}

// What was synced and has changed since is damage, as soon as one record behind it says so. In a journal that was closed
// that is all of it.
func TestDamageIsNoLostPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPowerless(t)
		defer os.RemoveAll(p.dir)
		p.grow(t)
		told := p.j.Size() // up to where a change has to be noticed
		if rapid.Bool().Draw(t, "closed") {
			if err := p.j.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			told = p.j.Synced()
			if err := p.j.Append(recordOf(0), false); err != nil {
				t.Fatal(err)
			}
			die(t, p.j)
		}
		data := readFile(t, p.path())
		before := string(data)
		from := rapid.Int64Range(0, told-1).Draw(t, "from")
		hurt := data[from:min(told, from+rapid.SampledFrom([]int64{1, 100, page, 3 * page}).Draw(t, "bytes"))]
		if rapid.Bool().Draw(t, "zeros") {
			clear(hurt)
		} else {
			hurt[0] ^= 16
		}
		if string(data) == before {
			t.Skip("they were zeros")
		}
		_, _, err := read(data)
		if err == nil || from >= int64(len(journalMagic)) && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d bytes from %d on have changed, of %d: %v", len(hurt), from, told, err)
		}
	})
}
