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
// none is left: a process may be forking while it is looked for, and one that was killed ends when it has its turn. In
// place of a part of the mark * stands for any. It gives up after a second: what cannot be killed is in the kernel's
// hands.
func sweep(mark string) {
	killed := map[int]bool{}
	for range 100 {
		if !killMarked(mark, killed) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// killMarked tells whether a process is left that has the mark, or may have it soon. Those that it kills it adds to
// killed.
func killMarked(mark string, killed map[int]bool) (left bool) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := "/proc/" + e.Name()
		switch env, err := os.ReadFile(dir + "/environ"); {
		case carries(env, mark):
			left, killed[pid] = true, true
			_ = syscall.Kill(pid, syscall.SIGKILL)
		case killed[pid]:
			left = left || !over(dir)
		case err == nil && len(env) == 0:
			left = left || changesProgram(dir)
		}
	}
	return left
}

// changesProgram tells whether a process is in the middle of execve, by its folder in /proc: it has a program, but
// neither arguments nor environment yet, and does not sleep. Some have no environment for good.
func changesProgram(dir string) bool {
	if _, err := os.Readlink(dir + "/exe"); err != nil { // of the kernel, or dead
		return false
	}
	args, err := os.ReadFile(dir + "/cmdline")
	state := stateLetter(dir)
	return err == nil && len(args) == 0 && (state == 'R' || state == 'D')
}

// over tells whether a process has ended, and is at most a zombie.
func over(dir string) bool {
	state := stateLetter(dir)
	return state == 0 || state == 'Z' || state == 'X'
}

// stateLetter returns the letter for the state of a process, 0 if there is none.
func stateLetter(dir string) byte {
	stat, err := os.ReadFile(dir + "/stat")
	i := bytes.LastIndex(stat, []byte(") "))
	if err != nil || i < 0 || i+2 >= len(stat) {
		return 0
	}
	return stat[i+2]
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
