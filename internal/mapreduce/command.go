package mapreduce

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	stderrTail = 2 << 10                // bytes of a command's standard error that its failure quotes
	waitDelay  = 500 * time.Millisecond // for standard error, held open by what a command left behind
)

// command runs a script through sh -c. Feed writes its standard input while read consumes its standard output; a
// command that exits with status 0 need not have read all, so feed never fails for a reader that went away.
func (a *worker) command(role, script string, feed func(*os.File) error, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	stderr := &tail{also: a.spec.Stderr}
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Stderr = stderr
	cmd.WaitDelay = waitDelay
	stdin, stdout, err := startPiped(cmd)
	if cause := context.Cause(a.ctx); err != nil && cause != nil {
		return cause // it is why nothing was started
	} else if err != nil {
		return fmt.Errorf("%s %s: %w", role, quoted(script), judged(script, err, stderr))
	}
	closePipes := func() {
		stdin.Close()
		stdout.Close()
	}
	defer closePipes()
	// Children of the shell may outlive it and hold the pipes: whoever waits on them is woken by closing our ends.
	defer context.AfterFunc(ctx, closePipes)()

	fed := make(chan error, 1)
	go func() {
		err := fedBy(feed, stdin)
		if err != nil { // before its input ends: it is not all that there is
			_ = cmd.Process.Kill()
			cancel()
		}
		stdin.Close()
		fed <- err
	}()
	readErr := read(stdout)
	if readErr != nil {
		cancel()
	}
	exitErr := cmd.Wait()
	if errors.Is(exitErr, exec.ErrWaitDelay) {
		exitErr = nil
	}
	stdin.Close() // the feeder may be stuck on a reader that the command left behind
	feedErr := <-fed
	if exitErr != nil {
		exitErr = fmt.Errorf("%s %s ended with %w%s", role, quoted(script), judged(script, exitErr, stderr), stderr)
	}
	return cmp.Or(context.Cause(a.ctx), feedErr, readErr, exitErr)
}

// quoted names a script in a message, by its beginning if it is long.
func quoted(script string) string {
	const most = 60
	if len(script) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(script[:most], ""))
	}
	return fmt.Sprintf("%q", script)
}

// startPiped starts a command and returns our ends of its standard input and output.
func startPiped(cmd *exec.Cmd) (stdin, stdout *os.File, err error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		inRead.Close()
		inWrite.Close()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout = inRead, outWrite
	err = cmd.Start()
	inRead.Close()
	outWrite.Close()
	if err != nil {
		inWrite.Close()
		outRead.Close()
		return nil, nil, err
	}
	return inWrite, outRead, nil
}

// fedBy has feed fill a pipe. That nobody reads the pipe any more is no error.
func fedBy(feed func(*os.File) error, pipe *os.File) error {
	err := feed(pipe)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// buffered lets feed write as little at once as it likes.
func buffered(feed func(io.Writer) error) func(*os.File) error {
	return func(pipe *os.File) error {
		w := bufio.NewWriterSize(pipe, 64<<10)
		if err := feed(w); err != nil {
			return err
		}
		return w.Flush()
	}
}

// tail keeps the end of what is written to it and passes everything on.
type tail struct {
	also io.Writer // may be nil
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[max(0, len(p)-stderrTail):]...)
	t.text = t.text[max(0, len(t.text)-stderrTail):]
	if t.also == nil {
		return len(p), nil
	}
	return t.also.Write(p)
}

// String returns the text on one line, as the end of a message.
func (t *tail) String() string {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(t.text)), "\uFFFD")
	if text == "" {
		return " and wrote nothing to standard error"
	}
	return ": " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " | ")
}
