package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// SIGTERM ends the work, which may tidy up before the program ends.
func TestUntilTerminated(t *testing.T) {
	tidied := errors.New("tidied")
	err := untilTerminated(t.Context(), func(ctx context.Context) error {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return tidied
	})
	if !errors.Is(err, tidied) {
		t.Errorf("the work ends with %v, want %v", err, tidied)
	}
}
