package inputs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ReadFile reads a list of values, each ended by the delimiter; the end of the file may stand for the last. The file
// called - is standard input.
func ReadFile(path string, delimiter []byte) ([][]byte, error) {
	if path == "-" {
		return Read("standard input", os.Stdin, delimiter)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, delimiter)
}

// Read reads a list that errors call name.
func Read(name string, from io.Reader, delimiter []byte) ([][]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > MostBytes {
		return nil, fmt.Errorf("%s: %w", name, errTooLarge)
	}
	values := Cut(data, delimiter)
	for i, v := range values {
		if bytes.IndexByte(v, 0) >= 0 {
			return nil, fmt.Errorf("%s: value %d has a NUL byte, which no argument can hold; if NUL ends each value, add --null", name, i+1)
		}
	}
	return values, nil
}

// Cut cuts data into values, each ended by the delimiter.
func Cut(data, delimiter []byte) [][]byte {
	if len(delimiter) == 0 {
		delimiter = []byte("\n")
	}
	values := make([][]byte, 0, bytes.Count(data, delimiter)+1)
	for len(data) > 0 {
		value, rest, _ := bytes.Cut(data, delimiter)
		values, data = append(values, value[:len(value):len(value)]), rest
	}
	return values
}

// Delimiter reads a delimiter as printf would: \n, \t, \0, \\, \x2c and \054 stand for bytes.
func Delimiter(text string) ([]byte, error) {
	wrong := fmt.Errorf("expected characters, or escapes such as \\n, \\t, \\0 or \\x2c, not %q", text)
	var b []byte
	for text != "" {
		if text[0] != '\\' {
			b, text = append(b, text[0]), text[1:]
			continue
		}
		if len(text) < 2 {
			return nil, wrong
		}
		kind := text[1]
		if i := strings.IndexByte("abfnrtv\\", kind); i >= 0 {
			b, text = append(b, "\a\b\f\n\r\t\v\\"[i]), text[2:]
			continue
		}
		digits, base, most := text[1:], 8, 3
		valid := "01234567"
		if kind == 'x' {
			digits, base, most, valid = text[2:], 16, 2, "0123456789abcdefABCDEF"
		}
		n := len(digits) - len(strings.TrimLeft(digits, valid))
		n = min(n, most)
		value, err := strconv.ParseUint(digits[:n], base, 8)
		if err != nil {
			return nil, wrong
		}
		b, text = append(b, byte(value)), digits[n:]
	}
	if len(b) == 0 {
		return nil, wrong
	}
	return b, nil
}
