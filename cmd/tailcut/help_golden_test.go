package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/manual"
)

// rewriteHelp is the command that writes what the tests of this file compare.
const rewriteHelp = "go test ./cmd/tailcut -run TestHelp -rewrite"

// TestHelpGolden: testdata/help has the help of every command, and behind -all that of --help-all. A change of help is
// seen in review.
func TestHelpGolden(t *testing.T) {
	folder := filepath.Join("testdata", "help")
	want := map[string]string{}
	for _, cmd := range manual.Commands(newRoot()) {
		if cmd.DisableFlagParsing { // it is another program's
			continue
		}
		want[manual.Name(cmd)+".txt"] = helpOf(t, cmd, "--help")
		if cmd.Flags().Lookup("help-all") != nil {
			want[manual.Name(cmd)+"-all.txt"] = helpOf(t, cmd, "--help-all")
		}
	}
	if *rewritePages {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(text)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("help differs from testdata/help; if that is meant: %s\n%s", rewriteHelp, diff)
	}
}

// helpOf returns what a command prints when it is asked for help.
func helpOf(t *testing.T, cmd *cobra.Command, flag string) string {
	t.Helper()
	var out, errs strings.Builder
	args := append(strings.Fields(cmd.CommandPath())[1:], flag)
	if status := tailcut(args, strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
		t.Fatalf("%q: status %d, %s", args, status, &errs)
	}
	return out.String()
}

// TestHelpPackaged: the Homebrew cask installs the man page of every command. It names each.
func TestHelpPackaged(t *testing.T) {
	config, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range manual.Commands(newRoot()) {
		line := "      - man/" + manual.Name(cmd) + ".1.gz\n"
		if name := manual.Name(cmd); name != controllerProgram && !strings.Contains(string(config), line) {
			t.Errorf(".goreleaser.yaml: homebrew_casks: manpages lacks the line %q", line)
		}
	}
}

// TestHelpReference: docs/reference/commands.md says what the commands and their flags are.
func TestHelpReference(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Commands\n\n<!-- Written by " + rewriteHelp + ". Do not edit. -->\n\n" +
		"All commands with all their flags, as the program has them. `tailcut COMMAND --help` prints the same, and so does\n" +
		"`man tailcut-COMMAND`.\n\n| command | |\n|---|---|\n")
	commands := manual.Commands(newRoot())[1:]
	for _, cmd := range commands {
		fmt.Fprintf(&page, "| [`%s`](#%s) | %s |\n", cmd.CommandPath(), manual.Name(cmd), plain(cmd.Short))
	}
	for _, cmd := range commands {
		reference(&page, cmd)
	}
	path := filepath.Join("..", "..", "docs", "reference", "commands.md")
	if *rewritePages {
		if err := os.WriteFile(path, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), page.String()); diff != "" {
		t.Errorf("docs/reference/commands.md is out of date; run %s\n%s", rewriteHelp, diff)
	}
}

// reference writes a section about a command.
func reference(page *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(page, "\n## %s\n\n`%s`\n\n", cmd.CommandPath(), cmd.UseLine())
	for i, part := range strings.Split(cmd.Long, "\n\n") {
		if i > 0 {
			page.WriteString("\n")
		}
		listed := ""
		for line := range strings.SplitSeq(part, "\n") {
			switch indented := strings.HasPrefix(line, " "); {
			case indented && listed == "":
				listed = "\n<!-- not run: a list of what can be given -->\n\n"
				page.WriteString(listed)
				fallthrough
			case indented:
				page.WriteString("    " + strings.TrimPrefix(line, "  ") + "\n")
			default:
				page.WriteString(plain(line) + "\n")
			}
		}
	}
	fmt.Fprintf(page, "\n<!-- not run: examples with files of yours -->\n\n")
	for line := range strings.SplitSeq(cmd.Example, "\n") {
		page.WriteString("    " + strings.TrimSpace(line) + "\n")
	}
	var headings []string
	rows := map[string]string{}
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || strings.HasPrefix(f.Name, "help") {
			return
		}
		heading := headingOf(f)
		if !slices.Contains(headings, heading) {
			headings = append(headings, heading)
		}
		rows[heading] += row(f)
	})
	for _, heading := range headings {
		if heading == "" {
			heading, rows["flag"] = "flag", rows[heading]
		}
		fmt.Fprintf(page, "\n| %s | | default |\n|---|---|---|\n%s", heading, rows[heading])
	}
}

// row is a flag in a table.
func row(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	name := "`--" + f.Name
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	if value != "" {
		name += " " + value
	}
	preset := strings.Trim(f.DefValue, "[]")
	if preset == "0" || preset == "false" || preset == "0s" || preset == "" {
		preset = ""
	} else {
		preset = "`" + preset + "`"
	}
	return fmt.Sprintf("| %s` | %s | %s |\n", strings.ReplaceAll(name, "|", `\|`), plain(usage), strings.ReplaceAll(preset, "|", `\|`))
}

// plain makes text mean itself in Markdown.
var plain = strings.NewReplacer("<", "&lt;", "|", `\|`, "*", `\*`, "_", `\_`, "{", `\{`, "[", `\[`).Replace
