package lint

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tracked lists the files under version control; nil where git does not know the folder, as in a module's zip.
func tracked(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout:", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		files = append(files, name)
	}
	return files
}

// strangers are words that work on one machine only.
var strangers = []struct {
	word *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`(^|[^\w./~-])/(work/(main|shared)|root)\b`), "a path of somebody's machine; make it relative, or an argument"},
	{regexp.MustCompile(`GO[P]ROXY=http|(index|extra-index)-url[ =]http|--registry[ =]http`), "the address of a registry; leave it to the environment"},
}

func TestNoStrangersInTrackedFiles(t *testing.T) {
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			continue // deleted in the working tree, or no text
		}
		for _, s := range checkWords(name, string(text)) {
			t.Error(s)
		}
	}
}

func checkWords(name, text string) (found []string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, s := range strangers {
			if at := s.word.FindString(line); at != "" {
				found = append(found, name+":"+strconv.Itoa(n)+": "+strconv.Quote(at)+" is "+s.why)
			}
		}
	}
	return found
}

func TestWordsFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see docs/work/main and ~/work/main", ""},
		{"https://example.org/work/main and /" + "work/else", ""},
		{"cd /" + "work/main", "of somebody's machine"},
		{"ok\nHOME=/" + "root/x", "name:2:"},
		{"GOPROXY" + "=https://proxy.example.org", "registry"},
		{"GOPROXY" + "=off go build", ""},
	} {
		expect(t, checkWords("name", c.text), c.want)
	}
}

// Every file under testdata is named by a string of some test: itself, a folder above it, or a pattern that matches it.
// Corpora of fuzz tests are found by name of the test.
func TestNoDeadTestdata(t *testing.T) {
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, f := range files {
		if f.test() {
			patterns = append(patterns, mentions(f)...)
		}
	}
	for _, name := range tracked(t) {
		if strings.Contains("/"+name, "/testdata/") && !strings.Contains(name, "/testdata/fuzz/") && !alive(name, patterns) {
			t.Errorf("%s:1: no test names it; remove it, or test with it", name)
		}
	}
}

// mentions returns the paths that the strings of a test may mean, from the root. A plain file name may be in its testdata.
func mentions(f *file) (paths []string) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, _ := strconv.Unquote(lit.Value); s != "" && !strings.ContainsAny(s, " \n") {
				paths = append(paths, path.Join(f.dir(), s), path.Join(f.dir(), "testdata", s))
			}
		}
		return true
	})
	return paths
}

func alive(name string, patterns []string) bool {
	for _, p := range patterns {
		matches, _ := path.Match(p, name)
		above := strings.Contains(p+"/", "/testdata/") && strings.HasPrefix(name, p+"/")
		if matches || above {
			return true
		}
	}
	return false
}

func TestDeadTestdataFindsWhatIsDead(t *testing.T) {
	patterns := []string{}
	for _, src := range []string{`"one.txt"`, `"testdata/set/*.json"`, `"testdata/script"`, `"../other/testdata/two.txt"`} {
		f, err := parse("trace/x_test.go", "package trace\nvar _ = "+src)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, mentions(f)...)
	}
	for name, want := range map[string]bool{
		"trace/testdata/one.txt": true, "trace/testdata/two.txt": false, "other/testdata/two.txt": true,
		"trace/testdata/set/a.json": true, "trace/testdata/set/a.csv": false, "trace/testdata/script/a/b.txtar": true,
		"trace/testdata/scripts/a": false, "policy/testdata/one.txt": false,
	} {
		if got := alive(name, patterns); got != want {
			t.Errorf("%s is alive: %v, want %v", name, got, want)
		}
	}
}
