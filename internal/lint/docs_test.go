package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// Every link of a page leads somewhere: to a file or folder of the repository, and to a heading if it names one. What is
// elsewhere is not looked at.
func TestLinks(t *testing.T) {
	seen := 0
	for _, name := range tracked(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted in the working tree
		}
		found, n := checkLinks(name, string(text), func(name string) (string, bool) {
			if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.IsDir() {
				return "", err == nil
			}
			text, err := os.ReadFile(filepath.Join(root, name))
			return string(text), err == nil
		})
		for _, s := range found {
			t.Error(s)
		}
		seen += n
	}
	if seen < 100 {
		t.Errorf("only %d links seen", seen)
	}
}

var linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// checkLinks returns what is wrong with the links of a page, and how many there are. read gives other files.
func checkLinks(name, text string, read func(string) (string, bool)) (found []string, n int) {
	prose(text, func(line int, s string) {
		for _, m := range linkTarget.FindAllStringSubmatch(s, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			n++
			other, there := text, true
			if target != "" {
				target = path.Join(path.Dir(name), target)
				other, there = read(target)
			}
			at := name + ":" + strconv.Itoa(line) + ": the link to " + m[1]
			if !there {
				found = append(found, at+" leads nowhere")
			} else if anchor != "" && !anchors(other)[anchor] {
				found = append(found, at+" names no heading of the page")
			}
		}
	})
	return found, n
}

// prose calls f for each line that is no code, without what is code in it.
func prose(text string, f func(line int, s string)) {
	code, n := false, 0
	for line := range strings.Lines(text) {
		n++
		if fence := strings.HasPrefix(strings.TrimSpace(line), "```"); fence || code {
			code = code != fence
			continue
		}
		if !strings.HasPrefix(line, "    ") || strings.Contains(line, "](") { // an item of a list may be that far in
			f(n, inlineCode.ReplaceAllString(line, ""))
		}
	}
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// anchors returns what GitHub calls the headings of a page.
func anchors(text string) map[string]bool {
	all, times := map[string]bool{}, map[string]int{}
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		heading := strings.TrimLeft(line, "#")
		if code || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		heading = linkTarget.ReplaceAllString(strings.ReplaceAll(heading, "[", ""), "")
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading))
		if n := times[slug]; n > 0 {
			all[slug+"-"+strconv.Itoa(n)] = true
		} else {
			all[slug] = true
		}
		times[slug]++
	}
	return all
}

func TestLinksFindsWhatIsWrong(t *testing.T) {
	const other = "# A `b` (c), d\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n## [x](y.md) z\n"
	read := func(name string) (string, bool) {
		if name == "docs" {
			return "", true
		}
		return other, name == "docs/other.md"
	}
	for _, c := range []struct{ text, want string }{
		{"[a](other.md) [b](../docs) [c](https://example.org/none#x)", ""},
		{"[a](none.md)", "docs/page.md:1: the link to none.md leads nowhere"},
		{"\n[a](../other.md)", "docs/page.md:2:"},
		{"[a](other.md#a-b-c-d) [b](other.md#twice-1) [c](other.md#x-z)", ""},
		{"[a](other.md#no-heading)", "names no heading"},
		{"[a](other.md#twice-2)", "names no heading"},
		{"# Here\n[a](#here)", ""},
		{"[a](#there)", "names no heading"},
		{"`[a](none.md)`", ""},
		{"```\n[a](none.md)\n```", ""},
	} {
		found, _ := checkLinks("docs/page.md", c.text, read)
		expect(t, found, c.want)
	}
}
