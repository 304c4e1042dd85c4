package jobfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/tailcut/tailcut/internal/grammar"
)

// field is a value in a job file, with the name and the place that mistakes are told with. The zero value is a field
// that is not there.
type field struct {
	name string // last part of path
	path string // stages[1].after
	line int
	node *yaml.Node // never an alias
}

// fieldList holds the fields of a mapping in the order of the file.
type fieldList []field

func (l fieldList) get(name string) field {
	for _, f := range l {
		if f.name == name {
			return f
		}
	}
	return field{}
}

func (f field) given() bool    { return f.node != nil }
func (f field) isScalar() bool { return f.node.Kind == yaml.ScalarNode }
func (f field) isNull() bool   { return f.isScalar() && f.node.ShortTag() == "!!null" }
func (f field) isNumber() bool { return f.isScalar() && f.node.ShortTag() == "!!int" }

// describe says what the file has instead of what was expected.
func (f field) describe() string {
	switch {
	case f.node.Kind == yaml.MappingNode:
		return "a mapping"
	case f.node.Kind == yaml.SequenceNode:
		return "a list"
	case f.isNull():
		return "nothing"
	}
	return quote(f.node.Value)
}

// expected makes the error about a field.
func (p *parser) expected(f field, format string, args ...any) error {
	return &FieldError{File: p.file, Line: max(1, f.line), Field: f.path, Problem: "expected " + fmt.Sprintf(format, args...)}
}

// yamlLine finds the line in the messages of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// document returns the mapping that the file is.
func (p *parser) document(data []byte) (field, error) {
	var doc, next yaml.Node
	whole := field{line: 1}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return whole, p.expected(whole, "a job, but the file is empty")
	case err != nil:
		return whole, p.notYAML(err)
	}
	root, err := p.resolve(whole, doc.Content[0])
	if err != nil {
		return root, err
	}
	if root.node.Kind != yaml.MappingNode {
		if root.isNull() {
			return root, p.expected(root, "a job, but the file is empty")
		}
		return root, p.expected(root, "a mapping of fields, as in operator: wordcount, not %s", root.describe())
	}
	switch err := dec.Decode(&next); {
	case errors.Is(err, io.EOF):
		return root, nil
	case err != nil:
		return root, p.notYAML(err)
	}
	return root, p.expected(field{line: next.Line}, "one job, but a second document begins here")
}

// notYAML places an error of the YAML library.
func (p *parser) notYAML(err error) error {
	text := err.Error()
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = max(1, n)
		}
	}
	return &FieldError{File: p.file, Line: line, Problem: "expected YAML: " + oneLine(text)}
}

// resolve follows an alias and refuses tags of the user's own.
func (p *parser) resolve(f field, n *yaml.Node) (field, error) {
	f.line, f.node = n.Line, n
	if n.Kind == yaml.AliasNode {
		f.node = n.Alias
	}
	if tag := f.node.ShortTag(); f.node.Style&yaml.TaggedStyle != 0 && (!strings.HasPrefix(tag, "!!") || tag == "!!binary") {
		return f, p.expected(f, "a value without the tag %s", quote(tag))
	}
	return f, nil
}

// fields returns the fields of a mapping that says what something is. Names outside valid, and names given twice, are
// mistakes; odd tells whether there are fields beside those that are returned.
func (p *parser) fields(f field, valid []string, of string) (known fieldList, odd bool) {
	pairs := p.pairs(f)
	odd = len(pairs) < len(f.node.Content)/2
	for _, pair := range pairs {
		if slices.Contains(valid, pair.name) {
			known = append(known, pair)
			continue
		}
		odd = true
		hint := "; " + of + " has the fields " + strings.Join(valid, ", ")
		if near := grammar.Nearest(pair.name, valid); near != "" {
			hint = "; did you mean " + near + "?"
		}
		p.note(&FieldError{File: p.file, Line: pair.line, Field: pair.path, Problem: "unknown field" + hint})
	}
	return known, odd
}

// pairs returns the names and values of a mapping that are good.
func (p *parser) pairs(f field) (all fieldList) {
	if f.node.Kind != yaml.MappingNode {
		p.note(p.expected(f, "a mapping, as in name: value, not %s", f.describe()))
		return nil
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key, err := p.resolve(field{path: f.path}, f.node.Content[i])
		if p.note(err) {
			continue
		}
		if !key.isScalar() || key.isNull() {
			p.note(p.expected(key, "text as the name of a field, not %s", key.describe()))
			continue
		}
		item := field{name: key.node.Value, path: word(key.node.Value)}
		if f.path != "" {
			item.path = f.path + "." + item.path
		}
		item, err = p.resolve(item, f.node.Content[i+1])
		item.line = key.line
		if first, ok := seen[item.name]; ok {
			p.note(p.expected(item, "once, and line %d has it too", first))
			continue
		}
		seen[item.name] = item.line
		if !p.note(err) {
			all = append(all, item)
		}
	}
	return all
}

// list returns the items of a list that are good; a single value stands for a list of one.
func (p *parser) list(f field, of string) (all fieldList) {
	if f.isScalar() && !f.isNull() {
		return fieldList{f}
	}
	if f.node.Kind != yaml.SequenceNode || len(f.node.Content) == 0 {
		what := f.describe()
		if f.node.Kind == yaml.SequenceNode {
			what = "an empty one"
		}
		p.note(p.expected(f, "a list of %s, not %s", of, what))
		return nil
	}
	for i, n := range f.node.Content {
		item, err := p.resolve(field{name: f.name, path: fmt.Sprintf("%s[%d]", f.path, i)}, n)
		if !p.note(err) {
			all = append(all, item)
		}
	}
	return all
}

// text reads a scalar as it is written: 1.10 stays 1.10, no stays no.
func (p *parser) text(f field) (string, error) {
	switch {
	case !f.isScalar() || f.isNull():
		return "", p.expected(f, "text, not %s", f.describe())
	case f.node.Value == "":
		return "", p.expected(f, "text, not nothing")
	case strings.Contains(f.node.Value, "\x00"):
		return "", p.expected(f, "text without a NUL byte")
	}
	return f.node.Value, nil
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// quote puts a value from the file into a message, on one line and not too long.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return strconv.Quote(s)
}

// word returns a name as it is if it looks like one, quoted otherwise.
func word(s string) string {
	odd := func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if s == "" || len(s) > 60 || strings.IndexFunc(s, odd) >= 0 {
		return quote(s)
	}
	return s
}

// oneLine joins the lines of a message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
