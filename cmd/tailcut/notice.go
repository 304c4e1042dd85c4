package main

import (
	"fmt"
	"io"

	"github.com/tailcut/tailcut/internal/show"
)

// notice writes one line for the user beside the result, or instead of it: a note, a warning, an error. Whatever the
// arguments hold, it stays a line.
func notice(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "tailcut: %s\n", show.OneLine(fmt.Sprintf(format, args...)))
}
