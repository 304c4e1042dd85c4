//go:build long

package database

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/past"
)

// A million attempts, of a thousand jobs of three names: how large they are, and how long questions take.
func TestMillionAttempts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	d := open(t, path, DefaultLimits)
	began := time.Now()
	attempts := 0
	for i := range 1000 {
		j := job([]string{"nightly", "hourly", "report"}[i%3], i, 750)
		attempts += j.Attempts
		if err := d.Add(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d attempts added in %v", attempts, time.Since(began).Round(time.Millisecond))
	ask := func(what string, most time.Duration, do func() error) {
		began := time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if t.Logf("%s: %v", what, took.Round(10*time.Microsecond)); took > most {
			t.Errorf("%s takes %v, more than %v", what, took, most)
		}
	}
	ask("estimate of a name", time.Second/2, func() error { _, err := d.Past(t.Context(), "nightly", 0); return err })
	ask("names", time.Second/2, func() error { _, err := d.Names(t.Context()); return err })
	ask("the last thirty jobs without attempts", time.Second/2, func() error { _, err := d.Jobs(t.Context(), &past.Query{Name: "n*", Most: 30}); return err })
	ask("one job with attempts", time.Second/2, func() error {
		_, err := d.Jobs(t.Context(), &past.Query{Run: "nightly-600", Attempts: true})
		return err
	})
	ask("promises", time.Second/2, func() error { _, err := d.Kept(t.Context(), &past.Query{}); return err })
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	bytes := float64(info.Size()) / float64(attempts)
	if t.Logf("%d bytes, %.1f for each attempt", info.Size(), bytes); bytes > 60 {
		t.Errorf("%.1f bytes for each attempt", bytes)
	}
}
