package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// processLimit returns how many processes and threads the user may have at once (ulimit -u). It does not bind root.
func processLimit() int {
	var limit syscall.Rlimit
	if os.Geteuid() == 0 || syscall.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil {
		return math.MaxInt
	}
	return int(min(limit.Cur, math.MaxInt))
}

// userThreads counts the processes of the user and their threads, as far as they can be seen.
func userThreads() int {
	uid := os.Getuid()
	return countThreads(func(s status) bool { return s.uid == uid })
}

// ownThreads counts those of this program.
func ownThreads() int { return readStatus("/proc/self/status").threads }

// familyThreads counts those of this program and of its children.
func familyThreads() int {
	self := os.Getpid()
	return ownThreads() + countThreads(func(s status) bool { return s.parent == self })
}

// countThreads counts the threads of processes that can be seen.
func countThreads(of func(status) bool) (n int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range paths {
		if s := readStatus(path); of(s) {
			n += s.threads
		}
	}
	return n
}

// status is whose a process is, whose child, and how many threads it has.
type status struct{ uid, parent, threads int }

// readStatus returns that of a process; -1, -1 and 0 if it cannot be seen.
func readStatus(path string) status {
	s := status{uid: -1, parent: -1}
	data, _ := os.ReadFile(path)
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch fields := strings.Fields(value); {
		case name == "Uid" && len(fields) > 0:
			s.uid, _ = strconv.Atoi(fields[0])
		case name == "PPid" && len(fields) > 0:
			s.parent, _ = strconv.Atoi(fields[0])
		case name == "Threads" && len(fields) > 0:
			s.threads, _ = strconv.Atoi(fields[0])
		}
	}
	return s
}

// oomKills returns how many processes of the cgroup that this process is in the kernel has killed for want of memory; 0
// if that cannot be known.
func oomKills() (n int) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		group, ok := strings.CutPrefix(line, "0::")
		if !ok {
			continue
		}
		events, _ := os.ReadFile(filepath.Join("/sys/fs/cgroup", group, "memory.events"))
		if i := strings.Index(string(events), "oom_kill "); i >= 0 {
			_, _ = fmt.Sscan(string(events[i+len("oom_kill "):]), &n)
		}
	}
	return n
}
