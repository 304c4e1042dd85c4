// Package grammar is how a spec, NAME:key=value,key=(NAME:key=value), is written, in which laws, policies and services
// are named, and the words for a name that there is not.
package grammar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Fields splits a text at the commas outside parentheses: "key=value,key=(value,value)" has two fields. Like
// [strings.Split] it returns at least one, which may be empty.
func Fields(s string) (fields []string) {
	open, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			open++
		case ')':
			open--
		case ',':
			if open == 0 {
				fields = append(fields, s[start:i])
				start = i + 1
			}
		}
	}
	return append(fields, s[start:])
}

// ParseInt reads a whole number as people write it: 1000000 or 1e6. One too large is an error as of [strconv.Atoi].
func ParseInt(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return n, err
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, fmt.Errorf("expected a whole number, got %q", s)
	}
	return int(x), nil
}

// Unknown returns the error that there is no such name of a kind of things: the nearest name if one is near, else the
// valid ones.
func Unknown(kind, name string, valid []string) error {
	return UnknownAmong(kind, name, valid, "valid: "+strings.Join(valid, ", "))
}

// UnknownAmong is [Unknown] for names that are too many for a line, or need more words: where none is near, it says
// what it is told.
func UnknownAmong(kind, name string, valid []string, otherwise string) error {
	if near := Nearest(name, valid); near != "" {
		return fmt.Errorf("unknown %s %q; did you mean %s?", kind, name, near)
	}
	return fmt.Errorf("unknown %s %q; %s", kind, name, otherwise)
}

// Nearest returns the first of the valid names that are most like name, "" if none is: more than two letters, or half
// of the name, would have to change.
func Nearest(name string, valid []string) string {
	best, distance := "", min(3, len(name)/2+1)
	for _, v := range valid {
		if d := editDistance(name, v); d < distance {
			best, distance = v, d
		}
	}
	return best
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
