package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// exit waits and returns the status to exit with. Its arguments are how long, and for some indexes another status than
// 0, a longer wait, or one that has no end: 1s 1=3 2=hang 3=25s. A pod without index is pod 0. Clones exit at once with
// the status of clone=3, if there is one.
//
// With fates=DIR an index does one thing after another: 0=2s/3+1s/0 waits for 2 s and exits with 3 the first time, and
// then waits for 1 s and succeeds, as all further ones do. What clones do is told by c0=1s/3. The folder remembers how
// often an index, or a clone of it, has begun.
func exit(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: task exit DURATION [INDEX=STATUS|hang]...")
		return 2
	}
	wait, err := time.ParseDuration(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "task:", err)
		return 2
	}
	index := os.Getenv("JOB_COMPLETION_INDEX")
	if index == "" {
		index = "0"
	}
	clone := os.Getenv("KIND") == "clone"
	for _, a := range args[1:] {
		if dir, ok := strings.CutPrefix(a, "fates="); ok {
			return fate(dir, index, clone, wait, args[1:])
		}
	}
	time.Sleep(wait)
	for _, a := range args[1:] {
		of, what, _ := strings.Cut(a, "=")
		if of != index && !(of == "clone" && clone) {
			continue
		}
		if longer, err := time.ParseDuration(what); err == nil && what != "0" {
			if clone {
				continue
			}
			time.Sleep(longer)
			return 0
		}
		if what == "hang" {
			time.Sleep(time.Hour)
		}
		status, err := strconv.Atoi(what)
		if err != nil {
			fmt.Fprintln(os.Stderr, "task:", err)
			return 2
		}
		return status
	}
	return 0
}

// fate does what is due for the index, or its clone.
func fate(dir, index string, clone bool, wait time.Duration, args []string) int {
	if clone {
		index = "c" + index
	}
	nth := 0
	for ; ; nth++ {
		f, err := os.OpenFile(fmt.Sprintf("%s/%s.%d", dir, index, nth), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			f.Close()
			break
		}
		if !os.IsExist(err) {
			fmt.Fprintln(os.Stderr, "task:", err)
			return 2
		}
	}
	for _, a := range args {
		of, what, _ := strings.Cut(a, "=")
		if all := strings.Split(what, "+"); of == index && nth < len(all) {
			takes, code, _ := strings.Cut(all[nth], "/")
			longer, err := time.ParseDuration(takes)
			status, err2 := strconv.Atoi(code)
			if err != nil || err2 != nil {
				fmt.Fprintln(os.Stderr, "task:", err, err2)
				return 2
			}
			time.Sleep(longer)
			return status
		}
	}
	time.Sleep(wait)
	return 0
}
