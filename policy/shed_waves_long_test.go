//go:build long

package policy

import "testing"

func TestShedWavesOften(t *testing.T) {
	shedWavesHold(t, waveLaws, []float64{1, 2, 3.5, 10}, 1000, []float64{0.3, 0.7})
}
