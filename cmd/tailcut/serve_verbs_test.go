//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
)

// call runs a verb against the server, and returns its status and what it prints.
func (v *victim) call(args ...string) (status int, out, errs string) {
	v.t.Helper()
	cmd := exec.Command(v.program, args...)
	cmd.Env = []string{"HOME=" + v.dir, "TAILCUT_SERVER=" + v.socket(), "PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0", "TZ=UTC"}
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		v.t.Fatal(err)
	}
	return status, o.String(), e.String()
}

// expect runs a verb and compares its status and what it prints, to standard output or else to standard error, with a
// pattern.
func (v *victim) expect(status int, pattern string, args ...string) string {
	v.t.Helper()
	got, out, errs := v.call(args...)
	said := out
	if status == exitUsage || out == "" {
		said = errs
	}
	if got != status || !regexp.MustCompile(`(?s)^`+pattern+`$`).MatchString(said) {
		v.t.Errorf("tailcut %s: status %d, not %d; it prints\n%s%s\nnot\n%s", strings.Join(args, " "), got, status, out, errs, pattern)
	}
	return out
}

// shell is a job whose tasks run a line of shell.
func (v *victim) shell(name, line string, tasks int) *run.Submission {
	s := v.job(name, tasks)
	s.Job.Array.Stages[0].Command = []string{"sh", "-c", line, v.marker, "{}"}
	s.Job.Retries = 0
	return s
}

func (v *victim) submit(s *run.Submission) {
	v.t.Helper()
	if _, err := v.client().Submit(v.t.Context(), serve.NewKey(), s); err != nil {
		v.t.Fatal(err)
	}
}

// TestServeVerbs is the story of a few jobs, as the verbs tell it.
func TestServeVerbs(t *testing.T) {
	v := newVictim(t)
	v.expect(1, `tailcut: no server answers on .*; start one with 'tailcut serve', or say where it is with --server\n`, "jobs")
	v.start()
	v.expect(0, "no jobs\n", "jobs")
	v.submit(v.shell("good", "echo $1", 3))
	v.submit(v.shell("bad", "echo alas >&2; exit 3", 1))
	v.expect(1, `job 0 \(good\): succeeded after \S+\njob 1 \(bad\): failed after \S+: .*exit status 3.*\n`, "wait", "0", "bad")
	v.expect(0, `job 0 \(good\): succeeded after \S+\n`, "wait", "good")
	v.submit(v.shell("long", "echo begun; sleep 60", 3))
	after := v.shell("later", "echo $1", 1)
	after.After = []string{"long"}
	v.submit(after)
	v.expect(0, ` id  name   state      done  tasks  running .*\n  0  good   succeeded     3      3 .*\n  1  bad    failed .*\n  2  long   running .*\n  3  later  queued .*\n`, "jobs")
	v.expect(0, ` id  name   state    done .*\n  2  long   running .*\n  3  later  queued .*\n`, "jobs", "--state", "running,queued")
	v.expect(2, `tailcut: --state: expected some of queued, running, .*, not "odd"\n`, "jobs", "--state", "odd")

	var list serve.Jobs
	if err := json.Unmarshal([]byte(v.expect(0, `\{"schema":"tailcut.jobs/v1","jobs":\[\{"id":0,.*`, "jobs", "--format", "json")), &list); err != nil || len(list.Jobs) != 4 {
		t.Errorf("%+v %v", list, err)
	}
	v.expect(0, `job 3 \(later\): queued\n  why        waits for other jobs\n  tasks      0 of 1 done.*  after      2\n  output     .*/out/later\n`, "show", "later")
	v.expect(0, `.*"schema":"tailcut.job/v1","id":2,.*`, "show", "long", "--format", "json")
	v.expect(0, ` task     state    running  failures\n tasks/0  running +1\n tasks/1  running .*`, "show", "long", "--tasks")
	v.expect(0, `server of \S+, process \d+, since .*\n  slots    3, of which \d busy\n  policy   fifo\n.*  jobs     1 queued, 1 running, 1 succeeded, 1 failed\n.*`, "show")
	v.expect(2, `tailcut: there is no job "nobody"; 'tailcut jobs' lists those that there are\n`, "show", "nobody")
	for range 200 { // until its process has written
		if _, out, _ := v.call("logs", "long", "0"); out != "" {
			break
		}
	}
	v.expect(0, "begun\n", "logs", "long", "0")
	v.expect(0, "begun\n", "logs", v.dir+"/out/long", "0")
	for _, verb := range []string{"results", "timeline", "verify", "replay"} {
		v.expect(1, `tailcut: .*/out/long: job 2 \(long\) of the server at .* is running, and its journal comes at its end; see it with: tailcut show 2 --tasks.*; wait for it with: tailcut wait 2.*\n`, verb, v.dir+"/out/long")
	}
	v.expect(0, `\{"schema":"tailcut.timeline/v1".*`, "report", v.dir+"/out/long", "--format", "json", "-o", "-")
	v.expect(0, "2\n", "logs", "good", "2")
	v.expect(0, "tailcut: task 0 failed: exit status 3: alas\nalas\n|alas\n", "logs", "bad", "0")
	v.expect(0, "1\n", "logs", v.dir+"/out/good", "1", "-f")
	v.expect(2, `tailcut: .*\n`, "logs", "long", "99")
	v.expect(2, `tailcut: there is no job "nobody".*\n`, "logs", "nobody", "0")
	v.expect(0, `job 3 \(later\): paused: waits for other jobs\n`, "pause", "later")
	v.expect(0, `job 3 \(later\): queued: waits for other jobs\n`, "resume", "later")
	v.expect(0, `job 3 \(later\): queued\n.*  order      priority 7, weight 2\n.*`, "priority", "later", "7", "--weight", "2")
	v.expect(2, `tailcut: weight: expected a number above 0, not -2\ntailcut: deadline: .*, not "never"\n|tailcut: deadline: .*\ntailcut: weight: .*\n`,
		"priority", "later", "--weight=-2", "--deadline", "never")
	v.expect(2, `tailcut: expected a PRIORITY, --weight or --deadline\n`, "priority", "later")
	for _, words := range []string{"show", "wait", "cancel", "priority", "logs", "submit --after", "jobs --name"} {
		v.expect(0, `later\tjob 3, queued\nlong\tjob 2, running\nbad\tjob 1, failed\ngood\tjob 0, succeeded\n:.*`, append(append([]string{"__complete"}, strings.Fields(words)...), "")...)
	}
	v.expect(0, `:.*`, "__complete", "priority", "later", "")
	v.expect(0, "fifo\n", "policy")
	v.expect(0, "srpt\n", "policy", "srpt")
	v.expect(2, `tailcut: policy: .*srptt.*\n`, "policy", "srptt")
	v.expect(0, `job 2 \(long\): (cancelled|running).*\n`, "cancel", "long")
	v.expect(1, `job 2 \(long\): cancelled after .*\njob 3 \(later\): cancelled after .*: job 2 \(long\), which it waits for, has been cancelled\n`, "wait", "long", "later")
	v.expect(1, `tailcut: job 2 \(long\) has been cancelled\n`, "cancel", "long")
	v.expect(0, `0\n1\n2\n`, "results", v.dir+"/out/good")
	v.expect(0, `the server drains: 0 attempts run\n`, "drain")
	if err := v.cmd.Wait(); err != nil {
		t.Errorf("after a drain the server ends with %v", err)
	}
	v.start()
	v.expect(0, `.*"name":"good","state":"succeeded".*"name":"later","state":"cancelled".*`, "jobs", "--format", "json")
}

// TestServeRefuses: what a submission has wrong is told in one answer, and a server is refused what it cannot have.
func TestServeRefuses(t *testing.T) {
	v := newVictim(t)
	v.start()
	wrong := v.shell("x", "true", 1)
	wrong.Output, wrong.Weight, wrong.Env = "relative", -1, []string{"=x"}
	_, err := v.client().Submit(t.Context(), serve.NewKey(), wrong)
	var p *serve.Problem
	if !errors.As(err, &p) || p.Status != http.StatusUnprocessableEntity || len(p.Mistakes) != 3 {
		t.Errorf("three mistakes: %v", err)
	}
	_, err = v.client().Submit(t.Context(), serve.NewKey(), &run.Submission{Job: jobfile.Job{Name: "x"}, Output: v.dir + "/out/x"})
	if !errors.As(err, &p) || p.Status != http.StatusUnprocessableEntity {
		t.Errorf("a job of nothing: %v", err)
	}
	numbered := v.shell("7", "true", 1)
	if _, err := v.client().Submit(t.Context(), serve.NewKey(), numbered); !errors.As(err, &p) || len(p.Mistakes) != 1 || p.Mistakes[0].Field != "name" {
		t.Errorf("a job whose name is a number: %v", err)
	}
	v.submit(v.shell("mine", "sleep 60", 1))
	if _, err := v.client().Submit(t.Context(), serve.NewKey(), v.shell("mine", "true", 1)); !errors.As(err, &p) || p.Status >= 500 {
		t.Errorf("the output folder of another job: %v", err)
	}
	queue := v.dir + "/queue"
	v.expect(1, `tailcut: another server works in `+queue+`; name another --dir\n`, "serve", "--history", v.dir+"/history", "--dir", queue, "--socket", v.dir+"/other")
	v.expect(1, `tailcut: another server listens on .*\n`, "serve", "--history", "none", "--dir", v.dir+"/queue2", "--socket", v.socket())
	v.expect(2, `tailcut: --slots: .*\n`, "serve", "--slots", "none")
	v.expect(2, `tailcut: --policy: .*maxsrpt.*\n`, "serve", "--policy", "maxsrpt")
	v.expect(2, `tailcut: --socket: longer than .*\n`, "serve", "--socket", v.dir+strings.Repeat("/x", 100))
	v.expect(2, `tailcut: --listen: expected a loopback address .*\n`, "serve", "--listen", "0.0.0.0:0")
	began := time.Now()
	v.expect(0, `job 0 \(mine\): .*`, "cancel", "mine")
	v.expect(1, `job 0 \(mine\): cancelled .*`, "wait", "mine")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("cancelling took %v", took)
	}
	v.kill()
	for began := time.Now(); v.orphans() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d processes are left", v.orphans())
		}
	}
}
