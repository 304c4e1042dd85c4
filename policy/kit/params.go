package kit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Kind is the type of a parameter.
type Kind uint8

// Kinds of parameters.
const (
	Float  Kind = iota // a number, Min <= x <= Max
	Int                // a whole number, Min <= x <= Max
	Span               // a duration such as 100ms or 5s, at least Min and at most Max seconds
	Bool               // true or false
	Choice             // one of Choices
	Law                // a law of laws in parentheses, such as (pareto:alpha=1.5,xm=10), or nothing
)

// Param declares a parameter of a policy.
type Param struct {
	Name     string
	Kind     Kind
	Default  string
	Min, Max float64 // of Float, Int and Span; both 0 means any value of at least 0
	Choices  []string
	Help     string // one line
}

func (p *Param) check(text string) error {
	switch p.Kind {
	case Float, Int, Span:
		x, err := p.number(text)
		hi := p.Max
		if p.Min == 0 && p.Max == 0 {
			hi = math.Inf(1)
		}
		if err != nil || !(x >= p.Min && x <= hi) {
			return fmt.Errorf("%s=%s is not %s", p.Name, text, p.Expects())
		}
	case Law:
		if _, err := p.law(text); err != nil {
			return fmt.Errorf("%s=%s is not %s: %w", p.Name, text, p.Expects(), err)
		}
	case Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%s=%s is not true or false", p.Name, text)
		}
	case Choice:
		if !slices.Contains(p.Choices, text) {
			return fmt.Errorf("%s=%s is not one of %s", p.Name, text, strings.Join(p.Choices, ", "))
		}
	}
	return nil
}

// number returns the value of a Float or Int, or the seconds of a Span.
func (p *Param) number(text string) (float64, error) {
	switch p.Kind {
	case Int:
		n, err := strconv.Atoi(text)
		return float64(n), err
	case Span:
		d, err := time.ParseDuration(text)
		return d.Seconds(), err
	default:
		return strconv.ParseFloat(text, 64)
	}
}

// law returns the value of a Law, nil if there is none.
func (p *Param) law(text string) (laws.Law, error) {
	if text == "" {
		return nil, nil
	}
	return laws.Parse(strings.TrimSuffix(strings.TrimPrefix(text, "("), ")"))
}

// Expects says for people which values the parameter takes.
func (p *Param) Expects() string {
	if p.Kind == Law {
		return "a law of seconds such as (pareto:alpha=1.5,xm=10)"
	}
	what := map[Kind]string{Float: "a number", Int: "a whole number", Span: "a duration such as 100ms or 5s"}[p.Kind]
	unit := ""
	if p.Kind == Span {
		unit = "s"
	}
	if p.Min == 0 && p.Max == 0 {
		return what + " of at least 0" + unit
	}
	return fmt.Sprintf("%s between %g%s and %g%s", what, p.Min, unit, p.Max, unit)
}

// Args are the checked parameters of a policy. Asking for one that the entry does not declare is a bug and panics.
type Args struct {
	entry *Entry
	text  map[string]string
	seed  uint64
}

// Seed returns the number on which the policy's random choices depend.
func (a Args) Seed() uint64 { return a.seed }

// WithSeed returns the parameters with another seed.
func (a Args) WithSeed(seed uint64) Args {
	a.seed = seed
	return a
}

// Get returns the text of a parameter of any kind, "" if there is none of the name.
func (a Args) Get(name string) string { return a.text[name] }

// Float returns a parameter of kind Float.
func (a Args) Float(name string) float64 { x, _ := a.param(name, Float).number(a.text[name]); return x }

// Int returns a parameter of kind Int.
func (a Args) Int(name string) int { x, _ := a.param(name, Int).number(a.text[name]); return int(x) }

// Span returns a parameter of kind Span.
func (a Args) Span(name string) sched.Time {
	a.param(name, Span)
	d, _ := time.ParseDuration(a.text[name])
	return sched.Time(d)
}

// Bool returns a parameter of kind Bool.
func (a Args) Bool(name string) bool { a.param(name, Bool); return a.text[name] == "true" }

// Choice returns a parameter of kind Choice.
func (a Args) Choice(name string) string { a.param(name, Choice); return a.text[name] }

// Law returns a parameter of kind Law, nil if it is not given.
func (a Args) Law(name string) laws.Law { l, _ := a.param(name, Law).law(a.text[name]); return l }

func (a Args) param(name string, k Kind) *Param {
	p := a.entry.Param(name)
	if p == nil || p.Kind != k {
		panic(fmt.Sprintf("policy: %s declares no parameter %q of kind %d", a.entry.Name, name, k))
	}
	return p
}

// Defaults returns parameters as they come.
func Defaults(params []Param) Args {
	a, err := (&Entry{Params: params}).Parse("")
	if err != nil {
		panic(err) // nothing was given that could be wrong
	}
	return a
}
