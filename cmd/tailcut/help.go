package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is how wide help is, in columns, but for examples, which are to be copied.
const helpWidth = 100

// fitHelp fits the help of a command and of all below it: texts and flags are wrapped, and the exit status is told.
func fitHelp(cmd *cobra.Command) {
	if !cmd.HasParent() {
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth)))
	}
	if !cmd.HasSubCommands() && !cmd.DisableFlagParsing && !strings.Contains(cmd.Long, "Exit status:") {
		cmd.Long += "\n\nExit status: 0 done, 1 what was asked for could not be done, 2 wrong usage or bad input."
	}
	cmd.Long = wrapped(cmd.Long)
	for _, below := range cmd.Commands() {
		fitHelp(below)
	}
}

// wrapped breaks the lines of a text anew. Lines that are indented, as of lists, stay as they are.
func wrapped(text string) string {
	var lines []string
	open := false // a paragraph is
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			lines, open = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if last := len(lines) - 1; open && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= helpWidth {
				lines[last] += " " + word
				continue
			}
			lines, open = append(lines, word), true
		}
	}
	return strings.Join(lines, "\n")
}
