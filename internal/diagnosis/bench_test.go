package diagnosis

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/history/historytest"
	"github.com/tailcut/tailcut/internal/replay"
)

// large writes the log of an application of 200 stages and 10^5 tasks on 128 cores. One task in fifty is a straggler.
func large(t testing.TB, padding int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	s := historytest.Spark{Name: "etl", Began: 1.7e12, Executors: 16, Cores: 8, Between: 100, PerJob: 10, Padding: padding}
	for i := range 200 {
		st := historytest.SparkStage{Name: "join"}
		typical := 500 + 4000*rng.Float64()
		for range 300 + 2*i {
			ms := typical * math.Exp(0.3*rng.NormFloat64())
			if rng.Float64() < 0.02 {
				ms *= math.Pow(rng.Float64(), -0.8) * 2
			}
			st.Tasks = append(st.Tasks, historytest.SparkTask{Millis: int64(min(ms, 20*typical)), Deserialize: 5})
		}
		s.Stages = append(s.Stages, st)
	}
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := s.Write(f); err != nil {
		t.Fatal(err)
	}
	return path
}

// BenchmarkExplain answers what to do about an application of 200 stages and 10^5 tasks.
func BenchmarkExplain(b *testing.B) {
	from := durations.Log{Path: large(b, 0)}
	stages, hosts, err := from.Stages()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := Defaults()
		r.Log, r.Stages, r.Hosts = from.Name(), stages, hosts
		r.Again = replay.New(r.Log, r.Stages, from.Course, 0)
		if _, err := Explain(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLargeLog reads 1 GB of Spark's log.
func BenchmarkLargeLog(b *testing.B) {
	from := durations.Log{Path: large(b, 60)}
	info, err := os.Stat(from.Path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		began := time.Now()
		stages, _, err := from.Stages()
		if err != nil || len(stages) != 200 {
			b.Fatal(len(stages), err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/1e6, "MB-from-system")
		b.ReportMetric(time.Since(began).Seconds(), "s")
	}
}
