package mapreduce

import (
	"strings"
	"testing"
	"time"
)

// An attempt that is paced takes as long as its bytes take, whatever its processor can do.
func TestPace(t *testing.T) {
	dir := makeInput(t, map[string]string{"a": strings.Repeat("one two\n", 10_000)})
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "wordmean"}, Inputs: []string{dir}, Reducers: 1})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec.Pace = 800_000
	began := time.Now()
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 95*time.Millisecond {
		t.Errorf("80,000 bytes at 800,000 a second took %v", took)
	}
	spec.Pace = -1
	if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), "pace_bytes_per_second: -1") {
		t.Error(err)
	}
}
