package main

import (
	"fmt"
	"io"
	"os"
)

// maxText bounds what is read as a whole, in bytes: a device or a pipe may have no end.
const maxText = 64 << 20

// readFile reads a file as a whole.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, path)
}

// readBounded reads all that there is, by a name for messages.
func readBounded(in io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: expected at most %d MiB", name, maxText>>20)
	}
	return text, nil
}
