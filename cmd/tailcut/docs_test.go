package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What the pages say of verbs and flags is so: commands in code have verbs and flags that exist, and each flag that a line of text names is some
// verb's. The flags on the pages of the controller are its own; its test has them.
func TestDocs(t *testing.T) {
	commands, flags := 0, 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = besideOption.ReplaceAll(text, nil)
		controllers := slices.Contains([]string{"kubernetes.md", "kubernetes-kueue.md"}, filepath.Base(page))
		for _, words := range documented(string(text)) {
			commands++
			checkDocumented(t, filepath.Base(page), words)
		}
		for _, m := range regexp.MustCompile("`(--[a-z][a-z-]*)").FindAllStringSubmatch(string(text), -1) {
			flags++
			if !anyFlag(newRoot(), m[1][2:]) && !controllers {
				t.Errorf("%s: no verb has %s", filepath.Base(page), m[1])
			}
		}
	}
	if commands < 50 || flags < 100 {
		t.Errorf("only %d commands and %d flags seen", commands, flags)
	}
}

// pages are the README and all pages below docs, but for the decisions: those say what was true when they were made.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "decisions" {
			return filepath.SkipDir
		}
		if filepath.Ext(name) == ".md" {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// besideOption is the cell of a table with an option of another program, see TestParallelPage.
var besideOption = regexp.MustCompile("(?m)^\\| `-[^|]*?` \\| (?:yes|no|as)")

var invocation = regexp.MustCompile(`(?m)^(?:    )?\s*(?:[A-Z_]+=\S+ )*(?:\$ )?(?:time )?(?:\./tailcut|tailcut|go run \./cmd/tailcut)( [a-z]\D.*)$`)

// documented returns the command lines of tailcut in a page, word by word.
func documented(text string) (all [][]string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, m := range invocation.FindAllStringSubmatch(text, -1) {
		var words []string
		for word := range strings.FieldsSeq(m[1]) {
			if word == "--" || strings.ContainsAny(word[:1], "|>&#;") {
				break
			}
			words = append(words, word)
		}
		all = append(all, words)
	}
	return all
}

func checkDocumented(t *testing.T, page string, words []string) {
	t.Helper()
	cmd := newRoot()
	cmd.InitDefaultCompletionCmd()
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && name != "help" && name != "version" && !cmd.DisableFlagParsing {
				t.Errorf("%s: %s has no --%s in: %s", page, cmd.CommandPath(), name, strings.Join(words, " "))
			}
			continue
		}
		if !cmd.HasSubCommands() {
			continue
		}
		i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		if i < 0 {
			t.Errorf("%s: %s has no verb %s", page, cmd.CommandPath(), word)
			return
		}
		cmd = cmd.Commands()[i]
	}
}

func anyFlag(cmd *cobra.Command, name string) bool {
	found := name == "help" || name == "version"
	cmd.Flags().VisitAll(func(f *pflag.Flag) { found = found || f.Name == name })
	return found || slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return anyFlag(c, name) })
}
