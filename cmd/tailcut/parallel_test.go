package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptBeside runs a command line by GNU parallel and by tailcut, and expects them to print the same:
//
//	beside [FLAG...] -- COMMAND...
//
// The flags and the command are both's. What is in the file called stdin, if there is one, is their standard input.
func scriptBeside(ts *testscript.TestScript, neg bool, args []string) {
	at := slices.Index(args, "--")
	if at < 0 || neg {
		ts.Fatalf("usage: beside [FLAG...] -- COMMAND...")
	}
	flags, command := args[:at], args[at+1:]
	theirs := besideRun(ts, "parallel", slices.Concat([]string{"-k"}, flags, command))
	ours := besideRun(ts, "tailcut", slices.Concat([]string{"run", "-o", "-", "-k"}, flags, []string{"--"}, command))
	ts.Logf("%s", ours)
	if !bytes.Equal(theirs, ours) {
		ts.Fatalf("parallel prints\n%s", theirs)
	}
	if len(ours) == 0 {
		ts.Fatalf("both print nothing, so that they were not compared")
	}
}

func besideRun(ts *testscript.TestScript, program string, args []string) []byte {
	cmd := exec.Command("env", append([]string{program}, args...)...) // which looks it up where the script does
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "PATH="+ts.Getenv("PATH"), "LC_ALL=C")
	if in, err := os.Open(ts.MkAbs("stdin")); err == nil {
		defer in.Close()
		cmd.Stdin = in
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		ts.Fatalf("%s %q: %v\n%s%s", program, args, err, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}

var (
	besideRow  = regexp.MustCompile("^\\| `([^|]*?)` \\| (yes|no|as) ?(.*?) \\|(?: <!-- case: ([a-z0-9-]+) -->)?$")
	besideCase = regexp.MustCompile(`(?m)^# case: ([a-z0-9-]+)$`)
)

// TestParallelPage: the table of GNU parallel's options and the scripts that run both belong together. A row says yes
// and names its case, or as with what to write instead, or no with the reason.
func TestParallelPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "howto", "from-gnu-parallel.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "parallel_*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{}
	for _, name := range scripts {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range besideCase.FindAllStringSubmatch(string(script), -1) {
			cases[m[1]] = false
		}
	}
	yes := 0
	for i, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		m := besideRow.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%s:%d: expected | `option` | yes, as or no, and more |, not %s", path, i+1, line)
			continue
		}
		_, known := cases[m[4]]
		switch {
		case m[2] == "yes" && !known:
			t.Errorf("%s:%d: expected <!-- case: NAME --> of a case in testdata/script/parallel_*.txtar at the end of %s", path, i+1, line)
		case m[2] != "yes" && len(m[3]) < 10:
			t.Errorf("%s:%d: expected what to write instead, or why there is nothing, in %s", path, i+1, line)
		case m[2] == "yes":
			yes++
		}
		if known {
			cases[m[4]] = true
		}
	}
	for name, used := range cases {
		if !used {
			t.Errorf("%s: no row names the case %s", path, name)
		}
	}
	if yes < 40 {
		t.Errorf("%s: %d options are the same, expected 40", path, yes)
	}
}
