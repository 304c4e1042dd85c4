package page

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// board answers as kubectl tailcut page does: with what its tests have written, which can be changed and refused.
type board struct {
	*httptest.Server
	mu      sync.Mutex
	said    map[string]any
	refuses string
}

func newBoard(t *testing.T) *board {
	text, err := os.ReadFile("testdata/pools.json")
	if err != nil {
		t.Fatal(err)
	}
	b := &board{}
	if err := json.Unmarshal(text, &b.said); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", Pools())
	mux.HandleFunc("GET /v1/pools", func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.refuses != "" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(403)
			_ = json.NewEncoder(w).Encode(map[string]any{"title": "Forbidden", "status": 403, "detail": b.refuses})
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(b.said)
	})
	b.Server = httptest.NewServer(mux)
	t.Cleanup(b.Server.Close)
	return b
}

// change changes what is answered from now on.
func (b *board) change(what func(pools []any) []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said["pools"] = what(b.said["pools"].([]any))
}

// The page of pools: what it shows, that an opened pool, the order of its Jobs, the focus and the place of the reader
// stay when it asks again, and what it says of what it may not see.
func TestPools(t *testing.T) {
	f := newBoard(t)
	p := openBrowser(t).open(f.URL, 1000, 760, false)
	p.until("document.querySelector('#link').textContent === 'connected' && document.querySelectorAll('#pools tbody tr').length === 6")
	for _, want := range []string{"batch", "40 of 40 slots", "2500m of 16 cpu", "auto (of srpt+auto)", "starts nothing", "no controller has seen it", "3 of 10 slots"} {
		if got := p.text("#pools"); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if p.value("document.querySelector('#pool').hidden") != true {
		t.Error("a pool is open that nobody has opened")
	}

	p.value("document.querySelector('a[href=\"#pool/batch\"]').click()")
	p.until("!document.querySelector('#pool').hidden && document.activeElement.id === 'pool'")
	for _, want := range []string{"Pool batch", evil, "report", "215", "all 40 slots are taken, and auto has given them to others"} {
		if got := p.text("#pool"); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if p.value("document.querySelectorAll('#pool img').length") != 0. {
		t.Error("a Job's name is taken for HTML")
	}
	p.shoot("wide")

	// The reader orders the Jobs by what is left to do, and rests on a button.
	const first = "document.querySelector('#pool tbody th').innerText"
	p.value("document.querySelector('[data-key=\"Jobs/unfinished tasks\"]').click(); document.querySelector('[data-key=\"Jobs/unfinished tasks\"]').focus()")
	p.until(first + " === 'report'")
	f.change(func(pools []any) []any {
		batch := pools[0].(map[string]any)
		batch["members"].([]any)[1].(map[string]any)["unfinished"] = 300
		batch["waiting"] = 2
		return pools
	})
	p.until(first + " === 'index' && document.querySelector('#pool').innerText.includes('300') && document.title.startsWith('2 waiting')")
	p.until("document.activeElement.dataset.key === 'Jobs/unfinished tasks' && location.hash === '#pool/batch'")

	// Another pool, and one that goes away while somebody looks.
	p.value("location.hash = '#pool/cores'")
	p.until("document.querySelector('#pool').innerText.includes('Which policy decided') && document.querySelector('#pool').innerText.includes('srpt +31.2%')")
	p.shoot("turns")
	p.value("location.hash = '#pool/zones'")
	p.until("document.querySelector('#pool').innerText.includes('zone-b') && document.querySelector('#pool').innerText.includes('3 of 4 slots')")
	p.value("location.hash = '#pool/invalid'")
	p.until("document.querySelector('#pool').innerText.includes('unknown policy \"spark2\"')")
	f.change(func(pools []any) []any { return pools[:1] })
	p.until("document.querySelector('#pool').innerText.includes('There is no pool invalid.')")
	p.value("document.querySelector('#pool button').click()")
	p.until("document.querySelector('#pool').innerText.includes('Pool batch') && !document.querySelector('#pool button[data-key=close]')") // the only one is open
	f.change(func([]any) []any { return []any{} })
	p.until("document.querySelector('#pools').innerText.includes('no pools') && document.querySelector('#pool').hidden")

	f.mu.Lock()
	f.refuses = "You have no right to list slotpools.tailcut.dev"
	f.mu.Unlock()
	p.until("document.querySelector('#problem').innerText.includes('You have no right to list slotpools.tailcut.dev (Shown is what there was at')")
	f.mu.Lock()
	f.refuses = ""
	f.mu.Unlock()
	p.until("document.querySelector('#problem').hidden && document.querySelector('#link').textContent === 'connected'")
	p.only(f.URL)
	f.Close()
	p.until("document.querySelector('#problem').innerText.includes('kubectl tailcut page')")
}

// In a narrow window nothing is wider than the window but tables, which stay where they were moved to.
func TestPoolsInANarrowWindow(t *testing.T) {
	f := newBoard(t)
	p := openBrowser(t).open(f.URL+"/#pool/batch", 390, 560, false)
	p.until("document.querySelectorAll('#pool tbody tr').length === 3")
	p.shoot("narrow")
	if p.value("document.documentElement.scrollWidth > innerWidth") == true {
		t.Errorf("the page is %v wide", p.value("document.documentElement.scrollWidth"))
	}
	p.value("document.querySelector('a[href=\"#pool/cores\"]').focus(); document.querySelector('#pool .table').scrollLeft = 60; scrollTo(0, 150)")
	f.change(func(pools []any) []any {
		pools[0].(map[string]any)["members"].([]any)[0].(map[string]any)["pods"] = 26
		pools[0].(map[string]any)["jobs"] = 4
		return pools
	})
	p.until("document.querySelector('#pool').innerText.includes('26') && document.activeElement.innerText === 'cores'")
	p.shoot("moved")
	if at := p.value("[document.querySelector('#pool .table').scrollLeft, scrollY].join()"); at != "60,150" {
		t.Errorf("the reader is at %v, not at 60,150", at)
	}
	p.only(f.URL)
}
