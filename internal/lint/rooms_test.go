package lint

import (
	"flag"
	"fmt"
	"go/doc"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the table of packages into docs/explain/design.md instead of comparing it")

// room is a package of the workspace.
type room struct {
	dir, purpose string
	imports      []string // of the workspace, in order, without those of tests
}

// rooms returns the packages that are not tests only, in the order of the arrows.
func rooms(files []*file) []room {
	byDir := map[string]*room{}
	for _, f := range files {
		if f.test() {
			continue
		}
		r := byDir[f.dir()]
		if r == nil {
			r = &room{dir: f.dir()}
			byDir[r.dir] = r
		}
		if text := f.Doc.Text(); text != "" {
			r.purpose = purpose(f.Name.Name, text)
		}
		for _, imp := range f.Imports {
			target, _ := strconv.Unquote(imp.Path.Value)
			if own, ours := strings.CutPrefix(target, module); ours {
				if own = strings.TrimPrefix(own, "/"); own == "" {
					own = "."
				}
				r.imports = append(r.imports, own)
			}
		}
	}
	var order []string
	for line := range strings.Lines(arrows) {
		from, _, _ := strings.Cut(line, "->")
		order = append(order, strings.TrimSpace(from))
	}
	var all []room
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		slices.Sort(byDir[dir].imports)
		byDir[dir].imports = slices.Compact(byDir[dir].imports)
		all = append(all, *byDir[dir])
	}
	slices.SortStableFunc(all, func(a, b room) int { return slices.Index(order, class(a.dir)) - slices.Index(order, class(b.dir)) })
	return all
}

// purpose is the first sentence of a package's comment without the name, up to where it goes into detail.
func purpose(name, text string) string {
	s := new(doc.Package).Synopsis(text)
	if words := strings.SplitN(s, " ", 3); words[0] == "Package" || words[0] == "Command" {
		s = words[2]
	} else if name == "main" {
		_, s, _ = strings.Cut(s, " ")
	}
	for _, end := range []string{": ", "; ", ". "} {
		s, _, _ = strings.Cut(s+" ", end)
	}
	return strings.NewReplacer("[", "", "]", "", "|", "/").Replace(strings.TrimSpace(s))
}

// TestRooms: the table of packages in docs/explain/design.md says what the code says.
func TestRooms(t *testing.T) {
	const begin, end = "<!-- Written by go test ./internal/lint -run TestRooms -rewrite. Do not edit. -->\n", "<!-- The end of what is written. -->\n"
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("\n| package | what it does | imports |\n|---|---|---|\n")
	for _, r := range rooms(files) {
		name, imports := r.dir, "`"+strings.Join(r.imports, "`, `")+"`"
		if name == "." {
			name = path.Base(module)
		}
		if len(r.imports) == 0 {
			imports = ""
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", name, r.purpose, imports)
	}
	table.WriteString("\n")
	page := filepath.Join(root, "docs", "explain", "design.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("docs/explain/design.md has no place for the table: no line %q, or no line %q after it", begin, end)
	case *rewrite:
		err = os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o666)
	case old != table.String():
		err = fmt.Errorf("the table of packages in docs/explain/design.md is out of date; run go test ./internal/lint -run TestRooms -rewrite")
	}
	if err != nil {
		t.Error(err)
	}
}

// An arrow that nobody uses allows what nobody has decided.
func TestArrowsAreUsed(t *testing.T) {
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	used, there := map[string][]string{}, map[string]bool{}
	for _, r := range rooms(files) {
		used[class(r.dir)] = append(used[class(r.dir)], r.imports...)
		there[class(r.dir)] = true
	}
	for from, targets := range rules(arrows) {
		if !there[from] && from != "internal/lint" && from != "internal/attack" {
			t.Errorf("arrows_test.go:1: there is no package %s; take its line away", from)
		}
		for _, to := range targets {
			if to != "*" && !slices.Contains(used[from], to) {
				t.Errorf("arrows_test.go:1: %s does not import %s; take the arrow away", from, to)
			}
		}
	}
}
