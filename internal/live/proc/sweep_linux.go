package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// sweep kills every process whose environment has TAILCUT_RUN set to a mark, or to one below it, again and again until
// none is left: a process may be forking while it is looked for. It gives up after a second: what cannot be killed is
// in the kernel's hands.
func sweep(tag string) {
	mark := []byte(runVariable + "=" + tag)
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
		if carries(env, mark) {
			found++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return found
}

// carries tells whether an environment has a setting that is the mark, or goes on with a slash after it.
func carries(env, mark []byte) bool {
	for setting := range bytes.SplitSeq(env, []byte{0}) {
		if rest, ok := bytes.CutPrefix(setting, mark); ok && (len(rest) == 0 || rest[0] == '/') {
			return true
		}
	}
	return false
}
