// Package catalogue describes the registry of policies for people and programs.
package catalogue

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
)

// List describes policies. Its fields are for programs.
type List struct {
	Schema   string        `json:"schema"`
	Policies []Description `json:"policies"`
	Presets  []Preset      `json:"presets"`

	one *policy.Entry // that is described; nil if all are listed
}

// Description describes a policy.
type Description struct {
	Name           string  `json:"name"`
	Family         string  `json:"family,omitempty"`
	Clones         string  `json:"clones,omitempty"`
	Cost           string  `json:"cost,omitempty"`
	Summary        string  `json:"summary"`
	Source         string  `json:"source"`
	Progress       bool    `json:"uses_progress"`
	WorkConserving bool    `json:"work_conserving"`
	Params         []Param `json:"params"`
}

// Param describes a parameter.
type Param struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Default string   `json:"default"`
	Min     *float64 `json:"min,omitempty"` // of numbers, and of durations in seconds; absent without bound
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Help    string   `json:"help"`
}

// Preset is a name for a policy with parameters.
type Preset struct {
	Name    string `json:"name"`
	Spec    string `json:"spec"`
	Summary string `json:"summary"`
}

// All lists all policies and presets.
func All() *List {
	l := &List{Schema: "tailcut.policies/v1", Presets: presetsOf("")}
	for _, e := range policy.Entries() {
		l.Policies = append(l.Policies, describe(e))
	}
	return l
}

// One describes a policy, or the one that a preset stands for.
func One(name string) (*List, error) {
	e, err := policy.Find(name)
	if err != nil {
		return nil, err
	}
	return &List{Schema: "tailcut.policies/v1", Policies: []Description{describe(e)}, Presets: presetsOf(e.Name), one: e}, nil
}

// WriteJSON writes the list for programs.
func (l *List) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(l) }

// WriteText writes a line for each policy, or all about the one.
func (l *List) WriteText(w io.Writer) error {
	if l.one != nil {
		return l.writeOne(w)
	}
	t := show.NewTable("policy", "summary")
	for _, p := range l.Policies {
		t.Row(p.Name, p.Summary)
	}
	_, err := fmt.Fprintln(w, t)
	if len(l.Presets) > 0 {
		t := show.NewTable("preset", "summary", "stands for")
		for _, p := range l.Presets {
			t.Row(p.Name, p.Summary, p.Spec)
		}
		_, err = fmt.Fprintf(w, "\n%s\n", t)
	}
	return err
}

func (l *List) writeOne(w io.Writer) error {
	e := l.one
	fmt.Fprintf(w, "%s: %s\n", e.Name, e.Summary)
	for _, f := range policy.Facts(e) {
		fmt.Fprintf(w, "%s: %s\n", f.Name, f.Text)
	}
	if policy.Builtin(e.Name) {
		fmt.Fprintf(w, "page: docs/reference/policies/%s.md\n", e.Name)
	}
	for _, p := range l.Presets {
		fmt.Fprintf(w, "preset %s is %s: %s\n", p.Name, p.Spec, p.Summary)
	}
	if len(e.Params) == 0 {
		_, err := fmt.Fprintln(w, "no parameters")
		return err
	}
	t := show.NewTable("parameter", "default", "range", "meaning")
	for i := range e.Params {
		p := &e.Params[i]
		t.Row(p.Name, p.Default, paramRange(p), p.Help)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", t)
	return err
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

func describe(e *policy.Entry) Description {
	r := Description{
		Name: e.Name, Family: string(e.Family), Clones: e.Clones, Cost: e.Cost, Summary: e.Summary, Source: e.Source, Progress: e.Progress, WorkConserving: e.WorkConserving, Params: []Param{},
	}
	for i := range e.Params {
		p := &e.Params[i]
		x := Param{Name: p.Name, Kind: kindNames[p.Kind], Default: p.Default, Choices: slices.Clone(p.Choices), Help: p.Help}
		x.Min, x.Max = paramBounds(p)
		r.Params = append(r.Params, x)
	}
	return r
}

// presetsOf returns the presets of a policy, all of them for "".
func presetsOf(name string) []Preset {
	all := []Preset{}
	for _, p := range policy.Presets() {
		if base, _, _ := strings.Cut(p.Spec, ":"); name == "" || base == name {
			all = append(all, Preset(p))
		}
	}
	return all
}
