package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailcut/tailcut/internal/live"
)

// ReadMachine returns what is free of the machine, or of the cgroup that the program is in where that is less.
func ReadMachine() (live.Reading, error) { return readMachine("/") }

// readMachine reads below a root.
func readMachine(root string) (r live.Reading, err error) {
	info, err := readNumbers(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return r, err
	}
	total, known := info["MemTotal:"]
	free, told := info["MemAvailable:"]
	if !known || !told {
		return r, errors.New("/proc/meminfo has no MemAvailable: this needs Linux 3.14 or later")
	}
	r.Total, r.Free = total<<10, free<<10
	for _, g := range memoryGroups(root) {
		if limit, used, ok := g.read(); ok {
			r.Total, r.Free = min(r.Total, limit), min(r.Free, max(0, limit-used))
		}
	}
	stat, err := readNumbers(filepath.Join(root, "proc/stat"))
	if err != nil {
		return r, err
	}
	r.Load = float64(max(0, stat["procs_running"]-1) + stat["procs_blocked"]) // without the one that reads this
	return r, nil
}

// readNumbers returns the first number behind the first word of each line.
func readNumbers(path string) (map[string]int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := map[string]int64{}
	for line := range bytes.Lines(data) {
		if f := bytes.Fields(line[:min(len(line), 200)]); len(f) > 1 {
			if n, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
				all[string(f[0])] = n
			}
		}
	}
	return all, nil
}

// memoryGroup is a cgroup that may bound memory.
type memoryGroup struct {
	dir                string
	limit, used, stale string // names of its files, and of what may be dropped of the memory that is used
}

// memoryGroups returns the cgroup that the program is in and those above it, of both versions.
func memoryGroups(root string) (all []memoryGroup) {
	data, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		g := memoryGroup{limit: "memory.max", used: "memory.current", stale: "inactive_file"}
		top := filepath.Join(root, "sys/fs/cgroup")
		switch {
		case strings.Contains(","+f[1]+",", ",memory,"):
			g = memoryGroup{limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", stale: "total_inactive_file"}
			top = filepath.Join(top, "memory")
		case f[0] != "0":
			continue
		}
		for path := filepath.Clean("/" + f[2]); ; path = filepath.Dir(path) {
			g.dir = filepath.Join(top, path)
			all = append(all, g)
			if path == "/" {
				break
			}
		}
	}
	return all
}

// read returns the limit of the group and how much it uses that cannot be dropped; false if it has no limit.
func (g *memoryGroup) read() (limit, used int64, ok bool) {
	number := func(name string) int64 {
		data, err := os.ReadFile(filepath.Join(g.dir, name))
		if err != nil {
			return math.MaxInt64
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err != nil || n < 0 { // "max"
			return math.MaxInt64
		}
		return n
	}
	const unlimited = 1 << 62 // version 1 has the greatest multiple of a page
	limit, used = number(g.limit), number(g.used)
	if limit >= unlimited || used >= unlimited {
		return 0, 0, false
	}
	stat, _ := readNumbers(filepath.Join(g.dir, "memory.stat"))
	return limit, max(0, used-stat[g.stale]), true
}

// residents are the processes of each group with the memory that they have resident.
type residents map[int]*resident

type resident struct {
	bytes int64 // what processes share is in it several times
	pids  []int
}

// timedResidents is residentNow with the processor time that it takes, which on a busy machine is far less than passes.
func timedResidents() (residents, time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	all := residentNow()
	return all, threadTime() - before
}

// threadTime returns the processor time of this thread.
func threadTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// residentNow looks at all processes.
func residentNow() residents {
	all := residents{}
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	page := int64(os.Getpagesize())
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		group, pages := readStat(pid)
		if group == 0 {
			continue
		}
		g := all[group]
		if g == nil {
			g = new(resident)
			all[group] = g
		}
		g.bytes += pages * page
		g.pids = append(g.pids, pid)
	}
	return all
}

// readStat returns the group of a process and its resident pages; 0 if it is gone.
func readStat(pid int) (group int, pages int64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // from the third field on, see proc_pid_stat(5)
	if len(f) < 22 {
		return 0, 0
	}
	group, _ = strconv.Atoi(string(f[2]))
	pages, _ = strconv.ParseInt(string(f[21]), 10, 64)
	return group, pages
}

// of returns how much memory a group has resident. Only where that may be more than a limit, it is divided by how many
// processes share it, which takes long.
func (r residents) of(group int, limit int64) int64 {
	g := r[group]
	if g == nil || g.bytes <= limit {
		return 0
	}
	sum := int64(0)
	for _, pid := range g.pids {
		kib, err := readNumbers(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has ended
		}
		sum += kib["Pss:"] << 10
	}
	return sum
}
