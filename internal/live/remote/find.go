package remote

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns the path of another program of Tailcut: beside this one, or else on PATH. The error says how to
// get it.
func Find(program string) (string, error) {
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
	return "", fmt.Errorf("%s is not installed: it is neither in %s nor on PATH; "+
		"install it with 'go install github.com/tailcut/tailcut/%s/cmd/%s@latest'", program, folder, moduleOf(program), program)
}

// moduleOf returns the module of this repository that a program is in.
func moduleOf(program string) string {
	if program == "tailcut-history" {
		return "history"
	}
	return "cloud"
}
