// Package manual writes a program's commands as man pages, one each, in the order and under the headings of its help.
//
// The generator that comes with the library of commands takes help for Markdown: it drops <TAB>, which is no tag, joins
// the lines of lists, and sorts all flags by the alphabet.
package manual

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Book is the manual of a program.
type Book struct {
	Root    *cobra.Command
	Version string    // as in the footer of each page
	Date    time.Time // in the footer, too
	// Heading returns under which heading the page lists a flag; "" is under OPTIONS itself. It may be nil.
	Heading func(*pflag.Flag) string
}

// Commands returns a command and all below it, but for hidden ones and those that the library adds.
func Commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, below := range root.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" && below.Name() != "completion" {
			all = append(all, Commands(below)...)
		}
	}
	return all
}

// Name returns what the page of a command is called, such as tailcut-plan-fork.
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Write writes a page for each command into a folder, which it makes, and returns their paths.
func (b *Book) Write(folder string) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for _, cmd := range Commands(b.Root) {
		path := filepath.Join(folder, Name(cmd)+".1")
		if err := os.WriteFile(path, b.Page(cmd), 0o644); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Page returns the page of a command, as man takes it.
func (b *Book) Page(cmd *cobra.Command) []byte {
	var p page
	p.line(".TH %q 1 %q %q %q", strings.ToUpper(Name(cmd)), b.Date.UTC().Format("2006-01-02"), "Tailcut "+b.Version, "Tailcut")
	p.line(".nh\n.ad l") // names with hyphens are broken nowhere, and lines are not stretched
	p.heading("NAME")
	p.line("%s \\- %s", escape(Name(cmd)), escape(lowerFirst(cmd.Short)))
	p.heading("SYNOPSIS")
	p.line(".B %s", escape(cmd.CommandPath()))
	switch _, arguments, _ := strings.Cut(cmd.UseLine(), cmd.CommandPath()); {
	case cmd.HasAvailableSubCommands():
		p.line("COMMAND [ARGUMENT...]")
	case arguments != "":
		p.text(strings.ReplaceAll(strings.TrimSpace(arguments), "[flags]", "[FLAG...]"))
	}
	description, status := cut(cmp.Or(cmd.Long, cmd.Short))
	p.heading("DESCRIPTION")
	p.paragraphs(description)
	p.commands(cmd)
	p.options(cmd, b.Heading)
	if status != "" {
		p.heading("EXIT STATUS")
		p.paragraphs(status)
	}
	if cmd.Example != "" {
		p.heading("EXAMPLES")
		p.literal(strings.Split(cmd.Example, "\n"))
	}
	p.seeAlso(cmd)
	return p.Bytes()
}

// cut parts the paragraph about the exit status from the rest of a description.
func cut(text string) (description, status string) {
	before, after, found := strings.Cut(text, "Exit status:")
	if !found {
		return text, ""
	}
	status, rest, _ := strings.Cut(after, "\n\n")
	return before + rest, strings.TrimSpace(status)
}

// page is a man page that is being written.
type page struct{ bytes.Buffer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) heading(text string) { p.line(".SH %s", text) }

// text writes a line that man may break. A dot or an apostrophe at its beginning would be a command.
func (p *page) text(text string) {
	text = escape(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, `\(aq`) {
		text = `\&` + text
	}
	p.line("%s", text)
}

// literal writes lines as they are, without the indentation that they share.
func (p *page) literal(lines []string) {
	indent := 1 << 10
	for _, line := range lines {
		if rest := strings.TrimLeft(line, " "); rest != "" {
			indent = min(indent, len(line)-len(rest))
		}
	}
	p.line(".RS 4\n.EX")
	for _, line := range lines {
		p.text(line[min(indent, len(line)):])
	}
	p.line(".EE\n.RE")
}

// paragraphs writes a help text: paragraphs, and between them lists, which are indented.
func (p *page) paragraphs(text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i < len(lines); {
		end, listed := i, strings.HasPrefix(lines[i], " ")
		for end < len(lines) && lines[end] != "" && strings.HasPrefix(lines[end], " ") == listed {
			end++
		}
		switch {
		case end == i:
			p.line(".PP")
			end++
		case listed:
			p.literal(lines[i:end])
		default:
			for _, line := range lines[i:end] {
				p.text(line)
			}
		}
		i = end
	}
}

// commands lists what is below a command.
func (p *page) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.heading("COMMANDS")
	for _, below := range Commands(cmd)[1:] {
		if below.Parent() == cmd {
			p.line(".TP\n.BR %s (1)", escape(Name(below)))
			p.text(below.Short)
		}
	}
}

// options lists the flags of a command, under their headings.
func (p *page) options(cmd *cobra.Command, headingOf func(*pflag.Flag) string) {
	var headings []string
	groups := map[string][]*pflag.Flag{}
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "help-all" {
			return
		}
		heading := ""
		if headingOf != nil {
			heading = headingOf(f)
		}
		if !slices.Contains(headings, heading) {
			headings = append(headings, heading)
		}
		groups[heading] = append(groups[heading], f)
	})
	if len(headings) == 0 {
		return
	}
	p.heading("OPTIONS")
	for _, heading := range headings {
		if heading != "" {
			p.line(".SS %s", heading)
		}
		for _, f := range groups[heading] {
			p.option(f)
		}
	}
}

// option writes a flag, what it takes, what that means, and the default.
func (p *page) option(f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	name := `\fB` + escape("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + name
	}
	if value != "" {
		name += ` \fI` + escape(value) + `\fR`
	}
	p.line(".TP\n%s", name)
	if !slices.Contains([]string{"", "0", "false", "[]", "0s"}, f.DefValue) {
		usage += fmt.Sprintf(" (default %s)", strings.Trim(f.DefValue, "[]"))
	}
	p.text(usage)
}

// seeAlso names the pages above and beside a command; from the first page all others are under COMMANDS.
func (p *page) seeAlso(cmd *cobra.Command) {
	if !cmd.HasParent() {
		return
	}
	names := []string{Name(cmd.Parent())}
	for _, beside := range Commands(cmd.Parent())[1:] {
		if beside.Parent() == cmd.Parent() && beside != cmd {
			names = append(names, Name(beside))
		}
	}
	p.heading("SEE ALSO")
	for i, name := range names {
		end := " ,"
		if i == len(names)-1 {
			end = ""
		}
		p.line(".BR %s (1)%s", escape(name), end)
	}
}

// escape makes text mean itself to man. A hyphen, a quote or a tilde would otherwise become another character, which
// cannot be copied into a shell.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace

// lowerFirst makes the summary of a command what stands behind its name.
func lowerFirst(text string) string {
	if len(text) < 2 || text[1] < 'a' || text[1] > 'z' {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}
