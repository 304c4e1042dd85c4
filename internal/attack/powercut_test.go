//go:build linux

package attack

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tailcut/tailcut/trace"
)

// disk is a file system of its own in a file, which can lose its power.
type disk struct {
	name    string
	make    []string // the command that makes the file system
	size    int64
	options string
	image   string
	mounted string
}

var disks = []disk{
	{name: "ext4", make: []string{"mkfs.ext4", "-q", "-F"}, size: 64 << 20, options: "loop"},
	{name: "ext4, data=writeback,nobarrier", make: []string{"mkfs.ext4", "-q", "-F"}, size: 64 << 20, options: "loop,data=writeback,nobarrier"},
	{name: "XFS", make: []string{"mkfs.xfs", "-q", "-f"}, size: 320 << 20, options: "loop"},
}

// insert makes the file system and mounts it.
func (d *disk) insert(home string) error {
	d.image, d.mounted = home+".image", home
	if err := errors.Join(os.MkdirAll(home, 0o777), os.WriteFile(d.image, nil, 0o666), os.Truncate(d.image, d.size)); err != nil {
		return err
	}
	if said, err := exec.Command(d.make[0], append(d.make[1:], d.image)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w %s", d.make[0], err, said)
	}
	return d.mount()
}

func (d *disk) mount() error {
	if said, err := exec.Command("mount", "-o", d.options, d.image, d.mounted).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w %s", err, said)
	}
	return nil
}

// cut stops all writing at once: what is neither on the disk nor in its log is lost. EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are the same number.
func (d *disk) cut() error {
	const shutdown, withoutLogFlush = 0x8004587d, 2
	f, err := os.Open(d.mounted)
	if err != nil {
		return err
	}
	defer f.Close()
	how := uint32(withoutLogFlush)
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); e != 0 {
		return e
	}
	return nil
}

// tear has the disk get some pages of a file that is being written, and its length, and not those between them: a system may write in any order.
func (d *disk) tear(path string, draw *rand.Rand) {
	const page, write, wait = 4 << 10, 2, 1 | 4
	f, err := os.Open(path)
	if err != nil { // it is not there yet
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	last := info.Size() / page
	for at := max(0, last-8); at <= last; at++ {
		if at == last || draw.IntN(2) == 0 {
			_ = unix.SyncFileRange(int(f.Fd()), at*page, page, wait|write)
		}
	}
	if other, err := os.Create(filepath.Join(d.mounted, "other")); err == nil {
		_ = errors.Join(other.Sync(), other.Close()) // the log is written, for all files
	}
}

// tornAt tells whether a journal ends with something unfinished.
func tornAt(path string) bool {
	r, err := trace.OpenJournalReader(path)
	for err == nil {
		_, err = r.Next()
	}
	return err == io.EOF && r.Torn()
}

// eject unmounts once nobody uses the disk any more.
func (d *disk) eject() (err error) {
	for range 500 {
		if err = syscall.Unmount(d.mounted, 0); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("unmount: %w", err)
}

// TestPowerCuts takes the power from the disk under a run at random instants, or right after its end.
func TestPowerCuts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk and take its power")
	}
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	count := map[string]int{}
	for i := range disks {
		trial := disks[i]
		err := trial.insert(filepath.Join(scratch, fmt.Sprintf("trial-%d", i)))
		if err == nil {
			err = errors.Join(trial.cut(), trial.eject())
		}
		os.Remove(trial.image)
		if err != nil {
			t.Logf("no power cuts on %s: %v", trial.name, err)
			continue
		}
		count[trial.name] = 0
	}
	if len(count) == 0 {
		t.Skip("there is no file system here that can be mounted and lose its power")
	}
	cuts, jobs := lanes(t, *askedCuts, func(_ int, seed uint64) int {
		home := filepath.Join(scratch, fmt.Sprintf("cuts-%d", seed))
		a := newAttack(t, d, seed, filepath.Join(home, "home")) // beside lost+found
		under := disks[a.draw.IntN(len(disks))]
		if _, ok := count[under.name]; !ok {
			under = disks[0]
		}
		defer func() {
			_ = syscall.Unmount(home, syscall.MNT_DETACH)
			os.Remove(home)
			os.Remove(home + ".image")
		}()
		if err := under.insert(home); err != nil {
			t.Error(err)
			return 1
		}
		cuts, late, torn := a.blackouts(1+a.draw.IntN(4), &under)
		lock.Lock()
		defer lock.Unlock()
		count[under.name] += cuts
		count["of them right after exit status 0"] += late
		count["of them with an unfinished end of the journal"] += torn
		return cuts
	})
	t.Logf("%d power cuts in %d jobs: %v", cuts, jobs, count)
}

// blackouts cuts the power so many times and then lets the job come to its end.
func (a *attack) blackouts(most int, under *disk) (cuts, late, torn int) {
	a.note("%s, %s, %v", under.name, a.out, a.command(a.kind))
	for a.engines < 40 && !a.failed {
		if a.engines > 0 {
			a.resettle()
		}
		e := a.start(a.command(a.kind))
		doomed := cuts < most
		if doomed && a.draw.IntN(4) > 0 {
			e.within(time.Duration(a.draw.Int64N(int64(a.kind.span * 3 / 2))))
		} else {
			e.within(patience)
		}
		done := false
		select {
		case <-e.over:
			code, said := a.ended(e)
			if done = code == 0; !done {
				a.wrong("status %d: %s", code, said)
			}
		default:
		}
		if done && !doomed {
			a.right(a.kind, nil)
			a.again()
			return cuts, late, torn
		}
		journal := filepath.Join(a.out, "_tailcut", "journal")
		if a.draw.IntN(2) == 0 {
			under.tear(journal, a.draw)
		}
		err := under.cut()
		a.killAll()
		<-e.over
		cuts++
		if err = errors.Join(err, under.eject()); err == nil {
			err = under.mount()
		}
		if err != nil {
			a.wrong("the disk: %v", err)
			return cuts, late, torn
		}
		a.note("the power was cut")
		if tornAt(journal) {
			torn++
			a.note("the journal has an unfinished end")
		}
		if done { // what was said to be finished is finished, whatever happens then
			late++
			a.note("after the end")
			a.like(a.kind, nil, "what exit status 0 has promised")
		}
	}
	if !a.failed {
		a.wrong("no end after %d engines", a.engines)
	}
	return cuts, late, torn
}
