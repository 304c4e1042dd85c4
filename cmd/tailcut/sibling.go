package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// What needs Kubernetes' libraries is in programs of a module of its own, since tailcut starts itself for every attempt
// (docs/decisions). Its verbs are tailcut's too, as git's are: tailcut becomes the program.

// findSibling returns the path of another program of Tailcut: beside this one, or else on PATH. The error says how to
// get it.
func findSibling(program string) (string, error) {
	folder := "this program"
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		folder = filepath.Dir(self)
		if path, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("this is done by %s, which is neither in %s nor on PATH; "+
		"get it with 'go install github.com/tailcut/tailcut/cloud/cmd/%s@latest'", program, folder, program)
}

// becomeSibling replaces the process by another program of Tailcut, and returns only if that cannot be.
func becomeSibling(program string, args ...string) error {
	path, err := findSibling(program)
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
	path, err := findSibling(program)
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
