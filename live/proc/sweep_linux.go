package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// sweep kills every process whose environment has TAILCUT_RUN beginning with prefix, again and again until none is
// left: a process may be forking while it is looked for. It gives up after a second: what cannot be killed is in the
// kernel's hands.
func sweep(prefix string) {
	mark := []byte(runVariable + "=" + prefix)
	for range 100 {
		if killMarked(mark) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func killMarked(mark []byte) (found int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil {
			continue
		}
		if bytes.HasPrefix(env, mark) || bytes.Contains(env, append([]byte{0}, mark...)) {
			found++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return found
}
