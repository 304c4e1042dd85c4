package workload

import (
	"bytes"
	"io"
	"os"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/trace"
)

// read reads what an argument names: logs, or else a workload.
func read(m *trace.Importer, arg string, stdin io.Reader) (*trace.Workload, error) {
	if arg == "-" {
		return readStream(m, "stdin", stdin)
	}
	if info, err := os.Stat(arg); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		f, err := os.Open(arg)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readStream(m, arg, f)
	}
	if w, err := readLogs(arg); w != nil || err != nil {
		return w, err
	}
	return m.Load(arg, stdin)
}

// beginning is how many bytes of a stream tell whether it is a log: more than a block of any compression.
const beginning = 1 << 20

// readStream reads a log or a workload from what can be read once only, such as a pipe. What was looked at to tell
// which it is comes before the rest.
func readStream(m *trace.Importer, name string, in io.Reader) (*trace.Workload, error) {
	head := make([]byte, beginning)
	n, _ := io.ReadFull(in, head) // if reading fails, it does so again behind the head
	all := io.MultiReader(bytes.NewReader(head[:n]), in)
	log, err := history.Read(bytes.NewReader(head[:n]), name, "")
	if err != nil {
		return m.Read(all, name)
	}
	log.Close()
	if !replay.Readable(log.Format) {
		return m.Read(all, name)
	}
	r, notes, err := readLog(name, func() (*history.Log, error) { return history.Read(all, name, "") })
	if err != nil {
		return nil, err
	}
	return played(name, []*replay.Rerun{r}, notes), nil
}
