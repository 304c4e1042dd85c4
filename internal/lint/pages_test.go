package lint

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page is found from the index, and names no page that is gone.
func TestIndexIsComplete(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range tracked(t) {
		if path.Ext(name) != ".md" || !strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "docs/decisions/") || name == "docs/README.md" ||
			strings.HasPrefix(name, "docs/reference/policies/") { // which docs/reference/policies.md links to
			continue
		}
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			continue // deleted in the working tree
		}
		seen++
		if own := strings.TrimPrefix(name, "docs/"); !strings.Contains(string(index), "]("+own+")") {
			t.Errorf("docs/README.md does not link to %s; add it to the table of what it helps to do", own)
		}
	}
	if seen < 20 {
		t.Errorf("only %d pages seen", seen)
	}
}

// A decision's number is its own, and heads its page.
func TestDecisionsAreNumbered(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "[0-9]*.md"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("%d decisions: %v", len(pages), err)
	}
	taken := map[string]string{}
	for _, page := range pages {
		name := filepath.Base(page)
		number, _, _ := strings.Cut(name, "-")
		if other, ok := taken[number]; ok {
			t.Errorf("%s and %s have the same number", other, name)
		}
		taken[number] = name
		if text, err := os.ReadFile(page); err != nil || !bytes.HasPrefix(text, []byte("# "+number+" ")) {
			t.Errorf("%s: does not begin with its number (%v)", name, err)
		}
	}
}

var namedPage = regexp.MustCompile(`\bdocs/[a-z0-9/-]+\.(md|svg|txt|gz)\b`)

// Files that are no pages name pages too: comments, scripts, errors.
func TestNamedPagesExist(t *testing.T) {
	seen := 0
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || bytes.IndexByte(text, 0) >= 0 || strings.HasPrefix(name, "internal/lint/") {
			continue // deleted in the working tree, no text, or a test of this one
		}
		for _, page := range namedPage.FindAllString(string(text), -1) {
			seen++
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				t.Errorf("%s: names %s, which does not exist", name, page)
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d names seen", seen)
	}
}

// said is from how many words on two pages say the same: one says it, the other links to it.
const said = 16

var (
	pageWord = regexp.MustCompile(`[\p{L}\d'-]+`)
	comments = regexp.MustCompile(`(?s)<!--.*?-->`)
	// what the test of another package writes into a page
	written = regexp.MustCompile(`(?s)<!-- Written by .*?<!-- End of what is written by the test. -->`)
)

// repeated calls f for each page and every said words in a row of its prose.
func repeated(text string, f func(words string)) {
	var plain strings.Builder
	prose(comments.ReplaceAllString(written.ReplaceAllString(text, ""), ""), func(_ int, s string) {
		plain.WriteString(linkTarget.ReplaceAllString(s, "]") + " ")
	})
	words := pageWord.FindAllString(strings.ToLower(plain.String()), -1)
	for i := 0; i+said <= len(words); i++ {
		f(strings.Join(words[i:i+said], " "))
	}
}

// No page repeats another. Decisions are apart: each tells its whole story. So is the reference that the program writes
// from its help: how-to pages may say what help says.
func TestNoPageRepeatsAnother(t *testing.T) {
	first := map[string]string{}
	reported := map[string]bool{}
	for _, name := range tracked(t) {
		if path.Ext(name) != ".md" || name != "README.md" && !strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "docs/decisions/") ||
			name == "docs/reference/commands.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted in the working tree
		}
		repeated(string(text), func(words string) {
			other, there := first[words]
			switch pair := other + " " + name; {
			case !there:
				first[words] = name
			case other != name && !reported[pair]:
				reported[pair] = true
				t.Errorf("%s says what %s says: %q; say it once and link to it", name, other, words)
			}
		})
	}
	if len(first) < 10000 {
		t.Errorf("only %d rows of words seen", len(first))
	}
}

func TestRepeated(t *testing.T) {
	n := 0
	repeated("# a b c d e f g h\n\n<!-- hidden words -->\ni `code` j k [l](m.md) m n o p q\n\n    code block\n", func(string) { n++ })
	if n != 2 { // a to p without code and targets, and b to q
		t.Errorf("%d rows of words, want 2", n)
	}
}
