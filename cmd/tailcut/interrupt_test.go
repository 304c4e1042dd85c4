package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	signals "os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The first signal ends every verb within a fifth of a second on a machine that has nothing else to do; a machine that
// runs all tests at once is allowed more. So what is held to half a second is the processor time of each core, which
// is some 0.05 s.
const (
	obeyed    = 6 * time.Second
	obeyedCPU = 500 * time.Millisecond
)

// processorTime is what a process that runs has taken, by /proc in hundredths of a second; false where there is none.
func processorTime(pid int) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, errUser := strconv.Atoi(fields[11])
	system, errSystem := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, errUser == nil && errSystem == nil
}

// tellOfHangups has programs that tests start hear of a terminal that closes, also where the tests run under nohup.
var tellOfHangups = sync.OnceFunc(func() { signals.Notify(make(chan os.Signal, 1), syscall.SIGHUP) })

func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt SIGNAL COMMAND ARG...")
	}
	signal, known := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]
	if !known {
		ts.Fatalf("unknown signal %s", args[0])
	}
	tellOfHangups()
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
	before, counted := processorTime(cmd.Process.Pid)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		ts.Check(cmd.Process.Kill())
		<-ended
	}
	took := time.Since(sent)
	busy := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() - before) / time.Duration(runtime.GOMAXPROCS(0))
	ts.Logf("ended after %v, %v of processor time of each core", took, busy)
	if counted && busy > obeyedCPU {
		ts.Fatalf("it went on for %v of processor time of each core", busy)
	}
	if took > obeyed || cmd.ProcessState.ExitCode() != exitInterrupted || !strings.HasSuffix(out.String(), "tailcut: interrupted\n") {
		ts.Fatalf("after %v: %v\n%s", took, cmd.ProcessState, out.String())
	}
}
