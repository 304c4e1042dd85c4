package history

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"testing"
)

// BenchmarkSpark reads 48 MB of a real Spark event log from memory: the time is that of recognising and reading, on one core.
func BenchmarkSpark(b *testing.B) {
	f, err := os.Open(real(b, "spark-eventlogs/spark-rapids-tools/nds_q72_dataproc_2_2.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	in, done, err := decompress(f)
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	data, err := io.ReadAll(in)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		tasks := 0
		s := newSpark()
		in := &lines{name: "log", in: bufio.NewReaderSize(bytes.NewReader(data), 1<<18)}
		if err := s.read(in, func(*Attempt) error { tasks++; return nil }); err != nil {
			b.Fatal(err)
		}
		if tasks != 13504 {
			b.Fatalf("%d tasks, expected 13504", tasks)
		}
	}
}

// BenchmarkSparkGzip does the same with the file as it is, compressed 25-fold.
func BenchmarkSparkGzip(b *testing.B) {
	path := real(b, "spark-eventlogs/spark-rapids-tools/nds_q72_dataproc_2_2.gz")
	b.SetBytes(48279502)
	for b.Loop() {
		if n := len(summarise(b, path, nil).seconds); n != 13504 {
			b.Fatalf("%d tasks, expected 13504", n)
		}
	}
}
