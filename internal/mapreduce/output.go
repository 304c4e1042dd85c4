package mapreduce

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// output is a file that an attempt writes. It must not exist before: two attempts in one folder are an error, not a
// mixture.
type output struct {
	*bufio.Writer
	path string
	file *os.File // nil once closed
}

func createOutput(path string) (*output, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return &output{Writer: bufio.NewWriterSize(f, 64<<10), path: path, file: f}, nil
}

// finish writes what is buffered, with durable set waits until the disk has it, and closes the file.
func (o *output) finish(durable bool) error {
	err := o.Flush()
	if err == nil && durable {
		err = o.file.Sync()
	}
	err = cmp.Or(err, o.file.Close())
	o.file = nil
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// abandon closes the file after an error; after finish it does nothing.
func (o *output) abandon() {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}

// ResultPath returns the file with the part in the folder of a task of the last stage.
func ResultPath(dir string) string { return partPath(dir) }

func partPath(dir string) string { return filepath.Join(dir, "part") }

// SegmentName returns the name of the file with a partition in the folder of a map attempt.
func SegmentName(partition int) string { return fmt.Sprintf("seg-%05d", partition) }

func segmentPath(dir string, partition int) string { return filepath.Join(dir, SegmentName(partition)) }
