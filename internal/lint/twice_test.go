package lint

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// No two packages have six lines of the same words; tests may repeat up to nine, which is what it takes to make
// something that cannot fail. What two packages need belongs in one that both import.
const twice, twiceInTests = 6, 10

func TestNothingTwice(t *testing.T) {
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range checkTwice(files) {
		t.Error(s)
	}
}

// checkTwice looks for lines of one package that stand in another, and names each such place once.
func checkTwice(files []*file) (found []string) {
	type place struct {
		f    *file
		line int
	}
	first := map[string]place{}
	for _, f := range files {
		n := twice
		if f.test() {
			n = twiceInTests
		}
		words, lines := wordsOf(f)
		told := -n
		for i := 0; i+n <= len(words); i++ {
			if !telling(words[i : i+n]) {
				continue
			}
			window := strings.Join(words[i:i+n], "\n")
			at, seen := first[window]
			if !seen {
				first[window] = place{f, lines[i]}
				continue
			}
			if at.f.dir() != f.dir() && i >= told+n {
				found = append(found, fmt.Sprintf("%s:%d: %d lines stand in %s:%d, too; let both packages import them", f.name, lines[i], n, at.f.name, at.line))
				told = i
			}
		}
	}
	return found
}

// wordsOf returns the lines of a file that say something, without indentation, and their numbers.
func wordsOf(f *file) (words []string, numbers []int) {
	begin := f.line(f.Package)
	for _, d := range f.Decls {
		if imports, ok := d.(*ast.GenDecl); ok && len(imports.Specs) > 0 {
			if _, ok := imports.Specs[0].(*ast.ImportSpec); ok {
				begin = f.line(imports.End())
			}
		}
	}
	for i, line := range strings.Split(f.src, "\n") {
		if line = strings.TrimSpace(line); i+1 > begin && line != "" {
			words, numbers = append(words, line), append(numbers, i+1)
		}
	}
	return words, numbers
}

// telling reports whether most lines are more than a brace.
func telling(words []string) bool {
	n := 0
	for _, line := range words {
		if len(line) > len("})") {
			n++
		}
	}
	return n >= len(words)-2
}

func TestTwiceFindsWhatIsWrong(t *testing.T) {
	const body = "\nimport \"fmt\"\nfunc x() {\nfmt.Println(1)\nfmt.Println(2)\n\nfmt.Println(3)\nfmt.Println(4)\nfmt.Println(5)\n}\n"
	for _, c := range []struct{ name, more, want string }{
		{"b/b.go", "", "b/b.go:3: 6 lines stand in a/a.go:3, too"},
		{"a/b.go", "", ""},
		{"b/b_test.go", "", ""},
		{"b/b.go", "var y = 1", "b/b.go:3"},
	} {
		var files []*file
		for _, name := range []string{"a/a.go", c.name} {
			f, err := parse(name, "package x"+body+c.more)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		expect(t, checkTwice(files), c.want)
	}
}
