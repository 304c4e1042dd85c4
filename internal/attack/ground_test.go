//go:build linux

package attack

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ground is what the folder of an attack is on: "plain" is the disk of the test, "full" a small one that somebody else fills at random, "overlay" two
// folders over each other, as in a container. Only root can make the last two.
type ground struct {
	attack *attack
	world  string
	beside map[string]string

	filling sync.WaitGroup
	full    bool
}

func (g *ground) lay() error {
	a := g.attack
	if err := os.MkdirAll(a.home, 0o777); err != nil {
		return err
	}
	switch g.world {
	case "full":
		return syscall.Mount("tmpfs", a.home, "tmpfs", 0, "size=3m")
	case "overlay":
		below := a.home + ".below"
		for _, name := range []string{"lower/out", "upper", "work"} {
			if err := os.MkdirAll(filepath.Join(below, name), 0o777); err != nil {
				return err
			}
		}
		return syscall.Mount("overlay", a.home, "overlay", 0, "lowerdir="+below+"/lower,upperdir="+below+"/upper,workdir="+below+"/work")
	}
	return nil
}

// lift removes all of it, unless something was found.
func (g *ground) lift() {
	home := g.attack.home
	if g.world != "plain" {
		_ = syscall.Unmount(home, syscall.MNT_DETACH)
	}
	if !g.attack.failed || g.world != "plain" {
		os.RemoveAll(home)
	}
	os.RemoveAll(home + ".below")
}

// harass fills the disk at a random instant, for a random while.
func (g *ground) harass() {
	if g.world != "full" {
		return
	}
	a := g.attack
	before := time.Duration(a.draw.Int64N(int64(a.kind.span)))
	while := time.Duration(a.draw.Int64N(int64(a.kind.span * 2)))
	least := int64(a.draw.IntN(64 << 10)) // that stays free
	g.full = true
	g.filling.Go(func() {
		time.Sleep(before)
		g.fill(least)
		time.Sleep(while)
		_ = os.Remove(g.filler())
	})
	a.note("the disk is full from %s for %s", before, while)
}

func (g *ground) filler() string { return filepath.Join(g.attack.home, "filler") }

// fill takes all that is free but for so many bytes.
func (g *ground) fill(least int64) {
	f, err := os.Create(g.filler())
	if err != nil {
		return
	}
	defer f.Close()
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if info, statErr := f.Stat(); errors.Is(err, syscall.ENOSPC) && statErr == nil {
		_ = f.Truncate(max(0, info.Size()-least))
	}
}

// relieve waits until the disk has room again, and tells whether it had none at some time.
func (g *ground) relieve() bool {
	g.filling.Wait()
	full := g.full
	g.full = false
	return full
}

// rest lets things settle before the next engine.
func (g *ground) rest() { g.filling.Wait() }

// A disk without room for a journal is nobody's wrong usage. The command goes on once there is room.
func TestFullDisk(t *testing.T) {
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(scratch, "full")
	a := newAttack(t, d, 1, home)
	g := &ground{attack: a, world: "full"}
	if err := g.lay(); err != nil {
		t.Skipf("no small disk without root: %v", err)
	}
	defer g.lift()
	if err := errors.Join(os.MkdirAll(a.tmp, 0o777), os.MkdirAll(a.out, 0o777)); err != nil {
		t.Fatal(err)
	}
	g.fill(0)
	if code, said := a.ended(a.start(a.command(a.kind))); code != 1 {
		t.Errorf("status %d, want 1: %s", code, said)
	}
	if err := os.Remove(g.filler()); err != nil {
		t.Fatal(err)
	}
	if code, said := a.ended(a.start(a.command(a.kind))); code != 0 {
		t.Errorf("status %d, want 0: %s", code, said)
	}
	a.right(a.kind, nil)
}
