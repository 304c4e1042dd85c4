package proc

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// runVariable marks every process of a run in its environment: RUN/ENGINE/ATTEMPT.
const runVariable = "TAILCUT_RUN"

// guard is a process that outlives the engine just long enough to kill what the engine left. It waits for the end of a
// pipe that only the engine holds open.
type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startGuard(self []string, tag string) (*guard, error) {
	args := append(append([]string(nil), self[1:]...), "guard", tag)
	g := &guard{cmd: exec.Command(self[0], args...)}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal to the engine's group must not reach it
	// an engine may itself be an attempt of a run: its end must not take the guard along
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, runVariable+"=") {
			g.cmd.Env = append(g.cmd.Env, kv)
		}
	}
	g.cmd.Env = append(g.cmd.Env, "GOMAXPROCS=1") // it does nothing until the end: it should take few threads
	var err error
	if g.pipe, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return g, g.cmd.Start()
}

// close lets the guard go. One that somebody has killed is gone already, and no harm is done.
func (g *guard) close() {
	_, _ = io.WriteString(g.pipe, "bye\n")
	g.pipe.Close()
	_ = g.cmd.Wait()
}

// Guard waits for the end of in and then kills all processes marked with tag, unless the engine has said good-bye.
func Guard(tag string, in io.Reader) {
	words, _ := io.ReadAll(in)
	if len(words) == 0 {
		sweep(tag)
	}
	os.Exit(0)
}
