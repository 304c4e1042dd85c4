package trace

import (
	"slices"
	"testing"
)

// Jobs drawn anew arrive when the others did, under their numbers; each is one of them, a job is drawn as often as others, and the same seed draws the
// same.
func TestResample(t *testing.T) {
	w, err := Synthesize("synth:jobs=40;tasks=uniform:lo=1,hi=9;law=exp:mean=10;deadline=5m", 1)
	if err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	times := make([]int, len(w.Jobs)) // that a job was drawn
	for seed := range uint64(500) {
		other := w.Resample(seed)
		for j, got := range other.Jobs {
			k := slices.IndexFunc(w.Jobs, func(row JobRow) bool { return row.FirstStage == got.FirstStage })
			want := w.Jobs[k]
			if want.Arrival, want.Number = w.Jobs[j].Arrival, w.Jobs[j].Number; got != want {
				t.Fatalf("seed %d, job %d: %+v, want %+v", seed, j, got, want)
			}
			times[k]++
		}
		if seed < 3 && (other.Hash() != w.Resample(seed).Hash() || other.Hash() == w.Resample(seed+1).Hash()) {
			t.Errorf("seed %d: not a function of the seed", seed)
		}
	}
	// 500 expected, standard deviation 22
	if least, most := slices.Min(times), slices.Max(times); least < 400 || most > 600 {
		t.Errorf("jobs were drawn %d to %d times, want about 500", least, most)
	}
	if w.Hash() != before {
		t.Error("the workload has changed")
	}
}
