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
		if path.Ext(name) != ".md" || !strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "docs/decisions/") || name == "docs/README.md" {
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
