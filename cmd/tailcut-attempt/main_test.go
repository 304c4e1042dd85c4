package main

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// api is an API server that knows one pod.
func api(t *testing.T, status int) (reports chan string) {
	reports = make(chan string, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		reports <- strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body)}, " ")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"message":"pods is forbidden"}`)
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TAILCUT_POD", "job-0-abcde")
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	account = t.TempDir()
	for name, data := range map[string][]byte{
		"namespace": []byte("ns\n"), "token": []byte("secret\n"),
		"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	} {
		if err := os.WriteFile(filepath.Join(account, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return reports
}

// What a command says of its progress is told to the API server, and its exit status is its own.
func TestAttempt(t *testing.T) {
	reports := api(t, http.StatusOK)
	var stderr strings.Builder
	status := run([]string{"sh", "-c", `echo "0.25 100" >$TAILCUT_PROGRESS; sleep 0.3; exit 7`}, &stderr)
	if status != 7 || stderr.String() != "" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	select {
	case got := <-reports:
		want := `PATCH /api/v1/namespaces/ns/pods/job-0-abcde Bearer secret application/merge-patch+json {"metadata":{"annotations":{"tailcut.dev/progress":"0.25 100"}}}`
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was reported")
	}
}

// Whoever may not report is told once, and works.
func TestForbidden(t *testing.T) {
	api(t, http.StatusForbidden)
	p, err := ownPod()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.report("0.5"); err == nil || err.Error() != "403 Forbidden: pods is forbidden" {
		t.Error(err)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		status int
		stderr string
	}{
		{"success", []string{"true"}, 0, "progress is not reported: TAILCUT_POD"},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, 137, ""},
		{"no such command", []string{"no/such/command"}, 126, "no/such/command"},
		{"no command", nil, 2, "usage"},
		{"a flag", []string{"--instal", "x"}, 2, "usage"},
		{"no folder", []string{"--install", "no/such/folder"}, 1, "no/such/folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TAILCUT_POD", "")
			var stderr strings.Builder
			if status := run(c.args, &stderr); status != c.status || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("status %d, %q; want %d, %q", status, stderr.String(), c.status, c.stderr)
			}
		})
	}
}

func TestInstall(t *testing.T) {
	folder := t.TempDir()
	if status := run([]string{"--install", folder}, os.Stderr); status != 0 {
		t.Fatal(status)
	}
	out, err := exec.Command(filepath.Join(folder, "tailcut-attempt"), "-test.list", "TestInstall").Output()
	if err != nil || !strings.HasPrefix(string(out), "TestInstall") {
		t.Errorf("%s, %v", out, err)
	}
}
