package tailcut_test

import (
	"bytes"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go/ast"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the examples into docs/howto/go.md instead of comparing")

// The programs on the page are the bodies of the examples, which this package's tests run.
func TestPageShowsTheExamples(t *testing.T) {
	const name = "docs/howto/go.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bodies := exampleBodies(t)
	block := regexp.MustCompile("(?s)<!-- (Example[A-Za-z]+) -->\n```go\n.*?```\n")
	shown := 0
	want := block.ReplaceAllFunc(page, func(old []byte) []byte {
		shown++
		example := string(block.FindSubmatch(old)[1])
		if bodies[example] == "" {
			t.Errorf("%s shows %s, which is not in example_test.go", name, example)
		}
		return []byte("<!-- " + example + " -->\n```go\n" + bodies[example] + "```\n")
	})
	if shown < 4 {
		t.Errorf("%s shows %d examples", name, shown)
	}
	if bytes.Equal(page, want) {
		return
	}
	if *rewrite {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is out of date, run go test . -run TestPage -rewrite (-want +file):\n%s", name, cmp.Diff(string(want), string(page)))
}

// exampleBodies are the bodies of the examples as source, by name.
func exampleBodies(t *testing.T) map[string]string {
	src, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "example_test.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			body := src[files.Position(fn.Body.Lbrace).Offset+2 : files.Position(fn.Body.Rbrace).Offset]
			bodies[fn.Name.Name] = strings.TrimPrefix(strings.ReplaceAll("\n"+string(body), "\n\t", "\n"), "\n")
		}
	}
	return bodies
}

// A program that imports the package should be able to keep it in mind.
func TestFewNames(t *testing.T) {
	const most = 60
	files := token.NewFileSet()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			names = append(names, declared(d)...)
		}
	}
	if len(names) > most || len(names) < 10 {
		t.Errorf("%d exported names, want at most %d: %v", len(names), most, names)
	}
}

// declared are the exported names of a declaration, methods included.
func declared(d ast.Decl) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		add(d.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add(id)
				}
			}
		}
	}
	return names
}
