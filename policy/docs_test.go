package policy

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite for all golden files of the package
	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
)

const (
	docsIndex   = "../docs/reference/policies.md"
	docsPage    = "../docs/reference/policies/%s.md"
	docsEffects = "../docs/explain/effects.md"
	effectsFile = "../docs/data/effects.csv"
)

// Marks of what TestDocs writes into a page; the rest of the page is written by people.
const (
	headMark    = "<!-- Written by go test ./policy -run TestDocs -rewrite from the registry. Do not edit. -->\n"
	effectsMark = "<!-- Written by go test ./policy -run TestDocs -rewrite from docs/data/effects.csv. Do not edit. -->\n"
	endMark     = "<!-- End of what is written by the test. -->\n"
)

// TestDocs checks that the pages of the policies say what the registry and the measured effects say; -rewrite writes
// them.
func TestDocs(t *testing.T) {
	effects := readEffects(t)
	checkPage(t, docsIndex, func(string) string { return index() })
	checkPage(t, docsEffects, func(old string) string { return fill(old, effectsMark, effectsTable(effects)) })
	for _, e := range builtin {
		rows := slices.DeleteFunc(slices.Clone(effects), func(x effect) bool { return x.policy != e.Name })
		checkPage(t, fmt.Sprintf(docsPage, e.Name), func(old string) string {
			return fill(fill(old, headMark, head(e)), effectsMark, effectsOf(rows))
		})
	}
}

// TestPagesHaveBodies: people have written 10 to 60 lines about every policy: what it does, when to use it, how it reads
// its source.
func TestPagesHaveBodies(t *testing.T) {
	for _, e := range builtin {
		page, err := os.ReadFile(fmt.Sprintf(docsPage, e.Name))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(page), endMark)
		for _, title := range []string{"\n## What it does\n", "\n## When to use it\n", "\n## How it reads its source\n"} {
			if !strings.Contains(body, title) {
				t.Errorf("%s: no section %q", e.Name, strings.TrimSpace(title))
			}
		}
		if n := strings.Count(body, "\n"); n < 10 || n > 100 {
			t.Errorf("%s: %d lines; expected 10 to 100", e.Name, n)
		}
	}
}

// A program, with its version if it is exact; and a function, or a constant.
var (
	program  = regexp.MustCompile(`\b(Spark|Hadoop|Flink) [0-9][0-9.]*`)
	release  = regexp.MustCompile(`^(Spark|Hadoop|Flink) [0-9]+\.[0-9]+\.[0-9]+$`)
	function = regexp.MustCompile(`[A-Z]\w+\.[a-z]\w+|\b[A-Z]+_[A-Z_]+`)
)

// TestSourcesAreExact: what comes from a program names a release, a file and a function, for each rule of a policy and
// for each measured reading.
func TestSourcesAreExact(t *testing.T) {
	for _, e := range builtin {
		for _, c := range e.Code {
			if !release.MatchString(c.Version) || !function.MatchString(c.Function) || !strings.HasSuffix(c.File, ".java") && !strings.HasSuffix(c.File, ".scala") || c.Rule == "" {
				t.Errorf("%s: %+v", e.Name, c)
			}
		}
		if strings.Contains(e.Source, "Apache") && e.Code == nil {
			t.Errorf("%s follows a program and does not say where its rules stand", e.Name)
		}
		page, err := os.ReadFile(fmt.Sprintf(docsPage, e.Name))
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range program.FindAllString(string(page), -1) {
			if named = strings.TrimRight(named, "."); !release.MatchString(named) {
				t.Errorf("the page of %s names %s, which is no release", e.Name, named)
			}
		}
	}
	for _, x := range readEffects(t) {
		if named := program.FindString(x.source); named != "" && (!release.MatchString(strings.TrimRight(named, ".,")) || !function.MatchString(x.source)) {
			t.Errorf("%s beside %s: %q names no release and function", x.other, x.normal, x.source)
		}
	}
}

// checkPage compares a page with what it should be, which may depend on what it is.
func checkPage(t *testing.T, name string, should func(old string) string) {
	t.Helper()
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := should(string(old))
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(old)); diff != "" {
		t.Errorf("%s is out of date, run go test ./policy -run TestDocs -rewrite (-want +file):\n%s", name, diff)
	}
}

// fill puts text between a mark of a page and the next end mark.
func fill(page, mark, text string) string {
	before, rest, ok := strings.Cut(page, mark)
	_, after, ends := strings.Cut(rest, endMark)
	if !ok || !ends {
		return page
	}
	return before + mark + text + endMark + after
}

// index is the page from which a person chooses.
func index() string {
	var b strings.Builder
	b.WriteString(`# Policies

<!-- Written by go test ./policy -run TestDocs -rewrite from the registry. Do not edit. -->

<!-- not run: the names of the inputs are examples -->

    tailcut run sort logs/ --policy late
    tailcut simulate jobs.jsonl --machines 100 --policy fifo,spark:quantile=0.75,order=fair

A policy decides which tasks get clones, and in what order jobs get slots. Name it, or NAME:param=value,param=value, after
` + "`--policy`" + `. [Choosing a policy](../explain/choosing-a-policy.md) helps to begin. The
[yardstick](../explain/yardstick.md) compares them on five workloads, [effects](../explain/effects.md) compares the readings
of each, and [plan](../howto/plan.md) makes one from your own durations. The limits on attempts of a task and on clones
hold under every policy.

- **Clones**: which tasks get more than one attempt.
- **Reports**: whether the policy decides by the progress that attempts report. "May" means with some parameters.
- **Deadlines**, **sites**: whether the policy needs (yes) or can use (may) deadlines of jobs, or several sites.
- **Cost**: of one event; the page of the policy explains it.
`)
	for _, family := range []kit.Family{kit.Stragglers, kit.Early, kit.Orders, kit.Deadlines, kit.Sites, kit.Stations} {
		fmt.Fprintf(&b, "\n## %s\n\n| policy | in short | clones | reports | deadlines | sites | cost |\n|---|---|---|---|---|---|---|\n", capital(string(family)))
		for _, e := range builtin {
			if e.Family == family {
				fmt.Fprintf(&b, "| [%s](policies/%s.md) | %s | %s | %s | %s | %s | %s |\n", e.Name, e.Name, e.Summary,
					clones(e), may(e.Progress, e.ProgressIf != nil), may(family == kit.Deadlines, e.Name == "grass"),
					may(e.Needs.Sites, e.Param("sites") != nil), e.Cost)
			}
		}
	}
	b.WriteString("\n## Presets\n\nParameters given beside a preset override it: `spark3:multiplier=2`.\n\n| preset | stands for | |\n|---|---|---|\n")
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", p.Name, p.Spec, p.Summary)
	}
	return b.String()
}

func clones(e *Entry) string {
	if e.Clones == "" {
		return "no"
	}
	return e.Clones
}

func may(yes, perhaps bool) string {
	switch {
	case yes:
		return "yes"
	case perhaps:
		return "may"
	default:
		return "no"
	}
}

// head is the generated head of a policy's page.
func head(e *Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.\n\n| | |\n|---|---|\n", capital(e.Summary))
	for _, f := range Facts(e) {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, f.Text)
	}
	for _, p := range Presets() {
		if base, _, _ := strings.Cut(p.Spec, ":"); base == e.Name {
			fmt.Fprintf(&b, "| preset `%s` | `%s`: %s |\n", p.Name, p.Spec, p.Summary)
		}
	}
	if len(e.Code) > 0 {
		b.WriteString("\n| rule | version | file | function |\n|---|---|---|---|\n")
		for _, c := range e.Code {
			fmt.Fprintf(&b, "| %s | %s | `%s` | `%s` |\n", c.Rule, c.Version, c.File, c.Function)
		}
	}
	if len(e.Params) == 0 {
		b.WriteString("\nNo parameters.\n\n")
		return b.String()
	}
	b.WriteString("\n| parameter | default | values | meaning |\n|---|---|---|---|\n")
	for i := range e.Params {
		p := &e.Params[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Default, values(p), p.Help)
	}
	b.WriteString("\n")
	return b.String()
}

// effect is a row of effectsFile: one reading of a policy beside another, in one workload at one load.
type effect struct {
	policy, normal, other, source string
	with                          string // further arguments of tailcut simulate, for both
	workload, load                string
	normalFlow, otherFlow         string // seconds
	ratio, low, high              string // of otherFlow to normalFlow, and its interval
	met, metLow, metHigh          string // points more of the deadlines met, and their interval; "" without deadlines
}

func readEffects(t *testing.T) (all []effect) {
	text, err := os.ReadFile(effectsFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		x := effect{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14]}
		for _, spec := range []string{x.normal, x.other} {
			e, err := Find(spec)
			if err != nil || e.Name != x.policy {
				t.Errorf("%s: %s is no setting of %s: %v; run bench/effects.sh again", effectsFile, spec, x.policy, err)
			}
		}
		all = append(all, x)
	}
	return all
}

// pairs returns the readings in their order, and the workloads and loads in theirs.
func pairs(rows []effect) (readings []effect, columns []string) {
	for _, x := range rows {
		if !slices.ContainsFunc(readings, func(y effect) bool { return y.normal == x.normal && y.other == x.other }) {
			readings = append(readings, x)
		}
		if at := x.workload + " " + x.load; !slices.Contains(columns, at) {
			columns = append(columns, at)
		}
	}
	return readings, columns
}

// cell is the ratio of a reading's mean flow time to the default's in one column.
func cell(rows []effect, reading effect, column string) string {
	for _, x := range rows {
		if x.normal == reading.normal && x.other == reading.other && x.workload+" "+x.load == column {
			text := fmt.Sprintf("%s [%s, %s]", x.ratio, x.low, x.high)
			if x.met != "" {
				text += fmt.Sprintf("; %s [%s, %s]", x.met, x.metLow, x.metHigh)
			}
			return text
		}
	}
	return ""
}

// effectsOf is the block of a policy's page: its readings beside its default.
func effectsOf(rows []effect) string {
	if len(rows) == 0 {
		return "\nNo reading of this policy was measured beside another.\n\n"
	}
	readings, columns := pairs(rows)
	var b strings.Builder
	b.WriteString("\nMean flow time, divided by that of the default, with 95 % intervals; below 1 the reading is quicker.")
	if rows[0].met != "" {
		b.WriteString(" Then the points by\nwhich it meets more of the deadlines. Jobs that a reading gives up are in no mean.")
	}
	if rows[0].with != "" {
		fmt.Fprintf(&b, "\nMeasured with `%s`.", rows[0].with)
	}
	b.WriteString("\n\n")
	fmt.Fprintf(&b, "| workload, load |%s\n|---|%s\n", strings.Join(each(readings, func(x effect) string { return " `" + x.other + "` |" }), ""), strings.Repeat("---:|", len(readings)))
	for _, c := range columns {
		fmt.Fprintf(&b, "| %s |%s\n", c, strings.Join(each(readings, func(x effect) string { return " " + cell(rows, x, c) + " |" }), ""))
	}
	b.WriteString("\n")
	return b.String()
}

// effectsTable is the table of all readings.
func effectsTable(rows []effect) string {
	readings, columns := pairs(rows)
	var b strings.Builder
	fmt.Fprintf(&b, "\n| default | reading | source of the default |%s\n|---|---|---|%s\n",
		strings.Join(each(columns, func(c string) string { return " " + c + " |" }), ""), strings.Repeat("---:|", len(columns)))
	for _, x := range readings {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |%s\n", x.normal, x.other, sourceOf(x),
			strings.Join(each(columns, func(c string) string { return " " + cell(rows, x, c) + " |" }), ""))
	}
	b.WriteString("\n")
	return b.String()
}

// sourceOf is the source of the default, and with what it was measured.
func sourceOf(x effect) string {
	if x.with == "" {
		return x.source
	}
	return x.source + ", measured with `" + x.with + "`"
}

func each[T any](all []T, f func(T) string) (texts []string) {
	for _, x := range all {
		texts = append(texts, f(x))
	}
	return texts
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func values(p *kit.Param) string {
	switch p.Kind {
	case kit.Bool:
		return "true, false"
	case kit.Choice:
		return strings.Join(p.Choices, ", ")
	default:
		return p.Expects()
	}
}
