package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/live/remote"
)

// What needs Kubernetes' libraries is in programs of a module of its own, since tailcut starts itself for every attempt
// (docs/decisions). Its verbs are tailcut's too, as git's are: tailcut becomes the program.

// becomeSibling replaces the process by another program of Tailcut, and returns only if that cannot be.
func becomeSibling(program string, args ...string) error {
	path, err := remote.Find(program)
	if err != nil {
		return err
	}
	if err := syscall.Exec(path, append([]string{program}, args...), os.Environ()); err != nil {
		return failure{fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}

// completeSibling asks another program of Tailcut how its command line may go on.
func completeSibling(program string, args ...string) ([]string, cobra.ShellCompDirective) {
	path, err := remote.Find(program)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out, err := exec.Command(path, append([]string{cobra.ShellCompRequestCmd}, args...)...).Output()
	text, directive, found := strings.Cut(string(out), "\n:")
	if d := cobra.ShellCompDirectiveDefault; err == nil && found {
		if _, err := fmt.Sscan(directive, &d); err == nil {
			return strings.Split(text, "\n"), d
		}
	}
	return nil, cobra.ShellCompDirectiveError
}
