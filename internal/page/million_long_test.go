//go:build long

package page

import (
	"os"
	"strings"
	"testing"
)

// A report of 10^6 attempts is drawn soon, and moves and zooms without stutter: drawing takes less than the 16 ms
// between two frames of a screen.
func TestMillion(t *testing.T) {
	for name, c := range map[string]struct{ slots, jobs int }{"8 slots": {8, 20}, "300 slots": {300, 200}} {
		t.Run(name, func(t *testing.T) {
			b := openBrowser(t)
			url := write(t, day(c.jobs, c.slots, 1_000_000))
			info, err := os.Stat(strings.TrimPrefix(url, "file://"))
			if err != nil {
				t.Fatal(err)
			}
			p := b.open(url, 1600, 1000, false)
			p.until("window.view && view.stats.firstDraw")
			first := p.value("view.stats.firstDraw").(float64)
			p.shoot("all")
			p.value("view.stats.frames.length = 0")
			p.value(`(async () => {
				const frame = () => new Promise(requestAnimationFrame);
				for (let i = 0; i < 40; i++) { view.zoom(0.75, 900); await frame(); await frame(); }
				for (let i = 0; i < 20; i++) { view.move(150); await frame(); await frame(); }
				for (let i = 0; i < 40; i++) { view.zoom(1.4, 700); await frame(); await frame(); }
			})()`)
			worst := p.value("Math.max(...view.stats.frames)").(float64)
			usual := p.value("view.stats.frames.slice().sort((a, b) => a - b)[view.stats.frames.length * 0.95 | 0]").(float64)
			half := p.value("view.stats.frames.sort((a, b) => a - b)[view.stats.frames.length >> 1]").(float64)
			frames := p.value("view.stats.frames.length").(float64)
			p.value("view.mode = 'stage', view.refresh()")
			heap := p.value("performance.memory.usedJSHeapSize / 1e6").(float64)
			t.Logf("a file of %d MB; first drawn after %.0f ms; %v frames: half within %.1f ms, 95 %% within %.1f ms, worst %.1f ms; heap %.0f MB",
				info.Size()>>20, first, frames, half, usual, worst, heap)
			if first > 15000 || half > 16 || frames < 50 { // the machine may do other work
				t.Error("too slow")
			}
			p.only("file:///")
		})
	}
}
