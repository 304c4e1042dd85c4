//go:build long

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// A dry run of a million values ends within two seconds, and its heap never takes 300 MB.
func TestMillionInputs(t *testing.T) {
	const n = 1_000_000
	var list []byte
	for i := range n {
		list = append(strconv.AppendInt(list, int64(i), 10), '\n')
	}
	path := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, list, 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	if status := tailcut([]string{"run", "--dry-run", "-a", path, "--", "true"}, nil, &out, io.Discard); status != exitOK {
		t.Fatalf("exit status %d", status)
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != n || !bytes.HasSuffix(out.Bytes(), []byte("true 999999\n")) {
		t.Errorf("%d commands, expected %d", lines, n)
	}
	t.Logf("%v, %d MB from the system", took, (after.HeapSys-before.HeapSys)>>20)
	if took > 2*time.Second || after.HeapSys-before.HeapSys > 300<<20 {
		t.Errorf("took %v and %d MB, expected at most 2s and 300 MB", took, (after.HeapSys-before.HeapSys)>>20)
	}
}
