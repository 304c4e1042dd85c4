// Command tailcut-attempt runs a task's command in a pod and tells the cluster how far it is: what the command writes
// to TAILCUT_PROGRESS, as it does under tailcut run, goes to the annotation tailcut.dev/progress of its own pod.
//
// It is small, needs nothing of its image, and copies itself into a volume, so that it gets into images that have
// neither a shell nor libraries.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const usage = `usage: tailcut-attempt COMMAND [ARG...]    run a task and report its progress
       tailcut-attempt commit FILE DEST    make FILE the result of the task, unless another attempt was faster
       tailcut-attempt --install FOLDER    put this program there
`

// every is the least time between two reports: each is a write to the API server.
const every = 2 * time.Second

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is main without the process. The status is the command's; 2 for wrong usage, 126 if the command cannot be
// started.
func run(args []string, stderr io.Writer) int {
	switch {
	case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		fmt.Print(usage)
		return 0
	case len(args) > 0 && args[0] == "commit":
		return commit(args[1:], os.Stdout, stderr)
	case len(args) == 2 && args[0] == "--install":
		if err := install(args[1]); err != nil {
			fmt.Fprintln(stderr, "tailcut-attempt:", err)
			return 1
		}
		return 0
	case len(args) == 0 || args[0] == "" || args[0][0] == '-':
		fmt.Fprint(stderr, usage)
		return 2
	}
	pod, err := ownPod()
	if err != nil {
		fmt.Fprintln(stderr, "tailcut-attempt: progress is not reported:", err)
	}
	status, err := attempt(args, pod, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "tailcut-attempt:", err)
	}
	return status
}

// attempt runs the command and reports what it says of its progress. Signals are passed on: in a container the program
// is the first process.
func attempt(args []string, pod *pod, stderr io.Writer) (int, error) {
	reports, write, err := os.Pipe()
	if err != nil {
		return 126, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{write} // is descriptor 3 there
	cmd.Env = append(os.Environ(), "TAILCUT_PROGRESS=/dev/fd/3")
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := cmd.Start(); err != nil {
		return 126, err
	}
	write.Close()
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may be gone
		}
	}()
	go relay(reports, pod, stderr)
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// relay reports the last line of progress now and then, until there are no more. The command is never held up, nor
// failed by a report that is.
func relay(lines io.Reader, pod *pod, stderr io.Writer) {
	latest := make(chan string, 1)
	go func() {
		defer close(latest)
		for in := bufio.NewScanner(lines); in.Scan(); {
			select {
			case <-latest: // nobody has taken it
			default:
			}
			latest <- in.Text()
		}
		_, _ = io.Copy(io.Discard, lines) // a line beyond all bounds
	}()
	said := false
	for line := range latest {
		if pod == nil {
			continue
		}
		if err := pod.report(line); err != nil && !said {
			said = true
			fmt.Fprintln(stderr, "tailcut-attempt: progress is not reported:", err)
		}
		time.Sleep(every)
	}
}

// install copies the program into a folder, all of it or nothing.
func install(folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(folder, ".tailcut-attempt-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Chmod(0o755), to.Close()); err == nil {
		err = os.Rename(to.Name(), filepath.Join(folder, "tailcut-attempt"))
	}
	if err != nil {
		_ = os.Remove(to.Name())
	}
	return err
}
