package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The reader of cluster files works on the nodes of the document, because they know their lines.
// docs/reference/cluster-file.md describes the fields.

// clusterField is a value of a cluster file and its place there.
type clusterField struct {
	file, path string
	node       *yaml.Node
}

// expected makes the error about a field: file, line, field, and what was expected.
func (f clusterField) expected(format string, args ...any) error {
	text := "expected " + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	line := 1
	if f.node != nil {
		line = max(1, f.node.Line)
	}
	if f.path == "" {
		return fmt.Errorf("%s:%d: %s", f.file, line, text)
	}
	return fmt.Errorf("%s:%d: field %s: %s", f.file, line, f.path, text)
}

// wrong makes an error that says what was expected one about a field.
func (f clusterField) wrong(err error) error {
	return f.expected("%s", strings.TrimPrefix(err.Error(), "expected "))
}

// at returns a value of this one: an item or a field.
func (f clusterField) at(name string, n *yaml.Node) clusterField {
	path := f.path + name
	if f.path != "" && name[0] != '[' {
		path = f.path + "." + name
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return clusterField{f.file, path, n}
}

// yamlPlace finds the line in the messages of the YAML library.
var yamlPlace = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// clusterDocument returns the mapping that the file is.
func clusterDocument(file string, data []byte) (clusterField, error) {
	var doc, next yaml.Node
	whole := clusterField{file: file}
	d := yaml.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return whole, whole.expected("a cluster, but the file is empty")
	}
	if err == nil {
		if whole.node = doc.Content[0]; whole.node.Kind != yaml.MappingNode {
			return whole, whole.expected("a mapping with the fields sites and links")
		}
		if err = d.Decode(&next); errors.Is(err, io.EOF) {
			return whole, nil
		}
	}
	if err != nil {
		text := err.Error()
		if m := yamlPlace.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			n, _ := strconv.Atoi(m[1])
			whole.node = &yaml.Node{Line: n}
		}
		return whole, whole.expected("YAML: %s", text)
	}
	whole.node = &next
	return whole, whole.expected("one cluster, but a second document begins here")
}

// fields hands each field of a mapping to its reader. Other names, and names given twice, are mistakes.
func (f clusterField) fields(readers map[string]func(clusterField) error) error {
	if f.node.Kind != yaml.MappingNode {
		return f.expected("a mapping, as in name: value")
	}
	seen := map[string]bool{}
	for i := 0; i < len(f.node.Content); i += 2 {
		key, value := f.node.Content[i], f.node.Content[i+1]
		read, known := readers[key.Value]
		if key.Kind != yaml.ScalarNode || !known {
			name := "?"
			if key.Kind == yaml.ScalarNode && key.Value != "" {
				name = strings.Trim(quoted(key.Value), `"`)
			}
			names := slices.Sorted(maps.Keys(readers))
			return f.at(name, key).expected("one of the fields %s", strings.Join(names, ", "))
		}
		if seen[key.Value] {
			return f.at(key.Value, key).expected("each field once")
		}
		seen[key.Value] = true
		if err := read(f.at(key.Value, value)); err != nil {
			return err
		}
	}
	return nil
}

// items returns the items of a list.
func (f clusterField) items() ([]clusterField, error) {
	if f.node.Kind != yaml.SequenceNode {
		return nil, f.expected("a list")
	}
	all := make([]clusterField, len(f.node.Content))
	for i, n := range f.node.Content {
		all[i] = f.at(fmt.Sprintf("[%d]", i), n)
	}
	return all, nil
}

// text returns a scalar as it is written.
func (f clusterField) text() (string, error) {
	if f.node.Kind != yaml.ScalarNode || f.node.ShortTag() == "!!null" {
		return "", f.expected("a value")
	}
	return f.node.Value, nil
}

// count reads a whole number between 1 and most.
func (f clusterField) count(most int, to *int) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return f.expected("a whole number between 1 and %d, got %s", most, quoted(text))
	}
	*to = n
	return nil
}

// number reads a positive number; with zero, 0 too.
func (f clusterField) number(zero bool, to *float64) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 || zero && x == 0) || math.IsInf(x, 0) {
		if zero {
			return f.expected("a number of at least 0, got %s", quoted(text))
		}
		return f.expected("a positive number, got %s", quoted(text))
	}
	*to = x
	return nil
}

// quoted quotes what a user wrote, cut short.
func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return strconv.Quote(s)
}

// rateUnits are the units of bandwidths, in bytes per second.
var rateUnits = map[string]float64{
	"bit/s": 0.125, "kbit/s": 125, "Mbit/s": 125e3, "Gbit/s": 125e6, "Tbit/s": 125e9,
	"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KiB/s": 1 << 10, "MiB/s": 1 << 20, "GiB/s": 1 << 30,
}

// ParseRate reads a bandwidth such as 50Mbit/s and returns it in bytes per second.
func ParseRate(text string) (float64, error) {
	digits := strings.TrimRight(text, "bitsBkKMGT/")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	unit, known := rateUnits[text[len(digits):]]
	if rate := x * unit; err == nil && known && rate > 0 && !math.IsInf(rate, 0) {
		return rate, nil
	}
	return 0, fmt.Errorf("expected a bandwidth such as 50Mbit/s or 6MB/s, got %s", quoted(text))
}
