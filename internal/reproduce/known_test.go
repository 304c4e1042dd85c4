package reproduce

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/report"
)

// checkKnown finds excuses for claims that nobody makes.
func checkKnown(t *testing.T, known []report.Known, sections []report.Section) {
	t.Helper()
	for _, k := range known {
		found := false
		for _, s := range sections {
			for _, c := range s.Claims {
				found = found || strings.Contains(c.What, k.What)
			}
		}
		if !found {
			t.Errorf("no claim contains %q", k.What)
		}
	}
}
