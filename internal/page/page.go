// Package page draws what attempts did: as one HTML file that opens without a network, and as the page of a server.
// What a reader sees is decided in assets, which are what browsers are given.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/tailcut/tailcut/internal/timeline"
)

//go:embed assets
var assets embed.FS

// Report is a timeline as one HTML file.
type Report struct {
	*timeline.Timeline
	Title, Subtitle string
}

// reportScripts are the scripts of a report, in the order in which they need each other.
var reportScripts = []string{"make.js", "store.js", "timeline.js", "hands.js", "tables.js", "report.js"}

// WriteHTML writes the report. Nothing in it comes from elsewhere, and its policy lets nothing run but its own scripts.
func (r *Report) WriteHTML(w io.Writer) error {
	frame, err := template.New("report").Parse(asset("report.html"))
	if err != nil {
		return err
	}
	data, err := packed(r.Timeline)
	if err != nil {
		return err
	}
	script := scripts(reportScripts)
	return frame.Execute(w, map[string]string{
		"Title": r.Title, "Subtitle": r.Subtitle, "Style": asset("style.css"), "Script": script, "ScriptHash": hash(script), "Data": data,
	})
}

// packed is a timeline as text that stands in a page: JSON, compressed, in base64.
func packed(t *timeline.Timeline) (string, error) {
	var b bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &b)
	z := gzip.NewWriter(text)
	if err := t.WriteJSON(z); err != nil {
		return "", err
	}
	if err := errors.Join(z.Close(), text.Close()); err != nil {
		return "", err
	}
	return b.String(), nil
}

// scripts are several as one. Each begins with "use strict", which holds for all from the first on.
func scripts(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(asset(name))
	}
	return b.String()
}

// hash names a script to a Content-Security-Policy.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
}

// asset returns an embedded file.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(text)
}
