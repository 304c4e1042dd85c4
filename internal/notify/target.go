package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// command is a line for the shell.
type command struct{ script, dir string }

func (c *command) String() string { return fmt.Sprintf("--notify %q", shortened(c.script)) }

// stderrMost is how much of a command's standard error a warning can quote.
const stderrMost = 4 << 10

// afterKill is how long the pipes of a command are waited for that was killed.
const afterKill = 500 * time.Millisecond

// deliver runs the command, which finds the event in its environment and on its standard input. What it started is
// killed with it when the time is over.
func (c *command) deliver(ctx context.Context, e *Event, body []byte) (again bool, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.script)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), e.variables()...)
	cmd.Stdin = bytes.NewReader(append(body, '\n'))
	said := &head{}
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = afterKill
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // it left something behind that holds a pipe
		return false, nil
	case ctx.Err() != nil:
		return true, errors.New("took too long and was killed")
	case !errors.As(err, &exit):
		return true, err
	}
	err = fmt.Errorf("ended with %w", err)
	if line := lastLine(said.String()); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return exit.ExitCode() != 126 && exit.ExitCode() != 127, err // the shell did not find it
}

// head keeps the first bytes that are written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), stderrMost-h.Len())])
	return len(p), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func shortened(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}

// hook is a URL that events are posted to.
type hook struct {
	url    *url.URL
	client *http.Client
}

func newHook(u *url.URL) *hook {
	return &hook{url: u, client: &http.Client{
		// A redirection that makes a GET of a POST would lose the event without a word.
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.Method != http.MethodPost || len(via) > 5 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// String leaves out path and query: those of web hooks are secrets.
func (h *hook) String() string { return "--notify " + h.url.Scheme + "://" + h.url.Host + "/…" }

func (h *hook) deliver(ctx context.Context, _ *Event, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url.String(), bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the URL cannot be used") // the error would quote it
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "tailcut")
	answer, err := h.client.Do(r)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) { // it quotes the URL
			err = of.Err
		}
		if ctx.Err() != nil {
			err = errors.New("no answer in time")
		}
		return true, err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 1<<16)
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	again = answer.StatusCode/100 == 5 || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout
	return again, fmt.Errorf("the answer was %s", answer.Status)
}
