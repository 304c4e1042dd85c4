package past

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program that hangs holds up nobody: not who asks it more than fits into its pipe, and not who closes it.
func TestProgramHangs(t *testing.T) {
	var cmd *exec.Cmd
	c := newClient(func() (*exec.Cmd, error) {
		cmd = exec.Command("sleep", "100")
		return cmd, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := c.Add(ctx, &JobRecord{Name: strings.Repeat("long", 1<<16)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it adds: %v", err)
	}
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), "is killed") {
		t.Errorf("it closes: %v", err)
	}
	_ = c.line.end()
	if took := time.Since(began); took > Late/2 {
		t.Errorf("that took %v", took)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("the program ended with %v", cmd.ProcessState)
	}
}
