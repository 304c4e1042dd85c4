package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// unknownVerb refuses arguments of a command that only has commands below it, and names the nearest of these.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q for %q; did you mean %s?", args[0], cmd.CommandPath(), strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown command %q for %q (see '%s --help')", args[0], cmd.CommandPath(), cmd.CommandPath())
}

// tellUsage adds to the errors about too few or too many arguments, of a command and all below it, what was expected.
func tellUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil && !cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			switch {
			case err == nil:
				return nil
			case len(cmd.ValidArgs) > 0:
				return fmt.Errorf("expected '%s' with one of %s", cmd.UseLine(), strings.Join(cmd.ValidArgs, ", "))
			}
			return fmt.Errorf("expected '%s', got %s", cmd.UseLine(), show.Count(len(args), "argument"))
		}
	}
	for _, below := range cmd.Commands() {
		tellUsage(below)
	}
}

// flagError names the nearest flag when an unknown one was given, and what is expected of a flag whose value is wrong.
func flagError(cmd *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) {
		expected := map[string]string{
			"int": "a whole number", "int32": "a whole number below 2^31", "uint64": "a whole number of at least 0", "float64": "a number", "duration": "a duration such as 90s or 10m",
		}[wrong.GetFlag().Value.Type()]
		if expected == "" {
			return fmt.Errorf("--%s: %w", wrong.GetFlag().Name, errors.Unwrap(wrong))
		}
		return fmt.Errorf("--%s: expected %s, not %q", wrong.GetFlag().Name, expected, wrong.GetValue())
	}
	text := err.Error()
	if cmd.Name() == "run" {
		if paste := asCommand(cmd); paste != "" {
			return fmt.Errorf("%s; for a command write: %s", text, paste)
		}
	}
	if _, name, found := strings.Cut(text, "unknown flag: --"); found {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if near := grammar.Nearest(name, flags); near != "" {
			return fmt.Errorf("%s; did you mean --%s?", text, near)
		}
	}
	return fmt.Errorf("%s (see '%s --help')", text, cmd.CommandPath())
}

// wrongFlag says whose value is wrong.
func wrongFlag(flag string, err error) error { return fmt.Errorf("--%s: %w", flag, err) }

// ofFlag names the flag whose value was wrong, if that is what an answer complains of.
func ofFlag(err error) error {
	var filter *trace.FilterError
	var request *grammar.FieldError
	switch {
	case errors.As(err, &filter):
		return wrongFlag(filter.Field, filter.Problem)
	case errors.As(err, &request):
		return wrongFlag(request.Field, request.Problem)
	}
	return err
}

// whole is a flag that is a whole number, as people write it: 1000000 or 1e6.
type whole int

func (n *whole) String() string { return strconv.Itoa(int(*n)) }
func (n *whole) Type() string   { return "int" }
func (n *whole) Set(s string) error {
	value, err := grammar.ParseInt(s)
	*n = whole(value)
	return err
}

// rank is a flag that is a priority.
type rank int32

func (r *rank) String() string { return strconv.Itoa(int(*r)) }
func (r *rank) Type() string   { return "int32" }
func (r *rank) Set(s string) error {
	value, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return fmt.Errorf("expected a whole number below 2^31, not %q", s)
	}
	*r = rank(value)
	return nil
}

// wholeVar adds a flag that is a whole number.
func wholeVar(fl *pflag.FlagSet, to *int, name string, value int, usage string) {
	*to = value
	fl.Var((*whole)(to), name, usage)
}

// exclusive refuses two flags, one of which would be ignored.
func exclusive(cmd *cobra.Command, a, b string) error {
	if cmd.Flags().Changed(a) && cmd.Flags().Changed(b) {
		return fmt.Errorf("--%s and --%s: give one of them", a, b)
	}
	return nil
}

// complete completes a flag whose values are some of these.
func complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeList completes the last name of a comma-separated list.
func completeList(cmd *cobra.Command, flag string, names func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, name := range names() {
			all = append(all, before+name)
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// choice is a flag whose value is one of a list.
type choice struct {
	value string
	valid []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.valid, "|") }
func (c *choice) Set(s string) error {
	if !slices.Contains(c.valid, s) {
		return fmt.Errorf("expected one of %s, not %q", strings.Join(c.valid, ", "), s)
	}
	c.value = s
	return nil
}

// addFormat adds --format with the formats that every verb with results has.
func addFormat(cmd *cobra.Command) *choice { return addFormatOf(cmd, "table", "json", "csv") }

// addFormatOf adds --format with some formats, the first of which is the default.
func addFormatOf(cmd *cobra.Command, formats ...string) *choice {
	c := &choice{value: formats[0], valid: formats}
	cmd.Flags().Var(c, "format", "how to print results")
	complete(cmd, "format", c.valid...)
	return c
}

// result is what can be written in each format of --format; WriteText is for people.
type result interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
	WriteCSV(io.Writer) error
}

// write writes in the format that was chosen.
func (c *choice) write(w io.Writer, r result) error {
	switch c.value {
	case "json":
		return r.WriteJSON(w)
	case "csv":
		return r.WriteCSV(w)
	}
	return r.WriteText(w)
}

// parseMaxAttempts reads --max-attempts.
func parseMaxAttempts(text string, into *sched.Limits) error {
	switch text {
	case "default":
		into.Attempts, into.OwnAttempts = sched.DefaultLimits().Attempts, true
		return nil
	case "none":
		into.Attempts = sched.Unlimited
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("expected a number of at least 1, none or default, not %q", text)
	}
	into.Attempts = n
	return nil
}

// parseCloneBudget reads --clone-budget.
func parseCloneBudget(text string) (sched.CloneBudget, error) {
	switch text {
	case "default":
		return sched.DefaultLimits().Clones, nil
	case "none":
		return sched.NoLimits().Clones, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return sched.CloneBudget{}, fmt.Errorf("expected a number of at least 0, none or default, not %q", text)
	}
	return sched.CloneBudget{Floor: n}, nil
}
