package simulation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailcut/tailcut/internal/grammar"
)

// SpeedFactor computes a number, or an expression such as 1+2*beta+eps with values of its names, NAME=NUMBER each. It
// is positive and finite. Errors are a [grammar.FieldError].
func SpeedFactor(text string, let []string) (float64, error) {
	names, err := parseNames(let)
	if err != nil {
		return 0, grammar.Wrong("let", err)
	}
	speed, err := evaluate(text, names)
	if err == nil && (!(speed > 0) || math.IsInf(speed, 0)) {
		err = fmt.Errorf("expected a positive number, not %v", speed)
	}
	if err != nil {
		return 0, grammar.Wrong("speed-factor", err)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		others := maps.Clone(names)
		delete(others, name)
		if _, err := evaluate(text, others); err == nil {
			return 0, grammar.Wrong("let", fmt.Errorf("--speed-factor %s does not use %s", text, name))
		}
	}
	return speed, nil
}

// evaluate computes an expression of numbers, names, + - * / and parentheses, such as 1+2*beta+eps.
func evaluate(text string, names map[string]float64) (float64, error) {
	x := &expression{rest: text, names: names}
	v := x.sum()
	if x.skip(); x.rest != "" {
		x.fail("an operator")
	}
	if x.err != nil {
		return 0, fmt.Errorf("%q: %w", text, x.err)
	}
	return v, nil
}

// expression is what is left of one to be read. After an error nothing more is read.
type expression struct {
	rest  string
	names map[string]float64
	depth int // of parentheses and signs
	err   error
}

const maxExpressionDepth = 100

// skip leaves out blanks.
func (x *expression) skip() { x.rest = strings.TrimLeft(x.rest, " \t") }

func (x *expression) fail(want string) {
	if x.err != nil {
		return
	}
	found := "the end"
	if x.rest != "" {
		found = strconv.Quote(x.rest)
	}
	x.err = fmt.Errorf("expected %s, not %s", want, found)
}

// operator takes the next character if it is one of some, and returns it; else 0.
func (x *expression) operator(of string) byte {
	x.skip()
	if x.err != nil || x.rest == "" || strings.IndexByte(of, x.rest[0]) < 0 {
		return 0
	}
	c := x.rest[0]
	x.rest = x.rest[1:]
	return c
}

func (x *expression) sum() float64 {
	v := x.product()
	for {
		switch x.operator("+-") {
		case '+':
			v += x.product()
		case '-':
			v -= x.product()
		default:
			return v
		}
	}
}

func (x *expression) product() float64 {
	v := x.operand()
	for {
		switch x.operator("*/") {
		case '*':
			v *= x.operand()
		case '/':
			v /= x.operand()
		default:
			return v
		}
	}
}

func (x *expression) operand() float64 {
	if x.depth++; x.depth > maxExpressionDepth {
		x.fail(fmt.Sprintf("at most %d parentheses within each other", maxExpressionDepth))
	}
	defer func() { x.depth-- }()
	switch {
	case x.operator("-") != 0:
		return -x.operand()
	case x.operator("(") != 0:
		v := x.sum()
		if x.operator(")") == 0 {
			x.fail("a )")
		}
		return v
	}
	word := wordOf(x.rest)
	after := x.rest[len(word):]
	switch v, err := strconv.ParseFloat(word, 64); {
	case word != "" && (word[0] >= '0' && word[0] <= '9' || word[0] == '.'):
		if err != nil {
			x.fail("a number")
			return 0
		}
		x.rest = after
		return v
	case isName(word):
		v, known := x.names[word]
		if !known && x.err == nil {
			x.err = fmt.Errorf("%s has no value; add --let %s=NUMBER", word, word)
		}
		x.rest = after
		return v
	}
	x.fail("a number, a name or a (")
	return 0
}

// wordOf returns the number or name that a text begins with; the exponent of a number may have a sign, as in 1e-3.
func wordOf(s string) string {
	for i, r := range s {
		sign := (r == '-' || r == '+') && i > 1 && (s[i-1] == 'e' || s[i-1] == 'E') && !isName(s[:i])
		if !sign && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' {
			return s[:i]
		}
	}
	return s
}

// isName tells letters, digits and underscores that do not begin with a digit.
func isName(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// parseNames reads the values of --let, NAME=NUMBER each.
func parseNames(pairs []string) (map[string]float64, error) {
	names := map[string]float64{}
	for _, pair := range pairs {
		name, text, _ := strings.Cut(pair, "=")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || !isName(name) {
			return nil, fmt.Errorf("expected NAME=NUMBER, not %q", pair)
		}
		names[name] = v
	}
	return names, nil
}
