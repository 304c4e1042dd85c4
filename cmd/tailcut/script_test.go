package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be tailcut for scripts, by its name. Scripts and pages wait for half of their time, so twice
// as many run at once as there are cores, unless the flag -parallel says otherwise, which is read later.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"tailcut": main})
}

// The scripts in testdata/script are the tool's tests: a story each, of commands and what they print.
//
//	beside [FLAG...] -- COMMAND run a command by GNU parallel and by tailcut, and expect the same (parallel_test.go)
//	status N COMMAND ARG...     run the command and expect its exit status
//	jsonfile FILE PATH REGEXP   the value at PATH, as in stages.0.name, matches; FILE may be stdout
//	interrupt SIGNAL COMMAND... send SIGINT, SIGTERM or SIGHUP while the command computes, and expect it to end at once
//	damage FILE truncate N      cut N bytes off the end
//	damage FILE flip N          change the byte N before the end
func TestScripts(t *testing.T) {
	journals, err := filepath.Abs(filepath.Join("testdata", "journals")) // of older versions
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Condition:     scriptCondition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("LC_ALL", "C")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each process sleeps a second at its end under the detector
			env.Setenv("JOURNALS", journals)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": scriptStatus, "beside": scriptBeside, "jsonfile": scriptJSON, "damage": scriptDamage, "interrupt": scriptInterrupt,
		},
	})
}

// scriptCondition tells whether a line of a script can be run that begins with [root], which makes small disks, or with
// [bash-completion], which has bash complete words.
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "root":
		return exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt").Run() == nil, nil
	case "bash-completion":
		_, err := os.Stat("/usr/share/bash-completion/bash_completion")
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG...")
	}
	status := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		status = exit.ExitCode()
	}
	if fmt.Sprint(status) != args[0] {
		ts.Fatalf("exit status %d, expected %s", status, args[0])
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsonfile FILE PATH REGEXP")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, key := range strings.Split(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[key]; !ok {
				ts.Fatalf("%s: %s: there is no %q", args[0], args[1], key)
			}
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i < 0 || i >= len(x) {
				ts.Fatalf("%s: %s: there is no item %q", args[0], args[1], key)
			}
			v = x[i]
		default:
			ts.Fatalf("%s: %s: there is nothing below %q", args[0], args[1], key)
		}
	}
	text, err := json.Marshal(v)
	ts.Check(err)
	if regexp.MustCompile("^("+args[2]+")$").Match(text) == neg {
		ts.Fatalf("%s: %s is %s", args[0], args[1], text)
	}
}

func scriptDamage(ts *testscript.TestScript, _ bool, args []string) {
	n := 0
	if len(args) != 3 {
		ts.Fatalf("usage: damage FILE truncate|flip N")
	}
	_, err := fmt.Sscan(args[2], &n)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	switch args[1] {
	case "truncate":
		data = data[:len(data)-n]
	case "flip":
		data[len(data)-n] ^= 0x40
	default:
		ts.Fatalf("unknown damage %q", args[1])
	}
	ts.Check(os.WriteFile(path, data, 0o666))
}
