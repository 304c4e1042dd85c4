package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"short":  short,
	"svg":    inline,
	"slots":  (*Timeline).inline,
	"style":  func() template.CSS { return template.CSS(fmt.Sprintf(timelineStyle, ".timeline ")) },
	"right":  func(t Table, i int) bool { return t.numeric(i) },
	"failed": func(p *Page) int { return len(p.Failed()) },
}).Parse(pageHTML))

// WriteHTML writes the page as one file that needs no other: style and plots are inside.
func (p *Page) WriteHTML(w io.Writer) error { return page.Execute(w, p.shown()) }

// inline is the plot as an element of the page: the drawing without the header of a file.
func inline(p Plot) (template.HTML, error) {
	var b strings.Builder
	if err := p.WriteSVG(&b); err != nil {
		return "", err
	}
	_, body, _ := strings.Cut(b.String(), "<svg")
	return template.HTML("<svg" + body), nil //nolint:gosec // made by WriteSVG, which escapes text
}

// inline is the timeline as an element of the page, whose style is the page's.
func (t *Timeline) inline() template.HTML {
	body, height := t.draw()
	const element = "<svg class=\"timeline\" viewBox=\"0 0 %v %v\" font-size=\"%v\">\n%s</svg>"
	return template.HTML(fmt.Sprintf(element, timelineWidth, height, timelineFont, body)) //nolint:gosec // draw escapes
}
