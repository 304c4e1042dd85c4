//go:build long

package policy

import (
	"flag"
	"testing"
)

// All twins once more, in thousands of worlds.
func TestManyTwins(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	t.Cleanup(func() { _ = checks.Value.Set(before) })
	if err := checks.Value.Set("2000"); err != nil {
		t.Fatal(err)
	}
	t.Run("srew", TestSREWTwin)
	t.Run("sew", TestSEWTwin)
	t.Run("sca", TestSCATwin)
	t.Run("ese", TestESETwin)
	t.Run("grass", TestGrassTwin)
	t.Run("hopper", TestHopperTwin)
	t.Run("mantri", TestMantriTwin)
	t.Run("order", TestOrderTwin)
	t.Run("split", TestSplitTwin)
}
