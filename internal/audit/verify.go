package audit

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// Verification is what came of comparing a result with its manifest.
type Verification struct {
	Schema   string              `json:"schema"`
	Run      string              `json:"run"`
	Parts    int                 `json:"parts"` // tasks' results
	Bytes    int64               `json:"bytes"`
	OK       bool                `json:"ok"`
	Mistakes []mapreduce.Mistake `json:"mistakes"`
	Commands []mapreduce.Made    `json:"commands,omitempty"` // where parts are of several
}

// NewVerification says of a run's result, of so many parts and bytes, what is wrong with it.
func NewVerification(run string, parts int, bytes int64, mistakes []mapreduce.Mistake) *Verification {
	return &Verification{
		Schema: "tailcut.verify/v1", Run: run, Parts: parts, Bytes: bytes, OK: len(mistakes) == 0, Mistakes: append([]mapreduce.Mistake{}, mistakes...),
	}
}

// NoResultError is the error of a folder in which no run has published a result.
type NoResultError struct{ Out string }

// Error says what was expected.
func (e *NoResultError) Error() string {
	return fmt.Sprintf("%s: expected the output folder of a successful run, but there is no %s", e.Out, mapreduce.ManifestName)
}

// Verify compares the result in a folder with its manifest, byte for byte. The error is a [NoResultError], or that of a
// file which cannot be read.
func Verify(out string) (*Verification, error) {
	m, err := mapreduce.ReadManifest(filepath.Join(out, mapreduce.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Join(out, mapreduce.SuccessName)); errors.Is(err, fs.ErrNotExist) {
			return nil, &NoResultError{out}
		}
		err = fmt.Errorf("%s: %s with the checksums is missing; the result cannot be verified", out, mapreduce.ManifestName)
	}
	if err != nil {
		return nil, err
	}
	wrong, err := m.Verify(out)
	if err != nil {
		return nil, err
	}
	if r, err := trace.OpenJournalReader(journalOf(out)); err == nil && r.Header.Run != m.Run {
		wrong = append(wrong, mapreduce.Mistake{
			Path: mapreduce.ManifestName, Problem: fmt.Sprintf("mixed: it belongs to run %s, but the journal belongs to run %s", m.Run, r.Header.Run),
		})
	}
	parts, bytes := m.Count()
	v := NewVerification(m.Run, parts, bytes, wrong)
	v.Commands = m.Made()
	return v, nil
}

// WriteText writes a line for each mistake, or one if there is none.
func (v *Verification) WriteText(w io.Writer) (err error) {
	for _, m := range v.Mistakes {
		_, err = fmt.Fprintf(w, "%s: %s\n", plainName(m.Path), m.Problem)
	}
	if v.OK {
		_, err = fmt.Fprintf(w, "%s, %s: intact, as written by run %s\n", show.Count(v.Parts, "part"), show.Bytes(v.Bytes), v.Run)
	}
	for _, c := range v.Commands {
		_, err = fmt.Fprintf(w, "%s made by: %s\n", show.Count(c.Parts, "part"), show.OneLine(c.Command))
	}
	return err
}

// WriteJSON writes the verification for programs.
func (v *Verification) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(v) }

// WriteCSV writes a row for each mistake.
func (v *Verification) WriteCSV(w io.Writer) error {
	rows := [][]string{{"path", "problem"}}
	for _, m := range v.Mistakes {
		rows = append(rows, []string{m.Path, m.Problem})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// plainName is a file's name as it is, or quoted if a terminal would not show it so.
func plainName(name string) string {
	if quoted := fmt.Sprintf("%q", name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
