package trace

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// lines writes a million tasks, in jobs of a hundred.
func lines(tb testing.TB) string {
	tb.Helper()
	w, err := Synthesize("synth:jobs=10000;tasks=100;law=pareto:alpha=1.5,xm=10", 1)
	if err != nil {
		tb.Fatal(err)
	}
	var text bytes.Buffer
	if err := WriteTR(&text, w); err != nil {
		tb.Fatal(err)
	}
	return text.String()
}

// BenchmarkReadTR reads a million tasks.
func BenchmarkReadTR(b *testing.B) {
	text := lines(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if w, err := Read(strings.NewReader(text), "bench", 1); err != nil || w.Tasks() != 1_000_000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/task")
}

// TestMemoryPerTask: ten million tasks have to fit into a gigabyte, so a million into a hundred megabytes: what stays, and what the slices
// needed on the way while they grew.
func TestMemoryPerTask(t *testing.T) {
	text := lines(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w, err := Read(strings.NewReader(text), "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if stays := int64(after.HeapAlloc) - int64(before.HeapAlloc); stays > 15e6 {
		t.Errorf("a million tasks keep %d bytes, want at most 15 MB", stays)
	}
	if asked := after.TotalAlloc - before.TotalAlloc - uint64(len(text)); asked > 100e6 {
		t.Errorf("a million tasks allocated %d bytes besides their lines, want at most 100 MB", asked)
	}
	runtime.KeepAlive(w)
}
