package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// block is a block of code on a page, and what its mark says is done with it. The mark is a comment above it:
//
//	<!-- run -->                  run it; what commands behind "$ " print is compared to the letter
//	<!-- run: varies -->          the same, but numbers, runs of one sign or of blanks, and rows of timelines are all alike
//	<!-- run: differs -->         what the commands print depends on the machine: only their status is looked at
//	<!-- run: fails -->           the last command ends with another status than 0; combines with the others: varies, fails
//	<!-- run: slow -->            run it only in tests with the tag long
//	<!-- file: NAME -->           write it into the file NAME
//	<!-- not run: REASON -->      leave it alone
//
// A block without a "$ " is a script, of which only the status is looked at. A line "..." stands for any lines of
// output. All commands of a page run in one shell, in an empty folder in which docs is this repository's. A comment
// that begins with "<!-- setup" holds commands that come first and are not shown.
type block struct {
	line     int      // of its first line, from 1
	lines    []string // without what indents them
	indent   string
	mark     string
	setup    bool // it is not shown
	commands []command
}

// command is what stands behind a "$ ", or a script.
type command struct {
	text       string
	first, end int // the lines of the block that have its output
	output     []string
	checked    bool // the output is compared
}

// what returns the words of a mark: run, file, not run, or one of another test; and what is behind it.
func (b *block) what() (verb, rest string) {
	verb, rest, _ = strings.Cut(b.mark, ":")
	return verb, strings.TrimSpace(rest)
}

func (b *block) has(option string) bool {
	verb, rest := b.what()
	return verb == "run" && slices.Contains(strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' }), option)
}

var (
	markLine = regexp.MustCompile(`^\s*<!-- (.*) -->$`)
	// marks of blocks that other tests look after
	elsewhere = regexp.MustCompile(`^(Example[A-Za-z]+|docs/outside/[a-z_]+\.go|go run \.( [a-z-]+\.svg)?)$`)
	listItem  = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
)

// parsePage returns the blocks of a page, setups among them.
func parsePage(text string) (all []block) {
	lines := strings.Split(text, "\n")
	mark, inList := "", false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch m := markLine.FindStringSubmatch(line); {
		case m != nil:
			mark = m[1]
			continue
		case strings.HasPrefix(line, "<!-- setup"):
			b := block{line: i + 2, mark: "run", setup: true}
			for i++; i < len(lines) && lines[i] != "-->"; i++ {
				b.lines = append(b.lines, lines[i])
			}
			all = append(all, b.parse())
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			b := block{line: i + 2, mark: mark, indent: line[:strings.Index(line, "`")]}
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "```"); i++ {
				b.lines = append(b.lines, strings.TrimPrefix(lines[i], b.indent))
			}
			all = append(all, b.parse())
		case strings.HasPrefix(line, "    ") && !inList && strings.TrimSpace(line) != "":
			b := block{line: i + 1, mark: mark, indent: "    "}
			for ; i < len(lines) && (strings.HasPrefix(lines[i], "    ") || lines[i] == ""); i++ {
				b.lines = append(b.lines, strings.TrimPrefix(lines[i], b.indent))
			}
			for i--; lines[i] == ""; i-- {
				b.lines = b.lines[:len(b.lines)-1]
			}
			all = append(all, b.parse())
		case line == "":
			continue // a mark may stand above an empty line
		default:
			inList = listItem.MatchString(line) || inList && strings.HasPrefix(line, " ")
		}
		mark = ""
	}
	return all
}

func prompted(line string) bool { return strings.HasPrefix(line, "$ ") }

// parse finds the commands of a block that is run.
func (b block) parse() block {
	if verb, _ := b.what(); verb != "run" {
		return b
	}
	if !slices.ContainsFunc(b.lines, prompted) {
		b.commands = []command{{text: strings.Join(b.lines, "\n")}}
		return b
	}
	for i := slices.IndexFunc(b.lines, prompted); i < len(b.lines); {
		c := command{text: b.lines[i][2:], checked: true}
		for i++; i < len(b.lines) && (strings.HasSuffix(b.lines[i-1], `\`) || strings.HasPrefix(b.lines[i], "> ")); i++ {
			c.text += "\n" + strings.TrimPrefix(b.lines[i], "> ")
		}
		for c.first = i; i < len(b.lines) && !prompted(b.lines[i]); i++ {
			c.output = append(c.output, b.lines[i])
		}
		c.end = i
		b.commands = append(b.commands, c)
	}
	return b
}

// wrong says what is wrong with a block's mark, "" if nothing.
func (b *block) wrong() string {
	verb, rest := b.what()
	switch {
	case b.mark == "":
		return "the block has no mark; put one of <!-- run -->, <!-- run: varies -->, <!-- file: NAME --> and <!-- not run: REASON --> above it " +
			"(cmd/tailcut/page_test.go says what they do)"
	case elsewhere.MatchString(b.mark), verb == "run" && regexp.MustCompile(`^((varies|differs|fails|slow)(, |$))*$`).MatchString(rest),
		verb == "file" && rest != "", verb == "not run" && len(rest) > 3:
		return ""
	}
	return fmt.Sprintf("expected <!-- run -->, <!-- run: varies, differs, fails, slow -->, <!-- file: NAME --> or <!-- not run: REASON -->, not <!-- %s -->", b.mark)
}

var (
	number  = regexp.MustCompile(`\d[\d.,]*(e[+-]?\d+)?(ns|us|µs|ms|[smhd]|[kM]?B|[kKMGT]iB)?(\d[\d.]*(ms|[smh]))*\b`)
	runID   = regexp.MustCompile(`\b[0-9a-f]{16}\b`)
	plural  = regexp.MustCompile(`\b0 ([a-z]+)s\b`)                                    // behind a number that was made 0
	slotRow = regexp.MustCompile(`^\s*\d+ +\|.*$`)                                     // of a timeline: which task came into which slot is chance
	unused  = regexp.MustCompile(`( +. (attempt|straggler|clone), result not used)+$`) // which of them there are is chance, too
	repeats = regexp.MustCompile(`(==+|##+|xx+|\+\++|--+|\.\.+|  +|││+)`)
)

// alike is a line with all that may vary made the same.
func alike(s string) string {
	s = unused.ReplaceAllString(slotRow.ReplaceAllString(s, "slot"), "unused")
	s = plural.ReplaceAllString(number.ReplaceAllString(runID.ReplaceAllString(s, "0"), "0"), "0 $1")
	s = strings.TrimSpace(repeats.ReplaceAllStringFunc(s, func(many string) string { return many[:1] }))
	if strings.Trim(s, "0 ") == "" && len(s) > 1 {
		return "axis"
	}
	return s
}

// shows tells whether lines of output are what a page shows, in which "..." stands for any lines.
func shows(page, got []string, varies bool) bool {
	if len(page) == 0 {
		return len(got) == 0
	}
	if page[0] == "..." {
		for k := range len(got) + 1 {
			if shows(page[1:], got[k:], varies) {
				return true
			}
		}
		return false
	}
	if len(got) == 0 || !(page[0] == got[0] || varies && alike(page[0]) == alike(got[0])) {
		return false
	}
	return shows(page[1:], got[1:], varies)
}

func TestParsePage(t *testing.T) {
	const page = "# T\n\n<!-- setup\nmkdir x\n-->\n\n<!-- run -->\n    $ a \\\n        b\n    one\n\n    two\n    $ c <<E\n    > d\n    > E\n\ntext\n\n" +
		"- item\n    no code\n\ntext\n\n    bare\n\n<!-- file: job.yaml -->\n```yaml\nx: 1\n```\n<!-- run: varies, fails -->\n\n```\nset -e\n$x\n```\n"
	var got []string
	for _, b := range parsePage(page) {
		s := fmt.Sprintf("%d %q", b.line, b.mark)
		for _, c := range b.commands {
			s += fmt.Sprintf(" %q->%q", c.text, c.output)
		}
		if len(b.commands) == 0 {
			s += fmt.Sprintf(" %q", b.lines)
		}
		got = append(got, s)
	}
	want := []string{
		`4 "run" "mkdir x"->[]`, `8 "run" "a \\\n    b"->["one" "" "two"] "c <<E\nd\nE"->[]`, `24 "" ["bare"]`,
		`28 "file: job.yaml" ["x: 1"]`, `33 "run: varies, fails" "set -e\n$x"->[]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMarks(t *testing.T) {
	for mark, ok := range map[string]bool{
		"run": true, "run: varies": true, "run: varies, fails": true, "run: always": false, "": false, "not run": false, "not run: needs a cluster": true,
		"file: a.txt": true, "file:": false, "ExampleRun": true, "docs/outside/main.go": true, "go run .": true, "anything": false,
	} {
		if b := (block{mark: mark}); (b.wrong() == "") != ok {
			t.Errorf("%q: %q", mark, b.wrong())
		}
	}
}

func TestShows(t *testing.T) {
	for name, c := range map[string]struct {
		page, got string
		varies    bool
		want      bool
	}{
		"equal":                       {"a 1", "a 1", false, true},
		"another number":              {"a 1", "a 2", false, false},
		"another number, varies":      {"in 1.25 s, 3 tasks", "in 12.5 s, 10 tasks", true, true},
		"another word, varies":        {"1 task failed", "1 task done", true, false},
		"plurals":                     {"4 attempts, 1 clone", "5 attempts, 0 clones", true, true},
		"spans":                       {"2.91s", "1m04s", true, true},
		"bars":                        {" 1 |0==|3####|", " 2 |1=|4##|  |3+|", true, true},
		"unused":                      {"  x straggler, result not used", "   . attempt, result not used  - clone, result not used", true, true},
		"axis":                        {"  0  1  2 3", "0 2 4", true, true},
		"blanks":                      {"a   1", "a 12", true, true},
		"a run":                       {"as run 6c1f0a2b9d3e4f58 made", "as run 1c1f0a2b9d3e4f59 made", true, true},
		"one line more":               {"a", "a\nb", false, false},
		"one line less":               {"a\nb", "a", false, false},
		"anything":                    {"a\n...\nz", "a\nb\nc\nz", false, true},
		"nothing where anything goes": {"a\n...\nz", "a\nz", false, true},
		"the end is missing":          {"a\n...\nz", "a\nb", false, false},
	} {
		if got := shows(strings.Split(c.page, "\n"), strings.Split(c.got, "\n"), c.varies); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
