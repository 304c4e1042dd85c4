package proc

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runVariable marks every process of a run in its environment: RUN/HOST/ENGINE/ATTEMPT.
const runVariable = "TAILCUT_RUN"

// guardLook is how often the engine looks whether its guard is well.
const guardLook = 100 * time.Millisecond

// guard is a process that outlives the engine just long enough to kill what the engine left. It waits for the end of a
// pipe that only the engine holds open. The engine watches it: one that was stopped goes on, one that was killed is
// followed by another.
type guard struct {
	self string // path of this program
	tag  string
	env  []string
	bye  chan struct{} // closed when the engine needs no guard any more
	done chan struct{} // closed when nobody watches it any more
	mu   sync.Mutex
	pid  int // 0 if it could not be started anew
	pipe *os.File
}

func startGuard(self, tag string) (*guard, error) {
	g := &guard{self: self, tag: tag, bye: make(chan struct{}), done: make(chan struct{})}
	// an engine may itself be an attempt of a run: its end must not take the guard along
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, runVariable+"=") {
			g.env = append(g.env, kv)
		}
	}
	g.env = append(g.env, "GOMAXPROCS=1", "GOGC=off") // it does nothing until the end: it should take few threads
	if err := g.start(); err != nil {
		return nil, err
	}
	go g.watch()
	return g, nil
}

func (g *guard) start() error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := &exec.Cmd{Path: g.self, Args: []string{guardName, g.tag}}
	cmd.Stdin, cmd.Env = out, g.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal to the engine's group must not reach it
	if err := cmd.Start(); err != nil {
		in.Close()
		return err
	}
	g.pid, g.pipe = cmd.Process.Pid, in
	return cmd.Process.Release()
}

func (g *guard) watch() {
	defer close(g.done)
	tick := time.NewTicker(guardLook)
	defer tick.Stop()
	for {
		select {
		case <-g.bye:
			return
		case <-tick.C:
			g.look()
		}
	}
}

// look helps a guard that is not well.
func (g *guard) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid != 0 {
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(g.pid, &status, syscall.WNOHANG|syscall.WUNTRACED, nil); err != nil || pid != g.pid {
			return
		}
		if status.Stopped() {
			_ = syscall.Kill(g.pid, syscall.SIGCONT)
			return
		}
		g.pipe.Close()
		g.pid = 0
	}
	_ = g.start() // else at the next look
}

// close lets the guard go. One that somebody has killed is gone already, and no harm is done.
func (g *guard) close() {
	close(g.bye)
	<-g.done
	if g.pid == 0 {
		return
	}
	_, _ = g.pipe.WriteString("bye\n")
	g.pipe.Close()
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(g.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == nil && status.Stopped():
			_ = syscall.Kill(g.pid, syscall.SIGCONT)
		case err != syscall.EINTR:
			return
		}
	}
}

// runGuard waits for the end of standard input and then kills all processes marked with tag, unless the engine has said
// good-bye. It makes no threads: where a user may have few processes, it would take those of attempts, or die of want.
func runGuard(tag string) {
	var word [1]byte
	for {
		switch n, err := syscall.Read(0, word[:]); {
		case err == syscall.EINTR:
		case n > 0:
			return
		default:
			sweep(tag)
			return
		}
	}
}
