package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "attempt" || os.Args[1] == "executor") { // the executor starts itself, by whatever name
		main()
	}
	testscript.Main(m, map[string]func(){"tailcut-cloud": main})
}

// The scripts in testdata/script run tailcut, which finds this program on PATH.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "github.com/tailcut/tailcut/cmd/tailcut")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("LC_ALL", "C")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each process sleeps a second at its end under the detector
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
	})
}
