//go:build long

package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The page of a real server, that is killed (kill -9) and started again while somebody looks.
func TestRealServer(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	tool := filepath.Join(dir, "tailcut")
	if out, err := exec.Command("go", "build", "-o", tool, "../../cmd/tailcut").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	socket := filepath.Join(dir, "socket")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	start := func() *exec.Cmd {
		cmd := exec.Command(tool, "serve", "--dir", filepath.Join(dir, "queue"), "--socket", socket, "--slots", "4", "--policy", "spark", "--listen", address)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 500 {
			if answer, err := client.Get("http://tailcut/v1/server"); err == nil {
				answer.Body.Close()
				return cmd
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatal("the server does not answer")
		return nil
	}
	submit := func(name, command string, tasks int) {
		stage := map[string]any{"name": "tasks", "tasks": tasks, "command": []string{"sh", "-c", command}}
		body, err := json.Marshal(map[string]any{"name": name, "output": filepath.Join(dir, "out-"+name), "job": map[string]any{
			"name": name, "retries": 3, "array": map[string]any{"stages": []any{stage}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Post("http://tailcut/v1/jobs", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Fatalf("submission: %s", answer.Status)
		}
	}
	server := start()
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	for i := range 3 {
		submit(fmt.Sprintf("night-%d", i), `echo result {}; if [ $TAILCUT_TASK.$TAILCUT_ATTEMPT = 5.0 ]; then sleep 20; else sleep 0.$((2 + TAILCUT_TASK % 5)); fi`, 60)
	}
	token, err := os.ReadFile(filepath.Join(dir, "queue", "token"))
	if err != nil {
		t.Fatal(err)
	}
	p := b.open("http://"+address+"/login?token="+strings.TrimSpace(string(token)), 1280, 1000, false)
	p.until("document.querySelector('#link').textContent === 'connected' && view.stats.firstDraw && view.store.n > 20")
	if got := p.value("location.href"); got != "http://"+address+"/" {
		t.Errorf("the address still has the token: %v", got)
	}
	p.shoot("before")
	p.only("http://" + address)

	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	p.until("document.querySelector('#link').textContent === 'lost'")
	server = start()
	p.until("document.querySelector('#link').textContent === 'connected'")
	p.until("view.store.n > 20 && view.store.running.size === 4")
	p.shoot("after")

	p.value(`[...document.querySelectorAll('#now button')].find(b => b.getAttribute('aria-label') === 'Pause night-2').click()`)
	p.until(`[...document.querySelectorAll('#now tr')].some(r => r.innerText.includes('night-2') && r.innerText.includes('paused'))`)
	p.until("document.querySelector('#ended').innerText.includes('night-0')")
	p.value("location.hash = '#job/0'")
	p.until("document.querySelector('#job').innerText.includes('60 of 60')")
	p.value(`document.querySelector('[aria-label="Log of tasks 7"]').click()`)
	p.until("document.querySelector('.log').innerText.includes('result 7')")
	p.shoot("job")
}
