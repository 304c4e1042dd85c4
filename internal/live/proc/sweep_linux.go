package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sweep kills every process whose environment has TAILCUT_RUN set to a mark, or to one below it, again and again until
// none is left: a process may be forking while it is looked for. In place of a part of the mark * stands for any. It
// gives up after a second: what cannot be killed is in the kernel's hands.
func sweep(mark string) {
	sure := false
	for range 100 {
		found, blank := killMarked(mark)
		if found == 0 && (blank == 0 || sure) {
			return
		}
		sure = found == 0
		time.Sleep(10 * time.Millisecond)
	}
}

// killMarked also counts the processes that have no environment: some never have one, but in the middle of execve no
// process does.
func killMarked(mark string) (found, blank int) {
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
		switch {
		case carries(env, mark):
			found++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		case len(env) == 0 && runsProgram(e.Name()):
			blank++
		}
	}
	return found, blank
}

// runsProgram tells whether a process is neither of the kernel nor dead.
func runsProgram(pid string) bool {
	_, err := os.Readlink("/proc/" + pid + "/exe")
	return err == nil
}

// carries tells whether an environment has a setting that is the mark or below it.
func carries(env []byte, mark string) bool {
	for setting := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(setting, []byte(runVariable+"=")); ok && below(string(value), mark) {
			return true
		}
	}
	return false
}

// below tells whether a mark is another, or goes on with a slash after it.
func below(mark, other string) bool {
	own, parts := strings.Split(mark, "/"), strings.Split(other, "/")
	if len(own) < len(parts) {
		return false
	}
	for i, part := range parts {
		if part != "*" && part != own[i] {
			return false
		}
	}
	return true
}
