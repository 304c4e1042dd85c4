package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// encode is the other direction: the binary encoding of a value that encoding/json has read from Avro's JSON encoding.
func encode(t testing.TB, out []byte, of *avroType, v any) []byte {
	t.Helper()
	switch of.kind {
	case "null":
		return out
	case "boolean":
		if v.(bool) {
			return append(out, 1)
		}
		return append(out, 0)
	case "int", "long":
		n, err := v.(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		return binary.AppendVarint(out, n)
	case "double":
		x, _ := v.(json.Number).Float64()
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
	case "string":
		return append(binary.AppendVarint(out, int64(len(v.(string)))), v.(string)...)
	case "enum":
		return binary.AppendVarint(out, int64(slices.Index(of.symbols, v.(string))))
	case "union":
		for i, branch := range of.of {
			m, _ := v.(map[string]any)
			if inner, ok := m[branch.name]; ok && branch.kind != "null" || v == nil && branch.kind == "null" {
				return encode(t, binary.AppendVarint(out, int64(i)), branch, inner)
			}
		}
		t.Fatalf("no branch for %v", v)
	case "array":
		items := v.([]any)
		for i, item := range items {
			if i%2 == 0 { // blocks of two items, every other with its size told
				block := encode(t, nil, of.of[0], item)
				n := 1
				if i+1 < len(items) {
					block = encode(t, block, of.of[0], items[i+1])
					n = 2
				}
				if i%4 == 0 {
					out = binary.AppendVarint(out, int64(n))
				} else {
					out = binary.AppendVarint(binary.AppendVarint(out, int64(-n)), int64(len(block)))
				}
				out = append(out, block...)
			}
		}
		return append(out, 0)
	case "map":
		for k, item := range v.(map[string]any) {
			out = encode(t, append(binary.AppendVarint(binary.AppendVarint(out, 1), int64(len(k))), k...), of.of[0], item)
		}
		return append(out, 0)
	case "record":
		m := v.(map[string]any)
		for _, f := range of.fields {
			inner, ok := m[strings.Trim(f.name, `":`)]
			if !ok {
				t.Fatalf("no field %s in %v", f.name, m)
			}
			out = encode(t, out, f.of, inner)
		}
		return out
	}
	t.Fatalf("no encoding of %s", of.kind)
	return nil
}

// toBinary turns a history in JSON into one in binary, by its own schema.
func toBinary(t testing.TB, text string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	a, err := newAvro(nil, []byte(lines[1]))
	if err != nil {
		t.Fatal(err)
	}
	out := []byte("Avro-Binary\n" + lines[1] + "\n")
	for _, line := range lines[2:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var v any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = encode(t, out, a.root, v)
	}
	return string(out)
}

// jhistSchema is enough of Hadoop's schema for jhistLog's events of attempts.
const jhistSchema = `{"type":"record","name":"Event","namespace":"o","fields":[
{"name":"type","type":{"type":"enum","name":"EventType","symbols":["JOB_SUBMITTED","MAP_ATTEMPT_STARTED","MAP_ATTEMPT_FINISHED","MAP_ATTEMPT_KILLED"]}},
{"name":"event","type":[
{"type":"record","name":"JobSubmitted","fields":[{"name":"jobid","type":"string"},{"name":"acls","type":{"type":"map","values":"string"}},{"name":"p","type":"double"}]},
{"type":"record","name":"TaskAttemptStarted","fields":[{"name":"taskid","type":"string"},{"name":"taskType","type":"string"},{"name":"attemptId","type":"string"},
{"name":"startTime","type":"long"},{"name":"trackerName","type":"string"},{"name":"avataar","type":["null","string"]}]},
{"type":"record","name":"MapAttemptFinished","fields":[{"name":"attemptId","type":"string"},{"name":"finishTime","type":"long"},{"name":"hostname","type":"string"},
{"name":"counters","type":["null",{"type":"record","name":"JhCounters","fields":[{"name":"name","type":"string"},{"name":"groups","type":{"type":"array","items":
{"type":"record","name":"JhCounterGroup","fields":[{"name":"counts","type":{"type":"array","items":
{"type":"record","name":"JhCounter","fields":[{"name":"name","type":"string"},{"name":"value","type":"long"}]}}}]}}}]}]}]},
{"type":"record","name":"TaskAttemptUnsuccessfulCompletion","fields":[{"name":"attemptId","type":"string"},{"name":"finishTime","type":"long"},
{"name":"hostname","type":"string"},{"name":"done","type":"boolean"},{"name":"counters","type":["null","JhCounters"]}]}]}]}`

const jhistEvents = `{"type":"JOB_SUBMITTED","event":{"o.JobSubmitted":{"jobid":"job_1_0002","acls":{"a":"\"é\""},"p":0.5}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"o.TaskAttemptStarted":{"taskid":"","taskType":"MAP","attemptId":"attempt_1_0002_m_000003_0","startTime":1000,"trackerName":"h1","avataar":null}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"o.TaskAttemptStarted":{"taskid":"","taskType":"MAP","attemptId":"attempt_1_0002_m_000003_1","startTime":4000,"trackerName":"h2","avataar":{"string":"SPECULATIVE"}}}}
{"type":"MAP_ATTEMPT_FINISHED","event":{"o.MapAttemptFinished":{"attemptId":"attempt_1_0002_m_000003_1","finishTime":5500,"hostname":"/rack/h2","counters":{"o.JhCounters":{"name":"c","groups":[{"counts":[{"name":"A","value":-1},{"name":"HDFS_BYTES_READ","value":268},{"name":"B","value":3}]},{"counts":[]}]}}}}}
{"type":"MAP_ATTEMPT_KILLED","event":{"o.TaskAttemptUnsuccessfulCompletion":{"attemptId":"attempt_1_0002_m_000003_0","finishTime":5600,"hostname":"h1","done":true,"counters":null}}}
`

// binaryJhist is the same history as jhistLog, in binary.
var binaryJhist = toBinary(&testing.B{}, "Avro-Json\n"+strings.ReplaceAll(jhistSchema, "\n", "")+"\n"+jhistEvents)

// The JSON that comes out is the JSON that went in.
func TestAvroRoundTrip(t *testing.T) {
	_, rest, _ := strings.Cut(binaryJhist, "\n")
	schema, data, _ := strings.Cut(rest, "\n")
	a, err := newAvro(bufio.NewReader(strings.NewReader(data)), []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	for want := range strings.Lines(jhistEvents) {
		got, err := a.next()
		if err != nil || string(got) != strings.TrimSpace(want) {
			t.Fatalf("%s, %v\nexpected %s", got, err, want)
		}
	}
	if _, err := a.next(); err != io.EOF {
		t.Error(err)
	}
}

// Real histories, written again in binary by their own schemas, read the same.
func TestBinaryJhist(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(real(t, "hadoop-history/jhist"), "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in, done, err := decompress(f)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		_, want, err := readAll(string(text), "")
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := readAll(toBinary(t, string(text)), "")
		if diff := cmp.Diff(want, got, unwritten); diff != "" || err != nil || len(got) == 0 {
			t.Errorf("%s: %v\n%s", filepath.Base(path), err, diff)
		}
	}
}

// A value of an empty type takes no bytes: a file would hold endlessly many, or a few bytes a million of them.
func TestAvroEmptyTypes(t *testing.T) {
	for _, schema := range []string{
		`"null"`,
		`{"type":"fixed","name":"f","size":0}`,
		`{"type":"record","name":"r"}`,
		`{"type":"record","name":"r","fields":[{"name":"a","type":"null"},{"name":"b","type":{"type":"record","name":"s","fields":[]}}]}`,
		`{"type":"array","items":"null"}`,
		`{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":{"type":"record","name":"s"}}}]}`,
	} {
		if _, err := newAvro(bufio.NewReader(strings.NewReader("x")), []byte(schema)); !errors.Is(err, errAvroEmpty) {
			t.Errorf("%s: %v", schema, err)
		}
	}
	for _, schema := range []string{
		`["null"]`, `{"type":"array","items":["null"]}`, `{"type":"map","values":"null"}`, // a number, a number for each, a key for each
		`{"type":"record","name":"r","fields":[{"name":"a","type":"null"},{"name":"b","type":"int"}]}`,
		`{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}`,
	} {
		if _, err := newAvro(bufio.NewReader(strings.NewReader("x")), []byte(schema)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
	_, _, err := readAll("Avro-Binary\n{\"type\":\"record\",\"name\":\"Event\"}\nx", "")
	if err == nil || !strings.Contains(err.Error(), errAvroEmpty.Error()) {
		t.Errorf("a history of empty events: %v", err)
	}
}

// No bytes and no schema make the reader panic, run without end, or give what is no JSON.
func FuzzAvro(f *testing.F) {
	_, rest, _ := strings.Cut(binaryJhist, "\n")
	schema, data, _ := strings.Cut(rest, "\n")
	f.Add(schema, []byte(data))
	f.Add(`{"type":"array","items":"null"}`, []byte{0x80, 0x80, 0x80, 0x01, 0})
	f.Add(`{"type":"record","name":"r","fields":[{"name":"a","type":"r"}]}`, []byte{0})
	f.Add(`["null",{"type":"fixed","name":"f","size":3},"float","double","bytes"]`, []byte{2, 1, 2, 3, 4, 0, 0, 0xc0, 0x7f})
	f.Fuzz(func(t *testing.T, schema string, data []byte) {
		a, err := newAvro(bufio.NewReader(bytes.NewReader(data)), []byte(schema))
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			got, err := a.next()
			if err != nil {
				return
			}
			if n == len(data) {
				t.Fatalf("%d values in %d bytes", n+1, len(data))
			}
			if !json.Valid(got) {
				t.Fatalf("%q", got)
			}
			if bytes.Count(got, []byte{','}) > 1000 {
				return // long enough
			}
		}
	})
}
