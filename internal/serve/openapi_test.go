package serve

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// conforms checks a value against a schema of the description, as far as the description uses the language of schemas.
func conforms(doc object, schema any, v any, at string) (found []string) {
	s, _ := schema.(object)
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		target, ok := doc["components"].(object)["schemas"].(object)[name]
		if !ok {
			return []string{at + ": refers to " + name + ", which is not there"}
		}
		return conforms(doc, target, v, at)
	}
	if any, ok := s["anyOf"].([]any); ok {
		for _, one := range any {
			if len(conforms(doc, one, v, at)) == 0 {
				return nil
			}
		}
		return []string{at + ": fits none of the alternatives"}
	}
	if kinds := s["type"]; kinds != nil {
		var all []string
		switch k := kinds.(type) {
		case string:
			all = []string{k}
		case []any:
			for _, one := range k {
				all = append(all, one.(string))
			}
		}
		if !slices.ContainsFunc(all, func(k string) bool { return isKind(v, k) }) {
			return []string{fmt.Sprintf("%s: expected %v, got %T", at, all, v)}
		}
	}
	if words, ok := s["enum"].([]any); ok && !slices.Contains(words, v) {
		found = append(found, fmt.Sprintf("%s: %v is none of %v", at, v, words))
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			found = append(found, conforms(doc, s["items"], item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case object:
		properties, _ := s["properties"].(object)
		for name, item := range v {
			p, ok := properties[name]
			if !ok {
				p = s["additionalProperties"]
			}
			if p == nil && len(s) > 0 {
				found = append(found, at+"."+name+": not in the description")
			}
			found = append(found, conforms(doc, p, item, at+"."+name)...)
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				found = append(found, at+": lacks "+name.(string))
			}
		}
	}
	return found
}

func isKind(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	}
	return kind == "object"
}

// described returns the description as a program reads it.
func described(t *testing.T) object {
	t.Helper()
	doc := object{}
	if err := json.Unmarshal(description(routes()), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// answerSchema returns what the description says of the answer of a route.
func answerSchema(doc object, method, path string) any {
	op := doc["paths"].(object)[path].(object)[strings.ToLower(method)].(object)
	content := op["responses"].(object)["200"].(object)["content"].(object)
	if json, ok := content["application/json"].(object); ok {
		return json["schema"]
	}
	return nil
}

// Each answer that the routes declare conforms to what the description makes of it, empty and full.
func TestDescriptionFitsTheTypes(t *testing.T) {
	doc := described(t)
	for _, r := range routes() {
		if r.answer == nil {
			continue
		}
		for _, fill := range []bool{false, true} {
			v := reflect.New(reflect.TypeOf(r.answer)).Elem()
			if fill {
				fillIn(v)
			}
			if j, ok := v.Addr().Interface().(*Job); ok {
				j.State = Queued
			}
			text, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			var read any
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatal(err)
			}
			for _, s := range conforms(doc, answerSchema(doc, r.method, r.path), read, r.path) {
				t.Error(s)
			}
		}
	}
}

// fillIn gives every field a value.
func fillIn(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1e9, 0)))
	case v.Type() == reflect.TypeFor[State]():
		v.SetString(string(Running))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillIn(v.Field(i))
			}
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0))
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillIn(key)
		v.SetMapIndex(key, item)
	case v.Kind() == reflect.String:
		v.SetString("x")
	}
}
