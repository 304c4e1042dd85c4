package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// avro turns values in Avro's binary encoding into its JSON encoding, as the schema says (Apache Avro 1.11
// Specification, "Data Serialization and Deserialization"). Only what the schemas of Hadoop use is there: no logical
// types, no aliases, no defaults.
type avro struct {
	in     *bufio.Reader
	root   *avroType
	out    []byte // the value of the last call of next
	raw    []byte // scratch of sized
	budget int    // values that it may still have, so that a few bytes cannot ask for endless nothing
}

// avroType is a type of a schema.
type avroType struct {
	kind    string // of a primitive type its name, else record, enum, array, map, union or fixed
	name    string // with the namespace; of a primitive type its name
	fields  []avroField
	symbols []string
	of      []*avroType // branches of a union, or the type of items
	size    int         // of fixed
	empty   bool        // its values take no bytes
}

type avroField struct {
	name string // as JSON, with a colon
	of   *avroType
}

// Limits of a value, far above what Hadoop writes.
const (
	avroDepth  = 64
	avroValues = 1 << 20
	avroBytes  = 1 << 26
)

var (
	errAvro      = errors.New("expected Avro data that fits the schema")
	errAvroEmpty = errors.New("expected a schema whose values take bytes, got one of an empty type")
)

// newAvro reads values of a schema, which is JSON.
func newAvro(in *bufio.Reader, schema []byte) (*avro, error) {
	var text any
	if err := json.Unmarshal(schema, &text); err != nil {
		return nil, errors.New("expected an Avro schema in JSON")
	}
	named := map[string]*avroType{}
	root, err := avroSchema(text, "", named, 0)
	if err == nil && root.empty { // any file would have endlessly many values
		err = errAvroEmpty
	}
	return &avro{in: in, root: root}, err
}

// avroSchema builds a type. named holds the types that have been defined, by full name.
func avroSchema(text any, space string, named map[string]*avroType, depth int) (*avroType, error) {
	if depth > avroDepth {
		return nil, fmt.Errorf("expected a schema of at most %d levels", avroDepth)
	}
	switch t := text.(type) {
	case string:
		switch t {
		case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
			return &avroType{kind: t, name: t, empty: t == "null"}, nil
		}
		if known := named[fullName(t, space)]; known != nil {
			return known, nil
		}
		return nil, fmt.Errorf("expected a type of the schema, got %q", abridged([]byte(t)))
	case []any:
		u := &avroType{kind: "union"}
		for _, branch := range t {
			of, err := avroSchema(branch, space, named, depth+1)
			if err != nil {
				return nil, err
			}
			u.of = append(u.of, of)
		}
		return u, nil
	case map[string]any:
		return avroComplex(t, space, named, depth)
	}
	return nil, errors.New("expected an Avro schema")
}

// avroComplex builds a type that is described by an object.
func avroComplex(t map[string]any, space string, named map[string]*avroType, depth int) (*avroType, error) {
	kind, ok := t["type"].(string)
	if !ok {
		return avroSchema(t["type"], space, named, depth+1)
	}
	if own, ok := t["namespace"].(string); ok {
		space = own
	}
	a := &avroType{kind: kind}
	if name, ok := t["name"].(string); ok {
		a.name = fullName(name, space)
	}
	sub := func(text any) error {
		of, err := avroSchema(text, space, named, depth+1)
		a.of = append(a.of, of)
		return err
	}
	switch kind {
	case "record":
		named[a.name] = a
		fields, _ := t["fields"].([]any)
		empty := true
		for _, f := range fields {
			field, _ := f.(map[string]any)
			name, ok := field["name"].(string)
			of, err := avroSchema(field["type"], space, named, depth+1)
			if err == nil && !ok {
				err = errors.New("expected the name of a field")
			}
			if err != nil {
				return nil, err
			}
			a.fields = append(a.fields, avroField{string(append(appendText(nil, []byte(name)), ':')), of})
			empty = empty && of.empty
		}
		a.empty = empty // only now, so that a record in itself, which no bytes can hold, is not
		return a, nil
	case "enum":
		named[a.name] = a
		symbols, _ := t["symbols"].([]any)
		for _, s := range symbols {
			text, _ := s.(string)
			a.symbols = append(a.symbols, text)
		}
		return a, nil
	case "fixed":
		named[a.name] = a
		size, _ := t["size"].(float64)
		if !(size >= 0 && size < avroBytes) {
			return nil, errors.New("expected a size of a fixed type")
		}
		a.size = int(size)
		a.empty = a.size == 0
		return a, nil
	case "array":
		err := sub(t["items"])
		if err == nil && a.of[0].empty { // a few bytes would be a million items
			err = errAvroEmpty
		}
		return a, err
	case "map":
		return a, sub(t["values"])
	}
	return avroSchema(kind, space, named, depth+1)
}

// fullName puts the namespace before a name that has none.
func fullName(name, space string) string {
	if space == "" || bytes.IndexByte([]byte(name), '.') >= 0 {
		return name
	}
	return space + "." + name
}

var errAvroEnds = errors.New("expected more Avro, found the end of the file")

// next returns the next value as JSON, valid until the call after; io.EOF after the last.
func (a *avro) next() ([]byte, error) {
	if _, err := a.in.Peek(1); err != nil {
		return nil, err
	}
	a.out, a.budget = a.out[:0], avroValues
	err := a.value(a.root, 0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errAvroEnds
	}
	return a.out, err
}

// value appends a value.
func (a *avro) value(t *avroType, depth int) error {
	if a.budget--; a.budget < 0 || depth > avroDepth || len(a.out) > avroBytes {
		return errAvro
	}
	switch t.kind {
	case "null":
		a.out = append(a.out, "null"...)
		return nil
	case "boolean":
		b, err := a.in.ReadByte()
		a.out = strconv.AppendBool(a.out, b != 0)
		return err
	case "int", "long":
		n, err := a.long()
		a.out = strconv.AppendInt(a.out, n, 10)
		return err
	case "float":
		return a.float(4)
	case "double":
		return a.float(8)
	case "bytes", "string":
		return a.text()
	case "fixed":
		return a.sized(t.size)
	case "enum":
		n, err := a.long()
		if err == nil && (n < 0 || n >= int64(len(t.symbols))) {
			return errAvro
		}
		if err == nil {
			a.out = appendText(a.out, []byte(t.symbols[n]))
		}
		return err
	case "union":
		return a.union(t, depth)
	case "array", "map":
		return a.items(t, depth)
	}
	a.out = append(a.out, '{')
	for i, f := range t.fields {
		if i > 0 {
			a.out = append(a.out, ',')
		}
		a.out = append(a.out, f.name...)
		if err := a.value(f.of, depth+1); err != nil {
			return err
		}
	}
	a.out = append(a.out, '}')
	return nil
}

// union appends null, or an object whose key is the name of the branch.
func (a *avro) union(t *avroType, depth int) error {
	n, err := a.long()
	if err != nil {
		return err
	}
	if n < 0 || n >= int64(len(t.of)) {
		return errAvro
	}
	branch := t.of[n]
	if branch.kind == "null" {
		return a.value(branch, depth+1)
	}
	a.out = appendText(append(a.out, '{'), []byte(branch.name))
	a.out = append(a.out, ':')
	err = a.value(branch, depth+1)
	a.out = append(a.out, '}')
	return err
}

// items appends a list or a map, which come in blocks: how many, then so many; a negative number is followed by a size
// in bytes; 0 is the end.
func (a *avro) items(t *avroType, depth int) error {
	brackets := "[]"
	if t.kind == "map" {
		brackets = "{}"
	}
	a.out = append(a.out, brackets[0])
	for first := true; ; {
		n, err := a.long()
		if err == nil && n < 0 && n != math.MinInt64 {
			n = -n
			_, err = a.long()
		}
		if err != nil {
			return err
		}
		if n == 0 {
			a.out = append(a.out, brackets[1])
			return nil
		}
		if n < 0 || n > avroValues {
			return errAvro
		}
		for ; n > 0; n-- {
			if !first {
				a.out = append(a.out, ',')
			}
			first = false
			if t.kind == "map" {
				if err := a.text(); err != nil {
					return err
				}
				a.out = append(a.out, ':')
			}
			if err := a.value(t.of[0], depth+1); err != nil {
				return err
			}
		}
	}
}

// long reads an integer: seven bits a byte, the lowest first, the sign in the lowest bit.
func (a *avro) long() (int64, error) {
	n, err := binary.ReadVarint(a.in)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, errAvro
	}
	return n, err
}

// float appends a number of so many bytes; what JSON has no number for becomes null.
func (a *avro) float(size int) error {
	var b [8]byte
	if _, err := io.ReadFull(a.in, b[:size]); err != nil {
		return err
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
	if size == 4 {
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[:])))
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		a.out = append(a.out, "null"...)
		return nil
	}
	a.out = strconv.AppendFloat(a.out, x, 'g', -1, 64)
	return nil
}

// text appends a string, or bytes, which follow their length.
func (a *avro) text() error {
	n, err := a.long()
	if err != nil {
		return err
	}
	if n < 0 || n > avroBytes {
		return errAvro
	}
	return a.sized(int(n))
}

// sized appends so many bytes as a text. It takes them in parts, so that a length alone costs no memory.
func (a *avro) sized(n int) error {
	a.raw = a.raw[:0]
	for len(a.raw) < n {
		part := min(n-len(a.raw), 1<<16)
		a.raw = slices.Grow(a.raw, part)[:len(a.raw)+part]
		if _, err := io.ReadFull(a.in, a.raw[len(a.raw)-part:]); err != nil {
			return err
		}
	}
	a.out = appendText(a.out, a.raw)
	return nil
}

// appendText appends a JSON string.
func appendText(out, text []byte) []byte {
	for _, b := range text {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			quoted, _ := json.Marshal(string(text)) // a string never fails
			return append(out, quoted...)
		}
	}
	return append(append(append(out, '"'), text...), '"')
}
