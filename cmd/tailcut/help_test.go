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
		_, flags, _ := strings.Cut(cmd.UsageString(), "\nFlags:\n")
		for line := range strings.SplitSeq(cmd.Long+"\n"+flags, "\n") {
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
	word := strings.Repeat("x", 49)
	text := word + " " + word + "\n" + word + "\n\n  " + word + " " + word + " " + word + "\na\nb"
	want := word + " " + word + "\n" + word + "\n\n  " + word + " " + word + " " + word + "\na b"
	if diff := cmp.Diff(want, wrapped(text)); diff != "" {
		t.Error(diff)
	}
}
