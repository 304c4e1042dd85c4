package lint

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

// A reader holds a file of 600 lines and a function of 80 in mind, hardly more. A longer one says why it is better
// whole: "//lint:length why", in the function's comment or above the package clause. Tests are stories and may be long.
const (
	fileLines = 600
	funcLines = 80
	lengthen  = "//lint:length "
)

func TestLength(t *testing.T) { everywhere(t, checkLength) }

func checkLength(f *file) (found []string) {
	if f.test() {
		return nil
	}
	if n := f.line(f.FileEnd); n > fileLines && !excused(f.Doc) {
		found = append(found, f.found(f.Package, "the file has %d lines; divide it below %d, or say above package: %swhy", n, fileLines, lengthen))
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > funcLines && !excused(fn.Doc) {
			found = append(found, f.found(fn.Pos(), "%s has %d lines; divide it below %d, or say in its comment: %swhy", fn.Name.Name, n, funcLines, lengthen))
		}
	}
	return found
}

// Comments are read beside other code, and in narrow windows. Tables and formulas, which begin with a tab, may be wider, and so may what
// has a URL.
const (
	commentColumns = 120
	tabColumns     = 4
)

func TestCommentWidth(t *testing.T) { everywhere(t, checkCommentWidth) }

func checkCommentWidth(f *file) (found []string) {
	if f.test() {
		return nil
	}
	lines := strings.Split(f.src, "\n")
	for _, group := range f.Comments {
		for _, c := range group.List {
			line := strings.ReplaceAll(lines[f.line(c.Pos())-1], "\t", strings.Repeat(" ", tabColumns))
			free := strings.HasPrefix(c.Text, "//\t") || strings.Contains(c.Text, "://")
			if n := utf8.RuneCountInString(line); n > commentColumns && !free {
				found = append(found, f.found(c.Pos(), "the comment ends in column %d; break it before %d", n, commentColumns))
			}
		}
	}
	return found
}

func excused(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, lengthen) && len(c.Text) > len(lengthen) {
			return true
		}
	}
	return false
}

// What is exported has a comment: its own, its group's, or, in a row of one-line functions without a blank line between, one above that names it.
func TestDocumentation(t *testing.T) { everywhere(t, checkDocumentation) }

func checkDocumentation(f *file) (found []string) {
	if f.test() {
		return nil
	}
	var above *ast.FuncDecl // the function before, and the comment that it stands under
	var comment *ast.CommentGroup
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil || above == nil || f.line(d.Pos()) != f.line(above.End())+1 {
				comment = d.Doc
			}
			above = d
			if exported(d) && (comment == nil || comment != d.Doc && !strings.Contains(comment.Text(), d.Name.Name)) {
				found = append(found, f.found(d.Pos(), "%s is exported; document it", d.Name.Name))
			}
		case *ast.GenDecl:
			above = nil
			found = append(found, checkGroup(f, d)...)
		}
	}
	return found
}

// exported tells whether a function can be called from outside; methods of hidden types cannot, or are documented by an interface.
func exported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return d.Name.IsExported()
	}
	recv := d.Recv.List[0].Type
	if s, ok := recv.(*ast.StarExpr); ok {
		recv = s.X
	}
	if g, ok := recv.(*ast.IndexExpr); ok {
		recv = g.X
	}
	id, ok := recv.(*ast.Ident)
	return ok && id.IsExported() && d.Name.IsExported()
}

func checkGroup(f *file, d *ast.GenDecl) (found []string) {
	for _, s := range d.Specs {
		var names []*ast.Ident
		documented := d.Doc != nil
		switch s := s.(type) {
		case *ast.TypeSpec:
			names, documented = []*ast.Ident{s.Name}, documented || s.Doc != nil || s.Comment != nil
		case *ast.ValueSpec:
			names, documented = s.Names, documented || s.Doc != nil || s.Comment != nil
		}
		for _, n := range names {
			if n.IsExported() && !documented {
				found = append(found, f.found(n.Pos(), "%s is exported; document it", n.Name))
			}
		}
	}
	return found
}

// Every package says in one place what it is for and what it is not.
func TestPackageComments(t *testing.T) {
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]int{}
	for _, f := range files {
		if f.test() {
			continue
		}
		n := 0
		if f.Doc.Text() != "" {
			n = 1
		}
		comments[f.dir()] += n
		if comments[f.dir()] > 1 {
			t.Errorf("%s:1: a second comment of package %s; one place is enough", f.name, f.dir())
		}
	}
	for dir, n := range comments {
		if n == 0 {
			t.Errorf("%s/doc.go:1: package %s has no comment; say what it is for and what it is not", dir, dir)
		}
	}
}

// Whoever reads a policy wants to hold it against its source.
func TestPoliciesNameTheirSource(t *testing.T) { everywhere(t, checkSource) }

func checkSource(f *file) (found []string) {
	if f.dir() != "policy" || f.test() {
		return nil
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return true
		}
		if id, ok := lit.Type.(*ast.Ident); ok && id.Name == "Entry" && !hasText(lit, "Source") {
			found = append(found, f.found(lit.Pos(), "an Entry without Source; name the paper and section, or the public code, that the policy follows"))
		}
		return true
	})
	return found
}

func hasText(lit *ast.CompositeLit, field string) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			text, isText := kv.Value.(*ast.BasicLit)
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
				return !isText || text.Kind == token.STRING && len(text.Value) > 2
			}
		}
	}
	return false
}

func TestShapeFindsWhatIsWrong(t *testing.T) {
	long := "func f() {" + strings.Repeat("\n", funcLines) + "}\n"
	for _, c := range []struct {
		name, file, src, want string
		rule                  func(*file) []string
	}{
		{"short", "x.go", "package x\nfunc f() {}\n", "", checkLength},
		{"long function", "x.go", "package x\n" + long, "x.go:2: f has 81 lines", checkLength},
		{"long function with a reason", "x.go", "package x\n\n// f does.\n//\n//lint:length one table\n" + long, "", checkLength},
		{"long function without a reason", "x.go", "package x\n\n//lint:length \n" + long, "f has 81", checkLength},
		{"long test", "x_test.go", "package x\n" + long, "", checkLength},
		{"long file", "x.go", "package x\n" + strings.Repeat("\n", fileLines), "the file has 60", checkLength},
		{"long file with a reason", "x.go", "//lint:length a table\npackage x\n" + strings.Repeat("\n", fileLines), "", checkLength},

		{"comment", "x.go", "package x\n\n// " + strings.Repeat("x", 117) + "\n", "", checkCommentWidth},
		{"wide comment", "x.go", "package x\n\n// " + strings.Repeat("ß", 118) + "\n", "x.go:3: the comment ends in column 121", checkCommentWidth},
		{"wide comment behind code", "x.go", "package x\n\nvar (\n\ty = 1 // " + strings.Repeat("x", 110) + "\n)\n", "column 123", checkCommentWidth},
		{"wide table", "x.go", "package x\n\n//\t" + strings.Repeat("x", 200) + "\n", "", checkCommentWidth},
		{"URL", "x.go", "package x\n\n// https://example.org/" + strings.Repeat("x", 200) + "\n", "", checkCommentWidth},

		{"documented", "x.go", "package x\n\n// F does.\nfunc F() {}\n", "", checkDocumentation},
		{"function", "x.go", "package x\nfunc F() {}\n", "F is exported", checkDocumentation},
		{"method", "x.go", "package x\n\n// T is.\ntype T int\nfunc (*T) M() {}\n", "M is exported", checkDocumentation},
		{"method of a hidden type", "x.go", "package x\ntype t int\nfunc (t) M() {}\n", "", checkDocumentation},
		{"type", "x.go", "package x\ntype T int\n", "T is exported", checkDocumentation},
		{"constant in a group with a comment", "x.go", "package x\n\n// Kinds.\nconst (\n\tA = 1\n)\n", "", checkDocumentation},
		{"constant with a comment at its end", "x.go", "package x\nconst (\n\tA = 1 // one\n)\n", "", checkDocumentation},
		{"variable", "x.go", "package x\nvar V = 1\n", "V is exported", checkDocumentation},
		{"row of functions", "x.go", "package x\n\n// F and G are.\nfunc F() {}\nfunc G() {}\n", "", checkDocumentation},
		{"row of functions, one not named", "x.go", "package x\n\n// F and G are.\nfunc F() {}\nfunc G() {}\nfunc H() {}\n", "H is exported", checkDocumentation},
		{"function after a blank line", "x.go", "package x\n\n// F and G are.\nfunc F() {}\n\nfunc G() {}\n", "G is exported", checkDocumentation},

		{"source", "policy/x.go", "package policy\nvar e = Entry{Name: `a`, Source: `Paper (2020), section 3`}\n", "", checkSource},
		{"no source", "policy/x.go", "package policy\nvar e = Entry{Name: `a`}\n", "policy/x.go:2: an Entry without Source", checkSource},
		{"empty source", "policy/x.go", "package policy\nvar e = &Entry{Name: `a`, Source: ``}\n", "without Source", checkSource},
	} {
		t.Run(c.name, func(t *testing.T) { sample(t, c.rule, c.file, c.src, c.want) })
	}
}
