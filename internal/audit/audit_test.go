package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/trace"
)

// a run of three tasks, two of which are done; see the README beside it
const journal = "../../cmd/tailcut/testdata/journals/v3"

// folder returns an output folder with that journal, changed.
func folder(t *testing.T, change func([]byte) []byte) string {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	write(t, filepath.Join(out, mapreduce.PrivateName, "journal"), string(change(text)))
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replay(path string, attempts bool) (*Replay, error) {
	j, err := Open(path)
	if err != nil {
		return nil, err
	}
	return j.Replay(attempts)
}

func TestReplay(t *testing.T) {
	whole, err := replay(folder(t, func(b []byte) []byte { return b }), true)
	if err != nil || !whole.Equal || whole.Torn || whole.Batches == 0 || len(whole.Attempts) < 3 || whole.Attempts[0].Task != 0 {
		t.Fatalf("%+v, %v", whole, err)
	}
	var text, table strings.Builder
	if err := errors.Join(whole.WriteText(&text), whole.WriteCSV(&table)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(table.String(), "stage,task,attempt,clone,from,start_seconds,seconds,end,mapped_bytes\n") ||
		strings.Count(table.String(), "\n") != 1+len(whole.Attempts) || !strings.Contains(text.String(), "decisions are as in the journal") {
		t.Errorf("%s\n%s", text.String(), table.String())
	}
	torn, err := replay(folder(t, func(b []byte) []byte { return b[:len(b)-3] }), false)
	if err != nil || !torn.Torn || torn.Attempts != nil || torn.Batches != whole.Batches-1 {
		t.Errorf("%+v, %v", torn, err)
	}
	damaged := folder(t, func(b []byte) []byte { b[len(b)-400] ^= 0x40; return b })
	if _, err := replay(damaged, false); !errors.Is(err, trace.ErrCorrupt) {
		t.Errorf("damaged: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.HasSuffix(err.Error(), "expected the output folder of a run") {
		t.Errorf("no run: %v", err)
	}
}

func TestVerify(t *testing.T) {
	out := folder(t, func(b []byte) []byte { return b })
	if _, err := Verify(out); !errors.As(err, new(*NoResultError)) {
		t.Errorf("unfinished: %v", err)
	}
	r, err := trace.OpenJournalReader(journalOf(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := mapreduce.Publish(out, r.Header.Run, filepath.Join(t.TempDir(), "draft"), []mapreduce.Part{{Data: []byte("the result\n")}}); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(out)
	if err != nil || !v.OK || v.Parts != 1 || v.Bytes != 11 {
		t.Fatalf("%+v, %v", v, err)
	}
	write(t, filepath.Join(out, mapreduce.PartName(0)), "the RESULT\n")
	if v, err = Verify(out); err != nil || v.OK || len(v.Mistakes) != 1 || v.Mistakes[0].Path != mapreduce.PartName(0) {
		t.Errorf("changed: %+v, %v", v, err)
	}
	var text, table strings.Builder
	if err := errors.Join(v.WriteText(&text), v.WriteCSV(&table)); err != nil || !strings.HasPrefix(text.String(), "part-00000: ") ||
		!strings.HasPrefix(table.String(), "path,problem\npart-00000,") {
		t.Errorf("%q, %q, %v", text.String(), table.String(), err)
	}
	if err := os.Remove(filepath.Join(out, mapreduce.ManifestName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(out); err == nil || errors.As(err, new(*NoResultError)) || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("without a manifest: %v", err)
	}
}
