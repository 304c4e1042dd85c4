package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/trace"
)

// traceOut is a file that a workload is written to.
type traceOut struct {
	force, lossy bool
	file         outFile // its path is "-" for stdout
	format       string  // of package trace
	compression  string  // "", ".gz" or ".zst"
}

func (o *traceOut) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite OUT if it exists")
	cmd.Flags().BoolVar(&o.lossy, "lossy", false, "write although the format cannot hold everything")
}

// settle reads from a file's name what is to be written, and refuses one that exists or that is an input.
func (o *traceOut) settle(path string, inputs ...string) error {
	o.file, o.format = outFile{"OUT", path}, trace.JSONLines
	if path == "-" {
		return nil
	}
	plain := path
	for _, suffix := range []string{".gz", ".zst"} {
		if before, found := strings.CutSuffix(path, suffix); found {
			plain, o.compression = before, suffix
		}
	}
	switch filepath.Ext(plain) {
	case ".tr":
		o.format = trace.TR
	case ".csv":
		o.format = trace.CSV
	case ".jsonl":
	default:
		return fmt.Errorf("%s: expected a name that ends in .tr, .jsonl or .csv, perhaps with .gz or .zst behind it", path)
	}
	if _, err := os.Lstat(path); !o.force && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = errors.New("the file exists; --force overwrites it")
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return checkOut(inputs, o.file)
}

// write writes a workload. The file appears when it is complete.
func (o *traceOut) write(cmd *cobra.Command, w *trace.Workload) error {
	if lost := w.Lost(o.format); len(lost) > 0 {
		what := fmt.Sprintf("%s: .%s has no place for %s", o.file.path, o.format, strings.Join(lost, ", "))
		if !o.lossy {
			return fmt.Errorf("%s; write .jsonl, or the rest with --lossy", what)
		}
		notice(cmd.ErrOrStderr(), "%s", what)
	}
	if o.file.path == "-" {
		return o.encode(cmd.OutOrStdout(), w)
	}
	file, err := o.file.create()
	if err != nil {
		return err
	}
	return file.close(cmp.Or(o.encode(file, w), cmd.Context().Err()))
}

// encode writes in the format and compression.
func (o *traceOut) encode(out io.Writer, w *trace.Workload) error {
	write := map[string]func(io.Writer, *trace.Workload) error{
		trace.TR: trace.WriteTR, trace.JSONLines: trace.WriteJSONLines, trace.CSV: trace.WriteCSV,
	}[o.format]
	var packer io.WriteCloser
	switch o.compression {
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
