package policy_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	outside       = "../docs/outside"
	newPolicyPage = "../docs/howto/new-policy.md"
)

// TestNewPolicyPage: the code of docs/howto/new-policy.md is that of docs/outside; -rewrite copies it there. The policy has less than 60 lines.
func TestNewPolicyPage(t *testing.T) {
	block := regexp.MustCompile("(?s)<!-- docs/outside/([a-z_]+\\.go) -->\n```go\n.*?```\n")
	var files []string
	checkPage(t, block, func(old []byte) []byte {
		name := string(block.FindSubmatch(old)[1])
		code, err := os.ReadFile(filepath.Join(outside, name))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(code, []byte("\n")); n >= 60 {
			t.Errorf("%s has %d lines, less than 60 wanted", name, n)
		}
		files = append(files, name)
		return []byte("<!-- docs/outside/" + name + " -->\n```go\n" + string(code) + "```\n")
	})
	if want := []string{"patience.go", "patience_test.go", "main.go"}; !slices.Equal(files, want) {
		t.Errorf("the page shows %q, want %q", files, want)
	}
}

// TestOutside: a module of somebody else compiles, passes its tests and prints what the page shows, without any network.
func TestOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(outside)); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) []byte {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %q: %v\n%s%s", args, err, out, stderr.Bytes())
		}
		return out
	}
	run("mod", "edit", "-replace", "github.com/tailcut/tailcut="+here)
	run("vet", ".")
	run("test", ".")
	out := run("run", ".")
	output := regexp.MustCompile("(?s)<!-- go run \\. -->\n```\n.*?```\n")
	shown := 0
	checkPage(t, output, func([]byte) []byte {
		shown++
		return []byte("<!-- go run . -->\n```\n" + string(out) + "```\n")
	})
	if shown != 1 {
		t.Errorf("the page shows what the program prints %d times, want once", shown)
	}
}

// checkPage compares the page with what its blocks ought to be, or writes it.
func checkPage(t *testing.T, block *regexp.Regexp, ought func(old []byte) []byte) {
	t.Helper()
	page, err := os.ReadFile(newPolicyPage)
	if err != nil {
		t.Fatal(err)
	}
	want := block.ReplaceAllFunc(page, ought)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(newPolicyPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(page)); diff != "" {
		t.Errorf("docs/howto/new-policy.md is out of date, run go test ./policy -run 'TestNewPolicyPage|TestOutside' -rewrite (-want +file):\n%s", diff)
	}
}
