package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// All help fits helpWidth columns, but for lines that are to be copied: examples, and what is indented in a text. Every
// verb tells its exit status.
func TestHelpFits(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		before, after, _ := strings.Cut(cmd.UsageString(), "\nExamples:\n"+cmd.Example+"\n")
		for line := range strings.SplitSeq(cmd.Long+"\n"+before+after, "\n") {
			listed := strings.HasPrefix(line, "  ") && strings.Contains(cmd.Long, line)
			if utf8.RuneCountInString(line) > helpWidth && !listed {
				t.Errorf("%s: %s", cmd.CommandPath(), line)
			}
		}
		if !cmd.HasSubCommands() && !cmd.DisableFlagParsing && !cmd.Hidden && !strings.Contains(cmd.Long, "Exit status: 0") {
			t.Errorf("%s does not tell its exit status", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(newRoot())
}

func TestWrapped(t *testing.T) {
	word := strings.Repeat("x", 48)
	text := word + " " + word + "\n" + word + "\n\n  " + word + " " + word + " " + word + "\na\nb"
	want := word + " " + word + "\n" + word + "\n\n  " + word + " " + word + " " + word + "\na b"
	if diff := cmp.Diff(want, wrapped(text)); diff != "" {
		t.Error(diff)
	}
}

// --help lists the common flags under their headings; --help-all lists the rare ones too.
func TestHelpAll(t *testing.T) {
	help := func(flag string) string {
		var out, errs strings.Builder
		if status := tailcut([]string{"run", "wordcount", flag, "nowhere"}, strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
			t.Fatalf("%s: status %d, %s", flag, status, &errs)
		}
		return out.String()
	}
	common, all := help("--help"), help("--help-all")
	for _, heading := range []string{"\nWhat to run:\n", "\nLimits:\n", "\nPolicy:\n", "\nDeadline:\n", "\nWhere:\n", "\nOutput:\n", "\nHelp:\n"} {
		if !strings.Contains(common, heading) || !strings.Contains(all, heading) {
			t.Errorf("no %q", heading)
		}
	}
	if strings.Contains(common, "--split-size") || !strings.Contains(all, "--split-size") || strings.Index(all, "--slots") > strings.Index(all, "--timeout") {
		t.Errorf("rare flags, or their order:\n%s\n%s", common, all)
	}
}
