// Package chart is the Helm chart of tailcut-controller, which Helm installs from this folder. The controller renders
// the same templates for who has no Helm.
package chart

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"reflect"
	"text/template"

	"go.yaml.in/yaml/v3"
)

//go:embed Chart.yaml values.yaml templates/*.yaml
var files embed.FS

// Templates of the chart.
const (
	Pools      = "slotpools.yaml" // the definition of SlotPools, without which there are none
	Controller = "controller.yaml"
	Admission  = "admission.yaml"
)

// functions are those of Helm that the templates use.
var functions = template.FuncMap{
	"quote":  func(text string) string { return fmt.Sprintf("%q", text) },
	"hasKey": func(m map[string]any, key string) bool { _, is := m[key]; return is },
	"kindIs": func(kind string, x any) bool { return reflect.ValueOf(x).Kind().String() == kind },
	"toJson": func(x any) (string, error) {
		data, err := json.Marshal(x)
		return string(data), err
	},
	"required": func(what string, x string) (string, error) {
		if x == "" {
			return "", fmt.Errorf("%s", what)
		}
		return x, nil
	},
}

// Render writes some templates as Helm would for a release in a namespace, with these values above those of
// values.yaml.
func Render(out io.Writer, namespace string, values map[string]any, templates ...string) error {
	data, err := files.ReadFile("values.yaml")
	if err != nil {
		return err
	}
	all := map[string]any{}
	if err := yaml.Unmarshal(data, &all); err != nil {
		return err
	}
	maps.Copy(all, values)
	about := map[string]any{"Values": all, "Release": map[string]any{"Namespace": namespace}}
	var b bytes.Buffer
	for _, name := range templates {
		text, err := files.ReadFile(path.Join("templates", name))
		if err != nil {
			return err
		}
		t, err := template.New(name).Funcs(functions).Parse(string(text))
		if err != nil {
			return err
		}
		var part bytes.Buffer
		if err := t.Execute(&part, about); err != nil {
			return err
		}
		if text := bytes.TrimSpace(part.Bytes()); len(text) > 0 {
			if b.Len() > 0 {
				b.WriteString("---\n")
			}
			b.Write(text)
			b.WriteByte('\n')
		}
	}
	_, err = out.Write(b.Bytes())
	return err
}
