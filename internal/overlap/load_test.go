package overlap

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestScaleToLoad(t *testing.T) {
	jobs := []Demand{{Arrival: 10, Map: 2e9, Shuffle: 1}, {Arrival: 12, Map: 0, Shuffle: 3}, {Arrival: 20, Map: 6e9, Shuffle: 0}}
	if err := ScaleToLoad(jobs, 0.8); err != nil {
		t.Fatal(err)
	}
	want := []Demand{{Arrival: 10, Map: 2, Shuffle: 2}, {Arrival: 12, Map: 0, Shuffle: 6}, {Arrival: 20, Map: 6, Shuffle: 0}}
	if diff := cmp.Diff(want, jobs, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	mapOnly := []Demand{{Map: 1}, {Arrival: 1, Map: 1}}
	if err := ScaleToLoad(mapOnly, 0.5); err != nil || mapOnly[0] != (Demand{Map: 0.25}) {
		t.Errorf("without shuffle work: %v, %v", mapOnly, err)
	}
	for _, jobs := range [][]Demand{nil, {{Arrival: 3, Map: 1}}} {
		if err := ScaleToLoad(jobs, 0.8); !errors.Is(err, ErrNoSpan) {
			t.Errorf("%v: %v, want %v", jobs, err, ErrNoSpan)
		}
	}
}

func TestCubeRootRatios(t *testing.T) {
	jobs := []Demand{{Map: 2, Shuffle: 16}, {Map: 27, Shuffle: 1}, {Map: 3}, {Shuffle: 5}}
	CubeRootRatios(jobs)
	want := []Demand{{Map: 2, Shuffle: 4}, {Map: 27, Shuffle: 9}, {Map: 3}, {Shuffle: 5}}
	if diff := cmp.Diff(want, jobs, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}
