//go:build linux

package attack

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/policy"
)

// lies is a task that says of its progress what is not so, another thing each, and does its work all the same.
const lies = `exec 4>$TAILCUT_PROGRESS
case {} in
0) for f in 0.1 0.3 0.5 0.7; do echo $f >&4; sleep 0.02; done ;;
1) head -c 3000 /dev/urandom >&4 ;;
2) for f in 0.9 0.1 0.5 0.01 0.8 0; do echo $f >&4; sleep 0.02; done ;;
3) echo 0.99 >&4 ;;
4) seq 0.00001 0.00001 0.3 >&4 ;;
5) printf '%s\n' NaN inf -inf -1 2 1e308 1e-400 0x1p-3 1_0 -0 >&4 ;;
6) head -c 2000000 /dev/zero | tr '\0' 5 >&4 ;;
7) sleep 0.1; echo 1 >&4 ;;
8) echo 1 >&4; sleep 0.2 ;;
9) ;;
10) exec 3>&- 4>&- ;;
11) printf '0,5\n50%%\n0.5 -3\n0.6 99999999999999999999\n0.7 1 2 3\n\n\r\n\0\0.4\n0.' >&4 ;;
12) head -c 70000 /dev/zero >&4; echo 0.5 >&4 ;;
esac
sleep 0.05
echo task {} is done`

// TestLies runs tasks whose reports are garbage, go back, freeze, flood or come late, under the policies that judge by them.
func TestLies(t *testing.T) {
	const tasks = 13
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"./": "", "_SUCCESS": ""}
	for i := range tasks {
		want[fmt.Sprintf("part-%05d", i)] = fmt.Sprintf("task %d is done\n", i)
	}
	liar := &kind{name: "liar", args: []string{"--tasks", strconv.Itoa(tasks), "--", "sh", "-c", lies}, want: want, span: 500 * time.Millisecond}
	names := slices.DeleteFunc(append(policies(policy.Names()), "laxity", "mantri"), func(n string) bool { return !slices.Contains(d.policies, n) })
	slices.Sort(names)
	names = slices.Compact(names)
	if *askedPolicy != "" {
		names = []string{*askedPolicy}
	}
	var next sync.Mutex
	lanes(t, len(names), func(_ int, seed uint64) int {
		next.Lock()
		if len(names) == 0 {
			next.Unlock()
			return 1
		}
		name := names[0]
		names = names[1:]
		next.Unlock()
		home := filepath.Join(scratch, "lies-"+name)
		if err := os.MkdirAll(home, 0o777); err != nil {
			t.Error(err)
		}
		a := &attack{
			t: t, deck: d, seed: seed, draw: rand.New(rand.NewPCG(seed, 18)), kind: liar, policy: name, home: home, out: filepath.Join(home, "out"),
			tmp: filepath.Join(home, "tmp"), name: "lies-" + name + strconv.Itoa(os.Getpid()), flags: []string{"--policy", name, "--slots", "20", "--deadline", "5s"},
		}
		a.note("%v", a.command(liar))
		if code, said := a.ended(a.start(a.command(liar))); code != 0 {
			a.wrong("status %d: %s", code, said)
		}
		a.right(liar, nil)
		return 1
	})
}

// TestClockJumps sets the wall clock, as a run sees it, forward and back by up to decades between the lives of its engines: the journal's beginning
// moves the other way.
func TestClockJumps(t *testing.T) {
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	jumps, jobs := lanes(t, *askedJumps, func(_ int, seed uint64) (jumps int) {
		home := filepath.Join(scratch, fmt.Sprintf("clocks-%d", seed))
		if err := os.MkdirAll(home, 0o777); err != nil {
			t.Error(err)
		}
		defer os.RemoveAll(home)
		a := newAttack(t, d, seed, home)
		if a.draw.IntN(2) == 0 {
			a.flags = append(a.flags, "--deadline", []string{"5s", "1h"}[a.draw.IntN(2)])
		}
		a.note("%v", a.command(a.kind))
		for range 1 + a.draw.IntN(3) {
			e := a.start(a.command(a.kind))
			if e.within(time.Duration(a.draw.Int64N(int64(a.kind.span)))) {
				break // sooner than we
			}
			a.killAll()
			<-e.over
			by := time.Duration((a.draw.Float64()*2 - 1) * float64([]time.Duration{time.Second, time.Hour, 40 * 365 * 24 * time.Hour}[a.draw.IntN(3)]))
			if err := setClock(filepath.Join(a.out, "_tailcut", "journal"), by); os.IsNotExist(err) {
				continue
			} else if err != nil {
				a.wrong("%v", err)
			}
			a.note("the clock moved by %s", by)
			jumps++
		}
		if code, said := a.ended(a.start(a.command(a.kind))); code == 0 {
			a.right(a.kind, nil)
		} else {
			a.wrong("status %d: %s", code, said)
		}
		return jumps
	})
	t.Logf("%d jumps in %d jobs", jumps, jobs)
}

// setClock lets a journal have begun earlier by what the clock is set forward.
func setClock(path string, by time.Duration) error {
	journal, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all := records(journal)
	var header map[string]json.RawMessage
	if err := json.Unmarshal(all[1][12:], &header); err != nil {
		return err
	}
	var began time.Time
	if err := json.Unmarshal(header["started"], &began); err != nil {
		return err
	}
	if header["started"], err = json.Marshal(began.Add(-by).Truncate(time.Millisecond)); err != nil {
		return err
	}
	payload, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(payload) < len(all[1])-12 { // records say where they are
		payload = append(payload, ' ')
	}
	all[1] = payload
	seed := crc32.Checksum(all[1], castagnoli)
	all[1] = framed(0, all[1])
	for i := range all[2:] {
		if x := all[2+i]; len(x) >= 12 && len(x) == 12+int(binary.LittleEndian.Uint32(x)) { // one that is torn stays so
			all[2+i] = framed(seed, x[12:])
		}
	}
	return os.WriteFile(path, slices.Concat(all...), 0o644)
}
