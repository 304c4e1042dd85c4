package history

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// readNotes reads a log from memory, with what it says beside its attempts.
func readNotes(text string) (all []Attempt, said []string, err error) {
	l, err := Open("-", strings.NewReader(text), "")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	for a, err := range l.Attempts() {
		if err != nil {
			return all, nil, err
		}
		all = append(all, *a)
	}
	return all, l.Notes(), nil
}

// A log that ends anywhere gives the attempts that had ended before, and only where it gives none an error. It says where
// it ends, unless that is between two lines.
func TestCutAnywhere(t *testing.T) {
	for name, text := range map[string]string{
		"spark": sparkLog, "jhist": jhistLog, "binary jhist": binaryJhist, "old log": oldLogText, "rumen": rumenLog, "parallel": parallelLog, "nextflow": nextflowLog,
		"sacct": sacctParsable, "fixed sacct": sacctFixed, "pods": podList, "google": googleLog,
	} {
		_, all, err := readAll(text, "")
		if err != nil {
			t.Fatal(err)
		}
		ended := func(all []Attempt) (some []Attempt) {
			for _, a := range all {
				if a.Outcome != Running {
					some = append(some, a)
				}
			}
			return some
		}
		want, most, noted := ended(all), 0, 0
		from := min(len(text), max(150, strings.IndexByte(text, '\n')+1)) // so that the format can be told
		for n := from; n < len(text); n++ {
			got, said, err := readNotes(text[:n])
			if err != nil {
				if len(got) > 0 {
					t.Fatalf("%s, %d bytes: %d attempts, then %v", name, n, len(got), err)
				}
				continue
			}
			some := ended(got)
			last := len(some) - 1
			if last >= most && !strings.HasSuffix(text[:n], "\n") { // the last row may have lost the end of its last cell
				some = some[:last]
			}
			if len(some) < most || len(some) > len(want) || !cmp.Equal(some, want[:len(some)], unwritten, cmpopts.EquateEmpty()) {
				t.Fatalf("%s, %d bytes: %v, want the first of %v", name, n, some, want)
			}
			most = max(most, len(some))
			if len(said) > 0 {
				noted++
				if !strings.HasPrefix(said[0], "stdin:") || !strings.HasSuffix(said[0], ": it ends too early, and what stands before is used") {
					t.Fatalf("%s, %d bytes: says %q", name, n, said)
				}
			}
		}
		if noted == 0 {
			t.Errorf("%s: no cut was noted", name)
		}
	}
}

// What is compressed and cut gives the blocks that are whole.
func TestCutCompressed(t *testing.T) {
	event := sparkLog[strings.Index(sparkLog, `{"Event":"SparkListenerTaskEnd"`):]
	event = event[:strings.IndexByte(event, '\n')+1]
	text := sparkLog[:strings.IndexByte(sparkLog, '\n')+1] + strings.Repeat(event, 5000)
	for _, how := range []string{"gzip", "zstd", "lz4", "snappy", "xerial", "lz4block"} {
		p := packed(t, how, text)
		for _, n := range []int{len(p) - 5, len(p) * 2 / 3} {
			all, said, err := readNotes(p[:n])
			if how == "lz4" && n < len(p)-5 { // one block of up to 4 MiB
				continue
			}
			if err != nil || len(all) < 1000 || len(all) > 5000 || len(said) != 1 || !strings.Contains(said[0], "it ends too early") {
				t.Errorf("%s, %d of %d bytes: %d attempts, %q, %v", how, n, len(p), len(all), said, err)
			}
		}
	}
}
