package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// A journal is read back in the tests of this file as an engine would after a crash: all whole batches, then the end or an error.

func drawFact(t *rapid.T, now sched.Time) sched.Event {
	f := sched.Event{
		At:       now - sched.Time(rapid.Int64Range(0, int64(now)).Draw(t, "ago")),
		Kind:     sched.EventKind(rapid.Byte().Draw(t, "kind")),
		Job:      sched.JobID(rapid.Uint32().Draw(t, "job")),
		Stage:    sched.StageID(rapid.Uint32().Draw(t, "stage")),
		Task:     sched.TaskID(rapid.Uint32().Draw(t, "task")),
		Machine:  sched.MachineID(rapid.Uint32().Draw(t, "machine")),
		Attempt:  sched.AttemptID(rapid.Uint64().Draw(t, "attempt")),
		Progress: rapid.Float64().Draw(t, "progress"), Rate: rapid.Float64().Draw(t, "rate"),
	}
	if f.Kind == sched.DataFetched || rapid.IntRange(0, 3).Draw(t, "fetched") == 0 {
		f.Kind, f.Site = sched.DataFetched, sched.SiteID(rapid.Uint32().Draw(t, "site"))
		f.Bytes, f.Span = rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes"), sched.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "span"))
	}
	if rapid.IntRange(0, 5).Draw(t, "changed") == 0 {
		f = sched.Event{At: f.At, Kind: sched.JobChanged, Job: f.Job, Priority: rapid.Int32().Draw(t, "priority"), Weight: rapid.Float64().Draw(t, "weight")}
		f.Deadline = sched.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "deadline"))
	}
	if f.Kind == sched.AttemptDone {
		f.Bytes = rapid.Int64Range(0, math.MaxInt64).Draw(t, "result")
		f.Span, f.Rate = sched.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "launch")), 0
	}
	return f
}

func drawDecision(t *rapid.T) sched.Decision {
	d := sched.Decision{
		At:      sched.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "at")),
		Kind:    sched.DecisionKind(rapid.Byte().Draw(t, "kind")),
		Reason:  sched.Reason(rapid.Byte().Draw(t, "reason")),
		Job:     sched.JobID(rapid.Uint32().Draw(t, "job")),
		Stage:   sched.StageID(rapid.Uint32().Draw(t, "stage")),
		Task:    sched.TaskID(rapid.Uint32().Draw(t, "task")),
		Machine: sched.MachineID(rapid.Uint32().Draw(t, "machine")),
		Number:  rapid.Uint32().Draw(t, "number"),
		Attempt: sched.AttemptID(rapid.Uint64().Draw(t, "attempt")),
		From:    rapid.Float64().Draw(t, "from"),
	}
	if rapid.IntRange(0, 3).Draw(t, "pace") == 0 {
		d.Kind, d.Speed = sched.Pace, rapid.Float64().Draw(t, "speed")
	}
	return d
}

func drawBatch(t *rapid.T) Batch {
	b := Batch{Now: sched.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "now"))}
	for range rapid.IntRange(0, 4).Draw(t, "facts") {
		b.Facts = append(b.Facts, drawFact(t, b.Now))
	}
	for range rapid.IntRange(0, 4).Draw(t, "decisions") {
		b.Decisions = append(b.Decisions, drawDecision(t))
	}
	for range rapid.IntRange(0, 3).Draw(t, "outputs") {
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "output")
		b.Outputs = append(b.Outputs, Output{Attempt: sched.AttemptID(rapid.Uint64().Draw(t, "of")), Data: data})
	}
	if rapid.IntRange(0, 3).Draw(t, "settings") == 0 {
		b.Settings = &Settings{Version: "v9", Policy: "srpt", Command: []byte(`{}`)}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "jobs") {
		b.Jobs = append(b.Jobs, &JournalJob{
			ID: sched.JobID(i), Name: rapid.String().Draw(t, "name"), Run: "f00d", Submitted: time.Unix(1_800_000_000, int64(i)).UTC(),
			Spec: sched.JobSpec{MaxFailed: sched.Unlimited, Stages: []sched.StageSpec{{Tasks: i}}}, Stages: []string{"s"}, Command: []byte(`{}`), Work: []byte(`[1]`),
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "told") {
		b.Told = append(b.Told, sched.JobID(rapid.Uint32().Draw(t, "over")))
	}
	return b
}

// same compares batches; an empty list is as good as none.
func same(a, b []Batch) string { return cmp.Diff(a, b, cmpopts.EquateEmpty()) }

func header() *JournalHeader {
	return &JournalHeader{
		Version: "v0", Run: "cafe", Started: time.Unix(1_800_000_000, 7).UTC(), Policy: "fifo", Seed: 3, Limits: sched.DefaultLimits(),
		Machines: []JournalMachine{{Name: "local", Slots: 2}},
		Job:      sched.JobSpec{Retries: 3, Stages: []sched.StageSpec{{Tasks: 2}}}, Stages: []string{"tasks"},
		Command: []byte(`{"a":"<&>"}`), Work: []byte(`{}`),
	}
}

// write makes a journal of the batches, which nobody closes, and returns its path and its length after the header and after each batch.
func write(t rapid.TB, dir string, batches []Batch) (path string, ends []int64) {
	t.Helper()
	path = filepath.Join(dir, "journal")
	j, err := CreateJournal(path, header())
	if err != nil {
		t.Fatal(err)
	}
	ends = append(ends, size(t, path))
	appendAll(t, j, batches, func() { ends = append(ends, size(t, path)) })
	die(t, j)
	return path, ends
}

func appendAll(t rapid.TB, j *Journal, batches []Batch, after func()) {
	t.Helper()
	for i, b := range batches {
		if err := j.Append(&b, i%2 == 0); err != nil {
			t.Fatal(err)
		}
		after()
	}
}

// die leaves a journal as the death of its engine does.
func die(t rapid.TB, j *Journal) {
	t.Helper()
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	j.disk.closed = true
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
}

// older makes a journal of an earlier version.
func older(t rapid.TB, path, schema string) *Journal {
	t.Helper()
	h := header()
	h.Schema = schema
	payload, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	j := &Journal{file: f, buf: append([]byte(journalMagic), make([]byte, frameSize)...)}
	j.buf = append(j.buf, payload...)
	if err := j.write(len(journalMagic)); err != nil {
		t.Fatal(err)
	}
	return j
}

func size(t rapid.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// read returns the whole batches of a journal, the reader at its end, and what stopped it if that was not the end.
func read(data []byte) ([]Batch, *JournalReader, error) {
	r, err := NewJournalReader("journal", data)
	if err != nil {
		return nil, nil, err
	}
	var all []Batch
	for {
		b, err := r.Next()
		if err == io.EOF {
			return all, r, nil
		}
		if err != nil {
			return all, r, err
		}
		all = append(all, Batch{Now: b.Now, Facts: append([]sched.Event(nil), b.Facts...), Decisions: append([]sched.Decision(nil), b.Decisions...), Outputs: append([]Output(nil), b.Outputs...), Settings: b.Settings, Jobs: b.Jobs, Told: b.Told})
	}
}

// story is a short run: two tasks, one retried, some progress.
func story() []Batch {
	return []Batch{
		{Now: 5, Facts: []sched.Event{{At: 5, Kind: sched.MachineJoined}, {At: 5, Kind: sched.JobArrived}}, Decisions: []sched.Decision{
			{At: 5, Kind: sched.Launch, Reason: sched.Original, Attempt: 1 << 32}, {At: 5, Kind: sched.Launch, Reason: sched.Original, Task: 1, Attempt: 1<<32 + 1}}},
		{Now: 700, Facts: []sched.Event{{At: 690, Kind: sched.AttemptProgress, Attempt: 1 << 32, Progress: 0.25}}},
		{Now: 900, Facts: []sched.Event{{At: 880, Kind: sched.AttemptFailed, Attempt: 1<<32 + 1}}, Decisions: []sched.Decision{
			{At: 900, Kind: sched.Launch, Reason: sched.Retry, Task: 1, Number: 1, Attempt: 2<<32 + 1}, {At: 5000, Kind: sched.Wake}}},
		{Now: 5000},
		{Now: 6000, Facts: []sched.Event{{At: 5999, Kind: sched.AttemptDone, Attempt: 1 << 32}, {At: 6000, Kind: sched.AttemptDone, Attempt: 2<<32 + 1}},
			Decisions: []sched.Decision{{At: 5999, Kind: sched.Commit, Attempt: 1 << 32}, {At: 6000, Kind: sched.Commit, Task: 1, Number: 1, Attempt: 2<<32 + 1}, {At: 6000, Kind: sched.Close, Reason: sched.JobOver}},
			Outputs:   []Output{{Attempt: 1 << 32, Data: []byte("out\x00\n")}, {Attempt: 2<<32 + 1, Data: []byte{}}}},
	}
}

// storyBytes is the journal of the story, and where its records end.
func storyBytes(t testing.TB) (data []byte, ends []int64) {
	t.Helper()
	path, ends := write(t, t.TempDir(), story())
	return readFile(t, path), ends
}

func readFile(t rapid.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJournalRoundTrip(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		sub := filepath.Join(dir, time.Duration(n).String())
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		want := rapid.SliceOfN(rapid.Custom(drawBatch), 0, 5).Draw(t, "batches")
		path, ends := write(t, sub, want)
		r, err := OpenJournalReader(path)
		if err != nil {
			t.Fatal(err)
		}
		got, r, err := read(r.data)
		if err != nil {
			t.Fatal(err)
		}
		if d := same(want, got); d != "" {
			t.Fatalf("batches (-written +read):\n%s", d)
		}
		if r.Torn() || r.Size() != ends[len(ends)-1] {
			t.Fatalf("read %d of %d bytes, torn %v", r.Size(), ends[len(ends)-1], r.Torn())
		}
		want0 := header()
		want0.Schema = JournalSchema
		got0 := r.Header
		want0.Command, got0.Command = compact(t, want0.Command), compact(t, got0.Command)
		if d := cmp.Diff(want0, &got0); d != "" {
			t.Fatalf("header (-written +read):\n%s", d)
		}
	})
}

// compact undoes the escapes that JSON in JSON gets.
func compact(_ rapid.TB, raw []byte) []byte {
	return []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw)))
}

// An engine may die with any number of bytes of its last record on disk. What is left is a prefix of what was written,
// never an error, and Size is where the prefix ends.
func TestJournalCutAnywhere(t *testing.T) {
	data, ends := storyBytes(t)
	for cut := range len(data) {
		got, r, err := read(data[:cut])
		if int64(cut) < ends[0] {
			if err == nil {
				t.Fatalf("cut at %d, inside the header: no error", cut)
			}
			continue
		}
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= int64(cut) {
			whole++
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if d := same(story()[:whole], got); d != "" {
			t.Fatalf("cut at %d (-want +got):\n%s", cut, d)
		}
		if r.Size() != ends[whole] || r.Torn() != (int64(cut) > ends[whole]) {
			t.Fatalf("cut at %d: size %d, torn %v, want size %d", cut, r.Size(), r.Torn(), ends[whole])
		}
	}
}

// A file system may show the length of a write and none, or not all, of its data.
func TestJournalZeroTail(t *testing.T) {
	data, ends := storyBytes(t)
	last := ends[len(ends)-2]
	for _, zeros := range []int{1, frameSize - 1, frameSize, frameSize + 1, 4096} {
		for cut := last; cut < ends[len(ends)-1]; cut++ {
			padded := append(bytes.Clone(data[:cut]), make([]byte, zeros)...)
			got, r, err := read(padded)
			if err != nil {
				t.Fatalf("cut at %d and %d zeros: %v", cut, zeros, err)
			}
			if d := same(story()[:len(got)], got); d != "" || len(got) < len(story())-1 {
				t.Fatalf("cut at %d and %d zeros: %d batches\n%s", cut, zeros, len(got), d)
			}
			if len(got) == len(story())-1 && (r.Size() != last || !r.Torn()) {
				t.Fatalf("cut at %d and %d zeros: size %d, torn %v", cut, zeros, r.Size(), r.Torn())
			}
		}
	}
}

// A damaged byte is reported, or it is in the last record, which then counts as unfinished. It never reads as other facts. In a journal that was
// closed the last record is none of the batches.
func TestJournalFlipAnyBit(t *testing.T) {
	for _, schema := range []string{JournalSchema, schemaNamed} {
		path := filepath.Join(t.TempDir(), "journal")
		j, err := CreateJournal(path, header())
		if schema != JournalSchema {
			j = older(t, path+"-older", schema)
			path += "-older"
		}
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		appendAll(t, j, story(), func() {
			if schema != JournalSchema {
				last = max(last, j.Size()-int64(len(j.buf)))
			} else {
				last = j.Size()
			}
		})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		data := readFile(t, path)
		if all, r, err := read(data); err != nil || same(story(), all) != "" || r.Torn() {
			t.Fatalf("%s: %d batches, torn %v, %v", schema, len(all), r.Torn(), err)
		}
		for i := range data {
			for bit := range 8 {
				flipped := bytes.Clone(data)
				flipped[i] ^= 1 << bit
				got, _, err := read(flipped)
				if err == nil && int64(i) < last {
					t.Fatalf("%s: byte %d bit %d: not noticed", schema, i, bit)
				}
				if err != nil && int64(i) >= int64(len(journalMagic)) && !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s: byte %d bit %d: the error does not say that the journal is damaged: %v", schema, i, bit, err)
				}
				if d := same(story()[:len(got)], got); d != "" {
					t.Fatalf("%s: byte %d bit %d reads as something else (-want +got):\n%s", schema, i, bit, d)
				}
			}
		}
	}
}

func TestJournalErrors(t *testing.T) {
	good, _ := storyBytes(t)
	header, err := NewJournalReader("journal", good)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(payload string, seed uint32) []byte {
		j := &Journal{buf: append([]byte(journalMagic), make([]byte, frameSize)...), seed: seed}
		j.buf = append(j.buf, payload...)
		f, err := os.Create(filepath.Join(t.TempDir(), "journal"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		j.file = f
		if err := j.write(len(journalMagic)); err != nil {
			t.Fatal(err)
		}
		return j.buf
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":        {nil, "not a journal"},
		"another file": {[]byte("#!/bin/sh\necho hello\n"), "not a journal"},
		"magic alone":  {[]byte(journalMagic), "no header"},
		"other schema": {
			frame(`{"schema":"tailcut.journal/v2","version":"v0.1"}`, 0),
			`schema is "tailcut.journal/v2", expected "tailcut.journal/v7": another version of tailcut (v0.1) wrote it`,
		},
		"header no JSON": {frame("hello", 0), "header: invalid character"},
		"no segment":     {frame(`{"schema":"tailcut.journal/v6"}`, 0), "it is of no segment"},
		"record garbage": {append(bytes.Clone(good), frame("\x00hello", header.seed)[len(journalMagic):]...), "record before byte"},
		"records lost":   {append(bytes.Clone(good), frame("\xff\xff\x03", header.seed)[len(journalMagic):]...), "says that more was before it"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := read(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// A run whose engine dies while it makes the journal leaves none, rather than one that cannot be read: the same command must be able to start anew.
func TestJournalIsBornWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path+".new", []byte("tailc"), 0o644); err != nil { // as left by a crash
		t.Fatal(err)
	}
	j, err := CreateJournal(path, header())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournalReader(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file is still there: %v", err)
	}
	if _, err := CreateJournal(path, header()); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second journal in the same place: %v", err)
	}
}

// Taking up a journal cuts off the torn tail, for good, and goes on behind the last whole record.
func TestJournalResume(t *testing.T) {
	all := story()
	_, ends := storyBytes(t)
	for cut := ends[0]; cut < ends[len(ends)-1]; cut += 3 {
		path, _ := write(t, t.TempDir(), all)
		if err := os.Truncate(path, cut); err != nil {
			t.Fatal(err)
		}
		before, r, err := read(readFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		j, err := ResumeJournal(path, r)
		if err != nil {
			t.Fatal(err)
		}
		if got := size(t, path); got != r.Size() {
			t.Fatalf("cut at %d: %d bytes left, want %d", cut, got, r.Size())
		}
		appendAll(t, j, all[len(before):], func() {})
		die(t, j)
		after, r, err := read(readFile(t, path))
		if d := same(all, after); err != nil || r.Torn() || d != "" {
			t.Fatalf("cut at %d: %v, torn %v (-want +got):\n%s", cut, err, r.Torn(), d)
		}
	}
}

// No file makes the reader panic, and what it accepts it would write again, byte for byte.
func FuzzJournalReader(f *testing.F) {
	data, ends := storyBytes(f)
	f.Add(data)
	f.Add(data[:ends[2]+5])
	f.Add(append(bytes.Clone(data), make([]byte, 100)...))
	f.Add(data[ends[0]:])
	f.Add(appendBatch(nil, &Batch{Now: 3, Jobs: []*JournalJob{{Name: "n", Stages: []string{"s"}}}, Told: []sched.JobID{1, 2}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, r, err := read(data)
		if err == nil && (r.Size() > int64(len(data)) || r.Torn() != (r.Size() < int64(len(data)))) {
			t.Errorf("size %d of %d bytes, torn %v", r.Size(), len(data), r.Torn())
		}
		var b Batch // the payload alone: a fuzzer does not guess checksums
		if b.decode(data) != nil {
			return
		}
		var again Batch
		if err := again.decode(appendBatch(nil, &b)); err != nil {
			t.Fatalf("written again it does not decode: %v", err)
		}
		if x, y := appendBatch(nil, &b), appendBatch(nil, &again); !bytes.Equal(x, y) { // JSON may have had spaces
			t.Errorf("written again it reads differently:\n%s", cmp.Diff(b, again, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()))
		}
	})
}

// A batch of a busy engine: one task ended, the next began.
func BenchmarkJournalAppend(b *testing.B) {
	batch := Batch{Now: 1e9, Facts: []sched.Event{{At: 1e9, Kind: sched.AttemptDone, Attempt: 5<<32 + 1}}, Decisions: []sched.Decision{{At: 1e9, Kind: sched.Commit, Task: 800, Attempt: 5<<32 + 1}, {At: 1e9, Kind: sched.Launch, Task: 802, Attempt: 6<<32 + 1}}, Outputs: []Output{{Attempt: 5<<32 + 1, Data: []byte("1234567890\n")}}}
	for name, sync := range map[string]bool{"sync": true, "nosync": false} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "journal")
			j, err := CreateJournal(path, header())
			if err != nil {
				b.Fatal(err)
			}
			start := size(b, path)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				if err := j.Append(&batch, sync); err != nil {
					b.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
			per := (size(b, path) - start) / int64(n)
			if per < 50 {
				b.Fatalf("%d bytes per record: nothing was written", per)
			}
			b.ReportMetric(float64(per), "B/record")
		})
	}
}

// Journals of earlier versions are read, and taken up in their own way: what the disk may lack of them is one record.
func TestOlderJournals(t *testing.T) {
	for schema, want := range map[string]string{schemaUnnamed: "", schemaNamed: "cafe", schemaWaits: "cafe"} {
		path := filepath.Join(t.TempDir(), "journal")
		j := older(t, path, schema)
		if err := errors.Join(j.Append(&Batch{Now: 7}, true), j.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := OpenJournalReader(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Folder(); got != want {
			t.Errorf("folder of a run of %s is %q, want %q", schema, got, want)
		}
		for b, err := r.Next(); err != io.EOF; b, err = r.Next() {
			if err != nil || b.Now != 7 {
				t.Fatalf("first record of %s: %v, %v", schema, b, err)
			}
		}
		if j, err = ResumeJournal(path, r); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			before := j.Size()
			if err := j.Append(recordOf(10), false); err != nil {
				t.Fatal(err)
			}
			if j.Synced() < before {
				t.Fatalf("%s: the disk has %d bytes, and a record follows %d", schema, j.Synced(), before)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if all, r, err := read(readFile(t, path)); err != nil || len(all) != 101 || r.Torn() || r.Header.Schema != schema {
			t.Errorf("%s: %d batches, torn %v, %v", schema, len(all), r.Torn(), err)
		}
	}
}
