package serve

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
)

// mostMistakes bounds what an answer tells: a body of many megabytes can have as many.
const mostMistakes = 100

// decode fills a struct from a body and returns all that is wrong with its form, where encoding/json stops at the
// first mistake and overlooks fields that it does not know.
func decode(body []byte, into any) []Mistake {
	if !json.Valid(body) {
		return []Mistake{{Detail: "expected JSON: " + json.Unmarshal(body, new(any)).Error()}}
	}
	d := &decoder{}
	d.value("", body, reflect.ValueOf(into).Elem())
	return d.found
}

type decoder struct{ found []Mistake }

func (d *decoder) note(field, format string, args ...any) {
	if len(d.found) < mostMistakes {
		d.found = append(d.found, Mistake{field, fmt.Sprintf(format, args...)})
	}
}

// value decodes what stands at a path.
func (d *decoder) value(path string, text json.RawMessage, v reflect.Value) {
	if d.ownWay(v) {
		d.leaf(path, text, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if string(text) == "null" {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.value(path, text, v.Elem())
	case reflect.Struct:
		d.fields(path, text, v)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			d.leaf(path, text, v)
			return
		}
		if plain(v.Type().Elem()) && json.Unmarshal(text, v.Addr().Interface()) == nil {
			return // a million values at once
		}
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil {
			d.note(path, "expected a list, not %s", excerpt(text))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, item := range items {
			d.value(fmt.Sprintf("%s[%d]", path, i), item, v.Index(i))
		}
	default:
		d.leaf(path, text, v)
	}
}

// plain tells whether there is nothing to overlook inside a type.
func plain(t reflect.Type) bool { return t.Kind() == reflect.String || t.Kind() <= reflect.Float64 }

// ownWay tells whether a type reads its text itself.
func (d *decoder) ownWay(v reflect.Value) bool {
	switch v.Addr().Interface().(type) {
	case json.Unmarshaler, encoding.TextUnmarshaler:
		return true
	}
	return false
}

// leaf decodes what encoding/json reads in one go.
func (d *decoder) leaf(path string, text json.RawMessage, v reflect.Value) {
	err := json.Unmarshal(text, v.Addr().Interface())
	if err == nil {
		return
	}
	if _, ok := err.(*json.UnmarshalTypeError); ok {
		d.note(path, "expected %s, not %s", kindOf(v.Type()), excerpt(text))
		return
	}
	d.note(path, "%v", err)
}

// fields decodes an object. Its names have to be those of the struct, to the letter.
func (d *decoder) fields(path string, text json.RawMessage, v reflect.Value) {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		d.note(path, "expected an object, not %s", excerpt(text))
		return
	}
	known := map[string]reflect.Value{}
	fieldsOf(v, known)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		field, ok := known[name]
		switch near := ""; {
		case ok:
			d.value(at, object[name], field)
		default:
			if near = grammar.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
				near = "; did you mean " + near + "?"
			}
			d.note(at, "there is no such field%s", near)
		}
	}
}

// fieldsOf finds the fields of a struct by their names in JSON, those of embedded structs too.
func fieldsOf(v reflect.Value, all map[string]reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			fieldsOf(v.Field(i), all)
		default:
			if name == "" {
				name = f.Name
			}
			all[name] = v.Field(i)
		}
	}
}

// kindOf names what a type is in JSON.
func kindOf(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.String:
		return "a string"
	case k >= reflect.Uint && k <= reflect.Uint64:
		return "a whole number of at least 0"
	case k >= reflect.Int && k <= reflect.Int64:
		return "a whole number"
	case k == reflect.Float64 || k == reflect.Float32:
		return "a number"
	case k == reflect.Slice || k == reflect.Array:
		return "a list"
	}
	return "an object"
}

// excerpt is as much of a value as fits a line.
func excerpt(text json.RawMessage) string {
	const most = 40
	if text = bytes.TrimSpace(text); len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "..."
	}
	return string(text)
}
