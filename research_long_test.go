//go:build long

package tailcut_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResearch: the module in docs/research compiles, passes its tests, and prints and draws what docs/howto/go.md shows. It needs gonum/plot, which the
// project itself does not: without a network or a cache that has it, the test is skipped.
func TestResearch(t *testing.T) {
	const page, picture = "docs/howto/go.md", "docs/pictures/research.svg"
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("docs/research")); err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		return cmd.CombinedOutput()
	}
	run := func(args ...string) []byte {
		out, err := try(args...)
		if err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
		return out
	}
	run("mod", "edit", "-replace", "github.com/tailcut/tailcut="+here)
	if out, err := try("mod", "download"); err != nil {
		t.Skipf("gonum/plot and what it needs cannot be had: %v\n%s", err, out)
	}
	run("vet", ".")
	run("test", ".")
	run("build", "-o", "research", ".")
	drawn := filepath.Join(dir, "drawn.svg")
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "research"), drawn).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compare := func(name string, want []byte) {
		if got, err := os.ReadFile(name); err == nil && bytes.Equal(got, want) {
			return
		} else if !*rewrite {
			t.Errorf("%s is not what the program prints or draws; run go test -tags long . -run TestResearch -rewrite (-want +file):\n%s", name, cmp.Diff(string(want), string(got)))
		} else if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	svg, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	compare(picture, svg)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- go run \\. short-jobs\\.svg -->\n```\n.*?```\n")
	if !block.Match(text) {
		t.Fatalf("%s shows no output", page)
	}
	compare(page, block.ReplaceAllLiteral(text, []byte("<!-- go run . short-jobs.svg -->\n```\n$ go run . short-jobs.svg\n"+string(out)+"```\n")))
}
