package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// server is a real 'tailcut serve' with a history.
type server struct {
	t       *testing.T
	tailcut string
	dir     string
	history string
	cmd     *exec.Cmd
	client  http.Client
}

func (s *server) start() {
	s.t.Helper()
	socket := filepath.Join(s.dir, "socket")
	s.cmd = exec.Command(s.tailcut, "serve", "--dir", filepath.Join(s.dir, "queue"), "--socket", socket, "--slots", "4", "--policy", "srpt", "--history", s.history)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	s.until("the server answers", func() bool { return s.ask("GET", "/v1/server", nil, nil) == nil })
}

// kill ends the server as a power cut of it alone would.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	_ = s.cmd.Wait()
}

func (s *server) ask(method, path string, body, to any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, "http://tailcut"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err = io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s", method, path, text)
	}
	if err == nil && to != nil {
		err = json.Unmarshal(text, to)
	}
	return err
}

// submit submits an array of a name whose tasks sleep a tenth of a second.
func (s *server) submit(name, out string, tasks int) error {
	stage := map[string]any{"name": "tasks", "tasks": tasks, "command": []string{"sleep", "0.1"}}
	return s.ask("POST", "/v1/jobs", map[string]any{
		"name": name, "dir": s.dir, "output": filepath.Join(s.dir, out), "history": s.history, "job": map[string]any{"name": name, "array": map[string]any{"stages": []any{stage}}},
	}, nil)
}

type jobs struct {
	Jobs []struct {
		ID       int         `json:"id"`
		State    string      `json:"state"`
		Flow     float64     `json:"flow_seconds"`
		Promised *float64    `json:"promised_seconds"`
		Between  *[2]float64 `json:"promised_between"`
	} `json:"jobs"`
}

func (s *server) jobs() (all jobs) {
	s.t.Helper()
	if err := s.ask("GET", "/v1/jobs", nil, &all); err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *server) until(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("in vain waited until " + what)
		}
	}
}

func (s *server) idle() bool {
	for _, j := range s.jobs().Jobs {
		if j.State != "succeeded" {
			return false
		}
	}
	return true
}

// A server promises ends once it knows a name, keeps each job once however often it is killed, keeps account of its
// promises, and answers what would have been.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tailcut")
	}
	s := &server{t: t, history: install(t), dir: t.TempDir()}
	s.tailcut = filepath.Join(t.TempDir(), "tailcut")
	if out, err := exec.Command("go", "build", "-o", s.tailcut, "github.com/tailcut/tailcut/cmd/tailcut").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.start()
	defer func() { s.kill() }()
	if err := s.submit("nightly", "first", 20); err != nil {
		t.Fatal(err)
	}
	s.until("the first job has ended", s.idle)
	for i := range 3 {
		if err := s.submit("nightly", fmt.Sprint("known", i), 20); err != nil {
			t.Fatal(err)
		}
	}
	s.until("all jobs have a promise", func() bool {
		for _, j := range s.jobs().Jobs[:3] {
			if j.Promised == nil {
				return false
			}
		}
		return true
	})
	s.until("they have ended", s.idle)
	for _, j := range s.jobs().Jobs[:3] {
		if j.Promised == nil || *j.Promised < 0.3 || *j.Promised > 10 || j.Between[0] > *j.Promised || j.Between[1] < *j.Promised {
			t.Errorf("job %d took %.2f s and was promised %v, %v", j.ID, j.Flow, j.Promised, j.Between)
		}
	}
	submitted := 4
	for round := range 4 {
		for i := range 3 {
			if err := s.submit("nightly", fmt.Sprintf("kill%d-%d", round, i), 4); err != nil {
				t.Fatal(err)
			}
			submitted++
		}
		time.Sleep(time.Duration(90+40*round) * time.Millisecond)
		s.kill()
		s.start()
	}
	s.until("all jobs have ended", s.idle)
	var past struct {
		Jobs []struct{ Run, State string } `json:"jobs"`
	}
	s.until("the last job is in the history", func() bool {
		if err := s.ask("GET", "/v1/history/jobs?name=night*&last=1d", nil, &past); err != nil {
			t.Fatal(err)
		}
		return len(past.Jobs) >= submitted
	})
	if len(past.Jobs) != submitted {
		t.Errorf("%d jobs are kept of %d", len(past.Jobs), submitted)
	}
	var calibration struct {
		AtSubmission struct {
			Promises int      `json:"promises"`
			Held     *float64 `json:"held_80_ratio"`
		} `json:"at_submission"`
	}
	if err := s.ask("GET", "/v1/calibration", nil, &calibration); err != nil || calibration.AtSubmission.Promises < 3 || calibration.AtSubmission.Held == nil {
		t.Errorf("%+v, %v", calibration, err)
	}
	var answer struct {
		Jobs  int `json:"jobs"`
		Cases []struct {
			Mean *float64 `json:"mean_flow_seconds"`
		} `json:"cases"`
	}
	question := map[string]any{"name": "nightly", "policies": []string{"srpt", "fifo"}, "slots": []string{"4", "40"}, "runs": 5}
	if err := s.ask("POST", "/v1/whatif", question, &answer); err != nil || answer.Jobs != submitted || len(answer.Cases) != 4 || *answer.Cases[2].Mean >= *answer.Cases[0].Mean {
		t.Errorf("%+v, %v", answer, err)
	}
	question["policies"] = []string{"nope"}
	if err := s.ask("POST", "/v1/whatif", question, &answer); err == nil || !bytes.Contains([]byte(err.Error()), []byte(`"field":"policies"`)) {
		t.Error(err)
	}
}
