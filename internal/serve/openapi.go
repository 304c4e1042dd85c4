package serve

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// object is an object of JSON.
type object = map[string]any

// description describes the server for programs (OpenAPI 3.1), from the routes and the types of their bodies.
func description(all []route) []byte {
	s := schemas{}
	paths := object{}
	for _, r := range all {
		at, _ := paths[r.path].(object)
		if at == nil {
			at = object{}
			paths[r.path] = at
		}
		at[strings.ToLower(r.method)] = s.operation(&r)
	}
	text, err := json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Tailcut", "version": "1",
			"description": "The server of 'tailcut serve'. Jobs run as the user who owns the server. Fields are only ever added.",
		},
		"paths":      paths,
		"components": object{"schemas": s},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return text
}

// schemas are the types that have a name, by it.
type schemas object

var pathParam = regexp.MustCompile(`{(\w+)}`)

func (s schemas) operation(r *route) object {
	answer := object{"description": "The answer."}
	switch {
	case r.kind != "":
		answer["content"] = object{r.kind: object{}}
	case r.answer != nil:
		answer["content"] = object{"application/json": object{"schema": s.of(reflect.TypeOf(r.answer))}}
	}
	mistake := object{"description": "What was wrong.", "content": object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem]())}}}
	params := []object{}
	for _, m := range pathParam.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"},
			"description": "An id, or a name, which means its latest job."})
	}
	for _, p := range r.query {
		params = append(params, object{"name": p.name, "in": "query", "description": p.does, "schema": p.schema()})
	}
	op := object{"summary": r.does, "parameters": params, "responses": object{"200": answer, "default": mistake}}
	if r.body != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(r.body))}}}
	}
	return op
}

func (p *param) schema() object {
	one := object{}
	switch kind := p.kind.(type) {
	case int:
		one["type"] = "integer"
	case float64:
		one["type"] = "number"
	case bool:
		one["type"] = "boolean"
	default:
		one["type"] = "string"
		if words, ok := kind.([]State); ok {
			one["enum"] = words
		}
	}
	if p.many {
		return object{"type": "array", "items": one}
	}
	return one
}

// of returns the schema of a type. Those with names stand once, and are referred to.
func (s schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[anything]():
		return object{}
	case reflect.TypeFor[State]():
		return object{"type": "string", "enum": States()}
	}
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return writtenAs(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []object{s.of(t.Elem()), {"type": "null"}}}
	case reflect.Struct:
		if t.Name() == "" {
			return s.fields(t)
		}
		if _, known := s[t.Name()]; !known {
			s[t.Name()] = nil // it may contain itself
			s[t.Name()] = s.fields(t)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		list := object{"type": []string{"array", "null"}, "items": s.of(t.Elem())}
		if t.Kind() == reflect.Array {
			list["type"], list["minItems"], list["maxItems"] = "array", t.Len(), t.Len()
		}
		return list
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": s.of(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.Interface:
		return object{}
	}
	return object{"type": "integer"}
}

// writtenAs returns the schema of a type that writes itself, as its zero value shows it.
func writtenAs(t reflect.Type) object {
	text, err := json.Marshal(reflect.Zero(t).Interface())
	if err != nil {
		return object{}
	}
	switch c := text[0]; {
	case c == '"':
		return object{"type": "string"}
	case c == '[':
		return object{"type": "array", "items": object{}}
	case c == '-' || c >= '0' && c <= '9':
		return object{"type": "number"}
	}
	return object{}
}

// fields returns the schema of a struct. A field that can be left out is not required.
func (s schemas) fields(t reflect.Type) object {
	properties, required := object{}, []string{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			if f.Anonymous && name == "" {
				add(f.Type)
				continue
			}
			if name == "" {
				name = f.Name
			}
			schema := s.of(f.Type)
			if doc := f.Tag.Get("doc"); doc != "" {
				schema["description"] = doc
			}
			properties[name] = schema
			if !strings.Contains(options, "omit") {
				required = append(required, name)
			}
		}
	}
	add(t)
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required}
}
