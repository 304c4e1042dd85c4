package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The first signal ends every verb within a fifth of a second on a machine that has nothing else to do; a machine that runs
// all tests at once is allowed more.
const obeyed = 6 * time.Second

func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt SIGNAL COMMAND ARG...")
	}
	signal, known := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	if !known {
		ts.Fatalf("unknown signal %s", args[0])
	}
	var path string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p, err := exec.LookPath(filepath.Join(dir, args[1])); err == nil {
			path = p
			break
		}
	}
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "LC_ALL=C", "TAILCUT_TRACES=none"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe() // nothing comes, and it does not end
	ts.Check(err)
	defer stdin.Close()
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-time.After(time.Second):
	case err := <-ended:
		ts.Fatalf("it ended before it could be interrupted: %v\n%s", err, out.String())
	}
	sent := time.Now()
	ts.Check(cmd.Process.Signal(signal))
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		ts.Check(cmd.Process.Kill())
		<-ended
	}
	took := time.Since(sent)
	ts.Logf("ended after %v", took)
	if took > obeyed || cmd.ProcessState.ExitCode() != exitInterrupted || !strings.HasSuffix(out.String(), "tailcut: interrupted\n") {
		ts.Fatalf("after %v: %v\n%s", took, cmd.ProcessState, out.String())
	}
}
