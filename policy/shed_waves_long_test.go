//go:build long

package policy

import "testing"

func TestShedWavesOften(t *testing.T) { shedWavesHold(t, 1000, []float64{0.3, 0.7}) }
