// Sbom writes the bill of materials of a Go program in the format of CycloneDX: sbom PROGRAM OUT.cdx.json VERSION. It
// lists the modules that the linker recorded in the program, with their versions and checksums, so it needs no sources
// and leaves out what is only in go.mod. The same program gives the same bytes.
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// bill is a document of CycloneDX 1.6, as far as a program fills it.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM OUT.cdx.json VERSION")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, out, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(describe(info, version)); err != nil {
		return err
	}
	return os.WriteFile(out, text.Bytes(), 0o644)
}

// describe returns the bill of a program of a version.
func describe(info *buildinfo.BuildInfo, version string) bill {
	self := library(info.Main.Path, version, "")
	self.Type, self.Name = "application", filepath.Base(info.Path)
	self.Properties = []property{{"go:package", info.Path}}
	for _, s := range info.Settings {
		self.Properties = append(self.Properties, property{"go:build:" + s.Key, s.Value})
	}
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{self},
		Components: []component{library("std", strings.TrimPrefix(info.GoVersion, "go"), "")},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, library(m.Path, m.Version, m.Sum))
	}
	needs := dependency{Ref: self.Ref}
	for _, c := range b.Components {
		needs.On = append(needs.On, c.Ref)
	}
	b.Dependencies = []dependency{needs}
	return b
}

// library returns a module; sum is as go.sum has it, or "".
func library(path, version, sum string) component {
	url := "pkg:golang/" + path + "@" + version
	c := component{Ref: url, Type: "library", Name: path, Version: version, URL: url}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
