package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// phrase is a way to write that makes a reader translate, and what to write instead.
type phrase struct {
	words *regexp.Regexp
	write string
}

// bygone are phrases of sentences that the project once had. They are looked for in all pages, in strings of the program
// and in package comments, without regard to case.
var bygone = []phrase{
	{re(`to their end on time`), "finishes on time even when a few tasks run far too long"},
	{re(`, really\b|\breally:`), "name the means, as in (SIGSTOP/SIGCONT)"},
	{re(`what does not hold`), "claims that fail are reported with the reason"},
	{re(`tells? (while it runs )?how likely`), "shows the probability of ..."},
	{re(`\bis told what happened`), "takes events and returns decisions"},
	{re(`(other|same|bad) luck\b|\ball luck`), "random seed, random draws"},
	{re(`(does|do) not say it\b|of which it does\b`), "name the thing: unlisted splits"},
	{re(`what is recommended`), "the recommendation"},
	{re(`become the program|tells? of (them|it|itself)\b`), "runs X; flags are passed through"},
	{re(`not of an earlier run`), "was not created by Tailcut"},
	{re(`same command (again )?goes on`), "rerun the same command to resume"},
	{re(`slow hundredth|of the nights\b`), "at the 99th percentile"},
	{re(`nothing went over|what its ends are`), "unused links are estimated from their endpoints"},
	{re(`light tail`), "clones save only N % at today's machine time"},
	{re(`failed too often`), "failed (attempt N of M)"},
}

// phrases are more of the same kind. Decisions are excused: a decision keeps the words in which it was made.
var phrases = []phrase{
	{re(`\b(is|are|was|were|be|been|being) told\b`), "say who does what: takes events, reads, receives, knows"},
	{re(`\b(is|are) said\b`), "say who says it"},
	{re(`\bluck\b`), "random seed, random draws"},
	{re(`(^|[^m] )seed of (all|the|what|policies)\b`), "random seed"},
	{re(`\bof course\b`), "nothing"},
	{re(`in the manner of`), "like, as in"},
	{re(`\b(so|that) many\b`), "a number, or N"},
	{re(`\b(is|are) (not )?to be (had|done|found|seen|taken|read|kept|used|given|made)\b`), "can be, must be, or say who does it"},
	{re(`\bit is to be\b`), "say who does it"},
	{re(`\b(is|are) (not )?known to (it|them|nobody)\b`), "say who knows"},
	{re(`\breckon`), "estimate, expect, compute"},
	{re(`\bever so often\b`), "now and then"},
	{re(`\b(whoever|whomever|whosoever)\b`), "anyone who, users who"},
	{re(`\bheed`), "reads, follows"},
	{re(`\bforgiv(e|en|es|ing)\b`), "retry, tolerate"},
	{re(`\bnobody tells\b|\btell (it|them) of\b`), "X does not know"},
	{re(`[a-z)] of it[.,;:)]|[a-z)] of it$`), "name the thing, before its verb"},
	{re(`\bbeforehand\b`), "before"},
	{re(`\bhas to be told\b|\bwants? to know\b`), "needs"},
	{re(`\bparted by\b`), "separated by"},
	{re(`\bcame to nothing\b|\bcomes to nothing\b`), "failed"},
	{re(`\bso (long|far|often) (as that|that)\b`), "as long as"},
	{re(`\blikewise\b`), "also"},
	{re(`\bperhaps with\b`), "optionally with"},
	{re(`\bdearer\b|\bis dear\b`), "more expensive, costs more"},
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + s) }

const (
	longWords   = 40 // of a sentence of a page, at most
	wishedWords = 25 // of nearly all
	longShare   = 5  // percent of the sentences that may have more
)

// text is a paragraph, a cell of a table, an item of a list or a string.
type text struct {
	where string
	words string
}

func TestProse(t *testing.T) {
	n, all, long := 0, 0, 0
	for _, name := range tracked(t) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		page, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted in the working tree
		}
		decision := strings.HasPrefix(name, "docs/decisions/")
		for _, p := range paragraphs(name, string(page)) {
			n++
			found := checkPhrases(p, bygone)
			if !decision {
				found = append(found, append(checkPhrases(p, phrases), checkSentences(p)...)...)
				for _, s := range sentences(p.words) {
					all++
					if len(strings.Fields(s)) > wishedWords {
						long++
					}
				}
			}
			for _, s := range found {
				t.Error(s)
			}
		}
	}
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, p := range spokenBy(f) {
			n++
			for _, s := range append(checkPhrases(p, bygone), checkPhrases(p, phrases)...) {
				t.Error(s)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d texts seen", n)
	}
	if long*100 > all*longShare {
		t.Errorf("%d of %d sentences in pages have more than %d words; at most %d %%", long, all, wishedWords, longShare)
	}
}

// checkPhrases finds phrases in a text.
func checkPhrases(p text, phrases []phrase) (found []string) {
	for _, f := range phrases {
		if at := f.words.FindString(p.words); at != "" {
			found = append(found, fmt.Sprintf("%s: %q; write: %s", p.where, at, f.write))
		}
	}
	return found
}

// checkSentences finds sentences that are too long. A list of code alone, such as what a package imports, is none.
func checkSentences(p text) (found []string) {
	for _, s := range sentences(p.words) {
		if n := len(strings.Fields(s)); n > longWords && strings.Trim(s, "X, ") != "" {
			found = append(found, fmt.Sprintf("%s: a sentence of %d words, at most %d: %s", p.where, n, longWords, s))
		}
	}
	return found
}

// sentences cuts a text where a full stop, question or exclamation mark is followed by a capital or a code.
func sentences(words string) (all []string) {
	var s []string
	for _, w := range strings.Fields(words) {
		first := strings.TrimLeft(w, "\"'([*_")
		if len(s) > 0 && strings.ContainsAny(lastRune(s[len(s)-1]), ".?!") && first != "" && !unicode.IsLower([]rune(first)[0]) {
			all = append(all, strings.Join(s, " "))
			s = nil
		}
		s = append(s, w)
	}
	return append(all, strings.Join(s, " "))
}

func lastRune(w string) string {
	w = strings.TrimRight(w, "\"')*_]")
	return w[max(0, len(w)-1):]
}

var (
	item    = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// paragraphs returns what a page says: paragraphs, headings, items of lists and cells of tables, each by itself.
func paragraphs(name, page string) (all []text) {
	var p text
	end := func() {
		if p.words != "" {
			all = append(all, p)
		}
		p = text{}
	}
	code, n := false, 0
	page = comment.ReplaceAllStringFunc(page, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	for line := range strings.Lines(page) {
		n++
		s := strings.TrimSpace(line)
		if fence := strings.HasPrefix(s, "```"); fence || code {
			code = code != fence
			end()
			continue
		}
		if strings.HasPrefix(line, "    ") && p.words == "" { // indented code, for it does not go on with a paragraph
			continue
		}
		s = linkTarget.ReplaceAllString(inlineCode.ReplaceAllString(s, "X"), "]")
		where := name + ":" + strconv.Itoa(n)
		switch {
		case s == "":
			end()
		case strings.HasPrefix(s, "|"):
			end()
			for cell := range strings.SplitSeq(s, "|") {
				all = append(all, text{where, strings.TrimSpace(cell)})
			}
		default:
			if heading := strings.HasPrefix(s, "#"); heading || item.MatchString(s) {
				end()
			}
			if p.where == "" {
				p.where = where
			}
			p.words = strings.TrimSpace(p.words + " " + strings.TrimLeft(s, "#-* "))
			if strings.HasPrefix(s, "#") {
				end()
			}
		}
	}
	end()
	return all
}

// spokenBy returns the strings of a file that are words for people, and its package comment. Tests speak to the project.
func spokenBy(f *file) (all []text) {
	if f.test() || strings.HasPrefix(f.dir(), "policy/policytest") {
		return nil
	}
	if f.Doc != nil {
		all = append(all, text{f.name + ":" + strconv.Itoa(f.line(f.Doc.Pos())), strings.Join(strings.Fields(f.Doc.Text()), " ")})
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			return n.Tag == nil
		case *ast.ImportSpec:
			return false
		case ast.Expr:
			if s, at := joined(n); at != token.NoPos {
				if len(strings.Fields(s)) >= 3 {
					all = append(all, text{f.name + ":" + strconv.Itoa(f.line(at)), strings.Join(strings.Fields(s), " ")})
				}
				return false
			}
		}
		return true
	})
	return all
}

// joined returns a string literal, or the sum of several, and where it begins.
func joined(e ast.Expr) (string, token.Pos) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return s, e.Pos()
		}
	case *ast.BinaryExpr:
		x, at := joined(e.X)
		y, there := joined(e.Y)
		if e.Op == token.ADD && at != token.NoPos && there != token.NoPos {
			return x + y, at
		}
	}
	return "", token.NoPos
}

func TestProseFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"The run takes events and returns decisions.", ""},
		{"The core is\ntold what happened.", `page.md:1: "is told"`},
		{"# All luck\n", `page.md:1: "luck"`},
		{"| a | seed of all draws |", `page.md:1: "seed of all"`},
		{"```\nwith other luck\n```\n", ""},
		{"<!-- luck -->", ""},
		{"One of it is `luck`.", ""},
		{"It makes use of it.", `"e of it."`},
		{strings.Repeat("word ", 40) + "end.", "a sentence of 41 words"},
		{strings.Repeat("word ", 39) + "end. And another.", ""},
		{"- " + strings.Repeat("word ", 30) + "\n- " + strings.Repeat("word ", 30), ""},
	} {
		var found []string
		for _, p := range paragraphs("page.md", c.page) {
			found = append(found, append(checkPhrases(p, phrases), checkSentences(p)...)...)
		}
		expect(t, found, c.want)
	}
	for _, c := range []struct{ src, want string }{
		{"package x\nvar a = \"all is\" + \" told\"", `x/x.go:2: "is told"`},
		{"package x\nvar a = \"it is \" + b + \"told\"", ""},
		{"// Package x is told things.\npackage x", `x/x.go:1: "is told"`},
		{"package x\n\n// f is told things.\nfunc f() {}", ""},
	} {
		sample(t, func(f *file) (found []string) {
			for _, p := range spokenBy(f) {
				found = append(found, checkPhrases(p, phrases)...)
			}
			return found
		}, "x/x.go", c.src, c.want)
	}
}
