package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/show"
)

// newCounter returns what to call while a long computation goes on: on a terminal it keeps one line with the share that
// is done and the time that is left, elsewhere it is nil.
func newCounter(w io.Writer, what string) func(done, total int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var mu sync.Mutex
	begun := time.Now()
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done >= total {
			fmt.Fprint(w, "\r\033[K")
			return
		}
		left := "?"
		if done > 0 {
			left = show.Seconds(time.Since(begun).Seconds() * float64(total-done) / float64(done))
		}
		fmt.Fprintf(w, "\r\033[K%s: %d of %d, %.0f %%, %s left", what, done, total, 100*float64(done)/float64(total), left)
	}
}
