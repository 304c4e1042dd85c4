package lint

import (
	"fmt"
	"go/token"
	"path"
	"strings"
	"testing"
)

// twiceLines is how many lines that say something may stand in two packages, less one.
const twiceLines = 6

// What two packages say in the same words is said once: in one of them, or in a third.
func TestNothingTwice(t *testing.T) {
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range twice(files) {
		t.Error(s)
	}
}

// spoken is a line that says something: no blank, comment, lone punctuation or import.
type spoken struct {
	text string
	line int
}

// twice finds runs of lines that stand in two packages.
func twice(files []*file) (found []string) {
	type place struct {
		f    *file
		line int
	}
	first := map[string]place{}
	for _, f := range files {
		lines := saying(f)
		for i := 0; i+twiceLines <= len(lines); i++ {
			var words []string
			for _, l := range lines[i : i+twiceLines] {
				words = append(words, l.text)
			}
			run := strings.Join(words, "\n")
			there, stands := first[run]
			switch {
			case !stands:
				first[run] = place{f, lines[i].line}
			case there.f.dir() != f.dir():
				found = append(found, fmt.Sprintf("%s:%d: these lines stand in %s:%d too; say them once, in one of the packages or in a third",
					f.name, lines[i].line, there.f.name, there.line))
				i += twiceLines - 1
			}
		}
	}
	return found
}

// saying are the lines of a file that say something.
func saying(f *file) (lines []spoken) {
	quiet := map[int]bool{}
	skip := func(from, to token.Pos) {
		for n := f.line(from); n <= f.line(to); n++ {
			quiet[n] = true
		}
	}
	skip(f.FileStart, f.Name.End())
	for _, imp := range f.Imports {
		skip(imp.Pos(), imp.End())
	}
	n := 0
	for line := range strings.Lines(f.src) {
		n++
		code, _, _ := strings.Cut(line, "//")
		if code = strings.Join(strings.Fields(code), " "); !quiet[n] && strings.ContainsFunc(code, letter) {
			lines = append(lines, spoken{code, n})
		}
	}
	return lines
}

func letter(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func TestTwiceFindsWhatIsSaidTwice(t *testing.T) {
	body := "\n\ta := 1 // one\n\n\tb := 2\n\tc := 3\n\td := 4\n\te := 5\n\tprint(a, b, c, d, e)\n}\n"
	for _, c := range []struct{ name, src, want string }{
		{"b/y.go", "package b\nfunc Y() {" + strings.ReplaceAll(body, " // one", ""), "b/y.go:3: these lines stand in a/x.go:3 too"},
		{"a/y.go", "package a\nfunc Y() {" + body, ""},
		{"b/y.go", "package b\nfunc Y() {" + strings.ReplaceAll(body, "c := 3", "c := 7"), ""},
	} {
		t.Run(path.Dir(c.name), func(t *testing.T) {
			var files []*file
			for _, f := range [][2]string{{"a/x.go", "package a\nfunc X() {" + body}, {c.name, c.src}} {
				parsed, err := parse(f[0], f[1])
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, parsed)
			}
			expect(t, twice(files), c.want)
		})
	}
}
