package main

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tailcut/tailcut/cloud/internal/kube"
)

// schema is what the test looks at of a property.
type schema struct {
	Type       string
	Properties map[string]schema
	Items      *schema
	Additional *schema `yaml:"additionalProperties"`
	Amount     bool    `yaml:"x-kubernetes-int-or-string"`
}

// The definition of SlotPools has the fields of the types in Go, and no others.
func TestDefinitionOfPools(t *testing.T) {
	var d struct {
		Spec struct {
			Group    string
			Versions []struct {
				Schema struct {
					V3 schema `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	var text strings.Builder
	if status := run([]string{"--print-manifests=pools"}, &text, &text); status != 0 {
		t.Fatal(text.String())
	}
	if err := yaml.Unmarshal([]byte(text.String()), &d); err != nil {
		t.Fatal(err)
	}
	root := d.Spec.Versions[0].Schema.V3
	compare(t, "spec", reflect.TypeFor[kube.SlotPoolSpec](), root.Properties["spec"])
	compare(t, "status", reflect.TypeFor[kube.SlotPoolStatus](), root.Properties["status"])
}

func compare(t *testing.T, path string, typ reflect.Type, s schema) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	want := map[reflect.Kind]string{reflect.Int32: "integer", reflect.Int64: "integer", reflect.String: "string", reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object"}[typ.Kind()]
	if name := typ.String(); name == "v1.Duration" || name == "v1.Time" || name == "v1.MicroTime" {
		want = "string"
	}
	if typ.String() == "resource.Quantity" && s.Amount {
		return
	}
	if s.Type != want {
		t.Errorf("%s is of type %q, want %q", path, s.Type, want)
		return
	}
	switch {
	case want == "array":
		compare(t, path+"[]", typ.Elem(), *s.Items)
	case typ.Kind() == reflect.Map:
		compare(t, path+"{}", typ.Elem(), *s.Additional)
	case want == "object":
		left := len(s.Properties)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			p, there := s.Properties[name]
			if left--; !there {
				t.Errorf("%s has no %s", path, name)
				continue
			}
			compare(t, path+"."+name, typ.Field(i).Type, p)
		}
		if left != 0 {
			t.Errorf("%s: %d properties are no fields", path, left)
		}
	}
}
