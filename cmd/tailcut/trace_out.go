package main

import (
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
	path         string // "-" for stdout
	format       string // of package trace
	compression  string // "", ".gz" or ".zst"
}

func (o *traceOut) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite OUT if it exists")
	cmd.Flags().BoolVar(&o.lossy, "lossy", false, "write although the format cannot hold everything")
}

// settle reads from a file's name what is to be written, and refuses one that exists.
func (o *traceOut) settle(path string) error {
	o.path, o.format = path, trace.JSONLines
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
	return nil
}

// write writes a workload. The file appears when it is complete.
func (o *traceOut) write(cmd *cobra.Command, w *trace.Workload) error {
	if lost := w.Lost(o.format); len(lost) > 0 {
		what := fmt.Sprintf("%s: .%s has no place for %s", o.path, o.format, strings.Join(lost, ", "))
		if !o.lossy {
			return fmt.Errorf("%s; write .jsonl, or the rest with --lossy", what)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "tailcut: %s\n", what)
	}
	if o.path == "-" {
		return o.encode(cmd.OutOrStdout(), w)
	}
	part := fmt.Sprintf("%s.part-%d", o.path, os.Getpid())
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = o.encode(file, w)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil && cmd.Context().Err() == nil {
		return os.Rename(part, o.path)
	}
	_ = os.Remove(part)
	if err == nil {
		err = cmd.Context().Err()
	}
	return err
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
