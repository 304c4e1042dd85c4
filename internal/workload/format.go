package workload

import (
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/tailcut/tailcut/trace"
)

// Format is how a workload is written to a file.
type Format struct {
	Name        string // of package trace
	Compression string // "", ".gz" or ".zst"
}

// FormatOf reads from a file's name what is to be written; JSON lines for "-".
func FormatOf(path string) (f Format, err error) {
	f.Name = trace.JSONLines
	if path == "-" {
		return f, nil
	}
	plain := path
	for _, suffix := range []string{".gz", ".zst"} {
		if before, found := strings.CutSuffix(path, suffix); found {
			plain, f.Compression = before, suffix
		}
	}
	switch filepath.Ext(plain) {
	case ".tr":
		f.Name = trace.TR
	case ".csv":
		f.Name = trace.CSV
	case ".jsonl":
	default:
		return f, fmt.Errorf("%s: expected a name that ends in .tr, .jsonl or .csv, optionally followed by .gz or .zst", path)
	}
	return f, nil
}

// Write writes a workload, without what the format has no place for, see [trace.Workload.Lost].
func (f Format) Write(out io.Writer, w *trace.Workload) error {
	write := map[string]func(io.Writer, *trace.Workload) error{
		trace.TR: trace.WriteTR, trace.JSONLines: trace.WriteJSONLines, trace.CSV: trace.WriteCSV,
	}[f.Name]
	var packer io.WriteCloser
	switch f.Compression {
	case "":
		return write(out, w)
	case ".gz":
		packer = gzip.NewWriter(out)
	default:
		z, err := zstd.NewWriter(out)
		if err != nil {
			return err
		}
		packer = z
	}
	if err := write(packer, w); err != nil {
		_ = packer.Close()
		return err
	}
	return packer.Close()
}
