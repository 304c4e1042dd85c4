//go:build linux

package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/trace"
)

// records cuts a journal into its magic and its records, each with its frame; what is torn at the end is one more.
func records(journal []byte) (all [][]byte) {
	const magic, frame = 8, 12
	if len(journal) < magic {
		return [][]byte{journal}
	}
	all, journal = append(all, journal[:magic]), journal[magic:]
	for len(journal) > 0 {
		n := len(journal)
		if n >= frame {
			n = min(n, frame+int(binary.LittleEndian.Uint32(journal)))
		}
		all, journal = append(all, journal[:n]), journal[n:]
	}
	return all
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// framed is a record as a journal has it. Checksums go on from seed: 0 for the header, the checksum of its payload for
// what follows.
func framed(seed uint32, payload []byte) []byte {
	record := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	record = binary.LittleEndian.AppendUint32(record, crc32.Checksum(record, castagnoli))
	record = binary.LittleEndian.AppendUint32(record, crc32.Update(seed, castagnoli, payload))
	return append(record, payload...)
}

// harms are what disks and people do to journals. Those that have nothing to act on return nil.
var harms = []struct {
	name string
	do   func(draw *rand.Rand, journal, other []byte) []byte
}{
	{"bytes flipped", func(draw *rand.Rand, j, _ []byte) []byte {
		for range 1 + draw.IntN(8) {
			j[draw.IntN(len(j))] ^= byte(1 + draw.IntN(255))
		}
		return j
	}},
	{"one bit flipped", func(draw *rand.Rand, j, _ []byte) []byte {
		j[draw.IntN(len(j))] ^= 1 << draw.IntN(8)
		return j
	}},
	{"cut", func(draw *rand.Rand, j, _ []byte) []byte { return j[:draw.IntN(len(j))] }},
	{"cut between records", func(draw *rand.Rand, j, _ []byte) []byte {
		all := records(j)
		return slices.Concat(all[:1+draw.IntN(len(all))]...)
	}},
	{"a stretch doubled", func(draw *rand.Rand, j, _ []byte) []byte {
		from := draw.IntN(len(j))
		to := from + 1 + draw.IntN(len(j)-from)
		return slices.Concat(j[:to], j[from:])
	}},
	{"a record doubled", func(draw *rand.Rand, j, _ []byte) []byte {
		all := records(j)
		i := draw.IntN(len(all))
		return slices.Concat(slices.Insert(all, i, all[i])...)
	}},
	{"a block zeroed", func(draw *rand.Rand, j, _ []byte) []byte {
		size := []int{64, 512, 4096}[draw.IntN(3)]
		from := draw.IntN(len(j)/size+1) * size
		clear(j[min(from, len(j)):min(from+size, len(j))])
		return j
	}},
	{"records swapped", func(draw *rand.Rand, j, _ []byte) []byte {
		all := records(j)
		i, k := draw.IntN(len(all)), draw.IntN(len(all))
		all[i], all[k] = all[k], all[i]
		return slices.Concat(all...)
	}},
	{"a record lost", func(draw *rand.Rand, j, _ []byte) []byte {
		all := records(j)
		i := draw.IntN(len(all))
		return slices.Concat(slices.Delete(all, i, i+1)...)
	}},
	{"garbage behind it", func(draw *rand.Rand, j, _ []byte) []byte {
		for range 1 + draw.IntN(100) {
			j = append(j, byte(draw.IntN(256)))
		}
		return j
	}},
	{"of another run", func(_ *rand.Rand, _, other []byte) []byte { return other }},
	{"a record of another run", func(draw *rand.Rand, j, other []byte) []byte {
		all, strange := records(j), records(other)
		return slices.Concat(slices.Insert(all, 1+draw.IntN(len(all)), strange[draw.IntN(len(strange))])...)
	}},
	{"half of another run", func(draw *rand.Rand, j, other []byte) []byte {
		all, strange := records(j), records(other)
		return slices.Concat(slices.Concat(all[:1+draw.IntN(len(all))]...), slices.Concat(strange[draw.IntN(len(strange)):]...))
	}},
	{"of another version", func(draw *rand.Rand, j, _ []byte) []byte {
		all := records(j)
		if len(all) < 2 || len(all[1]) < 12 {
			return nil
		}
		version := []string{"tailcut.journal/v1", "tailcut.journal/v2", "tailcut.journal/v99", "", "v\u001b[2J"}[draw.IntN(5)]
		all[1] = framed(0, bytes.Replace(all[1][12:], []byte(trace.JournalSchema), []byte(version), 1))
		return slices.Concat(all...)
	}},
	{"empty", func(*rand.Rand, []byte, []byte) []byte { return []byte{} }},
	{"random", func(draw *rand.Rand, j, _ []byte) []byte {
		for i := range j {
			j[i] = byte(draw.IntN(256))
		}
		return j
	}},
	{"gone", nil},
}

// TestDamagedJournals damages journals of runs that died, and of such that ended, and says the same command again, or another one. What comes of it
// is the right result, or one line that says what is wrong; and then --force gives the right result.
func TestDamagedJournals(t *testing.T) {
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	count := map[string]int{}
	others := make([][]byte, *askedLanes) // the journal that a lane saw last
	damages, runs := lanes(t, *askedDamages, func(lane int, seed uint64) int {
		home := filepath.Join(scratch, fmt.Sprintf("damages-%d", seed))
		defer os.RemoveAll(home)
		a := newAttack(t, d, seed, filepath.Join(home, "whole"))
		_ = os.MkdirAll(a.home, 0o777)
		a.note("%v", a.command(a.kind))
		e := a.start(a.command(a.kind)) // one of four comes to its end
		if a.draw.IntN(4) > 0 && !e.within(time.Duration(a.draw.Int64N(int64(a.kind.span*6/5)))) {
			_ = e.cmd.Process.Kill()
		}
		e.within(patience)
		a.alone()
		journal, err := os.ReadFile(filepath.Join(a.out, "_tailcut", "journal"))
		if err != nil { // it died before there was one
			return 0
		}
		done := 0
		for range 6 {
			b := *a
			b.draw, b.home = rand.New(rand.NewPCG(a.draw.Uint64(), 3)), filepath.Join(home, fmt.Sprintf("damaged-%d", done))
			b.out, b.tmp, b.story = filepath.Join(b.home, "out"), filepath.Join(b.home, "tmp"), slices.Clone(a.story)
			_ = os.MkdirAll(b.home, 0o777)
			if said, err := exec.Command("cp", "-a", a.out, b.out).CombinedOutput(); err != nil {
				t.Errorf("cp: %v %s", err, said)
				return 1
			}
			what, outcome := b.damage(journal, others[lane])
			a.failed = a.failed || b.failed
			lock.Lock()
			count[what]++
			count["outcome: "+outcome]++
			lock.Unlock()
			done++
			os.RemoveAll(b.home)
		}
		others[lane] = journal
		return done
	})
	t.Logf("%d damaged journals of %d runs", damages, runs)
	for _, what := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%6d %s", count[what], what)
	}
}

// damage does one of the harms, or two, to the journal of the attack's run, and says a command again.
func (a *attack) damage(journal, other []byte) (what, outcome string) {
	path := filepath.Join(a.out, "_tailcut", "journal")
	damaged := slices.Clone(journal)
	for i := 0; i < 1+a.draw.IntN(6)/5 || what == ""; i++ {
		harm := harms[a.draw.IntN(len(harms))]
		if harm.do == nil {
			damaged, what = nil, harm.name
			break
		}
		if len(damaged) == 0 {
			break
		}
		if x := harm.do(a.draw, damaged, slices.Clone(other)); x != nil {
			damaged, what = x, harm.name
		}
	}
	a.note("journal: %s, %d bytes of %d", what, len(damaged), len(journal))
	if err := os.Remove(path); err != nil {
		a.wrong("%v", err)
	}
	if damaged != nil {
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			a.wrong("%v", err)
		}
	}
	k := a.kind
	if a.draw.IntN(4) == 0 {
		k = a.deck.kinds[a.draw.IntN(len(a.deck.kinds))]
		a.note("another command: %s", k.name)
	}
	var beside map[string]string
	if a.draw.IntN(3) == 0 { // something of the user's own
		beside = map[string]string{"notes.txt": "mine\n"}
		if err := os.WriteFile(filepath.Join(a.out, "notes.txt"), []byte("mine\n"), 0o666); err != nil {
			a.wrong("%v", err)
		}
	}
	return what, a.survives(k, beside, bytes.Equal(damaged, journal))
}

// survives says a command over a damaged journal, and with --force if that is refused.
func (a *attack) survives(k *kind, beside map[string]string, whole bool) (outcome string) {
	a.t.Helper()
	before, _ := k.result(a.out)
	code, said := a.ended(a.start(a.command(k)))
	switch {
	case code == 0:
		a.right(k, beside)
		return "the right result"
	case code != 1 && code != 2:
		a.wrong("status %d: %s", code, said)
		return "wrong"
	case strings.ContainsRune(said, '\x1b'):
		a.wrong("a control sequence in what was said: %q", said)
	}
	if after, _ := k.result(a.out); k.even == nil && unlike(after, before) != "" {
		a.wrong("refused, and yet changed: %s", unlike(after, before))
	}
	code, said = a.ended(a.start(a.command(k, "--force")))
	if code != 0 {
		a.wrong("with --force: status %d: %s", code, said)
		return "wrong"
	}
	a.right(k, beside)
	return "refused, right with --force"
}
