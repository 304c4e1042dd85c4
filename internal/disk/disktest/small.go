//go:build linux

// Package disktest gives tests a small disk of their own that they can fill. It is for tests on Linux that run as root.
package disktest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Small returns a folder on a disk of two megabytes, what fills that but for so many bytes, and what makes room again.
// Without the right to mount one the test is skipped.
func Small(tb testing.TB) (root string, fill func(left int64), relieve func()) {
	tb.Helper()
	root = tb.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=2m"); err != nil {
		tb.Skipf("no small disk without root: %v", err)
	}
	tb.Cleanup(func() { _ = syscall.Unmount(root, syscall.MNT_DETACH) })
	filler := filepath.Join(root, "filler")
	fill = func(left int64) {
		tb.Helper()
		file, err := os.Create(filler)
		if err != nil {
			tb.Fatal(err)
		}
		defer file.Close()
		size := int64(0)
		for block := make([]byte, 4<<10); err == nil; {
			var n int
			n, err = file.Write(block)
			size += int64(n)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			tb.Fatal(err)
		}
		if err := file.Truncate(max(0, size-left)); err != nil {
			tb.Fatal(err)
		}
	}
	return root, fill, func() {
		tb.Helper()
		if err := os.Remove(filler); err != nil {
			tb.Fatal(err)
		}
	}
}
