//go:build linux

package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tailcut/tailcut/internal/serve"
)

// A run goes alone where there is no server, and not where there is one that refuses or does not answer: it would take
// slots that the server gives to others.
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
	v.expect(0, `.*succeeded.*`, alone("nobody")...)
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
