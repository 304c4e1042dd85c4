package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// exit waits and returns the status to exit with. Its arguments are how long, and for some indexes another status than 0, or a wait that has
// no end: 1s 1=3 2=hang. A pod without index is pod 0.
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
	time.Sleep(wait)
	index := os.Getenv("JOB_COMPLETION_INDEX")
	if index == "" {
		index = "0"
	}
	for _, a := range args[1:] {
		of, what, _ := strings.Cut(a, "=")
		if of != index {
			continue
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
