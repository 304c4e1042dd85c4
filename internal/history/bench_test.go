package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"
)

// sparkBytes returns 48 MB of a real Spark event log.
func sparkBytes(b *testing.B) []byte {
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
	return data
}

// BenchmarkSpark reads a Spark event log from memory, on one core.
func BenchmarkSpark(b *testing.B) {
	data := sparkBytes(b)
	for b.Loop() {
		tasks := 0
		s := newSpark()
		in := &lines{name: "log", in: bufio.NewReaderSize(bytes.NewReader(data), 1<<18)}
		if err := s.read(in, func(*Record) error { tasks++; return nil }); err != nil {
			b.Fatal(err)
		}
		if tasks != 13504 {
			b.Fatalf("%d tasks, expected 13504", tasks)
		}
	}
}

// BenchmarkSparkByEncodingJSON does the least that encoding/json can do with the same log: the ends of tasks, three fields of each. It is what the cursor
// has to beat.
func BenchmarkSparkByEncodingJSON(b *testing.B) {
	data := sparkBytes(b)
	for b.Loop() {
		tasks := 0
		for line := range bytes.Lines(data) {
			if !bytes.HasPrefix(line, []byte(`{"Event":"SparkListenerTaskEnd"`)) {
				continue
			}
			var e struct {
				Stage int `json:"Stage ID"`
				Info  struct {
					Launched int64 `json:"Launch Time"`
					Finished int64 `json:"Finish Time"`
				} `json:"Task Info"`
			}
			if err := json.Unmarshal(line, &e); err != nil {
				b.Fatal(err)
			}
			if e.Info.Finished >= e.Info.Launched {
				tasks++
			}
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
