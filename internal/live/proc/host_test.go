//go:build linux

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

func newTestHost(t *testing.T, cfg HostConfig) *Host {
	t.Helper()
	h, err := NewHost(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// on has an executor use a host.
func on(h *Host) func(*Config) { return func(c *Config) { c.Host = h } }

// Who closes the executor of one job ends what is left of that, whatever it is, and nothing of another.
func TestHostOfTwo(t *testing.T) {
	h := newTestHost(t, HostConfig{})
	one := newRig(t, on(h), `setsid sleep 100 <&- >&- 2>&- 3>&- & sleep 100`)
	other := newRig(t, on(h), `setsid sleep 100 >&- 2>&- 3>&- & until [ -e $TAILCUT_OUTPUT/go ]; do sleep 0.01; done; echo done`)
	one.begin(0, 0, 0)
	a := other.begin(0, 0, 0)
	eventually(t, "four processes", patience, func() bool { return marked(one.cfg.Run) >= 2 && marked(other.cfg.Run) >= 2 })
	one.close()
	if n := marked(one.cfg.Run); n != 0 {
		t.Errorf("%d processes are left of a job that is closed", n)
	}
	if n := marked(other.cfg.Run); n < 2 {
		t.Errorf("%d processes are left of the job beside it, want 2 or more", n)
	}
	if err := os.WriteFile(other.f.Attempt(a)+"/go", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if rep := other.end(a); rep.Exit != 0 {
		t.Errorf("the job beside it ended so: %+v", rep)
	}
	other.close()
	if n := marked(other.cfg.Run); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// The attempts of all executors have slots of their own.
func TestHostSlots(t *testing.T) {
	h := newTestHost(t, HostConfig{})
	script := `echo $TAILCUT_SLOT >$TAILCUT_OUTPUT/slot; sleep 100`
	seen := map[string]bool{}
	for i := range 3 {
		r := newRig(t, on(h), script)
		a := r.begin(0, i, 0)
		path := r.f.Attempt(a) + "/slot"
		eventually(t, path, patience, func() bool {
			text, _ := os.ReadFile(path)
			seen[string(text)] = len(text) > 0
			return len(text) > 0
		})
	}
	for _, slot := range []string{"1\n", "2\n", "3\n"} {
		if !seen[slot] {
			t.Errorf("nobody has slot %q: %v", slot, seen)
		}
	}
}

// A new host ends what one of its name has left, of any job.
func TestNewHostSweeps(t *testing.T) {
	name := fmt.Sprintf("host-%d", os.Getpid())
	left, other := fmt.Sprintf("job/%s/1.2/0-00000.0", name), fmt.Sprintf("job/%s0/1.2/0-00000.0", name)
	var all []*exec.Cmd
	for _, mark := range []string{left, other} {
		cmd := exec.Command("sleep", "100")
		cmd.Env = append(os.Environ(), runVariable+"="+mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	defer func() { _ = all[1].Process.Kill(); _ = all[1].Wait() }()
	eventually(t, "the processes' start", patience, func() bool { return marked("job/"+name) == 1 && marked("job/"+name+"0") == 1 })
	ended := make(chan error, 1)
	go func() { ended <- all[0].Wait() }()
	newTestHost(t, HostConfig{Name: name})
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("a process of an earlier host goes on")
	}
	if marked("job/"+name+"0") != 1 {
		t.Error("a process of another host was ended")
	}
}

// Programs are looked for where the job's own PATH says.
func TestConfigEnv(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/greet", []byte("#!/bin/sh\necho $WHO\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) {
		c.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "WHO=me"}
		c.Work.Array.Stages[0].Command = []string{"greet"}
	}, "true")
	r.commit(r.win(0, 0, 0))
	if got := r.stdout(0, 0); got != "me\n" {
		t.Errorf("wrote %q", got)
	}
}

// descriptors returns how many descriptors this process has.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Each launch copies the table of open files, so an attempt that runs has few: its standard output, the ends of two
// pipes, and the descriptor of its process.
func TestDescriptorsOfAttempts(t *testing.T) {
	r := newRig(t, nil, `echo 0.5 >$TAILCUT_PROGRESS; sleep 100`)
	before := descriptors(t)
	const n = 20
	for i := range n {
		r.begin(0, i, 0)
	}
	for range n { // all have been told of, and run
		r.report()
	}
	if each := (descriptors(t) - before) / n; each > 4 {
		t.Errorf("an attempt that runs holds %d descriptors, want 4 at most", each)
	}
}

// A hundred jobs at once cost a few descriptors each.
func TestHostOfMany(t *testing.T) {
	h := newTestHost(t, HostConfig{})
	before := descriptors(t)
	var all []*rig
	for range 100 {
		r := newRig(t, on(h), "echo $TAILCUT_TASK")
		all = append(all, r)
		for i := range 3 {
			r.win(0, i, 0)
		}
	}
	if n := (descriptors(t) - before) / len(all); n > 5 {
		t.Errorf("each of %d jobs holds %d descriptors, want 5 at most", len(all), n)
	}
	for _, r := range all {
		r.close()
	}
	if n := descriptors(t) - before; n > 10 {
		t.Errorf("%d descriptors are left of jobs that are closed", n)
	}
}
