package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// beFirst is what the first process of a container does. All orphans become its children, those that attempts leave,
// too, and stay on the system's list until it waits for them. An engine waits for its attempts only, so this process
// starts another for the work, hands it every signal, waits for everyone, and ends as the other does.
func beFirst(args []string, stderr io.Writer) int {
	self, err := os.Executable()
	if err != nil {
		notice(stderr, "%v", err)
		return exitFailed
	}
	// The keys of a terminal signal a whole group: with one of its own the other is not told twice.
	group := &syscall.SysProcAttr{Setpgid: true, Foreground: term.IsTerminal(0), Ctty: 0}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	other, err := os.StartProcess(self, args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: group})
	if err != nil {
		notice(stderr, "%v", err)
		return exitFailed
	}
	go func() {
		for s := range signals {
			_ = other.Signal(s)
		}
	}()
	for {
		var how syscall.WaitStatus
		switch pid, err := syscall.Wait4(-1, &how, 0, nil); {
		case pid == other.Pid && how.Signaled():
			return 128 + int(how.Signal())
		case pid == other.Pid:
			return how.ExitStatus()
		case err != nil && err != syscall.EINTR:
			notice(stderr, "wait: %v", err)
			return exitFailed
		}
	}
}
