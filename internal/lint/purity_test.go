package lint

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// pure packages are functions of what they are given: no clock, no I/O, no goroutine, no lock, no variable that changes, no luck
// but that of a seed, no iteration over a map where order can matter. A run that cannot be repeated cannot be replayed.
var pure = []string{"sched", "policy", "policy/kit", "policy/internal/geo", "policy/internal/resume", "policy/internal/tandem", "policy/internal/probes", "laws", "plan", "plan/rule"}

// registryFile alone holds a variable that changes, under a lock: the policies that a program has registered by name. They are the same for
// the whole program from its beginning on, as drivers of database/sql are, so what a policy decides does not depend on it.
const registryFile = "policy/registry.go"

// impureImports are packages that a pure one has no use for.
var impureImports = []string{"context", "log", "math/rand", "net", "os", "runtime", "sync", "syscall", "unsafe"}

// impureFuncs are functions that look at the world, or speak to it, by package.
var impureFuncs = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// seeded are the functions of math/rand/v2 that do not draw from the global source.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewZipf"}

func TestPurity(t *testing.T) {
	var patterns []string
	for _, p := range pure {
		patterns = append(patterns, "./"+p)
	}
	all, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, patterns...)
	if err != nil || len(all) != len(pure) {
		t.Fatalf("%d of %d packages loaded: %v", len(all), len(pure), err)
	}
	for _, p := range all {
		for _, e := range p.Errors {
			t.Error(e)
		}
		for _, f := range p.Syntax {
			name := p.Fset.Position(f.Package).Filename
			v := &visitor{file: &file{File: f, fset: p.Fset, name: strings.TrimPrefix(p.PkgPath, module+"/") + "/" + filepath.Base(name)}, info: p.TypesInfo, pkg: p.Types}
			for _, s := range v.check() {
				t.Error(s)
			}
		}
	}
}

// visitor looks for what is impure in one file.
type visitor struct {
	*file
	info   *types.Info
	pkg    *types.Package
	sorted map[ast.Node]bool // keys of a map on their way into a sort
	bad    []string
}

func (v *visitor) check() []string {
	v.sorted = map[ast.Node]bool{}
	v.bad = checkImports(v.file)
	for _, d := range v.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && v.name != registryFile {
			ast.Inspect(f.Body, v.writes)
		}
	}
	ast.Inspect(v.File, v.statement)
	return v.bad
}

func checkImports(f *file) (found []string) {
	for _, imp := range f.Imports {
		p := strings.Trim(imp.Path.Value, `"`)
		for _, bad := range impureImports {
			if p == "sync" && f.name == registryFile {
				continue
			}
			if p == bad || bad != "math/rand" && strings.HasPrefix(p, bad+"/") {
				found = append(found, f.found(imp.Pos(), "a pure package does not import %s; take what you need from it as an argument", p))
			}
		}
	}
	return found
}

func (v *visitor) report(n ast.Node, format string, args ...any) {
	v.bad = append(v.bad, v.found(n.Pos(), format, args...))
}

// statement looks at what may stand nowhere in a pure package.
func (v *visitor) statement(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		v.report(n, "a pure package starts no goroutine; let the driver do it")
	case *ast.ChanType:
		v.report(n, "a pure package has no channels; return a value")
	case *ast.RangeStmt:
		if _, ok := v.info.TypeOf(n.X).Underlying().(*types.Map); ok {
			v.unordered(n)
		}
	case *ast.CallExpr:
		v.call(n)
	case *ast.Ident:
		v.use(n)
	}
	return true
}

// use looks at functions of other packages, called or passed on.
func (v *visitor) use(id *ast.Ident) {
	f, ok := v.info.Uses[id].(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
		return
	}
	switch p := f.Pkg().Path(); {
	case slices.Contains(impureFuncs[p], f.Name()):
		v.report(id, "a pure package does not call %s.%s; take the value as an argument", p, f.Name())
	case p == "math/rand/v2" && !slices.Contains(seeded, f.Name()):
		v.report(id, "rand.%s draws from the global source; draw from a rand.Rand with a seed of its own", f.Name())
	}
}

// call looks at iterators over maps. Those that go straight into a sort are in order again.
func (v *visitor) call(n *ast.CallExpr) {
	switch name := v.callee(n); {
	case strings.HasPrefix(name, "slices.Sorted"):
		for _, a := range n.Args {
			v.sorted[a] = true
		}
	case (name == "maps.Keys" || name == "maps.Values" || name == "maps.All") && !v.sorted[n]:
		v.unordered(n)
	}
}

func (v *visitor) callee(n *ast.CallExpr) string {
	if s, ok := n.Fun.(*ast.SelectorExpr); ok {
		if f, ok := v.info.Uses[s.Sel].(*types.Func); ok && f.Pkg() != nil {
			return f.Pkg().Path() + "." + f.Name()
		}
	}
	return ""
}

// unordered reports an iteration over a map, unless a comment in its line or the line before says why the order does not matter.
func (v *visitor) unordered(n ast.Node) {
	const excuse = "// order does not matter: "
	at := v.line(n.Pos())
	for _, g := range v.Comments {
		for _, c := range g.List {
			if l := v.line(c.Pos()); (l == at || l == at-1) && strings.HasPrefix(c.Text, excuse) && len(c.Text) > len(excuse) {
				return
			}
		}
	}
	v.report(n, "a map has no order; sort its keys, or say in a comment %q", excuse+"why")
}

// writes looks inside functions for changes of package variables: they are tables, written where they are declared and nowhere else.
func (v *visitor) writes(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, x := range n.Lhs {
				v.target(x)
			}
		}
	case *ast.IncDecStmt:
		v.target(n.X)
	case *ast.UnaryExpr:
		if _, whole := n.X.(*ast.Ident); whole && n.Op == token.AND { // of a row of a table it is only a look
			v.target(n.X)
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			v.target(n.Key)
			v.target(n.Value)
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"clear", "copy", "delete"}, id.Name) {
			v.target(n.Args[0])
		}
	}
	return true
}

func (v *visitor) target(x ast.Expr) {
	for {
		switch y := x.(type) {
		case *ast.IndexExpr:
			x = y.X
		case *ast.SliceExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		case *ast.SelectorExpr:
			if _, imported := v.info.Uses[y.Sel].(*types.Var); imported && v.info.Selections[y] == nil {
				v.report(y, "a pure package changes no variable of another")
				return
			}
			x = y.X
		case *ast.Ident:
			if o, ok := v.info.Uses[y].(*types.Var); ok && o.Parent() == v.pkg.Scope() {
				v.report(y, "package variable %s is changed, or its address taken, in a function; keep the state in a value", y.Name)
			}
			return
		default:
			return
		}
	}
}

func TestPurityFindsWhatIsWrong(t *testing.T) {
	const header = `package x
import ("fmt"; "maps"; "math/rand/v2"; "slices"; "time")
var _ = fmt.Sprint; var _ = maps.Keys[map[int]int]; var _ = rand.New; var _ = slices.Max[[]int]; var _ time.Duration
var table = map[string]int{"a": 1}
var row struct{ n []int }
`
	for _, c := range []struct{ name, src, want string }{
		{"nothing", `func f() time.Duration { return time.Second }`, ""},
		{"clock", `func f() time.Time { return time.Now() }`, "time.Now"},
		{"clock passed on", `var clock = time.Now`, "time.Now"},
		{"method of the same name", `func f(t time.Time) bool { return t.After(t) }`, ""},
		{"output", `func f() { fmt.Println() }`, "fmt.Println"},
		{"global luck", `func f() int { return rand.IntN(3) }`, "rand.IntN"},
		{"seeded luck", `func f() int { return rand.New(rand.NewPCG(1, 2)).IntN(3) }`, ""},
		{"goroutine", `func f() { go f() }`, "goroutine"},
		{"channel", `func f(c chan int) {}`, "channels"},
		{"range over a map", `func f() { for range table {} }`, "order"},
		{"with a reason", "func f() { // order does not matter: they are only counted\nfor range table {} }", ""},
		{"without a reason", "func f() { // order does not matter: \nfor range table {} }", "order"},
		{"keys", `func f() { for range maps.Keys(table) {} }`, "order"},
		{"sorted keys", `func f() []string { return slices.Sorted(maps.Keys(table)) }`, ""},
		{"table read", `func f() int { return table["a"] }`, ""},
		{"table changed", `func f() { table["b"] = 2 }`, "package variable table"},
		{"table replaced", `func f() { table = nil }`, "package variable table"},
		{"key deleted", `func f() { delete(table, "a") }`, "package variable table"},
		{"field counted up", `func f() { row.n[0]++ }`, "package variable row"},
		{"row of a table", `func f() any { return &row.n[0] }`, ""},
		{"address taken", `func f() any { return &row }`, "package variable row"},
		{"local of the same name", `func f() { table := 1; table++; _ = table }`, ""},
		{"variable of another package", `func f() { rand.NewPCG(1, 2); time.Local = nil }`, "of another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := parse("x.go", header+"\n"+c.src)
			if err != nil {
				t.Fatal(err)
			}
			info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
				Selections: map[*ast.SelectorExpr]*types.Selection{}}
			conf := types.Config{Importer: standard}
			pkg, err := conf.Check("x", f.fset, []*ast.File{f.File}, info)
			if err != nil {
				t.Fatal(err)
			}
			v := &visitor{file: f, info: info, pkg: pkg}
			expect(t, slices.DeleteFunc(v.check(), func(s string) bool { return strings.HasPrefix(s, "x.go:3:") }), c.want)
		})
	}
	for _, p := range []string{"os", "os/exec", "sync", "sync/atomic", "net/http", "math/rand"} {
		t.Run("import "+p, func(t *testing.T) {
			sample(t, checkImports, "x.go", "package x\nimport \""+p+"\"", "does not import "+p)
		})
	}
}

// standard imports packages of the standard library for samples. A test that was built with -trimpath does not know where
// that is.
var standard = func() types.Importer {
	if build.Default.GOROOT == "" {
		if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
			build.Default.GOROOT = strings.TrimSpace(string(out))
		}
	}
	return importer.Default()
}()
