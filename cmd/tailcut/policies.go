package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
)

// policiesResult is the list of policies for programs.
type policiesResult struct {
	Schema   string         `json:"schema"`
	Policies []policyResult `json:"policies"`
	Presets  []presetResult `json:"presets"`
}

type policyResult struct {
	Name           string        `json:"name"`
	Summary        string        `json:"summary"`
	Source         string        `json:"source"`
	Progress       bool          `json:"uses_progress"`
	WorkConserving bool          `json:"work_conserving"`
	Params         []paramResult `json:"params"`
}

type paramResult struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Default string   `json:"default"`
	Min     *float64 `json:"min,omitempty"` // of numbers, and of durations in seconds; absent without bound
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Help    string   `json:"help"`
}

type presetResult struct {
	Name    string `json:"name"`
	Spec    string `json:"spec"`
	Summary string `json:"summary"`
}

func newPolicies() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policies [NAME]", Short: "List the scheduling policies, or describe one and its parameters", Args: cobra.MaximumNArgs(1),
		Long: "List the policies and presets that --policy takes, or describe one: its source, and its parameters with their\n" +
			"defaults and ranges. A policy is named with its parameters after a colon: NAME:param=value,param=value.",
		Example: "  tailcut policies\n  tailcut policies srew\n  tailcut run --policy srew:beta=0.5 wordcount src/",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return policy.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	format := &choice{value: "table", valid: []string{"table", "json"}}
	cmd.Flags().Var(format, "format", "how to print results")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(format.valid, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w := cmd.OutOrStdout()
		if len(args) == 0 {
			return listPolicies(w, format.value)
		}
		e, err := policy.Find(args[0])
		if err != nil {
			return err
		}
		if format.value == "json" {
			return json.NewEncoder(w).Encode(&policiesResult{
				Schema: "tailcut.policies/v1", Policies: []policyResult{describe(e)}, Presets: presetsOf(e.Name),
			})
		}
		showPolicy(w, e)
		return nil
	}
	return cmd
}

func listPolicies(w io.Writer, format string) error {
	if format == "json" {
		r := &policiesResult{Schema: "tailcut.policies/v1", Presets: presetsOf("")}
		for _, e := range policy.Entries() {
			r.Policies = append(r.Policies, describe(e))
		}
		return json.NewEncoder(w).Encode(r)
	}
	t := show.NewTable("policy", "summary")
	for _, e := range policy.Entries() {
		t.Row(e.Name, e.Summary)
	}
	fmt.Fprintln(w, t)
	if presets := policy.Presets(); len(presets) > 0 {
		t := show.NewTable("preset", "summary", "stands for")
		for _, p := range presets {
			t.Row(p.Name, p.Summary, p.Spec)
		}
		fmt.Fprintf(w, "\n%s\n", t)
	}
	fmt.Fprintln(w, "\n'tailcut policies NAME' tells a policy's source and parameters.")
	return nil
}

// showPolicy prints a policy for people.
func showPolicy(w io.Writer, e *policy.Entry) {
	fmt.Fprintf(w, "%s: %s\n", e.Name, e.Summary)
	fmt.Fprintf(w, "source: %s\n", e.Source)
	if e.Progress {
		fmt.Fprintln(w, "decides by the progress that attempts report")
	}
	if e.WorkConserving {
		fmt.Fprintln(w, "leaves no slot free while a task waits")
	}
	for _, p := range presetsOf(e.Name) {
		fmt.Fprintf(w, "preset %s is %s: %s\n", p.Name, p.Spec, p.Summary)
	}
	if len(e.Params) == 0 {
		fmt.Fprintln(w, "no parameters")
		return
	}
	t := show.NewTable("parameter", "default", "range", "meaning")
	for i := range e.Params {
		p := &e.Params[i]
		t.Row(p.Name, p.Default, paramRange(p), p.Help)
	}
	fmt.Fprintf(w, "\n%s\n", t)
}

// kindNames are the kinds of parameters for programs.
var kindNames = map[kit.Kind]string{
	kit.Float: "number", kit.Int: "integer", kit.Span: "duration", kit.Bool: "boolean", kit.Choice: "choice",
	kit.Law: "law",
}

// paramBounds returns the least and the largest value; nil where there is no bound.
func paramBounds(p *kit.Param) (least, most *float64) {
	if p.Kind != kit.Float && p.Kind != kit.Int && p.Kind != kit.Span {
		return nil, nil
	}
	if p.Min == 0 && p.Max == 0 {
		return &p.Min, nil
	}
	return &p.Min, &p.Max
}

// paramRange says in short which values a parameter takes.
func paramRange(p *kit.Param) string {
	unit := ""
	switch p.Kind {
	case kit.Bool:
		return "true, false"
	case kit.Choice:
		return strings.Join(p.Choices, ", ")
	case kit.Law:
		return "a law in parentheses"
	case kit.Span:
		unit = "s"
	}
	least, most := paramBounds(p)
	if most == nil {
		return fmt.Sprintf("%g%s or more", *least, unit)
	}
	return fmt.Sprintf("%g%s to %g%s", *least, unit, *most, unit)
}

func describe(e *policy.Entry) policyResult {
	r := policyResult{
		Name: e.Name, Summary: e.Summary, Source: e.Source, Progress: e.Progress, WorkConserving: e.WorkConserving, Params: []paramResult{},
	}
	for i := range e.Params {
		p := &e.Params[i]
		x := paramResult{Name: p.Name, Kind: kindNames[p.Kind], Default: p.Default, Choices: slices.Clone(p.Choices), Help: p.Help}
		x.Min, x.Max = paramBounds(p)
		r.Params = append(r.Params, x)
	}
	return r
}

// presetsOf returns the presets of a policy, all of them for "".
func presetsOf(name string) []presetResult {
	all := []presetResult{}
	for _, p := range policy.Presets() {
		if base, _, _ := strings.Cut(p.Spec, ":"); name == "" || base == name {
			all = append(all, presetResult(p))
		}
	}
	return all
}
