package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/timeline"
)

// write writes a report and returns its address.
func write(t *testing.T, tl *timeline.Timeline) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Timeline: tl, Title: "nightly: <b>tasks</b>, succeeded", Subtitle: "Policy spark"}
	if err := r.WriteHTML(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// What a reader can do with a report: see it wide, narrow and dark, move by keyboard, filter, and read it in tables.
func TestReport(t *testing.T) {
	b := openBrowser(t)
	url := write(t, day(3, 6, 400))
	p := b.open(url, 1280, 900, false)
	p.until("view.stats.firstDraw")
	p.shoot("wide")
	if got := p.text("h1"); got != "nightly: <b>tasks</b>, succeeded" {
		t.Errorf("title %q", got)
	}
	if got := p.value("view.lanes.length"); got != 6. {
		t.Errorf("%v lanes", got)
	}
	if got := p.value("[...document.querySelectorAll('caption')].map(c => c.textContent).join()"); got != "Jobs,Stages,Attempts that stand out, the longest first" {
		t.Errorf("tables %v", got)
	}

	// Painted: every kind of bar has its colour somewhere in the picture.
	for _, kind := range []string{"attempt", "straggler", "clone", "failed"} {
		seen := p.value(`(() => { const k = KINDS.indexOf("` + kind + `"), solid = new Set([view.solid[2 * k], view.solid[2 * k + 1]]); return view.pixels.some(x => solid.has(x)) })()`)
		if seen != true {
			t.Errorf("nothing is painted as %s", kind)
		}
	}

	// By keyboard alone: to the timeline, to the first clone, and what it is.
	p.value("document.querySelector('canvas').focus()")
	p.press("c")
	said := p.text(".said")
	if !strings.Contains(said, "(clone)") || !strings.Contains(said, "why: the task was slow or late") || !strings.Contains(said, "clone of attempt 0") {
		t.Errorf("of the clone it says %q", said)
	}
	p.press("n")
	if next := p.text(".said"); next == said || next == "" {
		t.Errorf("N leads to %q", next)
	}
	before := p.value("view.to - view.from").(float64)
	p.press("+")
	if after := p.value("view.to - view.from").(float64); after != before/2 {
		t.Errorf("+ shows %v s of %v s", after, before)
	}
	p.press("ArrowRight")
	if p.value("view.from").(float64) <= before/4 {
		t.Error("the right arrow does not move")
	}
	p.until("!view.waiting")
	p.shoot("keyboard")
	p.press("0")
	if p.value("view.from") != 0. || p.value("view.to") != before {
		t.Error("0 does not show all")
	}

	// Filters.
	p.value("(() => { const s = document.querySelector('select[name=end]'); s.value = 'clones'; s.dispatchEvent(new Event('change')) })()")
	if got := p.value("(() => { let n = 0; const s = view.store; for (let i = 0; i < s.n; i++) n += s.clone[i]; return n > 0 && view.lanes.order.length === 2 * n })()").(bool); !got {
		t.Error("the filter for clones leaves others")
	}
	p.only("file:///")
}

func TestReportNarrowAndDark(t *testing.T) {
	b := openBrowser(t)
	url := write(t, day(1, 40, 3000))
	p := b.open(url, 390, 844, true)
	p.until("view.stats.firstDraw")
	p.shoot("narrow")
	if got := p.value("document.documentElement.scrollWidth <= innerWidth"); got != true {
		t.Errorf("the page is wider than the screen: %v", p.value("document.documentElement.scrollWidth"))
	}
	if got := p.value("getComputedStyle(document.body).backgroundColor"); got != "rgb(13, 17, 23)" {
		t.Errorf("dark is %v", got)
	}
	p.only("file:///")
}
