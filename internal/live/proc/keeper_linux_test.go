package proc

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bare starts a shell command with a progress pipe as an attempt has one, and no more.
func bare(t *testing.T, script string) *process {
	t.Helper()
	r, w, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(w)
	errs, stderr, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(stderr)
	p := &process{pidfd: -1, progress: r, errs: errs}
	t.Cleanup(r.close)
	p.pid, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, uintptr(stderr), uintptr(w)}, Sys: attributes(&p.pidfd),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The keeper tells of each end once, of a zombie, with and without a descriptor of the process, and of all lines before.
func TestKeeper(t *testing.T) {
	type news struct {
		p      *process
		zombie bool
	}
	over := make(chan news, 100)
	k, err := newKeeper(func(p *process) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		over <- news{p, strings.Contains(string(stat), ") Z ")}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer k.stop()
	heard := map[*process][]string{} // the keeper's until all has ended
	var all []*process
	for i := range 20 {
		ready := make(chan struct{})
		k.order(func() {
			defer close(ready)
			p := bare(t, fmt.Sprintf("echo a >&3; sleep 0.0%d; echo b >&3; sleep 0.05; exit 3", i%4))
			p.listen = func(line string) { heard[p] = append(heard[p], line) }
			if i%2 == 1 && p.pidfd >= 0 { // as on a kernel that has none
				syscall.Close(p.pidfd)
				p.pidfd = -1
			}
			all = append(all, p)
			k.keep(p)
		})
		<-ready
	}
	ends := map[*process]int{}
	for range all {
		select {
		case n := <-over:
			ends[n.p]++
			if !n.zombie {
				t.Errorf("process %d is no zombie", n.p.pid)
			}
			if how := waitFor(n.p.pid); how.err != nil || how.status.ExitStatus() != 3 {
				t.Errorf("process %d: %+v", n.p.pid, how)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("an end is not told of")
		}
	}
	idle := make(chan struct{})
	k.order(func() { close(idle) })
	<-idle
	for _, p := range all {
		if lines := strings.Join(heard[p], " "); ends[p] != 1 || lines != "a b" {
			t.Errorf("process %d: %d ends, lines %q", p.pid, ends[p], lines)
		}
	}
	if len(k.leads)+len(k.pipes) > 0 {
		t.Errorf("still kept: %v, %v", k.leads, k.pipes)
	}
}

// When a keeper comes late, the end of a process and its last lines are news at once.
func TestKeeperLate(t *testing.T) {
	over := make(chan *process, 1)
	k, err := newKeeper(func(p *process) { over <- p })
	if err != nil {
		t.Fatal(err)
	}
	defer k.stop()
	for range 5 {
		var p *process
		lines := 0
		k.order(func() {
			p = bare(t, "i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done >&3")
			p.listen = func(string) { lines++ }
			k.keep(p)
			awaitEnd(p.pid)
		})
		waitFor((<-over).pid)
		idle := make(chan struct{})
		k.order(func() { close(idle) })
		<-idle
		if lines != 3000 {
			t.Errorf("%d lines of 3000", lines)
		}
	}
}

// Lines come as they were written, however the pipe cuts them; of a long one the beginning comes.
func TestHear(t *testing.T) {
	for _, c := range []struct {
		data, want []string
	}{
		{[]string{"0.5\n"}, []string{"0.5"}},
		{[]string{"0.", "5\n0.6", "\n", "0.7"}, []string{"0.5", "0.6"}},
		{[]string{"\n\n"}, []string{"", ""}},
		{[]string{strings.Repeat("x", 5000), "y\nz\n"}, []string{strings.Repeat("x", longestLine), "z"}},
		{[]string{strings.Repeat("x", longestLine) + "y\nz\n"}, []string{strings.Repeat("x", longestLine), "z"}},
	} {
		var got []string
		p := &process{listen: func(line string) { got = append(got, line) }}
		for _, d := range c.data {
			p.hear([]byte(d))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%.40q: heard %.60q, want %.60q", c.data, got, c.want)
		}
	}
}
