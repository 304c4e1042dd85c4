package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestFlag names the nearest flag when an unknown one was given.
func suggestFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	_, name, found := strings.Cut(text, "unknown flag: --")
	if !found {
		return fmt.Errorf("%s (see 'tailcut %s --help')", text, cmd.Name())
	}
	best, distance := "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := editDistance(name, f.Name); d < distance {
			best, distance = f.Name, d
		}
	})
	if best == "" {
		return fmt.Errorf("%s (see 'tailcut %s --help')", text, cmd.Name())
	}
	return fmt.Errorf("%s; did you mean --%s?", text, best)
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
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
		return fmt.Errorf("%q is not one of %s", s, strings.Join(c.valid, ", "))
	}
	c.value = s
	return nil
}

// addFormat adds --format with the formats that every verb with results has.
func addFormat(cmd *cobra.Command) *choice {
	c := &choice{value: "table", valid: []string{"table", "json", "csv"}}
	cmd.Flags().Var(c, "format", "how to print results")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(c.valid, cobra.ShellCompDirectiveNoFileComp))
	return c
}
