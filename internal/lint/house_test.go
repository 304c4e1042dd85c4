package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/tailcut/tailcut"
)

// modules are the folders of the workspace's modules.
var modules = []string{root, filepath.Join(root, "cloud"), filepath.Join(root, "history")}

// file is a Go file of the module, or a sample that a test of a rule makes up.
type file struct {
	*ast.File
	fset *token.FileSet
	name string // from the root, with slashes
	src  string
}

func (f *file) dir() string          { return path.Dir(f.name) }
func (f *file) test() bool           { return strings.HasSuffix(f.name, "_test.go") }
func (f *file) line(p token.Pos) int { return f.fset.Position(p).Line }

// found words a finding.
func (f *file) found(p token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.name, f.line(p), fmt.Sprintf(format, args...))
}

// house parses every Go file of the workspace, which is the module, cloud and history, once.
var house = sync.OnceValues(func() (files []*file, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".."; d.IsDir() && (hidden || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && !slices.Contains(modules, filepath.Clean(name)) {
			return filepath.SkipDir // not of the workspace
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := parse(filepath.ToSlash(rel), string(src))
		files = append(files, f)
		return err
	})
	return files, err
})

func parse(name, src string) (*file, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	return &file{f, fset, name, src}, err
}

// everywhere applies a rule to every file.
func everywhere(t *testing.T, rule func(*file) []string) {
	t.Helper()
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files seen; is %s the root of the module?", len(files), root)
	}
	for _, f := range files {
		for _, s := range rule(f) {
			t.Error(s)
		}
	}
}

// sample applies a rule to one made-up file and compares the findings with the words expected, "" for none.
func sample(t *testing.T, rule func(*file) []string, name, src, want string) {
	t.Helper()
	f, err := parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, rule(f), want)
}

func expect(t *testing.T, findings []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(findings) > 0:
		t.Errorf("found %q where nothing is wrong", findings)
	case want != "" && (len(findings) != 1 || !strings.Contains(findings[0], want)):
		t.Errorf("found %q, want one finding with %q", findings, want)
	}
}
