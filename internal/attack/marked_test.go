//go:build linux

package attack

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// marked are the processes that live and have a mark in their environment: guards, and of the rest those that are not
// spared by their arguments.
func marked(name string, spared func(args []byte) bool) (guards, others []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte(mark+"="+name+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if bytes.HasPrefix(args, []byte("tailcut: guard\x00")) {
			guards = append(guards, pid)
		} else if spared == nil || !spared(args) {
			others = append(others, pid)
		}
	}
	return guards, others
}

// outlived waits for the end of all marked processes that are not spared, and returns those that are still there after a
// time.
func outlived(name string, atMost time.Duration, spared func(args []byte) bool) (guards, others []int) {
	for end := time.Now().Add(atMost); ; time.Sleep(10 * time.Millisecond) {
		guards, others = marked(name, spared)
		if len(guards)+len(others) == 0 || time.Now().After(end) {
			return guards, others
		}
	}
}
