package mapreduce

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// goSource returns the folder of the Go toolchain's source text.
func goSource(b *testing.B) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src")
}

// compilerSource returns a part of it, 15 MB in size.
func compilerSource(b *testing.B) string { return filepath.Join(goSource(b), "cmd", "compile") }

// perCPU reports the rate per second of processor time, the garbage collector's included: what a core does for the
// work, whoever else the machine works for.
func perCPU(b *testing.B, bytes int64) {
	begin := cpuTime(b)
	b.Cleanup(func() {
		used := cpuTime(b) - begin
		b.ReportMetric(float64(bytes)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
	})
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMap measures whole map attempts on one split of Go source, durable output included.
func BenchmarkMap(b *testing.B) {
	for _, op := range []Operator{
		{Name: "wordcount"},
		{Name: "wordmean"},
		{Name: "grep", Pattern: "func"},
		{Name: "grep", Pattern: `[A-Z]\w+Error`},
		{Name: "sort"},
		{Name: "streaming", Mapper: "cat", Reducer: "cat"},
	} {
		b.Run(op.Name+op.Pattern, func(b *testing.B) {
			plan, err := NewPlan(b.Context(), Request{Operator: op, Inputs: []string{compilerSource(b)}, Reducers: 2})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(plan.Stages[0].Splits[0].Bytes())
			b.ReportAllocs()
			work := b.TempDir()
			perCPU(b, plan.Stages[0].Splits[0].Bytes())
			n := 0
			for b.Loop() {
				n++
				spec, err := plan.Attempt(0, 0, nil, filepath.Join(work, fmt.Sprint(n)))
				if err != nil {
					b.Fatal(err)
				}
				got, err := Run(b.Context(), spec)
				if err != nil || got.OutputRecords == 0 {
					b.Fatal(got, err)
				}
			}
		})
	}
}

// BenchmarkCountWords measures the words' way into the table alone, the part of wordcount's map that grows with
// the input.
func BenchmarkCountWords(b *testing.B) {
	files, err := ListInputs(b.Context(), []string{compilerSource(b)})
	if err != nil {
		b.Fatal(err)
	}
	split := cut(b, files, DefaultSplitSize)[0]
	a := &worker{ctx: b.Context(), spec: &AttemptSpec{Split: split, Segments: 1}, meter: &meter{}}
	words := a.newTally()
	if err := a.words(words, words.count); err != nil { // all words seen
		b.Fatal(err)
	}
	b.SetBytes(split.Bytes())
	b.ReportAllocs()
	before := words.used
	perCPU(b, split.Bytes())
	for b.Loop() {
		if err := a.words(words, words.count); err != nil {
			b.Fatal(err)
		}
	}
	if words.used != before || before == 0 {
		b.Fatalf("%d words became %d", before, words.used)
	}
}

// BenchmarkReduce measures one reduce attempt over the output of all maps.
func BenchmarkReduce(b *testing.B) {
	for _, op := range []Operator{{Name: "wordcount"}, {Name: "sort"}} {
		b.Run(op.Name, func(b *testing.B) {
			plan, err := NewPlan(b.Context(), Request{Operator: op, Inputs: []string{compilerSource(b)}, Reducers: 1, SplitSize: 2 << 20})
			if err != nil {
				b.Fatal(err)
			}
			work := b.TempDir()
			var upstream []string
			var bytes int64
			for i := range plan.Stages[0].Tasks {
				upstream = append(upstream, filepath.Join(work, fmt.Sprint("map", i)))
				spec, err := plan.Attempt(0, i, nil, upstream[i])
				if err != nil {
					b.Fatal(err)
				}
				got, err := Run(b.Context(), spec)
				if err != nil {
					b.Fatal(err)
				}
				bytes += got.OutputBytes
			}
			b.SetBytes(bytes)
			perCPU(b, bytes)
			n := 0
			for b.Loop() {
				n++
				spec, err := plan.Attempt(1, 0, upstream, filepath.Join(work, fmt.Sprint(n)))
				if err != nil {
					b.Fatal(err)
				}
				got, err := Run(b.Context(), spec)
				if err != nil || got.OutputRecords == 0 {
					b.Fatal(got, err)
				}
			}
		})
	}
}

// BenchmarkPlan measures the listing and cutting of the Go tree.
func BenchmarkPlan(b *testing.B) {
	job := Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{goSource(b)}, Reducers: 2}
	for b.Loop() {
		plan, err := NewPlan(b.Context(), job)
		if err != nil || plan.InputFiles == 0 {
			b.Fatal(err)
		}
		b.SetBytes(plan.InputBytes)
	}
}

// BenchmarkSaving measures what it costs that another attempt could go on: map attempts on a split of 64 MiB that save nothing, and ones that save as a run has them do.
func BenchmarkSaving(b *testing.B) {
	words := rand.New(rand.NewPCG(1, 1))
	var text bytes.Buffer
	for text.Len() < 64<<20 {
		fmt.Fprintf(&text, "w%d%c", words.IntN(20_000), " \n"[words.IntN(12)/11])
	}
	path := filepath.Join(b.TempDir(), "text")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, op := range []string{"wordcount", "wordmean", "sort"} {
		plan, err := NewPlan(b.Context(), Request{Operator: Operator{Name: op}, Inputs: []string{path}, Reducers: 1, SplitSize: 128 << 20})
		if err != nil {
			b.Fatal(err)
		}
		for _, every := range []time.Duration{0, 200 * time.Millisecond} {
			b.Run(fmt.Sprintf("%s/every=%v", op, every), func(b *testing.B) {
				perCPU(b, int64(text.Len()))
				saves := 0
				for range b.N {
					spec, err := plan.Attempt(0, 0, nil, b.TempDir())
					if err != nil {
						b.Fatal(err)
					}
					spec.SaveEvery = every
					spec.Saved = func(int64, float64) { saves++ }
					if _, err := Run(b.Context(), spec); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(saves)/float64(b.N), "saves")
			})
		}
	}
}
