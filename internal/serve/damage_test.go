package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/trace"
)

// A server whose journal is damaged or gone says in one line what to do, and doing it works.
func TestDamagedJournal(t *testing.T) {
	r := newRig(t)
	shop := func(*Server) (Workshop, error) { return r.shop, nil }
	refused := func() {
		t.Helper()
		s, err := newServer(r.cfg, shop)
		if err == nil {
			s.close()
			t.Fatal("it begins")
		}
		want := "begin anew with: mv " + r.cfg.Dir + " " + r.cfg.Dir + ".damaged (jobs that waited"
		if text := err.Error(); !strings.Contains(text, want) || strings.Contains(text, "\n") || !strings.Contains(text, "the journal is damaged") {
			t.Errorf("%q", text)
		}
	}
	r.submit(&run.Submission{Name: "a"})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(r.cfg.Dir, "journal")
	all, err := trace.Segments(journal)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	path := trace.SegmentPath(journal, all[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[100]++
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	refused()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(journal, "pulse"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused()
	if err := os.Rename(r.cfg.Dir, r.cfg.Dir+".damaged"); err != nil {
		t.Fatal(err)
	}
	r.start()
}
