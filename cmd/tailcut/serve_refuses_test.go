//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/serve"
)

// A run goes alone where there is no server and nobody has named one, and not where there is one that refuses or does not
// answer: it would take slots that the server gives to others.
func TestRunWhereAServerRefuses(t *testing.T) {
	const beside = `; to run it beside the server: tailcut run --alone\n`
	v := newVictim(t)
	alone := func(name string, flags ...string) []string {
		return append(append([]string{"run", "--history", "none", "-o", filepath.Join(v.dir, name)}, flags...), "--tasks", "1", "--", "true")
	}
	listener, err := net.Listen("unix", v.socket())
	if err != nil {
		t.Fatal(err)
	}
	var status atomic.Int32
	status.Store(http.StatusUnauthorized)
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	}()
	v.expect(2, `tailcut: the server at .* answered 401 Unauthorized: `+beside, alone("refused")...)
	v.expect(2, `tailcut: the server at .* answered 401 Unauthorized: `+beside, alone("named", "--server", v.socket())...)
	status.Store(http.StatusInsufficientStorage)
	v.expect(1, `tailcut: the server at .* answered 507 Insufficient Storage: `+beside, alone("full")...)
	if _, out, errs := v.call(alone("anyway", "--policy", "fifo")...); !strings.Contains(out, "succeeded") || !strings.Contains(errs, "runs beside the server") {
		t.Errorf("a run that is alone anyway prints %s%s", out, errs)
	}
	v.expect(0, `.*succeeded.*`, alone("alone", "--alone")...)

	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = listener.Close()
	v.expect(1, `tailcut: no server answers on .*/socket, which \$TAILCUT_SERVER names; start it with 'tailcut serve', or run without it: tailcut run --alone\n`,
		alone("nobody")...)
	v.expect(0, `.*succeeded.*`, alone("alone without one", "--alone")...)
	v.expect(0, `.*succeeded.*`, alone("alone by its policy", "--policy", "fifo")...)
	unnamed := exec.Command(v.program, alone("unnamed")...)
	unnamed.Env = []string{"HOME=" + v.dir, "PATH=/usr/bin:/bin"}
	if said, err := unnamed.CombinedOutput(); err != nil {
		t.Errorf("a run where nobody names a server: %v\n%s", err, said)
	}
	if err := os.Remove(v.socket()); err != nil {
		t.Fatal(err)
	}
	v.start()
	if err := v.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	v.expect(1, `tailcut: the server at .* has not answered within 5s`+beside, alone("stopped")...)
	if err := v.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	v.expect(0, `.*succeeded.*`, alone("goes on")...)
	if jobs, err := v.client().Jobs(t.Context(), serve.Filter{}); err != nil || len(jobs.Jobs) != 1 {
		t.Errorf("the server has %+v (%v)", jobs, err)
	}
}

// A job of a run that goes through a server is cancelled with the run, but not where only the terminal has closed.
func TestRunOnAServerIsInterrupted(t *testing.T) {
	tellOfHangups()
	v := newVictim(t)
	v.start()
	for i, c := range []struct {
		signal syscall.Signal
		state  serve.State
		said   string
	}{
		{syscall.SIGTERM, serve.Cancelled, "tailcut: interrupted\n"},
		{syscall.SIGHUP, serve.Running, "the job goes on; see it with: tailcut wait 1\ntailcut: interrupted\n"},
	} {
		cmd := exec.Command(v.program, "run", "--history", "none", "-o", filepath.Join(v.dir, "out", fmt.Sprint(i)), "--tasks", "1", "--", "sleep", "60")
		cmd.Env = []string{"HOME=" + v.dir, "TAILCUT_SERVER=" + v.socket(), "PATH=/usr/bin:/bin"}
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		state := func() serve.State {
			j, err := v.client().Job(t.Context(), fmt.Sprint(i), 0)
			if err != nil {
				return ""
			}
			return j.State
		}
		for began := time.Now(); state() != serve.Running && time.Since(began) < 20*time.Second; {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // the answer is on its way to the run
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != exitInterrupted || !strings.HasSuffix(said.String(), c.said) {
			t.Errorf("%v: status %d, and it says %q", c.signal, status, &said)
		}
		if now := state(); now != c.state {
			t.Errorf("%v: the job is %s", c.signal, now)
		}
	}
}
