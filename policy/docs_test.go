package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite for all golden files of the package
	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
)

const docsFile = "../docs/reference/policies.md"

// TestDocs checks that docs/reference/policies.md says what the registry says; -rewrite writes it.
func TestDocs(t *testing.T) {
	want := docs()
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(docsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/policies.md is out of date, run go test ./policy -run TestDocs -rewrite (-want +file):\n%s", diff)
	}
}

func docs() string {
	var b strings.Builder
	b.WriteString(`# Policies

<!-- Written by go test ./policy -run TestDocs -rewrite from the registry in policy/registry.go. Do not edit. -->

<!-- not run: the names of the inputs are examples -->

    tailcut run sort logs/ --policy late
    tailcut simulate jobs.jsonl --machines 100 --policy fifo,spark:quantile=0.75,order=fair

A policy decides which tasks get clones, and in what order jobs get slots. Name it, or NAME:param=value,param=value, after
` + "`--policy`" + `. [Choosing a policy](../explain/choosing-a-policy.md) helps to begin; the
[yardstick](../explain/yardstick.md) compares them on five workloads; [plan](../howto/plan.md) makes one from your own
durations. The limits on attempts of a task and on clones hold under every policy. Each policy's file in
` + "`policy/`" + ` opens with the paper's symbols, the rule, and where it deviates.

| policy | in short |
|---|---|
`)
	for _, e := range Entries() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", e.Name, e.Name, e.Summary)
	}
	for _, e := range Entries() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\nSource: %s.%s\n", e.Name, capital(e.Summary), e.Source, traits(e))
		if e.Note != "" {
			fmt.Fprintf(&b, "\n%s\n", broken(e.Note))
		}
		if len(e.Params) == 0 {
			b.WriteString("\nNo parameters.\n")
			continue
		}
		b.WriteString("\n| parameter | default | values | meaning |\n|---|---|---|---|\n")
		for i := range e.Params {
			p := &e.Params[i]
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Default, values(p), p.Help)
		}
	}
	b.WriteString("\n## Presets\n\nParameters given beside a preset override it: `spark3:multiplier=2`.\n\n| preset | stands for | |\n|---|---|---|\n")
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", p.Name, p.Spec, p.Summary)
	}
	return b.String()
}

// broken breaks a paragraph into lines of at most 118 bytes.
func broken(text string) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(text) {
		switch {
		case line == 0:
		case line+1+len(word) > 118:
			b.WriteByte('\n')
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += len(word)
	}
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func traits(e *kit.Entry) string {
	s := ""
	if e.Progress {
		s += " Looks at reported progress."
	}
	if !e.WorkConserving {
		s += " May leave slots free while tasks wait."
	}
	return s
}

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
