//go:build linux

package attack

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// How an engine dies.
var ends = []struct {
	name string
	kill func(*attack, *engine)
}{
	{"KILL", func(_ *attack, e *engine) { _ = e.cmd.Process.Kill() }},
	{"TERM", func(_ *attack, e *engine) { _ = e.cmd.Process.Signal(syscall.SIGTERM) }},
	{"INT", func(_ *attack, e *engine) { _ = e.cmd.Process.Signal(os.Interrupt) }},
	{"INT twice", func(a *attack, e *engine) {
		_ = e.cmd.Process.Signal(os.Interrupt)
		time.Sleep(time.Duration(a.draw.IntN(20)) * time.Millisecond)
		_ = e.cmd.Process.Signal(os.Interrupt)
	}},
	{"STOP, KILL", func(a *attack, e *engine) {
		_ = e.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(a.draw.IntN(150)) * time.Millisecond)
		_ = e.cmd.Process.Kill()
	}},
	{"guard, KILL", func(a *attack, e *engine) {
		guards, _ := marked(a.name, nil)
		for _, pid := range guards {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Duration(a.draw.IntN(30)) * time.Millisecond)
		_ = e.cmd.Process.Kill()
	}},
	{"guard stopped, KILL", func(a *attack, e *engine) { a.unguard(e, syscall.SIGSTOP) }},
	{"guard killed, later KILL", func(a *attack, e *engine) { a.unguard(e, syscall.SIGKILL) }},
	{"group", func(_ *attack, e *engine) { _ = syscall.Kill(-e.cmd.Process.Pid, syscall.SIGKILL) }},
	{"all", func(a *attack, _ *engine) { a.killAll() }},
}

// TestDeaths kills engines, guards and attempts at random instants, in jobs of all kinds under all policies, some on a disk that fills at random and
// some on an overlay.
func TestDeaths(t *testing.T) {
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	count := map[string]int{}
	tell := func(what string) {
		lock.Lock()
		defer lock.Unlock()
		count[what]++
	}
	deaths, jobs := lanes(t, *askedDeaths, func(_ int, seed uint64) int {
		home := filepath.Join(scratch, fmt.Sprintf("deaths-%d", seed))
		a := newAttack(t, d, seed, home)
		g := &ground{attack: a, world: []string{"plain", "plain", "full", "overlay"}[a.draw.IntN(4)]}
		if err := g.lay(); err != nil {
			tell("no " + g.world + ": " + err.Error())
			g.world = "plain"
		}
		defer g.lift()
		tell("on " + g.world)
		tell("under " + a.policy)
		tell("of " + a.kind.name)
		return a.die(1+a.draw.IntN(5), g, tell)
	})
	t.Logf("%d deaths in %d jobs", deaths, jobs)
	for _, what := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%6d %s", count[what], what)
	}
}

// die lets so many engines die and then one come to the end.
func (a *attack) die(most int, g *ground, tell func(string)) (deaths int) {
	a.note("%s, %s, %v", g.world, a.out, a.command(a.kind))
	for a.engines < 40 && !a.failed {
		if a.engines > 0 {
			a.resettle()
		}
		g.rest()
		e := a.start(a.command(a.kind))
		if deaths < most {
			how := ends[a.draw.IntN(len(ends))]
			g.harass()
			if a.await(e) {
				how.kill(a, e)
				e.ours = true
				if !e.within(patience) {
					a.wrong("an engine survives %s", how.name)
					a.killAll()
				}
				a.note("%s", how.name)
				tell("by " + how.name)
				deaths++
				if how.name != "guard, KILL" { // what has left its group lives until the next engine starts
					a.alone()
				}
			}
		}
		code, said := a.ended(e)
		full := g.relieve()
		switch {
		case code == 0 && !e.ours:
			a.right(a.kind, g.beside)
			a.again()
			return deaths
		case e.ours || code == 1 && full:
		default:
			a.wrong("status %d: %s", code, said)
		}
	}
	if !a.failed {
		a.wrong("no end after %d engines", a.engines)
	}
	return deaths
}

// unguard does something to the guard, and kills the engine once it has seen to its guard, at which it looks ten times a
// second.
func (a *attack) unguard(e *engine, how syscall.Signal) {
	before, _ := marked(a.name, nil)
	for _, pid := range before {
		_ = syscall.Kill(pid, how)
	}
	for ended := e.within(150 * time.Millisecond); ; ended = e.within(5 * time.Millisecond) {
		if ended { // by itself, and the guard may have been stopped just after that: then only we can help it
			a.note("the engine ended before")
			for _, pid := range before {
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
			return
		}
		guards, _ := marked(a.name, nil)
		if slices.ContainsFunc(guards, func(pid int) bool { return (how == syscall.SIGSTOP || !slices.Contains(before, pid)) && !stops(pid) }) {
			_ = e.cmd.Process.Kill()
			return
		}
	}
}

// stops tells whether a process has stopped or is about to: on a busy machine that may take longer than any time set for it.
func stops(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if mask, found := strings.CutPrefix(line, "ShdPnd:"); found {
			if pending, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64); err != nil || pending&(1<<(syscall.SIGSTOP-1)) != 0 {
				return true
			}
		}
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return len(threads) == 0 || slices.ContainsFunc(threads, func(path string) bool {
		stat, _ := os.ReadFile(path)
		_, state, _ := bytes.Cut(stat, []byte(") "))
		return len(state) > 0 && state[0] == 'T'
	})
}

// await waits for a random instant in the life of an engine, on occasion for the last ones. It tells whether the engine still lives.
func (a *attack) await(e *engine) bool {
	if a.draw.IntN(6) == 0 {
		extra := time.Duration(a.draw.Int64N(int64(8 * time.Millisecond)))
		for {
			if _, err := os.Lstat(filepath.Join(a.out, "_SUCCESS")); err == nil {
				return !e.within(extra)
			}
			if e.within(200 * time.Microsecond) {
				return false
			}
		}
	}
	at := time.Duration(a.draw.Int64N(int64(a.kind.span)))
	if a.draw.IntN(3) == 0 { // some attempts first: their tasks are tried again
		if e.within(at / 2) {
			return false
		}
		if _, others := marked(a.name, nil); len(others) > 0 {
			if pid := others[a.draw.IntN(len(others))]; pid != e.cmd.Process.Pid {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				a.note("killed an attempt")
			}
		}
		at /= 2
	}
	return !e.within(at)
}

// again asks for what is there already: the answer is the same, and changes nothing.
func (a *attack) again() {
	a.t.Helper()
	if a.failed {
		return
	}
	if code, said := a.ended(a.start(a.command(a.kind))); code != 0 {
		a.wrong("the finished command once more: status %d: %s", code, said)
	}
	a.right(a.kind, nil)
}
