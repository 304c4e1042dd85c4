//go:build long

package policy

import (
	"flag"
	"testing"
)

// The twins of SREW, SEW and SCA once more, in thousands of worlds.
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
}
