//go:build linux

package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
)

// The test binary plays an engine that is there to be killed.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // guards end at once under the race detector, too
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "engine":
		engine(os.Args[2], os.Args[3])
	case "tidy":
		if err := (Folders{Root: os.Args[2]}).Tidy(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// patience bounds every wait of these tests; nothing takes that long unless it is broken.
const patience = 30 * time.Second

// rig is an executor with what a test asks of it.
type rig struct {
	*Executor
	t      *testing.T
	f      Folders
	out    string
	next   sched.AttemptID
	output map[sched.AttemptID][]byte // what the journal would keep
	closed bool
}

// newRig returns an executor of an array job with one stage per script, each of three tasks; scripts are run by sh -c.
func newRig(t *testing.T, change func(*Config), scripts ...string) *rig {
	t.Helper()
	work := &jobfile.Array{}
	for i, s := range scripts {
		work.Stages = append(work.Stages, jobfile.Stage{Name: fmt.Sprintf("s%d", i), Tasks: 3, Command: []string{"sh", "-c", s}})
		if i > 0 {
			work.Stages[i].After = []int{i - 1}
		}
	}
	return newRigOf(t, change, &jobfile.Work{Dir: t.TempDir(), Array: work}, len(scripts))
}

func newRigOf(t *testing.T, change func(*Config), work *jobfile.Work, stages int) *rig {
	t.Helper()
	out := t.TempDir()
	cfg := Config{
		Folders: Folders{Root: filepath.Join(out, "_private")}, Out: out, Work: work, Stages: stages,
		Run: fmt.Sprintf("test-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(out))+filepath.Base(out)),
	}
	if change != nil {
		change(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Executor: e, t: t, f: cfg.Folders, out: out, output: map[sched.AttemptID][]byte{}}
	t.Cleanup(func() { r.close() })
	return r
}

func (r *rig) close() {
	if r.closed {
		return
	}
	r.closed = true
	if err := r.Close(); err != nil {
		r.t.Errorf("close: %v", err)
	}
}

// begin starts an attempt.
func (r *rig) begin(stage, index, number int) live.Attempt {
	r.next++
	a := live.Attempt{ID: r.next, Stage: stage, Index: index, Number: number}
	r.Start(a)
	return a
}

// report waits for the next report.
func (r *rig) report() live.Report {
	r.t.Helper()
	select {
	case rep := <-r.Reports():
		if rep.Output != nil {
			r.output[rep.Attempt] = rep.Output
		}
		return rep
	case <-time.After(patience):
		r.t.Fatal("no report")
		panic("unreachable")
	}
}

// end waits for the end of an attempt and passes over progress.
func (r *rig) end(a live.Attempt) live.Report {
	r.t.Helper()
	for {
		if rep := r.report(); rep.Kind != sched.AttemptProgress {
			if rep.Attempt != a.ID {
				r.t.Fatalf("a report of attempt %d, want %d: %+v", rep.Attempt, a.ID, rep)
			}
			return rep
		}
	}
}

// run starts an attempt and waits for its end.
func (r *rig) run(stage, index, number int) (live.Attempt, live.Report) {
	r.t.Helper()
	a := r.begin(stage, index, number)
	return a, r.end(a)
}

// win runs an attempt that has to do well.
func (r *rig) win(stage, index, number int) live.Attempt {
	r.t.Helper()
	a, rep := r.run(stage, index, number)
	if rep.Kind != sched.AttemptDone {
		r.t.Fatalf("attempt %+v: %+v", a, rep)
	}
	return a
}

func (r *rig) commit(a live.Attempt) {
	r.t.Helper()
	if err := r.Commit(a, r.output[a.ID]); err != nil {
		r.t.Fatal(err)
	}
}

// stdout returns the standard output of a committed task.
func (r *rig) stdout(stage, index int) string {
	r.t.Helper()
	if x := r.won.of(stage, index); x.output != nil {
		return string(x.output)
	}
	return slurp(r.t, filepath.Join(r.f.Done(stage, index), jobfile.StdoutName))
}

func slurp(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eventually polls until ok, and fails the test if that takes too long.
func eventually(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", within, what)
		}
	}
}

// runs tells whether a process with that id exists and is no zombie.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}

// pidIn waits for a file with a process id.
func pidIn(t *testing.T, path string) (pid int) {
	t.Helper()
	eventually(t, "a process id in "+path, patience, func() bool {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.HasSuffix(b, []byte("\n")) {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

// inFiles is a path in the output folder of a running attempt.
func (r *rig) inFiles(a live.Attempt, name string) string {
	return filepath.Join(r.f.Attempt(a), name)
}

func TestExecutorEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		exit   int
		note   string
	}{
		"well":               {"echo hello", 0, ""},
		"status":             {"echo one >&2; echo two >&2; echo >&2; exit 3", 3, "exit status 3: two"},
		"silent":             {"exit 1", 1, "exit status 1"},
		"signal":             {"kill -TERM $$", 143, "signal: terminated"},
		"killed itself":      {"echo bye >&2; kill -KILL $$", 137, "signal: killed: bye"},
		"binary on stderr":   {`printf 'a\377b\n' >&2; exit 1`, 1, "exit status 1: a\uFFFDb"},
		"much on stderr":     {"i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1", 1, "exit status 1: line 8999"},
		"long line":          {"printf '%01000d' 7 >&2; exit 1", 1, "exit status 1: " + strings.Repeat("0", 200)},
		"leaves a pipe":      {"mkfifo $TAILCUT_OUTPUT/pipe", 0, ""},
		"closes its outputs": {"exec >&- 2>&-; exit 4", 4, "exit status 4"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, c.script, "true")
			a, rep := r.run(0, 1, 0)
			if rep.Exit != c.exit || rep.Note != c.note || (rep.Kind == sched.AttemptDone) != (c.exit == 0) {
				t.Errorf("report %+v, want exit %d and note %q", rep, c.exit, c.note)
			}
			if _, err := os.Stat(r.f.Attempt(a)); (err == nil) != (c.exit == 0) {
				t.Errorf("the attempt's folder: %v", err)
			}
		})
	}
}

// What nobody could copy is no result, and the attempt says so.
func TestExecutorRefusesSockets(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	r := newRig(t, nil, "mkdir $TAILCUT_OUTPUT/a && mv "+socket+" $TAILCUT_OUTPUT/a", "true")
	_, rep := r.run(0, 0, 0)
	if want := "s in TAILCUT_OUTPUT is a socket or a device, which no result can have; the task must remove it"; rep.Kind != sched.AttemptFailed || rep.Note != want {
		t.Errorf("%+v, want %q", rep, want)
	}
}

// Programs are found as from a shell in the working directory of the run.
func TestExecutorFindsPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"bin/hello": 0o777, "bin/plain": 0o666} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nbasename \"$PWD\"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for program, exit := range map[string]int{
		"./bin/hello": 0, "bin/hello": 0, filepath.Join(dir, "bin/hello"): 0, "true": 0,
		"hello": 127, "./bin/none": 127, "./bin/plain": 127, "bin": 127, "no-such-program-anywhere": 127,
	} {
		work := &jobfile.Work{Dir: dir, Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "s", Tasks: 1, Command: []string{program}}}}}
		r := newRigOf(t, nil, work, 1)
		a, rep := r.run(0, 0, 0)
		if rep.Exit != exit || (exit != 0) != (rep.Note != "") {
			t.Errorf("%s: %+v, want exit %d", program, rep, exit)
		}
		if exit == 0 && program != "true" {
			r.commit(a)
			if got := r.stdout(0, 0); got != filepath.Base(dir)+"\n" {
				t.Errorf("%s ran in %q", program, got)
			}
		}
	}
}

func TestExecutorTimeout(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Limits = []jobfile.Limits{{Timeout: jobfile.Timeout{After: 100 * time.Millisecond}}}
	}, `sleep 100 & echo $! >$TAILCUT_OUTPUT/pid; wait`)
	a := r.begin(0, 0, 0)
	pid := pidIn(t, r.inFiles(a, "pid"))
	if rep := r.end(a); rep.Kind != sched.AttemptFailed || rep.Exit != 137 || rep.Note != "timed out after 100ms" {
		t.Errorf("report %+v", rep)
	}
	eventually(t, "the end of the background process", patience, func() bool { return !runs(pid) })
}

// A killed attempt takes its whole group along, leaves no folder and says nothing more.
func TestExecutorKill(t *testing.T) {
	r := newRig(t, nil, `sleep 100 & echo $! >$TAILCUT_OUTPUT/pid; wait`, `true`)
	a := r.begin(0, 0, 0)
	pid := pidIn(t, r.inFiles(a, "pid"))
	r.Kill(a.ID)
	r.Kill(a.ID)
	r.Kill(4711) // never started
	eventually(t, "the end of the background process", patience, func() bool { return !runs(pid) })
	eventually(t, "the end of the folder", patience, func() bool {
		_, err := os.Stat(r.f.Attempt(a))
		return errors.Is(err, os.ErrNotExist)
	})
	if _, rep := r.run(1, 0, 0); rep.Kind != sched.AttemptDone { // its report is the next one
		t.Errorf("report %+v", rep)
	}
}

// An attempt that is killed before it could begin does not begin.
func TestExecutorKillAtOnce(t *testing.T) {
	r := newRig(t, nil, `echo $TAILCUT_TASK >>../began; sleep 100`, `true`)
	for i := range 50 {
		r.Kill(r.begin(0, i%3, i).ID)
	}
	_, rep := r.run(1, 0, 0)
	if rep.Kind != sched.AttemptDone {
		t.Errorf("report %+v", rep)
	}
	eventually(t, "no attempt in the folder", patience, func() bool {
		left, err := filepath.Glob(filepath.Join(r.f.attempts(), "0-*"))
		return err == nil && len(left) == 0
	})
}

// An attempt is over when its leader is, also if something in the background holds its standard output open. That is ended.
func TestExecutorBackground(t *testing.T) {
	r := newRig(t, nil, `sleep 100 & echo $! >$TAILCUT_OUTPUT/pid; echo done`)
	a := r.win(0, 0, 0)
	r.commit(a)
	if got := r.stdout(0, 0); got != "done\n" {
		t.Errorf("output %q", got)
	}
	pid := pidIn(t, filepath.Join(r.f.Done(0, 0), jobfile.FilesName, "pid"))
	eventually(t, "the end of the background process", patience, func() bool { return !runs(pid) })
}

// What has left the group and the session of an attempt is ended before the attempt's output becomes a result, if it is seen: by the
// progress pipe or the standard output that it has.
func TestExecutorEndsWhatLeft(t *testing.T) {
	for name, has := range map[string]string{"all": "", "standard output": "3>&-", "progress": ">/dev/null"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, `setsid sh -c 'echo $$ >$TAILCUT_OUTPUT/pid; sleep 100; echo late' `+has+` &
				while [ ! -s $TAILCUT_OUTPUT/pid ]; do sleep 0.01; done; head -c 9000 /dev/zero`)
			a := r.win(0, 0, 0)
			if pid := pidIn(t, filepath.Join(r.f.Attempt(a), jobfile.FilesName, "pid")); runs(pid) {
				t.Error("a process of the attempt runs after its end")
			}
		})
	}
}

// What is not seen is ended before the results are published, and when the run ends.
func TestExecutorSweepsDaemons(t *testing.T) {
	for name, end := range map[string]func(*rig){"publish": func(r *rig) { _ = r.Publish() }, "close": (*rig).close} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, `setsid sh -c 'echo $$ >$TAILCUT_OUTPUT/pid; exec sleep 100' >/dev/null 3>&- & while [ ! -s $TAILCUT_OUTPUT/pid ]; do sleep 0.01; done`)
			r.commit(r.win(0, 0, 0))
			pid := pidIn(t, filepath.Join(r.f.Done(0, 0), jobfile.FilesName, "pid"))
			if !runs(pid) {
				t.Fatal("the daemon did not live to be found")
			}
			end(r)
			if runs(pid) {
				t.Error("the daemon is still there")
			}
		})
	}
}

// An attempt that is killed when its output is a result already takes that along, and the file of its standard output is nobody else's.
func TestExecutorKilledLate(t *testing.T) {
	r := newRig(t, nil, "true")
	p := &process{attempt: live.Attempt{ID: 77}, ended: make(chan struct{}), by: byEngine, moved: true}
	p.dir = r.f.Attempt(p.attempt)
	var err error
	if p.folder, err = r.spares.takeFolder(p.dir); err != nil {
		t.Fatal(err)
	}
	if p.stdout, err = r.spares.takeOut(); err != nil {
		t.Fatal(err)
	}
	if err := r.complete(p); err != nil {
		t.Fatal(err)
	}
	r.workers.Add(1)
	r.finish(p, 0, "", nil)
	r.win(0, 0, 0)
}

// What cannot be killed does not keep the run from its end. Here it is a process that leads no group, so that no kill reaches it.
func TestCloseLeavesUndead(t *testing.T) {
	r := newRig(t, nil, "sleep 100")
	r.patience = 100 * time.Millisecond
	undead := exec.Command("sleep", "100")
	if err := undead.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = undead.Process.Kill(); _ = undead.Wait() }()
	r.mu.Lock()
	r.procs[1] = &process{pid: undead.Process.Pid, ended: make(chan struct{})}
	r.mu.Unlock()
	r.workers.Add(1)
	r.closed = true
	want := fmt.Sprintf("killed and not dead after 100ms: process %d", undead.Process.Pid)
	if err := r.Close(); err == nil || err.Error() != want {
		t.Errorf("Close says %v, want %s", err, want)
	}
}

// A name that the engine's environment has, too, is set once: programs differ in which of several they take.
func TestExecutorEnvironmentOnce(t *testing.T) {
	t.Setenv("TAILCUT_TASK", "of an engine that is itself an attempt")
	t.Setenv("COLOUR", "red")
	work := &jobfile.Work{Dir: t.TempDir(), Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "s", Tasks: 3, Command: []string{"env"}, Env: []string{"COLOUR=blue"}}}}}
	r := newRigOf(t, nil, work, 1)
	r.commit(r.win(0, 2, 0))
	for name, want := range map[string]string{"TAILCUT_TASK": "2", "COLOUR": "blue"} {
		var got []string
		for _, line := range strings.Split(r.stdout(0, 2), "\n") {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				got = append(got, value)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Every attempt sees its own output folder and its own place in the job, whatever the engine's environment says.
func TestExecutorEnvironment(t *testing.T) {
	t.Setenv("TAILCUT_TASK", "of an engine that is itself an attempt")
	t.Setenv("TAILCUT_OUTPUT", "/nowhere")
	r := newRig(t, nil, `echo $TAILCUT_TASK $TAILCUT_TASKS $TAILCUT_STAGE $TAILCUT_ATTEMPT; cat; touch "$TAILCUT_OUTPUT/file"; env | grep -c ^TAILCUT_TASK=`,
		`for d in $(echo $TAILCUT_INPUT | tr : ' '); do cat $d/*/stdout; done`)
	first, second := r.begin(0, 2, 0), r.begin(0, 2, 1) // side by side
	r.report()
	r.report()
	for _, a := range []live.Attempt{first, second} {
		want := fmt.Sprintf("2 3 s0 %d\n1\n", a.Number)
		if got := slurp(t, filepath.Join(r.f.Attempt(a), jobfile.StdoutName)); got != want {
			t.Errorf("attempt %d printed %q, want %q", a.Number, got, want)
		}
		if _, err := os.Stat(filepath.Join(r.f.Attempt(a), jobfile.FilesName, "file")); err != nil {
			t.Error(err)
		}
	}
	r.commit(second)
	r.commit(r.win(1, 0, 0))
	if got := r.stdout(1, 0); got != "2 3 s0 1\n1\n" {
		t.Errorf("the next stage read %q", got)
	}
}

func TestCommitFirstWins(t *testing.T) {
	r := newRig(t, nil, `echo attempt $TAILCUT_ATTEMPT`, `true`)
	zero, one := r.win(0, 0, 0), r.win(0, 0, 1)
	r.commit(one)
	r.commit(zero)
	r.commit(one)
	if got := r.stdout(0, 0); got != "attempt 1\n" {
		t.Errorf("the result is of %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(r.f.attempts(), "0-*")); err != nil || len(left) != 0 {
		t.Errorf("left in attempts: %v, %v", left, err)
	}
	if err := r.Commit(live.Attempt{Index: 2}, nil); err == nil || !strings.Contains(err.Error(), "stage 0 task 2") {
		t.Errorf("a commit of nothing: %v", err)
	}
}

// What an attempt does to its own output folder is its own business.
func TestExecutorOutputFolder(t *testing.T) {
	for script, want := range map[string]string{
		`true`:                           "stdout",
		`echo x >$TAILCUT_OUTPUT/stdout`: "files files/stdout stdout",
		`mkdir -p $TAILCUT_OUTPUT/a/b; ln -s /nowhere $TAILCUT_OUTPUT/c`: "files files/a files/a/b files/c stdout",
		`rm -r $TAILCUT_OUTPUT`: "stdout",
		`rm -r $TAILCUT_OUTPUT; mkdir $TAILCUT_OUTPUT; touch $TAILCUT_OUTPUT/.x`: "files files/.x stdout",
	} {
		r := newRig(t, nil, script+"; echo printed", "true")
		r.commit(r.win(0, 0, 0))
		var got []string
		err := filepath.WalkDir(r.f.Done(0, 0), func(path string, _ os.DirEntry, err error) error {
			if rel, _ := filepath.Rel(r.f.Done(0, 0), path); rel != "." {
				got = append(got, rel)
			}
			return err
		})
		if err != nil || strings.Join(got, " ") != want || r.stdout(0, 0) != "printed\n" {
			t.Errorf("%s left %v, %v; want %s", script, got, err, want)
		}
	}
}

// Clean drops what did not win, and nothing else.
func TestClean(t *testing.T) {
	r := newRig(t, nil, `echo $TAILCUT_TASK`, `true`)
	r.commit(r.win(0, 0, 0))
	r.win(0, 1, 0)
	if err := r.Clean(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(r.f.attempts()); err != nil || len(entries) != 0 {
		t.Errorf("left in attempts: %v, %v", entries, err)
	}
	if got := r.stdout(0, 0); got != "0\n" {
		t.Errorf("the result is now %q", got)
	}
}

// Publish may be cut short anywhere and repeated; _SUCCESS is there only when all is.
func TestPublishRepeats(t *testing.T) {
	big := strings.Repeat("x", inlineMost)
	for cut := range 5 {
		r := newRig(t, nil, `case $TAILCUT_TASK in 0) echo small;; 1) echo file >$TAILCUT_OUTPUT/x;; 2) printf %04096d 0 | tr 0 x; echo;; esac`)
		for i := range 3 {
			r.commit(r.win(0, i, 0))
		}
		outside := filepath.Join(filepath.Dir(r.out), fmt.Sprintf("outside%d", cut))
		step := []func() error{
			func() error { return nil },
			func() error { return os.WriteFile(filepath.Join(r.out, "part-00000"), []byte("sm"), 0o666) },
			func() error {
				return errors.Join(os.WriteFile(outside, []byte("mine"), 0o666), os.Symlink(outside, filepath.Join(r.out, "part-00000")))
			},
			func() error { return errors.Join(r.Publish(), os.Remove(filepath.Join(r.out, "part-00001"))) },
			func() error { return errors.Join(r.Publish(), os.Remove(filepath.Join(r.out, "_MANIFEST.json"))) },
		}[cut]
		if err := step(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.Publish(); err != nil {
				t.Fatalf("cut after %d: %v", cut, err)
			}
		}
		for i, want := range []string{"small\n", "", big + "\n"} {
			if got := slurp(t, filepath.Join(r.out, mapreduce.PartName(i))); got != want {
				t.Errorf("part %d is %q", i, got)
			}
		}
		if got := slurp(t, filepath.Join(r.out, "part-00001.files", "x")); got != "file\n" {
			t.Errorf("the file is %q", got)
		}
		names, err := filepath.Glob(filepath.Join(r.out, "*"))
		if err != nil || len(names) != 7 { // 3 parts, 1 folder, _MANIFEST.json, _SUCCESS, _private
			t.Errorf("published: %v", names)
		}
		if text, err := os.ReadFile(outside); err == nil && string(text) != "mine" {
			t.Errorf("a link was followed: %q", text)
		}
		r.close()
	}
}

func TestExecutorProgress(t *testing.T) {
	t.Parallel() // it waits
	r := newRig(t, nil, `for x in 0.25 nonsense 7 -1 0.5; do echo $x >$TAILCUT_PROGRESS; sleep 0.25; done`)
	a := r.begin(0, 0, 0)
	var seen []float64
	for {
		rep := r.report()
		if rep.Attempt != a.ID {
			t.Fatalf("a report of attempt %d", rep.Attempt)
		}
		if rep.Kind == sched.AttemptDone {
			break
		}
		seen = append(seen, rep.Progress)
	}
	if len(seen) != 2 || seen[0] != 0.25 || seen[1] != 0.5 {
		t.Errorf("progress %v, want 0.25 and 0.5", seen)
	}
}

// A task that writes nonsense without end to its progress pipe is not held up by it.
func TestExecutorProgressFlood(t *testing.T) {
	r := newRig(t, nil, `head -c 1000000 /dev/zero >$TAILCUT_PROGRESS; echo through`)
	r.commit(r.win(0, 0, 0))
	if got := r.stdout(0, 0); got != "through\n" {
		t.Errorf("output %q", got)
	}
}

// A slow attempt is let run for one part in factor of the time. Other load can only make it take longer, so what is bounded is the
// time it took against the time it computed, in ticks of 10 ms in fields 14 and 15 of its stat.
func TestDisturbSlows(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Disturb = Disturb{Slow: 1, Factor: 5} },
		`i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; read -r stat </proc/$$/stat; set -- $stat; echo ${14} ${15}`)
	best := 0.0
	for i := range 3 { // the engine may be late to stop it
		begun := time.Now()
		r.commit(r.win(0, i, 0))
		took := time.Since(begun)
		var user, system int
		if _, err := fmt.Sscan(r.stdout(0, i), &user, &system); err != nil {
			t.Fatal(err)
		}
		best = max(best, took.Seconds()/(float64(user+system)/100))
	}
	if best < 3 {
		t.Errorf("slowed fivefold it took %.1f times as long as it computed", best)
	}
}

// Which attempts fail depends on the seed, and about as many do as asked for.
func TestDisturbFate(t *testing.T) {
	d := Disturb{Slow: 0.2, Factor: 8, Fail: 0.1, Seed: 5}
	slow, fails, moved := 0, 0, 0
	const n = 20_000
	for i := range n {
		a := live.Attempt{Stage: i % 3, Index: i / 3, Number: i % 2}
		f := d.fate(a)
		if f != d.fate(a) {
			t.Fatal("the same attempt has two fates")
		}
		if f.factor == 8 {
			slow++
		}
		if f.fails {
			fails++
		}
		if other := (Disturb{Slow: 0.2, Factor: 8, Fail: 0.1, Seed: 6}).fate(a); other.factor != f.factor {
			moved++
		}
	}
	// Binomial: six standard deviations are 340, 255 and 396.
	if slow < 3660 || slow > 4340 || fails < 1745 || fails > 2255 || moved < 6004 || moved > 6796 {
		t.Errorf("of %d attempts %d are slow, %d fail, %d are otherwise with another seed", n, slow, fails, moved)
	}
}

func TestDisturbFails(t *testing.T) {
	t.Parallel() // it waits
	r := newRig(t, func(c *Config) { c.Disturb = Disturb{Fail: 1, Factor: 1} }, "true", "sleep 100")
	for stage := range 2 {
		if _, rep := r.run(stage, 0, 0); rep.Kind != sched.AttemptFailed || rep.Note != "failed on purpose (--disturb)" {
			t.Errorf("stage %d: %+v", stage, rep)
		}
	}
}

func TestParseDisturb(t *testing.T) {
	for text, want := range map[string]string{
		"slow=0.1,factor=3,fail=0.02": "{0.1 3 0.02 0 0}", "slow=1": "{1 8 0 0 0}", "fail=0": "{0 8 0 0 0}", "pace=4e6": "{0 8 0 4e+06 0}", "pace=0": "out of range",
		"": "unknown key", "slow": "out of range", "slow=2": "out of range", "slow=NaN": "out of range", "factor=0.5": "out of range",
		"factor=inf": "out of range", "fast=1": "unknown key", "fail=-0.1": "out of range", "slow=0.1,": "unknown key",
	} {
		d, err := ParseDisturb(text)
		if got := fmt.Sprint(d); err != nil && !strings.Contains(err.Error(), want) || err == nil && got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

// Map/reduce attempts are the program itself; their output is what mapreduce makes of it.
func TestExecutorMapReduce(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, []byte("b a\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	job := jobfile.Job{MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "wordcount"}, Inputs: []string{in}, Reducers: 1}}
	plan, err := job.Plan(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan.Work)
	if err != nil {
		t.Fatal(err)
	}
	var work jobfile.Work
	if err := json.Unmarshal(text, &work); err != nil {
		t.Fatal(err)
	}
	r := newRigOf(t, nil, &work, len(plan.Stages))
	for s := range plan.Stages {
		r.commit(r.win(s, 0, 0))
	}
	if err := r.Publish(); err != nil {
		t.Fatal(err)
	}
	if got := slurp(t, filepath.Join(r.out, "part-00000")); got != "a\t1\nb\t2\n" {
		t.Errorf("counted %q", got)
	}
}

func TestLockRun(t *testing.T) {
	t.Parallel() // it waits
	f := Folders{Root: t.TempDir()}
	lock, err := LockRun(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockRun(f); err == nil || !strings.Contains(err.Error(), "another tailcut process") {
		t.Errorf("a second engine: %v", err)
	}
	lock.Close()
	again, err := LockRun(f)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// When an attempt's work began is told with its end.
func TestBegan(t *testing.T) {
	r := newRig(t, nil, "sleep 0.05")
	before := time.Now()
	_, rep := r.run(0, 0, 0)
	if rep.Kind != sched.AttemptDone || !rep.Began.After(before) || rep.At.Sub(rep.Began) < 40*time.Millisecond {
		t.Errorf("%v: began %v after its launch, ended %v after that", rep.Kind, rep.Began.Sub(before), rep.At.Sub(rep.Began))
	}
}
