//go:build long

package policy

import "testing"

func TestManySimulatedOracles(t *testing.T) {
	for name, draw := range simulated {
		t.Run(name, func(t *testing.T) { compareInSimulations(t, simulatedInstances, 1000, draw) })
	}
}
