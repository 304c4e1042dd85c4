package serve

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/disk/disktest"
	"github.com/tailcut/tailcut/internal/run"
)

// While the server's disk is full, whoever wants to change something hears that, in a problem with the status of it. Who
// looks is answered, and who waits waits. What runs ends, and that is told when there is room. Then all is as before, and what was accepted is there after a restart.
func TestFullDiskThroughTheAPI(t *testing.T) {
	root, fill, relieve := disktest.Small(t)
	r := newRig(t, func(c *Config) { c.Dir = filepath.Join(root, "d") })
	wait := r.submit(&run.Submission{Name: "wait", Dir: "wait", Nice: 1})
	r.until("wait", Running)
	fill(0)
	refused := func(what string, err error) {
		t.Helper()
		var p *Problem
		if !errors.As(err, &p) || p.Status != http.StatusInsufficientStorage || !strings.Contains(p.Error(), "no space left on device") && !strings.Contains(p.Error(), r.cfg.Dir) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
	_, err := r.Submit(t.Context(), NewKey(), &run.Submission{Name: "new"})
	refused("a submission", err)
	// What is left of the journal's last page takes a few records more. The one that finds no room waits for it, with
	// who asked for it, and everyone after that is refused. On a slow disk one that found room may have waited as long.
	urgent := 1
	change := func() error {
		hasty, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		urgent++
		_, err := r.Change(hasty, "wait", &Change{Priority: &urgent})
		return err
	}
	err = change()
	for began := time.Now(); err == nil || errors.Is(err, context.DeadlineExceeded); err = change() {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the journal goes on on a full disk: %v", err)
		}
	}
	refused("a priority", err)
	_, err = r.Cancel(t.Context(), "wait")
	refused("an end", err)
	_, err = r.SetPolicy(t.Context(), "fair")
	refused("a policy", err)
	if list, err := r.Jobs(t.Context(), Filter{}); err != nil || len(list.Jobs) != 1 || list.Jobs[0].State != Running {
		t.Errorf("a list on a full disk: %+v, %v", list, err)
	}
	waited := make(chan error, 1)
	go func() {
		_, err := r.Wait(t.Context(), "wait")
		waited <- err
	}()
	close(r.shop.gate("wait"))
	select {
	case err := <-waited:
		t.Errorf("who waits hears of an end that is on no disk yet: %v", err)
	case <-time.After(300 * time.Millisecond):
	}

	relieve()
	if err := <-waited; err != nil {
		t.Errorf("who waits is told %v", err)
	}
	if j := r.wait("wait"); j.State != Succeeded || j.ID != wait.ID {
		t.Errorf("%+v", j)
	}
	next := r.submit(&run.Submission{Name: "next"})
	if j := r.wait("next"); j.State != Succeeded || next.ID != wait.ID+1 {
		t.Errorf("%+v", j)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	r.start()
	for _, name := range []string{"wait", "next"} {
		if j := r.wait(name); j.State != Succeeded {
			t.Errorf("after a restart: %+v", j)
		}
	}
	if _, err := r.Job(t.Context(), "new", 0); err == nil {
		t.Error("a job that was refused is there")
	}
}

// Where a disk is too full for the claims of earlier servers, that is said once, and not for each of them.
func TestClaimsOnAFullDisk(t *testing.T) {
	root, fill, _ := disktest.Small(t)
	path := filepath.Join(root, "claims")
	if err := os.WriteFile(path, []byte("{\"run\":\"a\"}\n{\"run\":\"b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fill(0)
	if _, err := openClaims(path); !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v; expected one line", err)
	}
}
