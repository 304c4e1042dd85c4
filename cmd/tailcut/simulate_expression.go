package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// evaluate computes an expression of numbers, names, + - * / and parentheses, such as 1+2*beta+eps.
func evaluate(text string, names map[string]float64) (float64, error) {
	x := &expression{rest: text, names: names}
	v := x.sum()
	if x.err == nil && x.peek() != 0 {
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

// peek returns the next character that is no blank, 0 at the end.
func (x *expression) peek() byte {
	x.rest = strings.TrimLeft(x.rest, " \t")
	if x.rest == "" || x.err != nil {
		return 0
	}
	return x.rest[0]
}

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

// operator takes the next character if it is one of some.
func (x *expression) operator(of string) byte {
	c := x.peek()
	if c == 0 || strings.IndexByte(of, c) < 0 {
		return 0
	}
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
	c := x.peek()
	end := len(x.rest)
	if i := strings.IndexFunc(x.rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' }); i >= 0 {
		end = i
	}
	word := x.rest[:end]
	switch v, err := strconv.ParseFloat(word, 64); {
	case c >= '0' && c <= '9' || c == '.':
		if err != nil {
			x.fail("a number")
			return 0
		}
		x.rest = x.rest[end:]
		return v
	case isName(word):
		v, known := x.names[word]
		if !known && x.err == nil {
			x.err = fmt.Errorf("nothing is known of %s; say --let %s=NUMBER", word, word)
		}
		x.rest = x.rest[end:]
		return v
	}
	x.fail("a number, a name or a (")
	return 0
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
