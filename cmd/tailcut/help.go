package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how wide help is, in columns, but for examples, which are to be copied.
const helpWidth = 98

// Annotations of flags.
const (
	groupOf = "tailcut_group" // the heading under which help lists the flag
	rareOf  = "tailcut_rare"  // only --help-all lists the flag
)

// group adds the flags that add defines under a heading of the command's help, in their order: common ones come first.
func group(cmd *cobra.Command, heading string, add func(fl *pflag.FlagSet)) {
	own := pflag.NewFlagSet(heading, pflag.ContinueOnError)
	own.SortFlags = false
	add(own)
	cmd.Flags().SortFlags = false
	own.VisitAll(func(f *pflag.Flag) {
		annotate(f, groupOf, heading)
		cmd.Flags().AddFlag(f)
	})
}

// rare leaves flags out of --help. Those who need them find them with --help-all, in the man page and by completion.
func rare(fl *pflag.FlagSet, names ...string) {
	for _, name := range names {
		annotate(fl.Lookup(name), rareOf, "true")
	}
}

func annotate(f *pflag.Flag, key, value string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{value}
}

// helpAll is the flag --help-all: it asks for help, and for all of it.
type helpAll struct {
	cmd *cobra.Command
	set bool
}

func (h *helpAll) String() string   { return fmt.Sprint(h.set) }
func (h *helpAll) Type() string     { return "bool" }
func (h *helpAll) IsBoolFlag() bool { return true }
func (h *helpAll) Set(text string) error {
	h.set = text == "true"
	return h.cmd.Flags().Set("help", text)
}

// addHelpAll gives --help-all to a command with rare flags.
func addHelpAll(cmd *cobra.Command) {
	any := false
	cmd.Flags().VisitAll(func(f *pflag.Flag) { any = any || isRare(f) })
	if !any {
		return
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "common flags"
	f := cmd.Flags().VarPF(&helpAll{cmd: cmd}, "help-all", "", "all flags")
	f.NoOptDefVal = "true"
}

func isRare(f *pflag.Flag) bool { return len(f.Annotations[rareOf]) > 0 }

// headingOf returns the heading under which help lists a flag, "" if it is none of a group.
func headingOf(f *pflag.Flag) string {
	if g := f.Annotations[groupOf]; len(g) > 0 {
		return g[0]
	}
	return ""
}

// flagUsages lists the flags of a command, under the headings of their groups. Rare ones are listed on demand.
func flagUsages(cmd *cobra.Command) string {
	all := cmd.Flags().Changed("help-all")
	var headings []string
	groups := map[string]*pflag.FlagSet{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		heading := headingOf(f)
		switch {
		case heading != "":
		case cmd.Flags().Lookup("help-all") != nil:
			heading = "Help"
		default:
			heading = "Flags"
		}
		if isRare(f) && !all {
			return
		}
		if groups[heading] == nil {
			groups[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			groups[heading].SortFlags = heading == "Flags"
			headings = append(headings, heading)
		}
		groups[heading].AddFlag(f)
	})
	if i := slices.Index(headings, "Help"); i >= 0 { // the last
		headings = append(slices.Delete(headings, i, i+1), "Help")
	}
	var b strings.Builder
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s:\n%s", heading, groups[heading].FlagUsagesWrapped(helpWidth))
	}
	return strings.Trim(b.String(), "\n")
}

// fitHelp fits the help of a command and of all below it: texts and flags are wrapped, and the exit status is told.
func fitHelp(cmd *cobra.Command) {
	if !cmd.HasParent() {
		cobra.AddTemplateFunc("flagUsages", flagUsages)
		text := strings.ReplaceAll(cmd.UsageTemplate(), "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagUsages .}}")
		cmd.SetUsageTemplate(strings.ReplaceAll(text, ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth)))
	}
	addHelpAll(cmd)
	if !cmd.HasSubCommands() && !cmd.DisableFlagParsing && !strings.Contains(cmd.Long, "Exit status:") {
		cmd.Long += "\n\nExit status: 0 success, 1 failure, 2 wrong usage or bad input."
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
