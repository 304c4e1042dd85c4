//go:build long

package policy

import "testing"

// TestOriginalsOnManyTraces is TestOriginalsOnTraces on 250 further stretches of each trace.
func TestOriginalsOnManyTraces(t *testing.T) { compareOnTraces(t, tracesStretches, 250) }
