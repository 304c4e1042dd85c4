//go:build long

package policy

import (
	"cmp"
	"testing"
)

// TestManyOracles is TestOracles in 2,000 worlds each, but where an oracle says fewer.
func TestManyOracles(t *testing.T) {
	for _, o := range oracles {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%d clones", o.compare(t, 0, cmp.Or(o.most, 2000)))
		})
	}
}

// TestManySiteOracles is TestSiteOracles in 2,000 worlds each.
func TestManySiteOracles(t *testing.T) {
	for i := range siteOracles {
		o := &siteOracles[i]
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%d tasks placed", o.compare(t, 0, 2000))
		})
	}
}
