package nights

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/history/historytest"
)

// runs writes logs of applications of one stage of 60 tasks on 80 cores: an attempt takes 10 s, or 100 s in one case of
// twenty. Under speculation a clone starts after 25 s. Each task takes, and reads, so many times as much.
func runs(t *testing.T, seed uint64, n int, speculates bool, times float64) *Application {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(seed, 3))
	attempt := func() float64 {
		if ms := 9500 + 1000*rng.Float64(); rng.Float64() >= 0.05 {
			return ms
		}
		return 100_000
	}
	for k := range n {
		s := &historytest.Spark{Name: "etl", Began: first + int64(k)*aDay, Executors: 8, Cores: 10}
		if speculates {
			s.Settings = map[string]string{"spark.speculation": "true", "spark.speculation.quantile": "0.75", "spark.speculation.multiplier": "2.5"}
		}
		st := historytest.SparkStage{Name: "map"}
		for range 60 {
			ms := attempt()
			if speculates && ms > 25_000 {
				ms = min(ms, 25_000+attempt())
			}
			st.Tasks = append(st.Tasks, historytest.SparkTask{Millis: int64(times * ms), Deserialize: 5, Bytes: int64(times * 1e6)})
		}
		s.Stages = append(s.Stages, st)
		var log bytes.Buffer
		if err := s.Write(&log); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), log.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return read(t, time.Time{}, dir)
}

// What a clone does, the prediction says; a run after that reads twice as much does not hide it; settings that did
// nothing are found out.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name  string
		after *Application
		want  Outcome
	}{
		{"as predicted", runs(t, 2, 6, true, 1), AsPredicted},
		{"twice the data", runs(t, 2, 6, true, 2), AsPredicted},
		{"as slow as before", func() *Application {
			a := runs(t, 4, 6, false, 1)
			for i := range a.Runs {
				a.Runs[i].Again.Rule = "spark:quantile=0.75,multiplier=2.5"
			}
			return a
		}(), Less},
	} {
		v, err := Verify(context.Background(), runs(t, 1, 6, false, 1), c.after)
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome != c.want || v.Stages[0].Outcome != c.want || v.Predicted.Ratio < 0.4 || v.RuleAfter != "spark:quantile=0.75,multiplier=2.5" {
			t.Errorf("%s: predicted %s, realised %s, %s; %s, %s", c.name, v.Predicted.words(), v.Realised.words(), v.Outcome, v.Stages[0].Outcome, v.RuleAfter)
		}
		if twice := c.name == "twice the data"; twice != (math.Abs(*v.Bytes-2) < 1e-6) || math.Abs(v.Stages[0].Realised.Ratio-v.Realised.Ratio) > 0.02 {
			t.Errorf("%s: %v times the bytes, %v, stage %v", c.name, *v.Bytes, v.Realised.Ratio, v.Stages[0].Realised.Ratio)
		}
		var text bytes.Buffer
		if err := v.WriteText(&text); err != nil || !strings.HasPrefix(text.String(), "6 runs of etl took ") {
			t.Errorf("%v\n%s", err, &text)
		}
	}
}

// One run before and one after do not show what is chance; runs under different settings are no side.
func TestVerifyNeedsRuns(t *testing.T) {
	v, err := Verify(context.Background(), runs(t, 1, 1, false, 1), runs(t, 2, 1, true, 1))
	if err != nil || v.Outcome != Open || v.Realised.Low != nil {
		t.Errorf("%v, %+v", err, v)
	}
	mixed, other := runs(t, 1, 2, false, 1), runs(t, 2, 1, true, 1)
	mixed.Runs[1] = other.Runs[0]
	if _, err := Verify(context.Background(), mixed, other); err == nil || !strings.Contains(err.Error(), "expected runs under the same settings") {
		t.Error(err)
	}
}

// Where nothing has changed, the interval of what was realised holds 0 in about 95 of 100 cases.
func TestVerifyHoldsNothing(t *testing.T) {
	holds, rng := 0, rand.New(rand.NewPCG(5, 5))
	const cases = 400
	for range cases {
		var walls [2][]float64
		for side := range walls {
			for range 4 {
				walls[side] = append(walls[side], math.Exp(0.3*rng.NormFloat64()))
			}
		}
		c := weigh([]float64{0, 0}, walls, nil)
		if c.Outcome == AsPredicted {
			holds++
		}
	}
	if holds < 366 || holds > 394 { // 380 ± 3.3 standard deviations
		t.Errorf("%d of %d intervals hold 0", holds, cases)
	}
}
